//! What an upstream sends, looked at before a client gets it: a question in a mode that the client did not declare does not
//! reach it (R-CAP-03), nor a form that is none (R-FORM-02), nor a message that its era does not have (R-ERR-03). Everything
//! else passes as it came.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use elicit::{
    ASKING_METHODS, ClientCapabilities, Elicitation, ElicitationError, Era, InputRequest, InputRequired, Modes,
    RawObject, Revision, WireError, codes, missing_capability, text,
};
use futures_util::stream;
use http::{Method, StatusCode};
use serde_json::value::RawValue;
use usher_store::Session;

use super::{
    call::{Call, Caller},
    forward, rounds,
    upstream::Answer,
};
use crate::mcp::{
    envelope::{EnvelopeError, Message, error_object, error_text, text_of, with_part},
    sse::{Event, Events, KEEP_ALIVE, message_event},
};

/// What a client may get.
#[derive(Clone)]
pub(super) struct Screen {
    pub(super) revision: Revision,
    declared: Declared,
}

/// Where the client's capabilities stand.
#[derive(Clone)]
enum Declared {
    Session(Arc<Session>),
    Request(Arc<ClientCapabilities>),
}

/// What becomes of one message of an upstream.
pub(super) enum Screened {
    /// Passes as it came.
    Pass,
    /// This goes instead. The status counts where the message is a whole response body.
    Replace { status: StatusCode, text: String },
    /// Nothing goes.
    Drop,
}

impl Screen {
    /// For the client of a legacy session.
    pub(super) fn of_session(session: &Arc<Session>) -> Self {
        Self { revision: session.revision, declared: Declared::Session(Arc::clone(session)) }
    }

    /// For a modern request, which says what its client can do.
    pub(super) fn of_request(revision: Revision, capabilities: ClientCapabilities) -> Self {
        Self { revision, declared: Declared::Request(Arc::new(capabilities)) }
    }

    /// What the client declared.
    pub(super) fn capabilities(&self) -> &ClientCapabilities {
        match &self.declared {
            Declared::Session(session) => &session.capabilities,
            Declared::Request(capabilities) => capabilities,
        }
    }

    /// The modes of elicitation that the client declared.
    pub(super) fn modes(&self) -> Modes {
        self.capabilities().modes(self.revision)
    }

    /// Looks at one message of the upstream on a call's way back; `text` is what it was read from.
    pub(super) fn message(&self, call: &Call, text: &str, message: &Message<'_>) -> Screened {
        match (self.revision.era(), message) {
            (Era::Modern, Message::Request { .. }) => Screened::Drop,
            (Era::Modern, Message::Notification { method, .. }) if method == COMPLETE => Screened::Drop,
            (Era::Modern, Message::Response { outcome: Ok(result), .. }) => modern_result(self, call, text, result),
            (Era::Modern, Message::Response { id, outcome: Err(error) }) => self.error(&call.caller, id, error),
            (Era::Legacy, message) => self.legacy(&call.caller, message),
            _ => Screened::Pass,
        }
    }

    /// Looks at one message of a legacy upstream, on any stream.
    pub(super) fn legacy(&self, caller: &Caller, message: &Message<'_>) -> Screened {
        match message {
            Message::Request { id, method, params } if method == "elicitation/create" => {
                let question = Elicitation::parse(params.map_or("{}", RawValue::get), self.revision);
                match question.and_then(|question| question.within(self.modes())) {
                    Ok(_) => Screened::Pass,
                    Err(error) => {
                        refuse(caller, id, &error);
                        Screened::Drop
                    }
                }
            }
            Message::Notification { method, .. } if method == COMPLETE && !self.modes().url => Screened::Drop,
            // An answer comes on the call's own stream, or on one that resumes it.
            Message::Response { id, outcome: Err(error) } => self.error(caller, id, error),
            _ => Screened::Pass,
        }
    }

    /// Looks at the data of one event by `look`, which gets each message in it.
    pub(super) fn data(&self, data: &str, mut look: impl FnMut(&Message<'_>) -> Screened) -> Screened {
        if !matters(data) {
            return Screened::Pass;
        }
        let harmless = match Message::parse(data.as_bytes()) {
            Ok(message) => return look(&message),
            // Batches were a part of revision 2025-03-26.
            Err(EnvelopeError::Batch) => serde_json::from_str::<Vec<&RawValue>>(data).is_ok_and(|messages| {
                messages.iter().all(|raw| {
                    Message::parse(raw.get().as_bytes()).is_ok_and(|message| matches!(look(&message), Screened::Pass))
                })
            }),
            // No message; but a reader that is less strict than we are could take it for one.
            Err(_) => !could_ask(data, self.revision.era()),
        };
        if harmless {
            return Screened::Pass;
        }
        tracing::warn!("a malformed message of an upstream was dropped");
        Screened::Drop
    }

    /// -32042 belongs to url mode and to the legacy era.
    fn error(&self, caller: &Caller, id: &RawValue, error: &RawValue) -> Screened {
        if self.modes().url && self.revision.era() == Era::Legacy || !requires_url(error) {
            return Screened::Pass;
        }
        let text =
            format!("the server {} wants a page to be visited, and this app cannot show it", caller.upstream().name);
        let error = error_object(codes::INTERNAL_ERROR, &text);
        Screened::Replace { status: StatusCode::OK, text: error_text(Some(id), &error) }
    }
}

/// The completion notice.
pub(super) const COMPLETE: &str = "notifications/elicitation/complete";

/// Whether an error has the code -32042, however the number is written: many readers know one kind of number only.
fn requires_url(error: &RawValue) -> bool {
    const CODE: f64 = -32_042.0;
    match RawObject::parse(error.get()) {
        Ok(object) => {
            let code = object.get("code").and_then(|code| code.get().parse::<f64>().ok());
            code.is_some_and(|code| (code - CODE).abs() < 0.5)
        }
        // With two codes each reader picks its own.
        Err(error) => error == WireError::DuplicateKey,
    }
}

fn replace(status: StatusCode, call: &Call, error: &serde_json::Value) -> Screened {
    Screened::Replace { status, text: error_text(Some(&call.id), error) }
}

/// A modern result: questions are checked, and the upstream's state is sealed into ours, so that every state which comes
/// back is bound to this principal, upstream and call (R-MRTR-02).
fn modern_result(screen: &Screen, call: &Call, text: &str, result: &RawValue) -> Screened {
    if !result.get().contains("input_required") && !result.get().contains(ESCAPE) {
        return Screened::Pass;
    }
    let name = &call.caller.upstream().name;
    let fault = |what: &str| {
        tracing::warn!(upstream = name, method = call.method, what, "an upstream's question was stopped");
        replace(StatusCode::OK, call, &error_object(codes::INTERNAL_ERROR, &format!("the server {name} {what}")))
    };
    let required = match InputRequired::parse(result.get()) {
        Ok(Some(required)) => required,
        // What an extension defines is between the two that declared it (R-MRTR-07).
        Ok(None) | Err(WireError::UnknownResultType) => return Screened::Pass,
        Err(_) => return fault("asked in a way that the protocol does not have"),
    };
    if !ASKING_METHODS.contains(&call.method.as_str()) {
        return fault("asked where the protocol allows no question");
    }
    if let Some(capabilities) = required.undeclared(screen.capabilities(), screen.revision) {
        let text = format!("the server {name} asks for something that this app did not declare");
        return replace(StatusCode::BAD_REQUEST, call, &missing_capability(&text, capabilities));
    }
    let question = |request: &InputRequest<'_>| request.elicitation(screen.revision, screen.modes());
    if let Some(error) = required.requests.iter().find_map(|request| question(request).err()) {
        return fault(&format!("asked a question that cannot be shown: {error}"));
    }
    let state = required.request_state.as_deref();
    // Without a state of its own, the round must still bring back what this call has used up.
    if state.is_none() && call.next_round.is_empty() {
        return Screened::Pass;
    }
    let sealed = match rounds::seal_upstream(call, state) {
        Ok(sealed) => sealed,
        Err(error) => {
            tracing::warn!(upstream = name, %error, "an upstream's state cannot be carried");
            return fault("sent a state that cannot be carried");
        }
    };
    match with_state(text, result, &serde_json::Value::from(sealed).to_string()) {
        Some(text) => Screened::Replace { status: StatusCode::OK, text },
        None => fault("answered with what is no object"),
    }
}

/// `text` with the `requestState` of `result` replaced by ours, or added.
fn with_state(text: &str, result: &RawValue, state: &str) -> Option<String> {
    let mut object = RawObject::parse(result.get()).ok()?;
    if let Some(theirs) = object.get("requestState") {
        return with_part(text, theirs, state);
    }
    object.set("requestState", state.to_owned());
    with_part(text, result, &object.to_json())
}

/// Tells the upstream that its question cannot be asked, and why, in the background: the client's stream does not wait for
/// it.
fn refuse(caller: &Caller, id: &RawValue, error: &ElicitationError) {
    let text = error.to_string();
    let Ok(turn) = Arc::clone(&caller.app.relay.refusals).try_acquire_owned() else {
        tracing::warn!(
            upstream = caller.upstream().name,
            "more questions than can be refused: one is dropped without a word"
        );
        return;
    };
    let body = error_text(Some(id), &error_object(error.code(), &text));
    // The question may have come on a GET stream, whose request was no POST.
    let caller = caller.for_post();
    tokio::spawn(async move {
        tracing::info!(upstream = caller.upstream().name, reason = %text::line(&text, 300), "a question was refused");
        // Without a store it goes without a credential, which an upstream may accept.
        let injection = caller.available().await.unwrap_or_default();
        if let Err(error) = forward::send(&caller, &injection, Method::POST, Bytes::from(body)).await {
            tracing::warn!(upstream = caller.upstream().name, %error, "the refusal of a question was not delivered");
        }
        drop(turn);
    });
}

/// What can hide any other text in JSON.
const ESCAPE: &str = "\\u";

/// Whether an event must be looked at more closely. Most need not be, and are not parsed.
fn matters(data: &str) -> bool {
    ["\"method\"", "\"result\"", "\"error\"", ESCAPE].iter().any(|mark| data.contains(mark))
}

/// Whether what is no message could be taken for a question, or for what the era does not have.
fn could_ask(data: &str, era: Era) -> bool {
    ["elicitation", "input_required", "32042", ESCAPE].iter().any(|mark| data.contains(mark))
        || era == Era::Modern && data.contains("\"method\"")
}

struct Stream {
    call: Call,
    response: Option<Answer>,
    events: Events,
    /// Whether the call's response has passed.
    answered: bool,
    /// Legacy: whether the upstream's events carry ids: then the client may resume, and a stream that ends is no failure.
    resumable: bool,
    /// For how long nothing has come.
    silent: Duration,
}

/// The body of a call's event stream: each piece is a whole event, or a comment of ours while there is none. When the client leaves, the upstream's stream is closed with it.
pub(super) fn stream(call: Call, response: Answer) -> Body {
    let state = Stream {
        call,
        response: Some(response),
        events: Events::default(),
        answered: false,
        resumable: false,
        silent: Duration::ZERO,
    };
    Body::from_stream(stream::unfold(state, |mut state| async {
        let bytes = state.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), state))
    }))
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            while let Some(event) = self.events.next_event() {
                if let Some(bytes) = self.look_at(event) {
                    return Some(bytes);
                }
            }
            let response = self.response.as_mut()?;
            let pace = &self.call.caller.app.relay.pace;
            let chunk = match tokio::time::timeout(pace.keep_alive, response.chunk()).await {
                Ok(Ok(Some(chunk))) if self.events.push(&chunk).is_ok() => {
                    self.silent = Duration::ZERO;
                    continue;
                }
                Ok(Ok(Some(_))) => "sent an event that is too long",
                Ok(Ok(None) | Err(_)) => "closed the stream before it answered",
                Err(_) => {
                    self.silent += pace.keep_alive;
                    // A subscription speaks when there is something to say.
                    if self.silent < pace.silent || self.call.method == "subscriptions/listen" {
                        return Some(KEEP_ALIVE);
                    }
                    "was silent for too long"
                }
            };
            self.response = None;
            if self.answered || self.resumable {
                let rest = std::mem::take(&mut self.events).rest();
                return (!rest.is_empty()).then_some(rest);
            }
            let text = format!("the server {} {chunk}", self.call.caller.upstream().name);
            let error = error_text(Some(&self.call.id), &error_object(codes::INTERNAL_ERROR, &text));
            return Some(message_event(&error));
        }
    }

    /// What goes to the client for one event.
    fn look_at(&mut self, event: Event) -> Option<Bytes> {
        self.resumable = self.resumable || self.call.caller.era() == Era::Legacy && event.has_id();
        let (call, answered) = (&self.call, &mut self.answered);
        let screened = event.data().map_or(Screened::Pass, |data| {
            call.screen.data(&data, |message| {
                *answered = *answered || matches!(message, Message::Response { .. });
                call.screen.message(call, &data, message)
            })
        });
        match screened {
            Screened::Pass => Some(event.raw),
            Screened::Replace { text, .. } => Some(event.with_data(&text)),
            Screened::Drop => None,
        }
    }
}

/// The id that a `notifications/cancelled` names.
pub(super) fn cancelled_id(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    let object = RawObject::parse(params?.get()).ok()?;
    let id = object.get("requestId")?;
    (text_of(id).is_some() || id.get().parse::<f64>().is_ok()).then(|| id.to_owned())
}
