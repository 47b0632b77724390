//! The stream of a call that waits for a person: kept alive, with progress for callers that asked for it, and closed early
//! by a client that leaves.

use std::{pin::Pin, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use elicit::codes;
use futures_util::StreamExt;
use http::header;
use http_body_util::BodyExt;
use serde_json::value::RawValue;
use tokio::time::MissedTickBehavior;
use usher_store::{InteractionId, SessionKey};

use super::{
    call::Call,
    pipe::{self, Gone, Pipe, Writer},
    reply,
    resume::Listed,
    upstream::UpstreamError,
};
use crate::mcp::{
    envelope::{Message, error_object, error_text, text_of},
    headers::is_type,
    sse::{Event, Events, KEEP_ALIVE, message_event},
};

/// The writing side of a held call's stream.
pub(super) struct Held {
    writer: Writer,
    every: Duration,
    progress_token: Option<Box<RawValue>>,
    /// Progress notifications sent so far.
    progress: u32,
    /// Whose answer it brings.
    call: Option<Answering>,
}

/// The call that a stream answers.
struct Answering {
    id: Box<RawValue>,
    upstream: String,
}

/// The most progress notifications of ours on one stream: 999 of them last for four hours.
const PROGRESS_AT_MOST: u32 = 999;

/// Opens the stream of `call`, which ends when its client leaves: the writing side, and the response that carries it.
pub(super) fn of(call: &Call) -> (Held, Response) {
    let (writer, body) = pipe::open(&call.caller.app.relay.pace);
    (Held::new(call, writer), reply::events(body))
}

/// Opens the stream of a legacy `call`, which waits a while for a client that comes back to it.
pub(super) fn resumable(call: &Call, session: &SessionKey) -> (Held, Response, Option<Listed>) {
    let app = &call.caller.app;
    let (writer, body, listed) = app.relay.resumes.open(session, &call.id, &app.relay.pace, &*app.random);
    (Held::new(call, writer), reply::events(body), listed)
}

impl Held {
    fn new(call: &Call, writer: Writer) -> Self {
        let answering = Answering { id: call.id.clone(), upstream: call.caller.upstream().name.clone() };
        Self::open(writer, call.caller.app.relay.pace.keep_alive, call.progress_token.clone(), Some(answering))
    }

    fn open(writer: Writer, every: Duration, token: Option<Box<RawValue>>, call: Option<Answering>) -> Self {
        Self { writer, every, progress_token: token, progress: 0, call }
    }

    /// The stream.
    pub(super) fn pipe(&self) -> Pipe {
        Pipe::clone(&self.writer)
    }

    /// Sends one JSON-RPC message.
    pub(super) async fn message(&self, message: &str) -> Result<(), Gone> {
        self.writer.room().await?;
        if self.writer.keep(&message_event(message), None) { Ok(()) } else { Err(Gone) }
    }

    /// Sends a completion notice, for which room was waited for before it was claimed. False where it is lost.
    pub(super) fn notice(&self, message: &str, interaction: &InteractionId) -> bool {
        self.writer.keep(&message_event(message), Some(interaction))
    }

    /// Runs `waiting` to its end while the stream is kept alive; `what` is said in progress notifications.
    pub(super) fn during<T>(
        &mut self,
        what: &str,
        waiting: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, Gone>> {
        self.alive(Some(what), Box::pin(waiting))
    }

    /// The same with comments alone: the call goes on, and progress is the upstream's to tell.
    pub(super) fn quietly<T>(&mut self, waiting: impl Future<Output = T>) -> impl Future<Output = Result<T, Gone>> {
        self.alive(None, Box::pin(waiting))
    }

    /// What is waited for lies on the heap: within this future it would take its place several times.
    async fn alive<T>(
        &mut self,
        what: Option<&str>,
        mut waiting: Pin<Box<impl Future<Output = T>>>,
    ) -> Result<T, Gone> {
        let mut ticks = tokio::time::interval(self.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            tokio::select! {
                done = &mut waiting => return Ok(done),
                () = self.writer.gone() => return Err(Gone),
                _ = ticks.tick() => {
                    let event = self.sign_of_life(what);
                    self.writer.sign_of_life(event);
                }
            }
        }
    }

    /// Progress goes only to a caller that gave a token; anybody else gets a comment. Nobody needs it twice, so it is not
    /// kept.
    ///
    /// Progress must grow, and the upstream's own begins at 0 or above once the call goes on. Ours stays below it, and so
    /// near to 0 that whoever shows it shows 0: -0.000999, -0.000998 and so on.
    fn sign_of_life(&mut self, what: Option<&str>) -> Bytes {
        let (Some(what), Some(token)) = (what, &self.progress_token) else { return KEEP_ALIVE };
        if self.progress >= PROGRESS_AT_MOST {
            return KEEP_ALIVE;
        }
        let progress = PROGRESS_AT_MOST - self.progress;
        self.progress += 1;
        let message = serde_json::Value::from(what);
        message_event(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":-0.000{progress:03},"message":{message}}}}}"#,
            token.get(),
        ))
    }

    /// Ends the stream with `response`: its events as they are, or its JSON as one event. A held call never ends without
    /// an answer: what is none is replaced by an error that names the upstream.
    pub(super) async fn finish(self, response: Response) {
        let is_stream = is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream");
        let status = response.status();
        let mut body = response.into_body();
        if is_stream {
            // A client that has left needs no answer, and one that resumes at the upstream gets it there.
            let _ = self.pass(body).await;
            return;
        }
        let mut json = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                json.extend_from_slice(&data);
            }
        }
        let answer = match &self.call {
            Some(call) if !call.is_answered_by(&json) => call.unanswered(status),
            // What we and the upstreams send as JSON was read as UTF-8 before.
            _ => String::from_utf8_lossy(&json).into_owned(),
        };
        // A reader that has left needs no answer.
        let _ = self.message(&answer).await;
    }

    /// Passes the events of an upstream's stream. Where they have no ids they get ours, so that a client which comes back
    /// finds its answer; from the first that has one on, the client resumes at the upstream.
    async fn pass(&self, body: Body) -> Result<(), Gone> {
        let mut chunks = body.into_data_stream();
        let mut events = Events::default();
        let mut passing = Passing { begun: false, handed_over: false };
        loop {
            let chunk = tokio::select! {
                chunk = chunks.next() => chunk,
                () = self.writer.gone() => return Err(Gone),
                () = self.writer.left(), if passing.handed_over => return Err(Gone),
            };
            let Some(Ok(chunk)) = chunk else { break };
            if events.push(&chunk).is_err() {
                return Err(Gone);
            }
            while let Some(event) = events.next_event() {
                self.writer.room().await?;
                self.put(event, &mut passing)?;
            }
        }
        self.writer.push(events.rest());
        Ok(())
    }

    fn put(&self, mut event: Event, passing: &mut Passing) -> Result<(), Gone> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if !std::mem::replace(&mut passing.begun, true) && event.raw.starts_with(MARK) {
            // It marked the beginning of a stream, and here it does not stand there.
            event.raw = event.raw.slice(MARK.len()..);
        }
        let is_put = if passing.handed_over {
            self.writer.push(event.raw)
        } else if event.has_id() {
            passing.handed_over = true;
            self.writer.hand_over(event.raw)
        } else if event.data().is_some() {
            self.writer.keep(&event.raw, None)
        } else {
            // A comment is for whoever reads now.
            self.writer.push(event.raw);
            true
        };
        if is_put { Ok(()) } else { Err(Gone) }
    }
}

/// How far an upstream's stream has come.
struct Passing {
    begun: bool,
    /// The upstream's events have ids of their own.
    handed_over: bool,
}

impl Answering {
    fn is_answered_by(&self, json: &[u8]) -> bool {
        let Ok(Message::Response { id, .. }) = Message::parse(json) else { return false };
        id.get() == self.id.get() || text_of(id).is_some_and(|text| text_of(&self.id) == Some(text))
    }

    fn unanswered(&self, status: http::StatusCode) -> String {
        let what = format!("HTTP {}", status.as_u16());
        let error = UpstreamError::Garbage { name: self.upstream.clone(), what };
        error_text(Some(&self.id), &error_object(codes::INTERNAL_ERROR, &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::Pace;

    fn open(every: Duration, token: Option<Box<RawValue>>) -> (Held, Response) {
        let (writer, body) = pipe::open(&Pace::default());
        (Held::open(writer, every, token, None), reply::events(body))
    }

    /// What a caller with this progress token reads while a call is held a moment, up to the `count`th event.
    async fn read(token: Option<&str>, count: usize) -> String {
        let token = token.map(|token| RawValue::from_string(token.to_owned()).unwrap());
        let (mut held, response) = open(Duration::from_millis(1), token);
        tokio::spawn(async move { held.during("Waiting for you", std::future::pending::<()>()).await.map_err(|_| ()) });
        let mut chunks = response.into_body().into_data_stream();
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(std::str::from_utf8(&chunks.next().await.unwrap().unwrap()).unwrap());
        }
        text
    }

    /// Progress goes only to a caller that gave a token, with that very token, grows, and stays below whatever the
    /// upstream says itself.
    #[tokio::test]
    async fn a_caller_with_a_token_gets_progress() {
        let text = read(Some("9007199254740993"), 20).await;
        for part in ["notifications/progress", "\"progressToken\":9007199254740993", "Waiting for you"] {
            assert!(text.contains(part), "{text}");
        }
        let values: Vec<f64> =
            text.split("\"progress\":").skip(1).map(|rest| rest.split(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!(values.len(), 20);
        assert!(
            values.windows(2).all(|pair| pair[0] < pair[1]) && values.iter().all(|value| *value < 0.0),
            "{values:?}"
        );
    }

    #[tokio::test]
    async fn progress_that_is_used_up_becomes_comments() {
        let token = RawValue::from_string("1".to_owned()).unwrap();
        let (mut held, _response) = open(Duration::from_mins(1), Some(token));
        let mut last = Bytes::new();
        for _ in 0..PROGRESS_AT_MOST {
            last = held.sign_of_life(Some("x"));
        }
        assert!(String::from_utf8_lossy(&last).contains("\"progress\":-0.000001,"));
        assert_eq!(held.sign_of_life(Some("x")), KEEP_ALIVE);
    }

    /// Once the call goes on, progress is the upstream's to tell.
    #[tokio::test]
    async fn a_call_that_goes_on_says_nothing_of_progress() {
        let token = RawValue::from_string("1".to_owned()).unwrap();
        let (mut held, response) = open(Duration::from_millis(1), Some(token));
        tokio::spawn(async move { held.quietly(std::future::pending::<()>()).await.map_err(|_| ()) });
        let mut chunks = response.into_body().into_data_stream();
        assert_eq!(chunks.next().await.unwrap().unwrap(), KEEP_ALIVE);
    }

    #[tokio::test]
    async fn a_caller_without_a_token_gets_nothing_but_comments() {
        let text = read(None, 3).await;
        assert!(!text.is_empty() && text.lines().all(|line| line.is_empty() || line.starts_with(':')), "{text}");
    }

    /// R-SEC-04: a reader that leaves ends the wait.
    #[tokio::test]
    async fn a_reader_that_leaves_ends_the_wait() {
        let (mut held, response) = open(Duration::from_mins(1), None);
        drop(response);
        assert!(held.during("x", std::future::pending::<()>()).await.is_err());
        assert!(held.message("{}").await.is_err());
    }

    /// What a held call with the id `"a"` ends with.
    async fn ended(status: u16, json: &'static str) -> String {
        let (mut held, response) = open(Duration::from_mins(1), None);
        let id = RawValue::from_string("\"a\"".to_owned()).unwrap();
        held.call = Some(Answering { id, upstream: "weather".to_owned() });
        let answer = reply::json(http::StatusCode::from_u16(status).unwrap(), json.to_owned());
        held.finish(answer).await;
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// R-SEC-04: a held call ends with a response to itself, whatever the upstream says.
    #[tokio::test]
    async fn what_is_no_answer_becomes_an_error_that_names_the_upstream() {
        for (status, json) in [
            (400, r#"{"error":"bad request"}"#),
            (400, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no id"}}"#),
            (422, ""),
            (200, r#"{"jsonrpc":"2.0","id":"b","result":{}}"#),
            (200, r#"{"jsonrpc":"2.0","id":"a","#),
        ] {
            let text = ended(status, json).await;
            assert!(text.contains("\"id\":\"a\"") && text.contains("the server weather"), "{json}: {text}");
            assert!(text.contains("-32603") && text.contains(&format!("HTTP {status}")), "{json}: {text}");
        }
        for json in [
            r#"{"jsonrpc":"2.0","id":"a","result":{"n":1e999}}"#,
            r#"{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32001,"message":"theirs"}}"#,
        ] {
            assert_eq!(ended(200, json).await, format!("event: message\ndata: {json}\n\n"), "passes as it is");
        }
    }
}
