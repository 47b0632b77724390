//! Stands in for an upstream that refuses even to list its tools to somebody without a credential: we answer its handshake
//! and its listings ourselves, and list one tool of ours, `connect`, which asks (R-GW-06).

mod listen;

use axum::response::Response;
use bytes::Bytes;
use elicit::Era;
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::{
    call::{Attempt, Call},
    ending::{Ending, title},
    forward,
    notices::tools_changed,
    reply,
    upstream::UpstreamError,
};
use crate::{
    broker::{Examined, Patience},
    credentials::Injection,
    mcp::{
        envelope::Message,
        headers::{self, METHOD},
        params::Params,
    },
};

/// The name of our tool.
pub(super) const CONNECT: &str = "connect";

/// Whether a call means our tool. It does where a credential is missing and the upstream, asked for its tools without one,
/// refuses: an upstream that lists its tools may have a `connect` of its own.
pub(super) async fn is_meant(call: &Call) -> bool {
    if call.method != "tools/call" || call.subject.as_deref() != Some(CONNECT) {
        return false;
    }
    call.caller.lacks().await && probe(call).await.is_some_and(is_refusal)
}

/// Whether a status means that the upstream wants a credential.
pub(super) fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Asks the upstream for its tools with nothing but what the client itself sent.
async fn probe(call: &Call) -> Option<StatusCode> {
    let Ok(Message::Request { params, .. }) = Message::parse(&call.body) else { return None };
    let meta = Params::parse(params).ok()?.meta.map_or("{}", |meta| meta.get());
    let body = format!(r#"{{"jsonrpc":"2.0","id":"usher-probe","method":"tools/list","params":{{"_meta":{meta}}}}}"#);
    let mut caller = call.caller.clone();
    caller.headers.remove(headers::NAME);
    if call.caller.era() == Era::Modern {
        caller.headers.insert(METHOD, HeaderValue::from_static("tools/list"));
    }
    match forward::send(&caller, &Injection::default(), Method::POST, Bytes::from(body)).await {
        Ok(response) => Some(response.status()),
        Err(UpstreamError::Refused { status, .. }) => Some(status),
        Err(_) => None,
    }
}

/// Our tool's turn: asks for everything that is missing, and says so when nothing is.
pub(super) async fn attempt(call: &Call) -> Attempt {
    let caller = &call.caller;
    match caller.app.broker.lacking(&caller.principal, caller.upstream(), Patience::Waits).await {
        Ok(Examined { unavailable: Some(unavailable), .. }) => {
            Attempt::Done(call.end(&Ending::Unavailable(unavailable)))
        }
        Ok(Examined { missing, .. }) if missing.is_empty() => {
            let server = caller.upstream().title.get("en");
            let text = format!("{server} is connected. List its tools again to see them.");
            Attempt::Done(result(call, json!({ "content": [{ "type": "text", "text": text }] })))
        }
        Ok(Examined { missing, .. }) => Attempt::Ask(missing),
        Err(error) => Attempt::Done(call.end(&Ending::Store(error))),
    }
}

/// Answers in place of an upstream that refused `call`; `None` where nothing is missing or we have nothing to say.
pub(super) async fn stand_in(call: &Call) -> Option<Response> {
    if !call.caller.lacks().await {
        return None;
    }
    let empty = |member: &str| listing(call, json!({ member: [] }));
    Some(match call.method.as_str() {
        "server/discover" if call.caller.era() == Era::Modern => discovery(call),
        "subscriptions/listen" if call.caller.era() == Era::Modern => listen::open(call),
        "tools/list" => {
            tell_when_renewed(call);
            listing(call, json!({ "tools": [tool(call)] }))
        }
        "prompts/list" => empty("prompts"),
        "resources/list" => empty("resources"),
        "resources/templates/list" => empty("resourceTemplates"),
        "ping" => result(call, json!({})),
        _ => return None,
    })
}

/// A token that had expired, and for which no listing waits, is renewed meanwhile: a session whose client saw our tool alone then
/// hears that the tools have changed. In the modern era [`listen`] says so.
fn tell_when_renewed(call: &Call) {
    let Some(session) = call.caller.session.clone() else { return };
    let caller = call.caller.clone();
    tokio::spawn(async move {
        let examined = caller.app.broker.lacking(&caller.principal, caller.upstream(), Patience::Waits).await;
        if examined.is_ok_and(|examined| examined.missing.is_empty() && examined.unavailable.is_none())
            && let Some(stream) = caller.app.relay.streams.of(&session.key)
        {
            // A client whose stream is full or closed lists the tools by itself when it opens another one.
            let _ = stream.try_push(tools_changed());
        }
    });
}

fn tool(call: &Call) -> Value {
    let server = call.caller.upstream().title.get("en");
    let broker = &call.caller.app.broker;
    // What is asked for call by call connects nothing.
    let needs = call.caller.upstream().needs.iter().filter(|need| !broker.is_per_call(&need.provider));
    let providers: Vec<String> = needs.map(|need| title(call, &need.provider)).collect();
    json!({
        "name": CONNECT,
        "title": format!("Connect {server}"),
        "description": format!(
            "{server} shows its tools once your {} account is connected. This asks you to connect it on a page of your own; \
             afterwards list the tools again.",
            providers.join(" and ")
        ),
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
    })
}

fn discovery(call: &Call) -> Response {
    let server = call.caller.upstream().title.get("en");
    let discovered = json!({
        "supportedVersions": [call.screen.revision.as_str()],
        "capabilities": { "tools": { "listChanged": true } },
        "instructions": format!("{server} must be connected before it shows its tools: call the tool `{CONNECT}`."),
    });
    listing(call, discovered)
}

/// What clients must not keep: it changes with the first connection.
fn listing(call: &Call, mut listed: Value) -> Response {
    if call.caller.era() == Era::Modern {
        listed["ttlMs"] = json!(0);
        listed["cacheScope"] = json!("private");
    }
    result(call, listed)
}

fn result(call: &Call, mut value: Value) -> Response {
    if call.caller.era() == Era::Modern {
        value["resultType"] = json!("complete");
    }
    reply::result(&call.id, &value.to_string())
}
