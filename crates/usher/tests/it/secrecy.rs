//! What must never be seen: keys and answers, in no log line, no error, no row, nothing that a client gets.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use usher::identity::tokens::local_user;
use usher_testkit::upstream::{Question, Script};

use crate::harness::{ACCEPT, CALLS, Setup, Stage, answered};

/// The key that works.
const GOOD: &str = "good-key-7c1e-that-nobody-sees";
/// A key that the provider's check refuses.
const UNCHECKED: &str = "unchecked-key-52aa-that-nobody-sees";
/// A key that the check accepts and the server refuses.
const BAD: &str = "bad-key-90bd-that-nobody-sees";
/// What the person answers in a form of the server's.
const ANSWER: &str = "window-seat-13f8-that-nobody-logs";

/// Everything that was logged.
#[derive(Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Captured {
    /// What takes everything that is logged, and where it goes.
    pub fn subscriber() -> (Self, impl tracing::Subscriber + Send + Sync) {
        let captured = Self::default();
        let writer = captured.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .finish();
        (captured, subscriber)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Logs everything there is, from here on, of this whole process. The keys are this test's own, so that other tests in
/// the same process do no harm.
fn capture() -> Captured {
    let (captured, subscriber) = Captured::subscriber();
    tracing::subscriber::set_global_default(subscriber).expect("nobody else in this binary installs a subscriber");
    captured
}

fn assert_secret(place: &str, text: &str, secrets: &[&str]) {
    for secret in secrets {
        // A part of it is too much as well.
        for part in [*secret, &secret[..16]] {
            assert!(!text.contains(part), "{place} shows {part}: …{}…", around(text, part));
        }
    }
}

fn around<'t>(text: &'t str, part: &str) -> &'t str {
    let at = text.find(part).unwrap_or_default();
    let start = text[..at].char_indices().rev().nth(200).map_or(0, |(index, _)| index);
    let end = text[at..].char_indices().nth(100).map_or(text.len(), |(index, _)| at + index);
    &text[start..end]
}

fn plays(stage: &Stage) {
    stage.api.accept(&[GOOD, BAD]);
    let script = || Script::new().require("x-api-key", GOOD).text("sunny");
    stage.upstream.tool("get_forecast", script());
    stage.upstream.prompt("plan", script());
    stage.upstream.resource("weather://berlin", script());
    let form = Question::form("seat", "Which seat?", r#"{"type":"object","properties":{"seat":{"type":"string"}}}"#);
    stage.upstream.tool("book", Script::new().require("x-api-key", GOOD).ask(form).text("booked"));
}

/// Asks, refuses two keys, connects with the third, answers a form. Returns everything that the client received.
async fn modern_story(stage: &Stage, pages: &mut String) -> String {
    let client = stage.modern();
    let person = stage.person().await;
    let (method, params) = CALLS[0];
    let mut round = client.call(method, params).await;
    let mut received = round.text();
    let page = person.get(&round.url()).await;
    for key in [UNCHECKED, BAD, GOOD] {
        let page = if key == BAD { page.clone() } else { person.get(&round.url()).await };
        let next = person.agree(&page, &[("api_key", key)]).await;
        pages.push_str(&next.html);
        if key == UNCHECKED {
            assert_eq!(next.status, 422, "{}", next.describe());
            continue;
        }
        let state = round.request_state();
        round = client.retry(method, params, Some(&round.answer_all(ACCEPT)), state.as_deref()).await;
        received.push_str(&round.text());
    }
    assert!(answered(&round), "{}", round.text());
    let book = r#"{"name":"book","arguments":{}}"#;
    let seat = client.call("tools/call", book).await;
    let answer = format!(r#"{{"action":"accept","content":{{"seat":"{ANSWER}"}}}}"#);
    let state = seat.request_state();
    let booked = client.retry("tools/call", book, Some(&seat.answer_all(&answer)), state.as_deref()).await;
    assert_eq!(booked.content_text(), "booked", "{}", booked.text());
    pages.push_str(&person.get("/").await.html);
    received + &seat.text() + &booked.text()
}

/// The same in the legacy era, after the credential was disconnected.
async fn legacy_story(stage: &Stage, pages: &mut String) -> String {
    let client = stage.legacy();
    let person = stage.person().await;
    let question = person.get("/connections/weather/disconnect").await;
    pages.push_str(&question.html);
    person.agree(&question, &[]).await;
    let mut received = client.initialize().await.text();
    let mut stream = client.open(CALLS[2].0, CALLS[2].1).await;
    let mut asked = stream.expect("elicitation/create").await;
    for key in [UNCHECKED, BAD, GOOD] {
        let url = asked.string(&["params", "url"]).unwrap();
        let page = person.get(&url).await;
        let next = person.agree(&page, &[("api_key", key)]).await;
        pages.push_str(&next.html);
        if key == BAD {
            asked = stream.expect("elicitation/create").await;
        }
    }
    let reply = stream.reply().await;
    assert!(answered(&reply), "{}", reply.text());
    received.push_str(&reply.text());
    let answer = format!(r#"{{"action":"accept","content":{{"seat":"{ANSWER}"}}}}"#);
    let booked =
        client.call_answering("tools/call", r#"{"name":"book","arguments":{}}"#, |_| Some(answer.clone())).await;
    assert!(booked.text.contains("booked"), "{}", booked.text);
    received + &booked.text
}

/// Everything in the folder: database, journal, keys, tokens, control file.
fn files(stage: &Stage) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(stage.folder.path()).unwrap();
    let read = |entry: io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.display().to_string(), std::fs::read(&path).unwrap())
    };
    entries.map(read).collect()
}

/// R-OAUTH-01, R-SEC-03, R-SEC-07: a whole story in both eras at the most talkative log level: the server gets the
/// key, and nothing else shows it.
#[tokio::test]
async fn no_key_and_no_answer_is_seen_anywhere_but_where_it_belongs() {
    let captured = capture();
    let setup = Setup { check: true, ..Setup::default() };
    let mut stage = Stage::with(setup, usher_testkit::upstream::Upstream::start().await).await;
    plays(&stage);
    stage.upstream.forbid(&stage.token).forbid(UNCHECKED);
    let mut pages = String::new();
    let received = modern_story(&stage, &mut pages).await + &legacy_story(&stage, &mut pages).await;

    let sent = stage.upstream.requests();
    for key in [BAD, GOOD] {
        assert!(sent.iter().any(|request| request.header("x-api-key") == Some(key)), "the server gets {key}");
    }
    let answered = sent.iter().filter(|request| request.text().contains(ANSWER)).count();
    assert_eq!(answered, 2, "the server gets the answer, once in each era");
    stage.upstream.assert_clean();

    let keys = [GOOD, UNCHECKED, BAD];
    let all = [GOOD, UNCHECKED, BAD, ANSWER];
    assert_secret("what the client received", &received, &all);
    assert_secret("a page", &pages, &all);
    let audit = stage.app().store.audit_of(&local_user(), 1000).await.unwrap();
    assert!(audit.len() > 10, "{audit:?}");
    assert_secret("the audit log", &format!("{audit:?}"), &all);
    let credential = stage.credential().await.unwrap();
    assert_secret("Debug of a credential", &format!("{credential:?}"), &keys);
    let app = stage.app();
    let parts = format!("{:?} {:?} {:?}", app.config, app.egress, app.control);
    assert_secret("Debug of the service's parts", &parts, &[GOOD, UNCHECKED, BAD, &stage.token]);
    stage.stop().await;
    for (name, bytes) in files(&stage) {
        assert_secret(&name, &String::from_utf8_lossy(&bytes), &all);
    }
    let log = captured.text();
    for word in ["service started", "the check failed", "credential rejected", "TRACE", "service stopped"] {
        assert!(log.contains(word), "the capture works: {word}");
    }
    assert_secret("the log", &log, &[GOOD, UNCHECKED, BAD, ANSWER, &stage.token]);
}

/// R-SEC-07: what lies on the disk is the owner's alone.
#[cfg(unix)]
#[tokio::test]
async fn local_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new().await;
    stage.connected().await;
    for (name, _) in files(&stage) {
        if name.ends_with("usher.toml") {
            continue;
        }
        let mode = std::fs::metadata(&name).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}: {mode:o}");
    }
}
