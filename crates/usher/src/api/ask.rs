//! `POST /api/v1/interactions`: a server asks a person for a credential.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, extract::State, response::Response};
use elicit::{ClientId, Principal, UserId};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use usher_store::{ApiScope, OPEN_AT_MOST, Operation};
use utoipa::ToSchema;

use super::{
    answer::{self, Asked, Connected, Interaction},
    fields::{Found, Object, Told, text},
    key::Caller,
    problem::Problem,
};
use crate::{
    app::App,
    broker::{AskedFor, INTERACTION_LIVES, ServerQuestion},
    claim,
    config::{Identity, Upstream},
    identity::tokens::local_user,
};

/// The shortest time that a person can be given, in seconds.
const LEAST: u64 = 60;

/// The longest, in seconds: as long as a question can be open at all.
const MOST: u64 = OPEN_AT_MOST.as_secs().unsigned_abs();

/// A question.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it says what a body looks like; bodies are read strictly, member by member")]
pub(super) struct NewInteraction {
    /// The provider whose credential is needed: one that the server of the key has a need on.
    provider: String,
    /// The user, as the server verified them. To be left out in identity mode local, which has one user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    user: Option<User>,
    /// The client that calls the server, as the server verified it: the client id of its token.
    #[schema(min_length = 1, max_length = 1024)]
    client: String,
    /// What the client calls itself. Shown as a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_name: Option<String>,
    /// The call that it is asked for. Needed where the provider is for one call alone: an approval, or an external page with
    /// per = "call". Else it is only shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    operation: Option<OperationBody>,
    /// How long the person has for it, in seconds; 900 where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, maximum = 10800, default = 900)]
    expires_in: Option<u64>,
}

/// A user: who vouches for them, and its name for them. Never an e-mail address.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct User {
    /// The issuer of the user's tokens.
    #[schema(min_length = 1, max_length = 1024)]
    issuer: String,
    /// The issuer's name for the user.
    #[schema(min_length = 1, max_length = 1024)]
    subject: String,
}

/// A call of a tool, a prompt or a resource.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Operation)]
#[allow(dead_code, reason = "as above")]
pub(super) struct OperationBody {
    /// `tools/call`, `prompts/get` or `resources/read`.
    method: Method,
    /// The name of the tool or the prompt, or the URI of the resource.
    name: String,
    /// The arguments of the tool or the prompt, as they will be used: what the person approves is good for these alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Object)]
    arguments: Option<Value>,
}

/// What a call is for.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "as above")]
pub(super) enum Method {
    #[serde(rename = "tools/call")]
    ToolsCall,
    #[serde(rename = "prompts/get")]
    PromptsGet,
    #[serde(rename = "resources/read")]
    ResourcesRead,
}

/// A question that was read, and is right.
struct Read {
    principal: Principal,
    client_claim: Option<String>,
    operation: Option<Operation>,
    provider: String,
    lives: Duration,
}

/// Ask a person to connect an account, or to allow what is connected.
///
/// Returns the page to show to the person. The same question is asked once: while it is open, whoever asks it again gets the same
/// interaction. Where nothing is missing, nobody is asked.
#[utoipa::path(
    post,
    path = "/api/v1/interactions",
    tag = "interactions",
    operation_id = "askInteraction",
    security(("key" = ["interactions:write"])),
    request_body = NewInteraction,
    responses(
        (status = 201, description = "It is asked.", body = Interaction, headers(("Location" = String, description = "The path of the interaction."))),
        (status = 200, description = "It was being asked already, or nothing is missing.", body = Asked),
        super::openapi::AskProblems,
    )
)]
pub(super) async fn ask(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let caller = Caller::of(&app, &headers, ApiScope::InteractionsWrite).await?;
    let text = text(&headers, body).await?;
    let found = Found::default();
    let read = Object::body(&text, &found)?.and_then(|object| read(object, caller.upstream, &app.config.identity));
    let read = found.or(read)?;
    let question = ServerQuestion {
        principal: &read.principal,
        operation: read.operation.as_ref(),
        client_claim: read.client_claim.as_deref(),
        provider: &read.provider,
        lives: read.lives,
    };
    Ok(match app.broker.ask_for(&caller.key, caller.upstream, &question).await? {
        AskedFor::Nothing => answer::ok(&Asked::Connected(Connected::new(read.provider))),
        AskedFor::Joined(asked) => answer::ok(&Asked::Interaction(Interaction::of(&app, &asked))),
        AskedFor::New(asked) => {
            let interaction = Interaction::of(&app, &asked);
            let location = HeaderValue::try_from(interaction.location()).ok();
            let mut response = answer::json(StatusCode::CREATED, "application/json", &interaction);
            response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
            response
        }
    })
}

/// Every member is read, whatever was wrong with another.
fn read(mut object: Object<'_>, upstream: &Upstream, identity: &Identity) -> Option<Read> {
    let provider = object.text("provider");
    let provider = provider.filter(|provider| needed(&object, upstream, provider));
    let user = user(&mut object, identity);
    let client = object
        .text("client")
        .and_then(|client| ClientId::new(client).map_err(|error| object.fault("client", error.to_string())).ok());
    let claim = object.optional_text("client_name");
    let operation = operation(&mut object);
    let lives = object.optional_seconds("expires_in", LEAST..=MOST);
    object.close();
    Some(Read {
        provider: provider?,
        principal: Principal { user: user?, client: client? },
        client_claim: claim.ok()?.and_then(|claim| claim::clean(&claim)),
        operation: operation.ok()?,
        lives: lives.ok()?.unwrap_or(INTERACTION_LIVES),
    })
}

/// The call that the question is asked for, as it was written, unless it is left out.
fn operation(object: &mut Object<'_>) -> Result<Option<Operation>, Told> {
    let Some(mut call) = object.optional_object("operation")? else { return Ok(None) };
    let (method, name) = (call.text("method"), call.text("name"));
    let arguments = call.optional_raw_object("arguments");
    call.close();
    let (method, name, arguments) = (method.ok_or(Told)?, Value::from(name.ok_or(Told)?), arguments?);
    let params = match (method.as_str(), arguments) {
        ("resources/read", None) => format!("{{\"uri\":{name}}}"),
        ("resources/read", Some(_)) => {
            object.fault_within("operation", "arguments", "a resource has none");
            return Err(Told);
        }
        (_, None) => format!("{{\"name\":{name}}}"),
        (_, Some(arguments)) => format!("{{\"name\":{name},\"arguments\":{arguments}}}"),
    };
    match Operation::exact(&method, Some(&params)) {
        Ok(operation) => Ok(Some(operation)),
        Err(error) => {
            object.fault("operation", error.to_string());
            Err(Told)
        }
    }
}

/// Whether the server has a need on the provider.
fn needed(object: &Object<'_>, upstream: &Upstream, provider: &str) -> bool {
    let needs = || upstream.needs.iter().map(|need| need.provider.as_str());
    let needed = needs().any(|need| need == provider);
    if !needed {
        let (shown, server) = (claim::clean(provider).unwrap_or_default(), &upstream.name);
        let needs = needs().collect::<Vec<_>>().join(", ");
        let needs = if needs.is_empty() { "it needs none".to_owned() } else { format!("it needs {needs}") };
        object.fault("provider", format!("the server {server} has no need on the provider {shown}; {needs}"));
    }
    needed
}

/// The user that the question is for: one who can sign in here, else nobody could ever answer.
fn user(object: &mut Object<'_>, identity: &Identity) -> Option<UserId> {
    let user = match (object.optional_object("user").ok()?, identity) {
        (Some(mut user), _) => {
            let (issuer, subject) = (user.text("issuer"), user.text("subject"));
            user.close();
            UserId::new(issuer?, subject?).map_err(|error| object.fault("user", error.to_string())).ok()?
        }
        (None, Identity::Local { .. }) => return Some(local_user()),
        (None, Identity::Oidc(_)) => {
            object.fault("user", "the user is needed here: an object with issuer and subject");
            return None;
        }
    };
    match identity {
        Identity::Local { .. } if user != local_user() => {
            object.fault("user", "this Usher has one user, its owner (identity mode local): leave it out");
            None
        }
        Identity::Oidc(oidc) if user.issuer() != oidc.issuer.as_str() => {
            let issuer = oidc.issuer.as_str();
            object.fault_within("user", "issuer", format!("people sign in here with {issuer}, and with nobody else"));
            None
        }
        _ => Some(user),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_schema_says_of_times_is_so() {
        assert_eq!((LEAST, MOST, INTERACTION_LIVES.as_secs()), (60, 10_800, 900));
    }
}
