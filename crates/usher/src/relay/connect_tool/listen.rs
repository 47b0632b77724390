//! `subscriptions/listen` in place of an upstream that refuses it: the stream says when the tools changed, which they do when
//! the person has connected, and then ends in order, so that the client subscribes anew and reaches the upstream.

use axum::response::Response;
use bytes::Bytes;
use elicit::RawObject;
use tokio::time::MissedTickBehavior;
use usher_store::{CredentialKey, Event};

use super::super::{
    call::Call,
    listen,
    pipe::{self, Gone, Pipe},
    reply,
};
use crate::{
    broker::Patience,
    mcp::{
        envelope::Message,
        sse::{KEEP_ALIVE, message_event},
    },
};

/// Opens the stream.
pub(super) fn open(call: &Call) -> Response {
    let (writer, body) = pipe::open(&call.caller.app.relay.pace);
    let call = call.clone();
    tokio::spawn(async move {
        // A client that has left hears nothing more.
        let _ = run(&call, &writer).await;
    });
    reply::events(body)
}

async fn run(call: &Call, pipe: &Pipe) -> Result<(), Gone> {
    let app = &call.caller.app;
    // Before the question whether something is missing, so that nothing is missed in between.
    let mut events = app.store.events();
    let wants_tools = wants_tools(call);
    let agreed = if wants_tools { r#"{"toolsListChanged":true}"# } else { "{}" };
    pipe.send(notification(call, "notifications/subscriptions/acknowledged", Some(agreed))).await?;
    let keys: Vec<CredentialKey> = call
        .caller
        .upstream()
        .needs
        .iter()
        .map(|need| CredentialKey::of(&call.caller.principal.user, &need.provider))
        .collect();
    let mut ticks = tokio::time::interval(app.relay.pace.keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let connected = loop {
        let look = tokio::select! {
            () = pipe.gone() => return Ok(()),
            () = app.stopping.cancelled() => break false,
            _ = ticks.tick() => {
                pipe.sign_of_life(KEEP_ALIVE);
                true
            }
            event = events.recv() => match event {
                Ok(Event::Credential(key)) => keys.contains(&key),
                Ok(Event::Interaction(_) | Event::Session(_)) => false,
                Ok(Event::Everything) | Err(_) => true,
            },
        };
        if look
            && app
                .broker
                .lacking(&call.caller.principal, call.caller.upstream(), Patience::Never)
                .await
                .is_ok_and(|examined| examined.missing.is_empty())
        {
            break true;
        }
    };
    if connected && wants_tools {
        pipe.send(notification(call, "notifications/tools/list_changed", None)).await?;
    }
    listen::tear_down(&call.id, pipe).await;
    Ok(())
}

/// Whether the client asked to hear of changed tools.
fn wants_tools(call: &Call) -> bool {
    let Ok(Message::Request { params: Some(params), .. }) = Message::parse(&call.body) else { return false };
    let Ok(params) = RawObject::parse(params.get()) else { return false };
    let Some(Ok(filter)) = params.get("notifications").map(|filter| RawObject::parse(filter.get())) else {
        return false;
    };
    filter.get("toolsListChanged").is_some_and(|wanted| wanted.get() == "true")
}

fn notification(call: &Call, method: &str, filter: Option<&str>) -> Bytes {
    let meta = format!(r#"{{"io.modelcontextprotocol/subscriptionId":{}}}"#, call.id.get());
    let filter = filter.map_or_else(String::new, |filter| format!(r#","notifications":{filter}"#));
    message_event(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{meta}{filter}}}}}"#))
}
