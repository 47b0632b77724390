//! Calls that wait for a person: what each holds in memory, and how fast one of many is woken.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use usher_testkit::load::{Answer, KEY, Line, Message, Program, Sample, Setup, Speech, Usher};
use usher_testkit::{LEGACY, quote};

use super::report::Report;
use super::rounds::between;
use super::stage::{CLIENTS, SAMPLES, Stage};

/// Verified clients and providers: as many questions as their product.
const VERIFIED: usize = 100;
const PROVIDERS: usize = 101;
/// Calls that wait.
const WAITING: usize = 10_000;
/// Calls that wait when few do.
const FEW: usize = 100;
/// About as long is a call.
const CALL: usize = 1024;

const STREAM: &str = "service/waiting (open stream of axum)";

pub(crate) async fn run(stage: &Stage, report: &Report) {
    let names = |era: &str| ["memory", "wake of few", "wake"].map(|what| format!("service/waiting, {era}, {what}"));
    let (modern, legacy) = (names("modern"), names("legacy"));
    let all: Vec<&str> = modern.iter().chain(&legacy).map(String::as_str).chain([STREAM]).collect();
    if !report.wants(&all) {
        return;
    }
    let program = stage.program("hold", &[]);
    let address = program.address;
    let (bytes, lines) = held(&program, 0, WAITING, move |number| open(address, number)).await;
    Report::bytes(STREAM, &once(bytes));
    drop((program, lines));
    for (names, is_legacy) in [(modern, false), (legacy, true)] {
        let usher = stage.setup(&names[0].replace(['/', ' ', ','], "-"), VERIFIED, PROVIDERS).start().await;
        let usher = usher.expect("the service");
        waiting(&usher, names, is_legacy).await;
    }
}

async fn waiting(usher: &Usher, names: [String; 3], legacy: bool) {
    let address = usher.program.address;
    let wait = move |number| async move {
        if legacy { wait_legacy(address, number).await } else { wait_modern(address, number).await }
    };
    // What is there once for all, caches and pools, is there before.
    let (_, mut warm) = held(&usher.program, 0, FEW, wait).await;
    let few = woken(usher, &mut warm, 0..SAMPLES).await;
    let (bytes, mut lines) = held(&usher.program, FEW, WAITING, wait).await;
    let many = woken(usher, &mut lines, SAMPLES..2 * SAMPLES).await;
    let [memory, wake_of_few, wake] = names;
    Report::bytes(&memory, &once(bytes));
    Report::time(&wake_of_few, &few);
    Report::time(&wake, &many);
}

fn once(value: f64) -> Sample {
    let mut sample = Sample::default();
    sample.add(value);
    sample
}

/// A call that waits, and where its question leads.
struct Held {
    provider: usize,
    line: Line,
    answer: Answer,
    url: String,
}

/// Makes `count` calls wait, from this number on; returns them, and what each takes.
async fn held<F>(program: &Program, from: usize, count: usize, wait: impl Fn(usize) -> F) -> (f64, Vec<Held>)
where
    F: Future<Output = Held> + Send + 'static,
{
    let before = program.memory();
    let places = Arc::new(Semaphore::new(CLIENTS));
    let mut tasks = JoinSet::new();
    for number in from..from + count {
        let place = Arc::clone(&places).acquire_owned().await.expect("a semaphore that stays open");
        let waiting = wait(number);
        tasks.spawn(async move {
            let held = waiting.await;
            drop(place);
            held
        });
    }
    let lines = tasks.join_all().await;
    #[allow(clippy::cast_precision_loss, reason = "some thousand calls")]
    ((program.memory() - before) / count as f64, lines)
}

fn message(address: SocketAddr, number: usize, speech: Speech) -> Message {
    let path = format!("/mcp/p{}", number % PROVIDERS);
    Message::new(address.to_string(), path, Setup::token(number / PROVIDERS % VERIFIED), speech)
}

/// A stream that is merely open.
async fn open(address: SocketAddr, number: usize) -> Held {
    let message = message(address, number, Speech::Modern("tools/call"));
    let mut line = Line::open(address).await.expect("a connection");
    let mut answer = line.begin(&message.call(number, CALL, "")).await.expect("an answer");
    line.until(&mut answer, "held").await.expect("an event");
    Held { provider: number % PROVIDERS, line, answer, url: String::new() }
}

async fn wait_modern(address: SocketAddr, number: usize) -> Held {
    let message = message(address, number, Speech::Modern("tools/call"));
    let mut line = Line::open(address).await.expect("a connection");
    let asked = line.call(&message.call(number, CALL, "")).await.expect("an answer").text();
    let (key, state) = (format!("usher_connect_p{}", number % PROVIDERS), between(&asked, "\"requestState\":\"", "\""));
    let more = format!(r#","inputResponses":{{"{key}":{{"action":"accept"}}}},"requestState":{}"#, quote(state));
    let answer = line.begin(&message.call(number + 1_000_000, CALL, &more)).await.expect("an answer");
    assert!(answer.head.contains("text/event-stream"), "{asked} {}", answer.head);
    Held { provider: number % PROVIDERS, line, answer, url: between(&asked, "\"url\":\"", "\"").to_owned() }
}

async fn wait_legacy(address: SocketAddr, number: usize) -> Held {
    let mut line = Line::open(address).await.expect("a connection");
    let begun = line.call(&message(address, number, Speech::Legacy(None)).initialize()).await.expect("an answer");
    let session = begun.header("mcp-session-id").unwrap_or_else(|| panic!("no session of {LEGACY}")).to_owned();
    let message = message(address, number, Speech::Legacy(Some(session)));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    line.call(&message.bytes(initialized)).await.expect("an answer");
    let mut answer = line.begin(&message.call(number, CALL, "")).await.expect("an answer");
    // Before it comes an event that only gives an id.
    line.until(&mut answer, "}\n\n").await.expect("a question");
    let url = between(&answer.text(), "\"url\":\"", "\"").to_owned();
    Held { provider: number % PROVIDERS, line, answer, url }
}

/// The person connects these providers; from the press of the button until the call that waits has its answer.
async fn woken(usher: &Usher, lines: &mut [Held], providers: Range<usize>) -> Sample {
    let mut sample = Sample::default();
    for provider in providers {
        let held = lines.iter_mut().find(|held| held.provider == provider).expect("a call that waits for it");
        let page = usher.person.get(&held.url).await;
        let begun = Instant::now();
        usher.person.agree(&page, &[("api_key", KEY)]).await;
        held.line.until(&mut held.answer, "Sunny").await.expect("the answer of the upstream");
        sample.add(begun.elapsed().as_secs_f64());
    }
    sample
}
