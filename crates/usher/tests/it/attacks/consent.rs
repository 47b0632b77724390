//! Confused deputies: what one person agreed to for one client and one server is used for that alone.

use usher_testkit::upstream::{Script, Upstream};

use super::client_at;
use crate::{
    harness::{CALLS, KEY, Setup, Stage},
    needs_modern::ask,
};

/// Two servers that need the same credential, each a process of its own.
pub(super) async fn two_servers() -> (Stage, Upstream) {
    let other = Upstream::start().await;
    other.tool("get_forecast", Script::new().require("x-api-key", KEY).text("rain"));
    let more = format!(
        "[[upstream]]\nname = \"other\"\ntitle = \"Other\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"weather\"\n\
         header = {{ X-Api-Key = \"{{api_key}}\" }}\n",
        other.url()
    );
    (Stage::oidc(Setup { more, ..Setup::default() }).await, other)
}

/// R-OAUTH-04, R-GW-04, R-ID-01: one consent opens one cell of user, client and server; for all others the person is asked,
/// with a question that says who asks and where the key would go, and nothing is sent there before.
#[tokio::test]
async fn one_consent_opens_for_one_user_one_client_and_one_server() {
    let (stage, other) = two_servers().await;
    let asked = ask(&client_at(&stage, "weather", "user-1", "editor"), CALLS[0]).await;
    let alice = stage.person_of("user-1").await;
    alice.connect(&asked.url(), &[("api_key", KEY)]).await;
    for user in ["user-1", "user-2"] {
        for client in ["editor", "terminal"] {
            for (server, upstream) in [("weather", &stage.upstream), ("other", &other)] {
                let before = upstream.requests_of("tools/call").len();
                let reply = client_at(&stage, server, user, client).call(CALLS[0].0, CALLS[0].1).await;
                let sent = upstream.requests_of("tools/call").len() - before;
                if (user, client, server) == ("user-1", "editor", "weather") {
                    assert_eq!((reply.content_text().as_str(), sent), ("sunny", 1));
                    continue;
                }
                assert!(reply.is_input_required(), "{user} {client} {server}: {}", reply.text());
                assert_eq!(sent, 0, "{user} {client} {server}");
                if user == "user-1" {
                    let page = alice.get(&reply.url()).await;
                    let text = page.text();
                    assert!(text.contains(client) && text.contains(upstream.origin()), "{client} {server}: {text}");
                }
            }
        }
    }
    assert!(other.requests_of("tools/call").is_empty(), "the key of the one server never reached the other");
}

/// R-OAUTH-04: a second server is allowed by the person alone, and then gets the key; declining gives it nothing.
#[tokio::test]
async fn another_server_gets_the_key_only_when_the_person_allows_it() {
    let (stage, other) = two_servers().await;
    let alice = stage.person_of("user-1").await;
    let asked = ask(&client_at(&stage, "weather", "user-1", "editor"), CALLS[0]).await;
    alice.connect(&asked.url(), &[("api_key", KEY)]).await;
    let terminal = client_at(&stage, "other", "user-1", "terminal");
    alice.decline(&ask(&terminal, CALLS[0]).await.url()).await;
    assert!(terminal.call(CALLS[0].0, CALLS[0].1).await.is_tool_error(), "it rests");
    let editor = client_at(&stage, "other", "user-1", "editor");
    let allow = alice.get(&ask(&editor, CALLS[0]).await.url()).await;
    assert!(allow.text().contains("another server now"), "{}", allow.text());
    assert!(other.requests_of("tools/call").is_empty());
    alice.agree(&allow, &[]).await;
    assert_eq!(editor.call(CALLS[0].0, CALLS[0].1).await.content_text(), "rain");
    assert_eq!(other.requests_of("tools/call").len(), 1);
}

/// R-ID-04: a token for one of our servers opens no other.
#[tokio::test]
async fn a_token_for_one_server_opens_no_other() {
    let (stage, other) = two_servers().await;
    let token = stage.token_of("user-1", "editor");
    let endpoint = format!("{}/mcp/other", stage.origin);
    let reply = usher_testkit::client::Modern::new(endpoint).token(token).call("tools/list", "{}").await;
    assert_eq!(reply.status, 401, "{}", reply.text());
    assert!(other.requests().is_empty());
}
