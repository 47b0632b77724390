use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::response::Response;
use futures_util::future;
use http::{HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::output::{Head, Output, Watch, event_stream};
use super::rounds::Start;
use super::script::{End, Step};
use super::{Answered, Call, Exchange, Inner, Question, Script};
use crate::door::Switch;
use crate::record::lock;
use crate::{Era, Outcome, Recorded, json, quote, sse};

/// One request that a script answers.
pub(super) struct Task {
    pub(super) inner: Arc<Inner>,
    pub(super) entry: Recorded,
    pub(super) era: Era,
    pub(super) session: String,
    /// JSON text.
    pub(super) id: String,
    pub(super) method: String,
    /// JSON text; `{}` where there is none.
    pub(super) params: String,
    pub(super) switch: Switch,
    pub(super) detached: Arc<AtomicBool>,
}

/// Runs the script beside the connection, and returns what the client gets.
pub(super) async fn respond(task: Task, script: Script) -> Response {
    let (inner, entry) = (Arc::clone(&task.inner), task.entry.clone());
    let (detached, switch) = (Arc::clone(&task.detached), task.switch.clone());
    let key = (task.session.clone(), task.id.clone());
    let headers = script.headers.clone();
    let (output, head) = Output::new(script.piece);
    let legacy = task.era == Era::Legacy;
    let handle = start(task, script, output, &key);
    let running = legacy.then_some(key);
    let watch = Watch {
        inner: Arc::clone(&inner),
        entry: entry.clone(),
        task: Some(handle),
        running,
        switch: Some(switch),
        detached,
    };
    let mut response = match head.await {
        Ok(Head::Whole(response)) => response,
        Ok(Head::Stream(receiver)) => event_stream(receiver, watch),
        Err(_) if entry.outcome() == Outcome::Cancelled => Response::builder()
            .header(header::CONTENT_TYPE, "text/event-stream")
            .body(Body::empty())
            .expect("fixed headers"),
        // The connection was cut, and this future ends with it.
        Err(_) => future::pending().await,
    };
    for (name, value) in headers {
        let name: HeaderName = name.parse().expect("a header name");
        response.headers_mut().insert(name, HeaderValue::from_str(&value).expect("a header value"));
    }
    response
}

fn start(task: Task, script: Script, output: Output, key: &Exchange) -> AbortHandle {
    let (inner, entry, era) = (Arc::clone(&task.inner), task.entry.clone(), task.era);
    // Held until the entry is there, since the task removes it at its end.
    let mut running = lock(&inner.running);
    let handle = tokio::spawn(task.run(script, output)).abort_handle();
    if era == Era::Legacy {
        running.insert(key.clone(), (entry, handle.clone()));
    }
    drop(running);
    lock(&inner.tasks).push(handle.clone());
    handle
}

impl Task {
    async fn run(self, script: Script, mut output: Output) {
        let checked = self.era == Era::Modern && !script.any_state;
        let start = if checked { self.resume(&script) } else { Ok(Start::default()) };
        let start = match start {
            Ok(start) => start,
            Err(text) => {
                let error = format!(r#"{{"code":-32602,"message":{}}}"#, quote(&text));
                return self.end(&End::Error(error), &mut output, Vec::new()).await;
            }
        };
        let mut answers = start.answers;
        for (place, step) in script.steps.iter().enumerate() {
            // A retry checks headers again, and goes on where the question was.
            let done = start.place.is_some_and(|at| place < at);
            match step {
                Step::Require { header, value, refusal } => {
                    if self.entry.header(header) != Some(value) {
                        return self.refuse(refusal, &mut output);
                    }
                }
                Step::Token { book, refusal } => {
                    let bearer = self.entry.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
                    if bearer.and_then(|token| book.look_up(token)).is_none() {
                        return self.refuse(refusal, &mut output);
                    }
                }
                _ if done => {}
                Step::Raw(text) => output.send(text.clone()),
                Step::Progress { progress, total, message } => {
                    if let Some(text) = self.progress(*progress, *total, message.as_deref()) {
                        output.send(text);
                    }
                }
                Step::Wait(gate) => gate.pass().await,
                Step::Stream => output.open_stream(),
                Step::Cut(last_event_id) => {
                    let (sender, receiver) = mpsc::unbounded_channel();
                    lock(&self.inner.resumable).insert(last_event_id.clone(), receiver);
                    self.detached.store(true, Ordering::SeqCst);
                    output.move_to(sender);
                }
                Step::Ask(question) if self.era == Era::Legacy => {
                    let Some(new) = self.ask_legacy(question, &mut output).await else {
                        let error = r#"{"code":-32000,"message":"nobody answered the question"}"#;
                        return self.end(&End::Error(error.into()), &mut output, answers).await;
                    };
                    answers.extend(new);
                }
                Step::Ask(question) => {
                    let given = |key: &str| answers.iter().any(|answer| answer.key == key);
                    let complete = question.asks.iter().all(|ask| given(&ask.key));
                    if start.place != Some(place) || !complete {
                        let result = self.input_required(question, place, &answers);
                        return self.end(&End::Result(result), &mut output, answers).await;
                    }
                }
                Step::End(end) => return self.end(end, &mut output, answers).await,
            }
        }
        let end = End::Text { text: "ok".to_owned(), failed: false };
        self.end(&end, &mut output, answers).await;
    }

    fn refuse(&self, refusal: &super::Refusal, output: &mut Output) {
        self.inner.log.settle(&self.entry, Outcome::Answered);
        output.response(super::serve::refused(refusal));
    }

    async fn end(&self, end: &End, output: &mut Output, answers: Vec<Answered>) {
        let answer = match end {
            End::Result(raw) => format!("\"result\":{raw}"),
            End::Made(make) => format!("\"result\":{}", make(&self.call(answers))),
            End::Error(raw) => format!("\"error\":{raw}"),
            End::Text { text, failed } => self.text(text, *failed),
            End::Body { status, kind, bytes } => {
                self.inner.log.settle(&self.entry, Outcome::Answered);
                if output.is_stream() {
                    output.send(bytes.clone());
                } else {
                    output.whole(*status, kind, bytes.clone());
                }
                return;
            }
            End::Drop => {
                self.inner.log.settle(&self.entry, Outcome::Dropped);
                output.cut(&self.switch);
                // Holds the stream open until the connection is gone.
                return future::pending().await;
            }
            End::Silence => return future::pending().await,
        };
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, self.id);
        // Before the last byte leaves, so that a client that saw it cannot be taken for one that left.
        self.inner.log.settle(&self.entry, Outcome::Answered);
        lock(&self.inner.running).remove(&(self.session.clone(), self.id.clone()));
        if output.is_stream() || self.inner.config.always_sse {
            output.send(sse::event(&body));
        } else {
            output.whole(self.status(&body), "application/json", body.into());
        }
    }

    fn status(&self, body: &str) -> StatusCode {
        match (self.era, json::at(body, &["error", "code"])) {
            (Era::Modern, Some("-32601")) => StatusCode::NOT_FOUND,
            (Era::Modern, Some("-32020" | "-32021" | "-32022")) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }

    fn call(&self, answers: Vec<Answered>) -> Call {
        Call {
            era: self.era,
            headers: self.entry.headers.clone(),
            params: self.params.clone(),
            session: (self.era == Era::Legacy).then(|| self.session.clone()),
            answers,
        }
    }

    fn text(&self, text: &str, failed: bool) -> String {
        let text = quote(text);
        let block = format!(r#"{{"type":"text","text":{text}}}"#);
        let mut members = match self.method.as_str() {
            "prompts/get" | "resources/read" if failed => {
                return format!(r#""error":{{"code":-32603,"message":{text}}}"#);
            }
            "prompts/get" => format!(r#""messages":[{{"role":"user","content":{block}}}]"#),
            "resources/read" => {
                let uri = json::at(&self.params, &["uri"]).unwrap_or("\"\"");
                format!(r#""contents":[{{"uri":{uri},"text":{text}}}]"#)
            }
            _ => format!(r#""content":[{block}]"#),
        };
        if failed {
            members.push_str(r#","isError":true"#);
        }
        if self.era == Era::Modern {
            members.push_str(r#","resultType":"complete""#);
            if self.method == "resources/read" {
                members.push_str(r#","ttlMs":0,"cacheScope":"private""#);
            }
        }
        format!(r#""result":{{{members}}}"#)
    }

    fn progress(&self, progress: u64, total: Option<u64>, message: Option<&str>) -> Option<String> {
        let token = json::at(&self.params, &["_meta", "progressToken"])?;
        let mut params = format!(r#""progressToken":{token},"progress":{progress}"#);
        if let Some(total) = total {
            let _ = write!(params, r#","total":{total}"#);
        }
        if let Some(message) = message {
            let _ = write!(params, r#","message":{}"#, quote(message));
        }
        Some(sse::event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{params}}}}}"#)))
    }

    fn input_required(&self, question: &Question, place: usize, answers: &[Answered]) -> String {
        let mut result = String::from(r#"{"resultType":"input_required""#);
        if !question.asks.is_empty() {
            let _ = write!(result, r#","inputRequests":{}"#, question.input_requests());
        }
        if !question.stateless {
            let state = self.remember(question, place, answers);
            let _ = write!(result, r#","requestState":{}"#, quote(&state));
        }
        result.push('}');
        result
    }

    /// Sends the requests on the stream of the call and waits for all answers; `None` after the patience is over.
    async fn ask_legacy(&self, question: &Question, output: &mut Output) -> Option<Vec<Answered>> {
        let mut waiting = Vec::new();
        for ask in &question.asks {
            // As in real servers each session counts for itself, so equal ids meet at the gateway.
            let count = |session: &mut super::sessions::Session| {
                session.questions += 1;
                session.questions - 1
            };
            let id = self.inner.with_session(&self.session, count).unwrap_or_default().to_string();
            let (sender, receiver) = oneshot::channel();
            lock(&self.inner.questions).insert((self.session.clone(), id.clone()), sender);
            let (method, params) = (quote(&ask.method), ask.params(Era::Legacy));
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#);
            if question.on_get {
                self.inner.push(Some(&self.session), &sse::event(&text)).await;
            } else {
                output.send(sse::event(&text));
            }
            waiting.push((ask.key.clone(), receiver));
        }
        let mut answers = Vec::new();
        for (key, receiver) in waiting {
            let answer = tokio::time::timeout(self.inner.config.patience, receiver).await;
            let Ok(Ok(answer)) = answer else {
                self.inner.violation(format!("{} (id {}): no answer to {key}", self.method, self.id));
                return None;
            };
            answers.push(Answered { key, ..answer });
        }
        Some(answers)
    }
}
