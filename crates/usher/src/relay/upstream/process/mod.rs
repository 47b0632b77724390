//! Upstreams that are commands: programs that are started here and spoken to over their standard streams.
//!
//! To the rest of the relay they look like servers over HTTP: a request gets one JSON response or a stream of events, a
//! legacy session has an id. What belongs together (`names`, `routes`) is sorted out here, since a process has one channel
//! for everything.

mod guard;
mod log;
mod names;
mod owner;
mod program;
mod reply;
mod routes;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use elicit::{Era, Principal, UserId};
use futures_util::future::join_all;
use http::{HeaderValue, Method, StatusCode};
use serde_json::value::RawValue;
use usher_store::{CredentialKey, SessionId, SessionKey};

pub(in crate::relay::upstream) use self::reply::Messages;
use self::{guard::Guard, names::Names, owner::Owner, program::Program, reply::Underway};
use super::{Answer, UpstreamError};
use crate::{
    app::App,
    config::{self, Command, Transport, Upstream},
    credentials::Injection,
    mcp::{
        envelope::Message,
        headers,
        params::{negotiated_revision, raw_capabilities},
    },
    relay::call::Caller,
    slots::{Full, Slot, Slots},
};

/// How long an owner without a program is remembered, so that its client's session can go on.
const REMEMBERED: Duration = Duration::from_hours(24);
/// Owners at most; beyond it those without a program that were not used for the longest time are forgotten.
const OWNERS: usize = 10_000;
/// The same for one client of a user.
const OWNERS_OF_CLIENT: usize = 500;

/// The processes of this replica, by their owners.
pub(in crate::relay) struct Processes {
    owners: Mutex<Owners>,
    slots: Slots<UserId>,
    guard: Guard,
}

#[derive(Default)]
struct Owners {
    by_key: HashMap<Key, Arc<Owner>>,
    /// The service stops: nothing is started any more.
    closed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The session of a legacy client, by the id that is the upstream's to the relay.
    Session(String),
    /// A modern client. What it can do is in each of its messages, and a server may rely on it.
    Client { upstream: usize, principal: Principal, capabilities: [u8; 32] },
}

/// A message for a process.
#[derive(Clone, Copy)]
struct Sent<'a> {
    caller: &'a Caller,
    upstream: &'a Upstream,
    command: &'a Command,
    injection: &'a Injection,
}

impl Processes {
    /// None yet. `program` is our own, which runs the guard.
    pub(in crate::relay) fn new(limits: config::Processes, program: Option<&Path>, needed: bool) -> Self {
        let guard = if needed { Guard::start(program) } else { Guard::default() };
        Self { owners: Mutex::default(), slots: Slots::new(limits.per_user, limits.total), guard }
    }

    /// Sends one request as over HTTP, and waits for the head of the answer.
    pub(super) async fn send(
        &self,
        caller: &Caller,
        command: &Command,
        injection: &Injection,
        upstream_session: Option<&str>,
        method: Method,
        body: Bytes,
    ) -> Result<Answer, UpstreamError> {
        let sent = Sent { caller, upstream: caller.upstream(), command, injection };
        let session = upstream_session.map(|id| Key::Session(id.to_owned()));
        if let Some(key) = &session
            && let Some(owner) = self.owner(key)
            && let Some(session) = &caller.session
        {
            owner.session.get_or_init(|| session.key.clone());
        }
        match method {
            Method::POST => self.post(&sent, session, &body).await,
            Method::GET => Ok(match session.and_then(|key| self.owner(&key)) {
                Some(owner) => {
                    owner.touch();
                    let (receiver, before) = owner.routes.open();
                    reply::own(receiver, before)
                }
                None => reply::empty(StatusCode::NOT_FOUND),
            }),
            Method::DELETE => {
                if let Some(owner) = session.and_then(|key| self.remove(&key)) {
                    owner.stop().await;
                }
                Ok(reply::empty(StatusCode::OK))
            }
            _ => Ok(reply::empty(StatusCode::METHOD_NOT_ALLOWED)),
        }
    }

    async fn post(&self, sent: &Sent<'_>, session: Option<Key>, body: &Bytes) -> Result<Answer, UpstreamError> {
        let garbage = || UpstreamError::Garbage { name: sent.upstream.name.clone(), what: "a request".to_owned() };
        let message = Message::parse(body).map_err(|_| garbage())?;
        let text = names::line(std::str::from_utf8(body).map_err(|_| garbage())?);
        match message {
            Message::Request { id, method, params } if method == "initialize" && session.is_none() => {
                self.initialize(sent, &text, id, params).await
            }
            Message::Request { id, method, params } => {
                let is_modern = session.is_none();
                let key = session.unwrap_or_else(|| sent.client_key(params));
                let owner = if is_modern { Some(self.owner_or_new(key, sent)?) } else { self.owner(&key) };
                let Some(owner) = owner else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
                let asked = Asked {
                    text: &text,
                    names: Names::of(id, params),
                    is_modern,
                    is_subscription: is_modern && method == "subscriptions/listen",
                };
                let answered = self.request(sent, &owner, asked).await;
                if answered.is_err() && is_modern && !owner.ever_ran() {
                    self.forget(&owner);
                }
                let answered = answered?;
                Ok(reply::answer(answered.first, answered.receiver, answered.underway))
            }
            Message::Notification { method, params } => {
                // A modern client cancels by leaving, and has nothing else to notify a server of.
                let Some(key) = session else { return Ok(reply::empty(StatusCode::ACCEPTED)) };
                let Some(owner) = self.owner(&key) else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
                owner.touch();
                if method == "notifications/initialized" {
                    owner.initialized.store(true, Ordering::Release);
                }
                tell(&owner, &text, &method, params).await;
                Ok(reply::empty(StatusCode::ACCEPTED))
            }
            Message::Response { id, .. } => {
                let Some(owner) = session.and_then(|key| self.owner(&key)) else {
                    return Ok(reply::empty(StatusCode::NOT_FOUND));
                };
                owner.touch();
                // The answer to a run that is over has nobody to reach.
                if let Some(program) = owner.current()
                    && let Some(own) = names::answered(program.run, id)
                {
                    program.send(names::with_id(&text, own.get())).await;
                }
                Ok(reply::empty(StatusCode::ACCEPTED))
            }
        }
    }

    /// Begins a legacy session with a process of its own.
    async fn initialize(
        &self,
        sent: &Sent<'_>,
        text: &str,
        id: &RawValue,
        params: Option<&RawValue>,
    ) -> Result<Answer, UpstreamError> {
        let session = SessionId::new(&*sent.caller.app.random);
        let key = Key::Session(session.expose().to_owned());
        let owner = self.owner_or_new(key.clone(), sent)?;
        let asked = Asked { text, names: Names::of(id, params), is_modern: false, is_subscription: false };
        let answered = match self.request(sent, &owner, asked).await {
            Ok(answered) => answered,
            Err(error) => {
                self.end(&key).await;
                return Err(error);
            }
        };
        let result = match Message::parse(answered.first.text.as_bytes()) {
            Ok(Message::Response { outcome: Ok(result), .. })
                if negotiated_revision(result).is_some_and(|revision| revision.era() == Era::Legacy) =>
            {
                Some(result)
            }
            // No session begins with that.
            Ok(Message::Response { .. }) => {
                self.end(&key).await;
                return Ok(reply::answer(answered.first, answered.receiver, answered.underway));
            }
            _ => None,
        };
        owner.shook_hands(text, result).await;
        let mut answer = reply::answer(answered.first, answered.receiver, answered.underway);
        if let Ok(value) = HeaderValue::from_str(session.expose()) {
            answer.headers.insert(headers::SESSION_ID, value);
        }
        Ok(answer)
    }

    async fn request(&self, sent: &Sent<'_>, owner: &Arc<Owner>, asked: Asked<'_>) -> Result<Answered, UpstreamError> {
        let Asked { text, names, is_modern, is_subscription } = asked;
        let name = || sent.upstream.name.clone();
        owner.touch();
        let program = owner.program(self, sent).await?;
        let begun = owner.routes.begin(names.clone(), is_subscription);
        let (ours, mut receiver) = begun.ok_or_else(|| UpstreamError::Busy(name()))?;
        let routes = Arc::clone(&owner.routes);
        let underway = Underway { ours, routes, program: Arc::clone(&program), is_modern };
        if !program.send(names::outgoing(text, &names, ours)).await {
            owner.routes.end(ours);
            return Err(UpstreamError::Ended(name()));
        }
        let first = match routes::first(&mut receiver, sent.upstream.timeout).await {
            Ok(Some(first)) => first,
            Ok(None) => return Err(UpstreamError::Ended(name())),
            Err(_) => {
                underway.cancel("it took too long");
                return Err(UpstreamError::Slow { name: name(), after: sent.upstream.timeout });
            }
        };
        owner.touch();
        Ok(Answered { first, receiver, underway })
    }

    fn owner(&self, key: &Key) -> Option<Arc<Owner>> {
        self.lock().by_key.get(key).cloned()
    }

    fn owner_or_new(&self, key: Key, sent: &Sent<'_>) -> Result<Arc<Owner>, UpstreamError> {
        let mut owners = self.lock();
        if owners.closed {
            return Err(UpstreamError::Ended(sent.upstream.name.clone()));
        }
        let principal = &sent.caller.principal;
        if !owners.by_key.contains_key(&key) {
            owners.make_room(principal);
        }
        let is_modern = matches!(key, Key::Client { .. });
        let new = || Arc::new(Owner::new(principal.clone(), sent.caller.upstream, is_modern));
        Ok(Arc::clone(owners.by_key.entry(key).or_insert_with(new)))
    }

    fn forget(&self, owner: &Arc<Owner>) {
        self.lock().by_key.retain(|_, other| !Arc::ptr_eq(other, owner));
    }

    fn remove(&self, key: &Key) -> Option<Arc<Owner>> {
        self.lock().by_key.remove(key)
    }

    async fn end(&self, key: &Key) {
        if let Some(owner) = self.remove(key) {
            owner.stop().await;
        }
    }

    /// A place for a program of `owner`. Where all are taken, the one that was idle for the longest time gives up its own.
    async fn slot(&self, owner: &Owner, upstream: &str) -> Result<Slot<UserId>, UpstreamError> {
        let user = &owner.principal.user;
        if self.lock().closed {
            return Err(UpstreamError::Ended(upstream.to_owned()));
        }
        // Each round frees a place, which somebody else may take first.
        for _ in 0..3 {
            let full = match self.slots.take(user) {
                Ok(slot) => return Ok(slot),
                Err(full) => full,
            };
            let candidates =
                self.all().into_iter().filter(|other| full == Full::Total || other.principal.user == *user);
            let idle = candidates
                .filter(|other| other.current().is_some())
                .filter_map(|other| Some((other.idle_for()?, other)));
            let Some((_, idlest)) = idle.max_by_key(|(idle, _)| *idle) else { break };
            idlest.stop().await;
        }
        Err(UpstreamError::TooManyProcesses(upstream.to_owned()))
    }

    fn all(&self) -> Vec<Arc<Owner>> {
        self.lock().by_key.values().cloned().collect()
    }

    /// Stops what was idle for longer than its upstream allows, and forgets whom nobody came back for.
    pub(in crate::relay) fn reap(&self, upstreams: &[Upstream]) {
        let mut owners = self.lock();
        owners.by_key.retain(|_, owner| {
            let Some(idle) = owner.idle_for() else { return true };
            let limit = match upstreams.get(owner.upstream).map(|upstream| &upstream.transport) {
                Some(Transport::Process(command)) => command.idle,
                _ => Duration::ZERO,
            };
            match owner.current() {
                Some(program) if idle >= limit => program.stop(),
                Some(_) => {}
                None => return idle < REMEMBERED,
            }
            true
        });
    }

    /// The sessions that a process is for.
    pub(in crate::relay) fn sessions(&self) -> Vec<SessionKey> {
        self.all().iter().filter_map(|owner| owner.session.get().cloned()).collect()
    }

    /// A session is over, whoever ended it.
    pub(in crate::relay) fn session_over(&self, key: &SessionKey) {
        let over: Vec<_> = {
            let mut owners = self.lock();
            owners.by_key.extract_if(|_, owner| owner.session.get() == Some(key)).map(|(_, owner)| owner).collect()
        };
        for owner in over {
            if let Some(program) = owner.current() {
                program.stop();
            }
        }
    }

    /// Stops all, at the end of the service.
    pub(in crate::relay) async fn close(&self) {
        self.lock().closed = true;
        join_all(self.all().iter().map(|owner| owner.stop())).await;
    }

    /// A panic while the lock is held leaves a map that is still whole.
    fn lock(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Owners {
    /// Forgets whoever was idle for longest where there are too many: of this client first, since how many it has is its own
    /// doing.
    fn make_room(&mut self, principal: &Principal) {
        let own = self.by_key.values().filter(|owner| owner.principal == *principal).count();
        let full = self.by_key.len() >= OWNERS;
        if own < OWNERS_OF_CLIENT && !full {
            return;
        }
        let unused = self.by_key.iter().filter(|(_, owner)| owner.current().is_none());
        let oldest = unused.max_by_key(|(_, owner)| (owner.principal == *principal, owner.idle_for()));
        let oldest = oldest.filter(|(_, owner)| full || owner.principal == *principal).map(|(key, _)| key.clone());
        if let Some(key) = oldest {
            self.by_key.remove(&key);
        }
    }
}

/// A request on its way.
struct Asked<'a> {
    /// One line.
    text: &'a str,
    names: Names,
    is_modern: bool,
    is_subscription: bool,
}

/// A request that began to be answered.
struct Answered {
    first: routes::Frame,
    receiver: tokio::sync::mpsc::Receiver<routes::Frame>,
    underway: Underway,
}

impl Sent<'_> {
    fn client_key(&self, params: Option<&RawValue>) -> Key {
        let mut capabilities = [0; 32];
        let text = raw_capabilities(params).map_or("{}", RawValue::get);
        capabilities.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Key::Client { upstream: self.caller.upstream, principal: self.caller.principal.clone(), capabilities }
    }
}

/// Passes a notification to the program that runs. One that does not run has nothing to be told.
async fn tell(owner: &Owner, text: &str, method: &str, params: Option<&RawValue>) {
    let Some(program) = owner.current() else { return };
    if method != "notifications/cancelled" {
        program.send(text.to_owned()).await;
        return;
    }
    // A call that is not under way is over.
    if let Some(ours) = names::cancelled(params).and_then(|id| owner.routes.named(id)) {
        program.send(names::renamed(text, &ours.to_string())).await;
        owner.routes.end(ours);
    }
}

/// After a credential changed, or any may have: a process that has one which its client may not use any more is stopped at
/// once, with all that is under way; one whose credential was renewed as soon as it is idle.
pub(in crate::relay) async fn credentials_changed(app: &App, processes: &Processes, key: Option<&CredentialKey>) {
    let concerned = |owner: &Owner, program: &Program| {
        let of = |provider: &str| CredentialKey::of(&owner.principal.user, provider);
        program.used.iter().any(|used| key.is_none_or(|key| of(&used.provider) == *key))
    };
    for owner in processes.all() {
        let Some(program) = owner.current().filter(|program| concerned(&owner, program)) else { continue };
        let Some(upstream) = app.config.upstreams.get(owner.upstream) else { continue };
        match standing(app, &owner, upstream, &program).await {
            Ok(Standing::Same) => {}
            Ok(Standing::Renewed) if !owner.routes.is_idle() => {}
            Ok(Standing::Renewed | Standing::Gone) => program.stop(),
            // The next call compares the credentials once more.
            Err(error) => {
                tracing::warn!(upstream = upstream.name, %error, "a process whose credential may be gone goes on");
            }
        }
    }
}

/// What became of the credentials of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Same,
    /// One has another version.
    Renewed,
    /// One is no more, or may not be used by this client there any more.
    Gone,
}

async fn standing(
    app: &App,
    owner: &Owner,
    upstream: &Upstream,
    program: &Program,
) -> Result<Standing, usher_store::StoreError> {
    let (user, client) = (&owner.principal.user, &owner.principal.client);
    let mut standing = Standing::Same;
    for used in &program.used {
        match app.store.credential(user, &used.provider).await? {
            Some(credential) if !credential.allows(client, &upstream.destination()) => return Ok(Standing::Gone),
            Some(credential) if credential.version != used.version => standing = Standing::Renewed,
            Some(_) => {}
            None => return Ok(Standing::Gone),
        }
    }
    Ok(standing)
}
