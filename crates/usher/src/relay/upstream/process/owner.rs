//! Whom a process belongs to: one legacy session of a client, or one modern client with one set of capabilities. The owner
//! stays while its program is started, stopped and started again.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use elicit::Principal;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, timeout_at};
use usher_store::SessionKey;

use super::{
    Processes, Sent, Standing,
    names::{self, Names},
    program::{Program, Start},
    routes::{Routes, first},
    standing,
};
use crate::{
    config::Upstream,
    credentials::{Injection, Used},
    mcp::{envelope::Message, params::negotiated_revision},
    relay::upstream::UpstreamError,
};

/// A program that ran at least this long did not crash at its start.
const STEADY: Duration = Duration::from_mins(1);
/// The longest pause before a program that keeps ending is started again.
const PAUSE: Duration = Duration::from_secs(30);
/// A shorter pause is waited for; during a longer one a call is told when to come back.
const WORTH_WAITING: Duration = Duration::from_secs(5);
/// How often it is looked whether a program has become idle.
const LOOK: Duration = Duration::from_millis(20);

/// Whom a process belongs to.
pub(super) struct Owner {
    pub(super) principal: Principal,
    /// Index into the configuration's upstreams.
    pub(super) upstream: usize,
    pub(super) routes: Arc<Routes>,
    /// The session that it is for, once a message named it.
    pub(super) session: OnceLock<SessionKey>,
    /// Whether the client ended the handshake.
    pub(super) initialized: AtomicBool,
    running: Mutex<Option<Arc<Program>>>,
    used_at: Mutex<Instant>,
    /// One start at a time.
    begun: tokio::sync::Mutex<Begun>,
}

#[derive(Default)]
struct Begun {
    /// Legacy: the client's `initialize`, for a program that is started again, and the revision that it led to.
    handshake: Option<(String, Option<String>)>,
    /// Whether the program that runs has answered the handshake.
    ready: bool,
    runs: u64,
    crashes: u32,
    /// When it may be started again.
    not_before: Option<Instant>,
}

impl Owner {
    pub(super) fn new(principal: Principal, upstream: usize, is_modern: bool) -> Self {
        Self {
            principal,
            upstream,
            routes: Arc::new(Routes::new(is_modern)),
            session: OnceLock::new(),
            initialized: AtomicBool::new(false),
            running: Mutex::default(),
            used_at: Mutex::new(Instant::now()),
            begun: tokio::sync::Mutex::default(),
        }
    }

    /// The program that runs now, if one does.
    pub(super) fn current(&self) -> Option<Arc<Program>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.clone().filter(|program| program.is_alive())
    }

    /// Whether a program of it ever took calls. While one is being started nobody knows yet.
    pub(super) fn ever_ran(&self) -> bool {
        self.begun.try_lock().is_ok_and(|begun| begun.ready)
    }

    /// A message came.
    pub(super) fn touch(&self) {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long nothing came and nothing was under way.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let used_at = *self.used_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.routes.is_unused().then(|| used_at.elapsed())
    }

    /// Stops its program, if one runs, and waits for the end.
    pub(super) async fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(program) = running {
            program.stop();
            program.ended().await;
        }
    }

    /// Remembers the handshake, to begin another run with it.
    pub(super) async fn shook_hands(&self, initialize: &str, result: Option<&RawValue>) {
        let revision = result.and_then(negotiated_revision).map(|revision| revision.as_str().to_owned());
        self.begun.lock().await.handshake = Some((initialize.to_owned(), revision));
    }

    /// A program with the credentials of `injection`: the one that runs, or another in its place. One that has a credential
    /// which is no more is stopped at once. One whose credential was only renewed is replaced when it is idle; until then it
    /// goes on, as does one that lacks what was connected meanwhile, for whose end the call waits.
    pub(super) async fn program(&self, processes: &Processes, sent: &Sent<'_>) -> Result<Arc<Program>, UpstreamError> {
        let Sent { upstream, injection, .. } = *sent;
        let deadline = Instant::now() + upstream.timeout;
        let name = || upstream.name.clone();
        let Ok(mut begun) = timeout_at(deadline, self.begun.lock()).await else {
            return Err(UpstreamError::Slow { name: name(), after: upstream.timeout });
        };
        let before = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(program) = before {
            // One whose handshake nobody waited for to the end is good for nothing.
            if program.is_alive() && begun.ready && self.goes_on(&program, injection, deadline, &upstream.name).await? {
                return Ok(program);
            }
            program.stop();
            program.ended().await;
            self.set_running(None);
            begun.note_end(&program);
        }
        begun.pause(&upstream.name).await?;
        let program = self.start(&mut begun, processes, sent).await?;
        // From here on it can be found, and stopped, by whoever ends its session or its credential.
        self.set_running(Some(Arc::clone(&program)));
        if let Err(error) = self.prepare(&begun, &program, sent, deadline).await {
            program.stop();
            return Err(error);
        }
        begun.ready = true;
        Ok(program)
    }

    fn set_running(&self, program: Option<Arc<Program>>) -> Option<Arc<Program>> {
        std::mem::replace(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner), program)
    }

    /// Whether a program that runs goes on with a call that brings these credentials.
    async fn goes_on(
        &self,
        program: &Program,
        injection: &Injection,
        deadline: Instant,
        name: &str,
    ) -> Result<bool, UpstreamError> {
        match compare(&program.used, injection.used()) {
            Change::None => return Ok(true),
            Change::Renewed if !self.routes.is_idle() => return Ok(true),
            Change::Renewed | Change::Lost => {}
            Change::Gained => {
                while !self.routes.is_idle() {
                    if Instant::now() >= deadline {
                        return Err(UpstreamError::Busy(name.to_owned()));
                    }
                    sleep(LOOK).await;
                }
            }
        }
        tracing::info!(upstream = name, run = program.run, "its credentials changed: a process is replaced");
        Ok(false)
    }

    /// What a program needs before it takes calls: credentials that may still be used, and the client's handshake.
    async fn prepare(
        &self,
        begun: &Begun,
        program: &Program,
        sent: &Sent<'_>,
        deadline: Instant,
    ) -> Result<(), UpstreamError> {
        // What was taken back while it was waited for would otherwise stay in its environment.
        let standing = standing(&sent.caller.app, self, sent.upstream, program).await;
        if matches!(standing, Ok(Standing::Gone)) {
            return Err(UpstreamError::Ended(sent.upstream.name.clone()));
        }
        match &begun.handshake {
            Some((initialize, revision)) => {
                self.shake_hands(program, sent.upstream, initialize, revision.as_deref(), deadline).await
            }
            None => Ok(()),
        }
    }

    async fn start(
        &self,
        begun: &mut Begun,
        processes: &Processes,
        sent: &Sent<'_>,
    ) -> Result<Arc<Program>, UpstreamError> {
        let Sent { upstream, command, injection, .. } = *sent;
        let slot = processes.slot(self, &upstream.name).await?;
        begun.runs += 1;
        begun.ready = false;
        let start = Start {
            upstream: &upstream.name,
            command,
            injection,
            run: begun.runs,
            routes: Arc::clone(&self.routes),
            guard: processes.guard.clone(),
            slot,
        };
        Program::start(start).map_err(|error| {
            begun.crashed();
            tracing::error!(upstream = upstream.name, program = command.argv.first(), %error, "a process cannot be started");
            UpstreamError::NotStarted(upstream.name.clone())
        })
    }

    /// Begins the session with a program that was started again, as the client began it.
    async fn shake_hands(
        &self,
        program: &Program,
        upstream: &Upstream,
        initialize: &str,
        revision: Option<&str>,
        deadline: Instant,
    ) -> Result<(), UpstreamError> {
        let garbage = |what: &str| UpstreamError::Garbage { name: upstream.name.clone(), what: what.to_owned() };
        let slow = || UpstreamError::Slow { name: upstream.name.clone(), after: upstream.timeout };
        let id = RawValue::from_string("\"usher-initialize\"".to_owned()).map_err(|_| garbage("an id"))?;
        let names = Names { id, token: None };
        let (ours, mut receiver) =
            self.routes.begin(names.clone(), false).ok_or_else(|| UpstreamError::Busy(upstream.name.clone()))?;
        if !program.send(names::outgoing(initialize, &names, ours)).await {
            return Err(UpstreamError::Ended(upstream.name.clone()));
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let frame = match first(&mut receiver, left).await {
                Ok(Some(frame)) => frame,
                Ok(None) => return Err(UpstreamError::Ended(upstream.name.clone())),
                Err(_) => return Err(slow()),
            };
            match Message::parse(frame.text.as_bytes()) {
                Ok(Message::Response { outcome: Ok(result), .. }) => {
                    let chosen = negotiated_revision(result);
                    if revision.is_some_and(|revision| chosen.map(elicit::Revision::as_str) != Some(revision)) {
                        return Err(garbage("another protocol version than before"));
                    }
                    break;
                }
                Ok(Message::Response { outcome: Err(_), .. }) if !program.is_alive() => {
                    return Err(UpstreamError::Ended(upstream.name.clone()));
                }
                Ok(Message::Response { outcome: Err(_), .. }) => return Err(garbage("a refusal of the handshake")),
                // What it says in between is not for the client, whose handshake is long over.
                _ => {}
            }
        }
        if self.initialized.load(Ordering::Acquire) {
            program.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()).await;
        }
        Ok(())
    }
}

/// Nobody is left to use it.
impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(program) = self.set_running(None) {
            program.stop();
        }
    }
}

impl Begun {
    fn note_end(&mut self, program: &Program) {
        if !program.crashed() {
            return;
        }
        if program.lasted() >= STEADY {
            self.crashes = 0;
        }
        self.crashed();
    }

    /// The first time it is started again at once, then after a pause that doubles.
    fn crashed(&mut self) {
        let pause = match self.crashes {
            0 => Duration::ZERO,
            crashes => Duration::from_millis(500).saturating_mul(1 << crashes.min(10)).min(PAUSE),
        };
        self.crashes += 1;
        self.not_before = Some(Instant::now() + pause);
    }

    async fn pause(&mut self, upstream: &str) -> Result<(), UpstreamError> {
        let Some(until) = self.not_before else { return Ok(()) };
        let left = until.saturating_duration_since(Instant::now());
        if left > WORTH_WAITING {
            return Err(UpstreamError::Crashing { name: upstream.to_owned(), retry_after: left });
        }
        sleep(left).await;
        self.not_before = None;
        Ok(())
    }
}

/// What became of the credentials of a program.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    None,
    /// Another version.
    Renewed,
    /// One that it has not.
    Gained,
    /// One is no more.
    Lost,
}

fn compare(has: &[Used], gets: &[Used]) -> Change {
    let lacks =
        |one: &[Used], other: &[Used]| one.iter().any(|used| other.iter().all(|other| other.provider != used.provider));
    if lacks(has, gets) {
        Change::Lost
    } else if lacks(gets, has) {
        Change::Gained
    } else if has == gets {
        Change::None
    } else {
        Change::Renewed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_credential_weighs_more_than_a_new_one() {
        let used = |entries: &[(&str, i64)]| -> Vec<Used> {
            entries
                .iter()
                .map(|(provider, version)| Used { provider: (*provider).to_owned(), version: *version })
                .collect()
        };
        for (has, gets, change) in [
            (&[("a", 1)][..], &[("a", 1)][..], Change::None),
            (&[("a", 1)], &[("a", 2)], Change::Renewed),
            (&[], &[("a", 1)], Change::Gained),
            (&[("a", 1)], &[("a", 2), ("b", 1)], Change::Gained),
            (&[("a", 1)], &[], Change::Lost),
            (&[("a", 1)], &[("b", 1)], Change::Lost),
        ] {
            assert_eq!(compare(&used(has), &used(gets)), change, "{has:?} {gets:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_keeps_ending_is_started_less_and_less_often() {
        let mut begun = Begun::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            begun.crashed();
            let before = Instant::now();
            match begun.pause("a").await {
                Ok(()) => pauses.push(before.elapsed().as_millis()),
                Err(UpstreamError::Crashing { retry_after, .. }) => {
                    pauses.push(retry_after.as_millis());
                    tokio::time::advance(retry_after).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(pauses, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    }
}
