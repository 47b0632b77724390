//! What clients have under way on this replica, and how much of it they may have (R-SEC-01): requests, streams, calls that
//! wait for a person, and bytes in memory.
//!
//! A request takes its place before anything of it is read, and gives it up when the last part of its work is dropped,
//! however that ends. All is counted in memory: one look-up by client for each message, then atomics.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use elicit::{Principal, UserId};

use crate::config::Limits;

/// Parts of the list of clients, so that messages of different clients seldom wait for each other.
const SHARDS: usize = 16;

/// A part with more clients than this is swept before one is added.
const SWEPT_AT: usize = 1024;

/// There is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The client has too many requests under way.
    Requests,
    /// The client has too many streams open.
    Streams,
    /// Too many calls of the client, of the user, or of all wait for a person.
    Held,
    /// Too much of the client, or of all, is in memory.
    Memory,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It ends with an answer.
    Request,
    /// It stays open: a GET stream, or a subscription.
    Stream,
}

/// Who has what.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<All>,
    hasher: RandomState,
    clients: [Mutex<Shard>; SHARDS],
    users: Mutex<HashMap<UserId, Arc<User>>>,
}

#[derive(Debug, Default)]
struct Shard {
    clients: HashMap<Principal, Arc<Client>>,
    sweep_at: usize,
}

#[derive(Debug)]
struct All {
    limits: Limits,
    held: AtomicU32,
    memory: AtomicU64,
}

#[derive(Debug, Default)]
struct User {
    held: AtomicU32,
}

#[derive(Debug)]
struct Client {
    all: Arc<All>,
    user: Arc<User>,
    requests: AtomicU32,
    streams: AtomicU32,
    held: AtomicU32,
    memory: AtomicU64,
}

/// The place of one request; given up when dropped, with the bytes that it stands for.
#[derive(Debug)]
pub(super) struct Place {
    client: Arc<Client>,
    kind: Kind,
    bytes: AtomicU64,
}

/// The place of a call that waits for a person; given up when dropped.
#[derive(Debug)]
pub(super) struct Waits {
    client: Arc<Client>,
}

impl Places {
    /// Nobody has anything.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            all: Arc::new(All { limits, held: AtomicU32::new(0), memory: AtomicU64::new(0) }),
            hasher: RandomState::new(),
            clients: Default::default(),
            users: Mutex::default(),
        }
    }

    /// Takes a place for a request of this client.
    pub(super) fn take(&self, principal: &Principal, kind: Kind) -> Result<Place, Full> {
        Place::of(self.client(principal), kind)
    }

    /// Drops those who have nothing under way. Called now and then, so that memory does not grow with clients.
    pub(super) fn shrink(&self) {
        for shard in &self.clients {
            lock(shard).sweep();
        }
        lock(&self.users).retain(|_, user| Arc::strong_count(user) > 1);
    }

    fn client(&self, principal: &Principal) -> Arc<Client> {
        // The remainder is below the number of shards.
        let shard = usize::try_from(self.hasher.hash_one(principal) % SHARDS as u64).unwrap_or_default();
        let mut shard = lock(&self.clients[shard]);
        if let Some(client) = shard.clients.get(principal) {
            return Arc::clone(client);
        }
        if shard.clients.len() >= shard.sweep_at.max(SWEPT_AT) {
            shard.sweep();
            shard.sweep_at = 2 * shard.clients.len();
        }
        let client = Arc::new(Client {
            all: Arc::clone(&self.all),
            user: Arc::clone(lock(&self.users).entry(principal.user.clone()).or_default()),
            requests: AtomicU32::new(0),
            streams: AtomicU32::new(0),
            held: AtomicU32::new(0),
            memory: AtomicU64::new(0),
        });
        shard.clients.insert(principal.clone(), Arc::clone(&client));
        client
    }
}

impl Shard {
    fn sweep(&mut self) {
        self.clients.retain(|_, client| Arc::strong_count(client) > 1);
    }
}

impl Client {
    fn counter(&self, kind: Kind) -> (&AtomicU32, u32, Full) {
        match kind {
            Kind::Request => (&self.requests, self.all.limits.client_requests, Full::Requests),
            Kind::Stream => (&self.streams, self.all.limits.client_streams, Full::Streams),
        }
    }
}

impl Place {
    fn of(client: Arc<Client>, kind: Kind) -> Result<Self, Full> {
        let (counter, most, full) = client.counter(kind);
        one_more(counter, most).then_some(()).ok_or(full)?;
        Ok(Self { client, kind, bytes: AtomicU64::new(0) })
    }

    /// The place of a stream in place of this one, which is given up with its bytes.
    pub(super) fn for_stream(&self) -> Result<Self, Full> {
        Self::of(Arc::clone(&self.client), Kind::Stream)
    }

    /// Takes a place for the wait for a person.
    pub(super) fn wait(&self) -> Result<Waits, Full> {
        let limits = &self.client.all.limits;
        // What is taken is given back when a later one is refused.
        let mut taken: Vec<&AtomicU32> = Vec::with_capacity(3);
        for (counter, most) in [
            (&self.client.held, limits.client_held_calls),
            (&self.client.user.held, limits.user_held_calls),
            (&self.client.all.held, limits.held_calls),
        ] {
            if !one_more(counter, most) {
                for counter in taken {
                    counter.fetch_sub(1, Ordering::AcqRel);
                }
                return Err(Full::Held);
            }
            taken.push(counter);
        }
        Ok(Waits { client: Arc::clone(&self.client) })
    }

    /// Counts bytes that are about to be kept for this request.
    pub(super) fn keep(&self, bytes: usize) -> Result<(), Full> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let (client, all) = (&self.client, &self.client.all);
        if !more(&client.memory, bytes, all.limits.client_memory) {
            return Err(Full::Memory);
        }
        if !more(&all.memory, bytes, all.limits.memory) {
            client.memory.fetch_sub(bytes, Ordering::AcqRel);
            return Err(Full::Memory);
        }
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        Ok(())
    }

    /// What was kept for this request is gone.
    pub(super) fn give_back(&self) {
        let bytes = self.bytes.swap(0, Ordering::AcqRel);
        self.client.memory.fetch_sub(bytes, Ordering::AcqRel);
        self.client.all.memory.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Counts bytes that are there already, whatever the limit: an answer is not thrown away after the work was done. It is
    /// the next request that finds no room.
    pub(super) fn owe(&self, bytes: u64) {
        self.client.memory.fetch_add(bytes, Ordering::AcqRel);
        self.client.all.memory.fetch_add(bytes, Ordering::AcqRel);
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_back();
        self.client.counter(self.kind).0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        for counter in [&self.client.held, &self.client.user.held, &self.client.all.held] {
            counter.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn one_more(counter: &AtomicU32, most: u32) -> bool {
    counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count < most).then_some(count + 1)).is_ok()
}

fn more(counter: &AtomicU64, bytes: u64, most: u64) -> bool {
    let add = |count: u64| count.checked_add(bytes).filter(|sum| *sum <= most);
    counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).is_ok()
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use elicit::ClientId;

    use super::*;

    fn principal(subject: &str, client: &str) -> Principal {
        Principal { user: UserId::new("issuer", subject).unwrap(), client: ClientId::new(client).unwrap() }
    }

    fn places() -> Places {
        Places::new(Limits {
            client_requests: 2,
            client_streams: 1,
            client_held_calls: 2,
            user_held_calls: 3,
            held_calls: 4,
            client_memory: 100,
            memory: 150,
            ..Limits::default()
        })
    }

    /// R-SEC-01: requests and streams are counted apart, for each client, and given back on drop.
    #[test]
    fn places_are_for_each_client_and_come_back() {
        let places = places();
        let (alice, other) = (principal("alice", "one"), principal("alice", "two"));
        let first = places.take(&alice, Kind::Request).unwrap();
        let _second = places.take(&alice, Kind::Request).unwrap();
        assert_eq!(places.take(&alice, Kind::Request).unwrap_err(), Full::Requests);
        let _theirs = places.take(&other, Kind::Request).unwrap();
        let stream = places.take(&alice, Kind::Stream).unwrap();
        assert_eq!(first.for_stream().unwrap_err(), Full::Streams);
        drop(stream);
        let _stream = first.for_stream().unwrap();
        drop(first);
        places.take(&alice, Kind::Request).unwrap();
    }

    /// R-SEC-01: waits are counted for the client, the user and all; one that is refused takes nothing.
    #[test]
    fn waits_have_three_limits() {
        let places = places();
        let place = |subject, client| places.take(&principal(subject, client), Kind::Request).unwrap();
        let (one, two, bob) = (place("alice", "one"), place("alice", "two"), place("bob", "one"));
        let mut held = vec![one.wait().unwrap(), one.wait().unwrap()];
        assert_eq!(one.wait().unwrap_err(), Full::Held);
        held.push(two.wait().unwrap());
        assert_eq!(two.wait().unwrap_err(), Full::Held, "the user's limit");
        held.push(bob.wait().unwrap());
        assert_eq!(bob.wait().unwrap_err(), Full::Held, "the limit of all");
        held.clear();
        let _all = (one.wait().unwrap(), one.wait().unwrap(), two.wait().unwrap(), bob.wait().unwrap());
    }

    /// R-SEC-01: bytes are counted for the client and for all. What is owed is kept, and counts against what comes next.
    #[test]
    fn bytes_come_back_with_their_request() {
        let places = places();
        let (alice, bob) = (principal("alice", "one"), principal("bob", "one"));
        let first = places.take(&alice, Kind::Request).unwrap();
        first.keep(60).unwrap();
        first.keep(40).unwrap();
        let second = places.take(&alice, Kind::Request).unwrap();
        assert_eq!(second.keep(1), Err(Full::Memory));
        let theirs = places.take(&bob, Kind::Request).unwrap();
        theirs.keep(50).unwrap();
        assert_eq!(theirs.keep(1), Err(Full::Memory), "the limit of all");
        theirs.owe(1000);
        drop(first);
        assert_eq!(second.keep(1), Err(Full::Memory), "somebody owes a lot");
        drop(theirs);
        second.keep(100).unwrap();
        assert_eq!(second.keep(usize::MAX), Err(Full::Memory), "no count overflows");
    }

    /// R-SEC-01: many at once never pass the limit, and leave nothing behind.
    #[test]
    fn many_at_once_keep_to_the_limit() {
        const THREADS: usize = 8;
        let places = Places::new(Limits { client_requests: 3, ..Limits::default() });
        let (alice, barrier) = (principal("alice", "one"), Barrier::new(THREADS));
        let most = AtomicU32::new(0);
        let now = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..2000 {
                        if let Ok(place) = places.take(&alice, Kind::Request) {
                            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            let _ = place.keep(10);
                            now.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)), "{most:?}");
        let client = places.client(&alice);
        assert_eq!((client.requests.load(Ordering::SeqCst), client.memory.load(Ordering::SeqCst)), (0, 0));
        assert_eq!(client.all.memory.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn whoever_has_nothing_is_forgotten() {
        let places = places();
        let kept = places.take(&principal("alice", "one"), Kind::Request).unwrap();
        for number in 0..100 {
            places.take(&principal(&number.to_string(), "one"), Kind::Request).unwrap();
        }
        places.shrink();
        let clients: usize = places.clients.iter().map(|shard| lock(shard).clients.len()).sum();
        assert_eq!((clients, lock(&places.users).len()), (1, 1));
        drop(kept);
        places.shrink();
        assert!(lock(&places.users).len() <= 1);
        places.shrink();
        assert!(lock(&places.users).is_empty());
    }

    #[test]
    fn the_list_is_swept_before_it_grows() {
        let places = places();
        for number in 0..SWEPT_AT * SHARDS * 2 {
            places.take(&principal("alice", &number.to_string()), Kind::Request).unwrap();
        }
        let most = places.clients.iter().map(|shard| lock(shard).clients.len()).max().unwrap();
        assert!(most <= SWEPT_AT, "{most}");
    }
}
