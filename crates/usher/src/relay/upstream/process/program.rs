//! One run of a server's program: started, fed, listened to, stopped. Whatever happens to it, it is reaped, and nothing of
//! its process group stays.

use std::{
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use elicit::UserId;
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    sync::mpsc,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    guard::Guard,
    log,
    routes::{NobodyReads, Routes},
};
use crate::{
    config::Command,
    credentials::{Injection, Used},
    group::{self, Signal},
    mcp::{
        envelope::{Message, error_object, error_text},
        lines::{Line, next_line},
    },
    relay::upstream::ANSWER_LIMIT,
    slots::Slot,
};

/// Messages on their way into the program.
const QUEUE: usize = 32;

/// How long a program, or whoever reads what it says, may take nothing while there is something to take (R-SEC-04).
pub(super) const UNREAD: Duration = Duration::from_secs(30);

/// How long a program has to end after its standard input was closed, and after SIGTERM.
const CLOSED: Duration = Duration::from_secs(2);
const TERMINATED: Duration = Duration::from_secs(2);

/// How long after a pipe of it closed a program may take to be gone.
const ENDING: Duration = Duration::from_millis(500);

/// A running program.
pub(super) struct Program {
    /// Which run of its owner it is.
    pub(super) run: u64,
    /// The credentials in its environment.
    pub(super) used: Vec<Used>,
    started: Instant,
    /// How long it ran.
    lasted: OnceLock<Duration>,
    input: mpsc::Sender<Bytes>,
    /// Cancelled to stop it.
    stop: CancellationToken,
    /// Cancelled when it is gone, and was reaped.
    exited: CancellationToken,
    /// Cancelled when all that was under way with it has ended too.
    ended: CancellationToken,
    how: Mutex<Option<String>>,
    crashed: AtomicBool,
}

/// What a run is started with.
pub(super) struct Start<'a> {
    pub(super) upstream: &'a str,
    pub(super) command: &'a Command,
    pub(super) injection: &'a Injection,
    pub(super) run: u64,
    pub(super) routes: Arc<Routes>,
    pub(super) guard: Guard,
    pub(super) slot: Slot<UserId>,
}

impl Program {
    /// Starts it. Its environment is what the configuration names and what its user connected, and nothing else.
    pub(super) fn start(start: Start<'_>) -> std::io::Result<Arc<Self>> {
        let Start { upstream, command, injection, run, routes, guard, slot } = start;
        let mut child = group::program(command, injection.env())?.stderr(Stdio::piped()).spawn()?;
        let pid = child.id().unwrap_or_default();
        guard.watch(pid);
        let (input, messages) = mpsc::channel(QUEUE);
        let program = Arc::new(Self {
            run,
            used: injection.used().to_vec(),
            started: Instant::now(),
            lasted: OnceLock::new(),
            input,
            stop: CancellationToken::new(),
            exited: CancellationToken::new(),
            ended: CancellationToken::new(),
            how: Mutex::default(),
            crashed: AtomicBool::new(false),
        });
        tracing::info!(upstream, pid, run, "process started");
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        if let Some(stderr) = streams.2 {
            let secrets = injection.env().iter().map(|(_, value)| value).chain(injection.secrets()).cloned().collect();
            tokio::spawn(log::log(stderr, upstream.to_owned(), pid, secrets));
        }
        if let (Some(stdin), Some(stdout)) = (streams.0, streams.1) {
            let name = upstream.to_owned();
            let listening = listen(stdout, Arc::clone(&program), Arc::clone(&routes), name.clone());
            let feeding = feed(stdin, messages, Arc::clone(&program), name.clone());
            let life = Life { child, pid, program: Arc::clone(&program), routes, guard, upstream: name, _slot: slot };
            tokio::spawn(life.run(listening, feeding));
        }
        Ok(program)
    }

    /// Puts one line into its standard input. False where it has ended, or does not read.
    pub(super) async fn send(&self, line: String) -> bool {
        let mut line = line;
        line.push('\n');
        !self.exited.is_cancelled() && self.input.send_timeout(Bytes::from(line), UNREAD).await.is_ok()
    }

    /// The same for a message that nobody waits for.
    pub(super) fn try_send(&self, mut line: String) {
        line.push('\n');
        // One that does not read hears of it no more.
        let _ = self.input.try_send(Bytes::from(line));
    }

    /// Whether it takes messages.
    pub(super) fn is_alive(&self) -> bool {
        !self.exited.is_cancelled() && !self.stop.is_cancelled()
    }

    /// Asks it to end, by and by with force.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether it ended, and nobody had asked it to.
    pub(super) fn crashed(&self) -> bool {
        self.crashed.load(Ordering::Acquire)
    }

    /// How long it ran; zero while it does.
    pub(super) fn lasted(&self) -> Duration {
        self.lasted.get().copied().unwrap_or_default()
    }

    /// Resolves when it has ended, and with it all that was under way.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// How it ended by itself, for the log and the calls that were under way.
    fn note(&self, how: impl Into<String>) {
        self.how.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(how.into());
    }

    fn how(&self) -> Option<String> {
        self.how.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Everything that ends together with a program.
struct Life {
    child: Child,
    pid: u32,
    program: Arc<Program>,
    routes: Arc<Routes>,
    guard: Guard,
    upstream: String,
    _slot: Slot<UserId>,
}

impl Life {
    /// From its start to its end: whichever comes first of its own end, a fault on its channel, and our stop.
    async fn run(
        mut self,
        listening: impl Future<Output = ()> + Send + 'static,
        feeding: impl Future<Output = ()> + Send + 'static,
    ) {
        let (mut listening, feeding) = (tokio::spawn(listening), tokio::spawn(feeding));
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = self.program.stop.cancelled() => {
                // Dropping the task that feeds it closes its standard input.
                feeding.abort();
                end(&mut self.child, self.pid).await
            }
        };
        feeding.abort();
        self.program.lasted.get_or_init(|| self.program.started.elapsed());
        self.program.exited.cancel();
        // What it started and left behind goes with it.
        group::signal(self.pid, Signal::KILL);
        self.guard.release(self.pid);
        // Its last words may still be in the pipe; whoever else holds the pipe open is not waited for.
        if tokio::time::timeout(CLOSED, &mut listening).await.is_err() {
            listening.abort();
        }
        self.say_so(status);
    }

    fn say_so(&self, status: Option<ExitStatus>) {
        let Self { pid, program, upstream, .. } = self;
        let wanted = program.stop.is_cancelled() && program.how().is_none();
        let how = program.how().unwrap_or_else(|| describe(status));
        if wanted {
            tracing::info!(upstream, pid, run = program.run, "process stopped");
        } else {
            program.crashed.store(true, Ordering::Release);
            tracing::warn!(upstream, pid, run = program.run, how, "process ended by itself");
        }
        self.routes.break_off(|id| {
            let text = if wanted {
                format!("the server {upstream} was stopped while it worked on this call; call again")
            } else {
                format!(
                    "the server {upstream} ended while it worked on this call ({how}); the next call starts it again"
                )
            };
            error_text(Some(id), &error_object(elicit::codes::INTERNAL_ERROR, &text))
        });
        program.ended.cancel();
    }
}

/// After its standard input was closed: waits, asks, and forces.
async fn end(child: &mut Child, pid: u32) -> Option<ExitStatus> {
    if let Ok(status) = tokio::time::timeout(CLOSED, child.wait()).await {
        return status.ok();
    }
    group::signal(pid, Signal::TERM);
    if let Ok(status) = tokio::time::timeout(TERMINATED, child.wait()).await {
        return status.ok();
    }
    group::signal(pid, Signal::KILL);
    child.wait().await.ok()
}

fn describe(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "it cannot be told how".to_owned(), |status| status.to_string())
}

/// Writes messages until nobody sends any more.
async fn feed(mut stdin: ChildStdin, mut messages: mpsc::Receiver<Bytes>, program: Arc<Program>, upstream: String) {
    while let Some(message) = messages.recv().await {
        let written = tokio::time::timeout(UNREAD, async {
            stdin.write_all(&message).await?;
            stdin.flush().await
        });
        let fault = match written.await {
            Ok(Ok(())) => continue,
            // Its end is about to be noticed, or it wants no more input, and is good for nothing then.
            Ok(Err(error)) => format!("its standard input is closed: {error}"),
            Err(_) => "it does not read its standard input".to_owned(),
        };
        tracing::warn!(upstream, fault, "a process takes no messages");
        // A crash closes it as well, and its status says more.
        if tokio::time::timeout(ENDING, program.exited.cancelled()).await.is_err() && program.is_alive() {
            program.note(fault);
            program.stop();
        }
        return;
    }
}

/// Reads messages until the end of its standard output, and brings each to whom it belongs.
async fn listen(stdout: ChildStdout, program: Arc<Program>, routes: Arc<Routes>, upstream: String) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    loop {
        let line = match next_line(&mut reader, ANSWER_LIMIT).await {
            Ok(Line::Whole(line)) => line,
            Ok(Line::TooLong) => {
                program.note("it wrote a message that is over the limit");
                break;
            }
            Ok(Line::End) | Err(_) => break,
        };
        take(&line, &program, &routes, &upstream).await;
    }
    // Without a standard output it is good for nothing. Most often this is how its end begins.
    if tokio::time::timeout(ENDING, program.exited.cancelled()).await.is_err() && program.is_alive() {
        program.note("it closed its standard output");
        program.stop();
    }
}

async fn take(line: &[u8], program: &Program, routes: &Routes, upstream: &str) {
    let line = line.trim_ascii();
    if line.is_empty() {
        return;
    }
    let (Ok(message), Ok(text)) = (Message::parse(line), std::str::from_utf8(line)) else {
        tracing::warn!(
            upstream,
            bytes = line.len(),
            "a process wrote a line to its standard output that is no message"
        );
        return;
    };
    match routes.route(program.run, text, &message) {
        Ok(Some(route)) => route.deliver().await,
        Ok(None) => tracing::debug!(upstream, "a message of a process has no reader"),
        Err(NobodyReads) => {
            let error =
                error_object(elicit::codes::INTERNAL_ERROR, "the client has no stream open on which it could be asked");
            program.try_send(error_text(message.id(), &error));
        }
    }
}
