//! The MCP side of identity mode oidc: whose tokens open, and what the others are told.

mod consent;
mod introspection;
mod issuer;
mod people;
mod streams;
mod tokens;

use usher_testkit::client::Reply;

use crate::harness::Stage;

/// What a call with this token gets.
async fn called(stage: &Stage, token: &str) -> Reply {
    stage.modern_with(token).call("tools/list", "{}").await
}

/// The token opens nothing, and its bearer learns no more than that.
async fn is_invalid(stage: &Stage, token: &str, what: &str) {
    let reply = called(stage, token).await;
    assert_eq!(reply.status, 401, "{what}: {}", reply.text());
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp/weather", stage.origin);
    let challenge = format!("Bearer resource_metadata=\"{metadata}\", error=\"invalid_token\"");
    assert_eq!(reply.header("www-authenticate"), Some(challenge.as_str()), "{what}");
    assert_eq!(reply.error_message(), "the bearer token is not valid here", "{what}");
    assert!(token.is_empty() || !reply.text().contains(token), "{what}");
}

/// The token opens, with whatever the server says.
async fn opens(stage: &Stage, token: &str, what: &str) {
    let reply = called(stage, token).await;
    assert_eq!(reply.status, 200, "{what}: {}", reply.text());
}
