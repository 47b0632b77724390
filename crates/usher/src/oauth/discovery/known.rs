//! What was discovered of each server, kept for minutes: read by one at a time, and used a while longer where it cannot be read
//! anew.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::SignedDuration;
use url::Url;

use super::{Discovered, DiscoveryError, Reach, discover};
use crate::{
    clock::Clock,
    config::Issuer,
    egress::Egress,
    kept::{Kept, Terms, Turn},
};

/// A changed issuer is seen after five minutes at the latest, or when the server turns a token away. Servers that cannot be
/// asked are used as they were for an hour.
const TERMS: Terms = Terms {
    fresh: SignedDuration::from_mins(5),
    usable: SignedDuration::from_hours(1),
    pause: SignedDuration::from_secs(15),
};

/// How long a call waits to hear who makes the server's tokens, before it goes on with what its user has (R-SEC-04).
const PATIENCE: Duration = Duration::from_secs(3);

/// A server as the configuration has it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'c> {
    /// Its name there: what was discovered is kept under it.
    pub name: &'c str,
    /// Where it is.
    pub url: &'c Url,
    /// The issuer that is written down for it, if one is.
    pub pinned: Option<&'c Issuer>,
}

/// Whether a server still names an issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// It does.
    Same,
    /// It names this one instead: what the other one granted is neither sent nor refreshed (R-OAUTH-05).
    Other(Issuer),
    /// It cannot be asked at the moment, so nobody knows.
    Unknown,
}

impl Named {
    fn by(found: Option<Arc<Discovered>>, issuer: &str) -> Self {
        match found {
            Some(found) if found.server.issuer.as_str() == issuer => Self::Same,
            Some(found) => Self::Other(found.server.issuer.clone()),
            None => Self::Unknown,
        }
    }
}

/// What was discovered of each server. There are as many as the configuration has.
pub struct Discoveries {
    egress: Egress,
    clock: Arc<dyn Clock>,
    servers: Mutex<HashMap<String, Arc<Server>>>,
}

struct Server {
    kept: Kept<Discovered>,
    /// Why the last attempt failed.
    fault: Mutex<Option<DiscoveryError>>,
    /// Where a challenge to a call pointed.
    noted: Mutex<Option<String>>,
}

impl std::fmt::Debug for Discoveries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discoveries").finish_non_exhaustive()
    }
}

impl Discoveries {
    /// Nothing is known yet.
    pub fn new(egress: Egress, clock: Arc<dyn Clock>) -> Self {
        Self { egress, clock, servers: Mutex::default() }
    }

    /// The way to what this server names.
    pub fn reach(&self, asked: Asked<'_>) -> Reach<'_> {
        Reach::of(&self.egress, asked.url, asked.pinned)
    }

    /// What is to be known of a server: what was read in the last minutes, or is read now, with all who ask meanwhile.
    pub async fn of(&self, asked: Asked<'_>) -> Result<Arc<Discovered>, DiscoveryError> {
        let server = self.server(asked.name);
        let found = server.kept.current(&*self.clock, |turn| self.read(&server, asked, turn)).await;
        found.ok_or_else(|| server.fault())
    }

    /// The server turned away what it should take: it is read anew, if that was not just done. Waits for nothing.
    pub fn doubt(&self, asked: Asked<'_>) {
        let server = self.server(asked.name);
        server.kept.begin(&*self.clock, |turn| self.read(&server, asked, turn));
    }

    /// Whether the server still names this issuer. Nobody waits long for the answer.
    pub async fn still_names(&self, asked: Asked<'_>, issuer: &str) -> Named {
        Named::by(tokio::time::timeout(PATIENCE, self.of(asked)).await.ok().and_then(Result::ok), issuer)
    }

    /// Whether it named this issuer when it was read last. Waits for nothing: what is not fresh is read anew meanwhile (R-GW-06).
    pub fn named(&self, asked: Asked<'_>, issuer: &str) -> Named {
        let server = self.server(asked.name);
        Named::by(server.kept.at_hand(&*self.clock, |turn| self.read(&server, asked, turn)), issuer)
    }

    /// Remembers where a challenge to a call pointed, for servers that turn nobody away who calls nothing. Its scopes are not
    /// remembered: they are of one person's call.
    pub fn note(&self, name: &str, resource_metadata: &str) {
        let server = self.server(name);
        let mut noted = lock(&server.noted);
        if noted.as_deref() != Some(resource_metadata) {
            *noted = Some(resource_metadata.to_owned());
        }
    }

    fn server(&self, name: &str) -> Arc<Server> {
        let mut servers = lock(&self.servers);
        if let Some(server) = servers.get(name) {
            return Arc::clone(server);
        }
        let server = Server { kept: Kept::new(TERMS), fault: Mutex::default(), noted: Mutex::default() };
        Arc::clone(servers.entry(name.to_owned()).or_insert(Arc::new(server)))
    }

    /// Reads it, in a task of its own: whoever asked may leave.
    fn read(
        &self,
        server: &Arc<Server>,
        asked: Asked<'_>,
        turn: Turn,
    ) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (server, egress, clock) = (Arc::clone(server), self.egress.clone(), Arc::clone(&self.clock));
        let (name, url, pinned) = (asked.name.to_owned(), asked.url.clone(), asked.pinned.cloned());
        async move {
            let _turn = turn;
            let now = clock.now();
            let noted = lock(&server.noted).clone();
            let reach = Reach::of(&egress, &url, pinned.as_ref());
            let mut pointed = noted.clone();
            let found = discover(&reach, &url, pinned.as_ref(), &mut pointed).await;
            if pointed.is_none() {
                // What was noted meanwhile stays.
                let _ = lock(&server.noted).take_if(|kept| Some(&*kept) == noted.as_ref());
            }
            match found {
                Ok(found) => {
                    tracing::debug!(
                        upstream = name,
                        issuer = found.server.issuer.as_str(),
                        "discovered who makes tokens"
                    );
                    *lock(&server.fault) = None;
                    server.kept.fetched(Arc::new(found), now);
                }
                Err(error) => {
                    *lock(&server.fault) = Some(error.clone());
                    if server.kept.failed(clock.now()) {
                        tracing::warn!(upstream = name, %error, "nobody knows who makes the server's tokens");
                    } else {
                        tracing::debug!(upstream = name, %error, "still nobody knows who makes the server's tokens");
                    }
                }
            }
        }
    }
}

impl Server {
    fn fault(&self) -> DiscoveryError {
        // Without a value and without a fault, the attempt was given up with the service.
        lock(&self.fault).clone().unwrap_or(DiscoveryError::Slow)
    }
}

/// A panic while a lock is held leaves what it guards whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::oauth::site::{self, Site};

    const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
    const OAUTH: &str = "/.well-known/oauth-authorization-server";

    #[derive(Default)]
    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(1_000_000 + self.0.load(Ordering::SeqCst)).unwrap()
        }
    }

    struct World {
        discoveries: Discoveries,
        hand: Arc<Hand>,
        mcp: Site,
        ids: [Site; 2],
    }

    impl World {
        async fn start() -> Self {
            let hand = Arc::new(Hand::default());
            let discoveries = Discoveries::new(site::egress(), Arc::clone(&hand) as Arc<dyn Clock>);
            let world =
                Self { discoveries, hand, mcp: Site::start().await, ids: [Site::start().await, Site::start().await] };
            for id in &world.ids {
                let document = json!({
                    "issuer": id.origin,
                    "authorization_endpoint": id.url("/authorize").as_str(),
                    "token_endpoint": id.url("/token").as_str(),
                    "code_challenge_methods_supported": ["S256"],
                });
                id.has(OAUTH, &document);
            }
            world.names(0);
            world
        }

        /// The server's tokens are made by this one from now on.
        fn names(&self, id: usize) {
            let resource =
                json!({ "resource": self.mcp.url("/mcp").as_str(), "authorization_servers": [self.ids[id].origin] });
            self.mcp.has(RESOURCE, &resource);
        }

        fn pass(&self, seconds: i64) {
            self.hand.0.fetch_add(seconds, Ordering::SeqCst);
        }

        async fn still_names(&self, id: usize) -> Named {
            let url = self.mcp.url("/mcp");
            let asked = Asked { name: "notes", url: &url, pinned: None };
            self.discoveries.still_names(asked, &self.ids[id].origin).await
        }

        async fn of(&self) -> Result<Arc<Discovered>, DiscoveryError> {
            let url = self.mcp.url("/mcp");
            self.discoveries.of(Asked { name: "notes", url: &url, pinned: None }).await
        }

        fn reads(&self) -> usize {
            self.mcp.paths().iter().filter(|path| *path == RESOURCE).count()
        }
    }

    #[tokio::test]
    async fn who_asks_at_the_same_time_asks_once() {
        let world = World::start().await;
        let all = futures_util::future::join_all((0..20).map(|_| world.of())).await;
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(world.reads(), 1);
        world.pass(299);
        assert!(world.of().await.is_ok());
        assert_eq!(world.reads(), 1, "and what was read is kept for five minutes");
    }

    /// R-OAUTH-05: what was discovered does not hide a changed issuer for long.
    #[tokio::test]
    async fn another_issuer_is_seen_after_minutes_or_when_a_token_is_turned_away() {
        let world = World::start().await;
        assert_eq!(world.still_names(0).await, Named::Same);
        world.names(1);
        let other = Named::Other(Issuer::parse(&world.ids[1].origin).unwrap());
        world.pass(300);
        assert_eq!(world.still_names(0).await, other);
        assert_eq!(world.still_names(1).await, Named::Same);

        world.names(0);
        let url = world.mcp.url("/mcp");
        world.pass(15);
        world.discoveries.doubt(Asked { name: "notes", url: &url, pinned: None });
        let seen = async {
            while world.still_names(0).await != Named::Same {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), seen).await.unwrap();
    }

    /// R-SEC-04
    #[tokio::test]
    async fn what_cannot_be_read_is_used_as_it_was_for_an_hour() {
        let world = World::start().await;
        assert_eq!(world.still_names(0).await, Named::Same);
        world.mcp.says(RESOURCE, 503, "");
        world.pass(3500);
        assert_eq!(world.still_names(0).await, Named::Same);
        world.pass(200);
        assert_eq!(world.still_names(0).await, Named::Unknown);
        assert!(world.of().await.unwrap_err().is_transient());
        world.names(0);
        world.pass(60);
        assert_eq!(world.still_names(0).await, Named::Same);
    }

    /// R-GW-06: what waits for nothing goes by what was read last, which is read anew meanwhile.
    #[tokio::test]
    async fn who_waits_for_nothing_hears_what_is_known() {
        let world = World::start().await;
        let (url, issuers) = (world.mcp.url("/mcp"), [world.ids[0].origin.clone(), world.ids[1].origin.clone()]);
        let asked = Asked { name: "notes", url: &url, pinned: None };
        assert_eq!(world.discoveries.named(asked, &issuers[0]), Named::Unknown);
        assert_eq!(world.still_names(0).await, Named::Same);
        assert_eq!(world.discoveries.named(asked, &issuers[0]), Named::Same);
        world.names(1);
        world.pass(300);
        assert_eq!(world.discoveries.named(asked, &issuers[0]), Named::Same);
        let seen = async {
            while world.discoveries.named(asked, &issuers[1]) != Named::Same {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), seen).await.unwrap();
    }

    /// R-OAUTH-05: a challenge to one call takes nothing from everybody else: where it points to nothing, the server is found as
    /// before, and the challenge is forgotten.
    #[tokio::test]
    async fn a_challenge_that_points_to_nothing_is_forgotten() {
        let world = World::start().await;
        let bank = json!({ "resource": "https://bank.example/mcp", "authorization_servers": [world.ids[1].origin] });
        world.mcp.has("/bank", &bank);
        let lost = json!({ "resource": world.mcp.url("/mcp").as_str(), "authorization_servers": [world.mcp.origin] });
        world.mcp.has("/lost", &lost);
        let places = ["/nowhere", "/bank", "/lost"].map(|place| world.mcp.url(place).to_string());
        for place in places.iter().map(String::as_str).chain(["http://10.0.0.1/x", "ftp://x/"]) {
            world.discoveries.note("notes", place);
            world.pass(4000);
            assert!(world.of().await.is_ok(), "{place}");
            assert_eq!(*lock(&world.discoveries.server("notes").noted), None, "{place}");
        }
        assert_eq!(world.still_names(0).await, Named::Same);
    }

    #[tokio::test]
    async fn a_challenge_to_a_call_is_remembered() {
        let world = World::start().await;
        world.mcp.says(RESOURCE, 404, "");
        assert!(world.of().await.is_err());
        let resource =
            json!({ "resource": world.mcp.url("/mcp").as_str(), "authorization_servers": [world.ids[0].origin] });
        world.mcp.has("/about", &resource);
        world.discoveries.note("notes", world.mcp.url("/about").as_str());
        world.pass(60);
        assert!(world.of().await.is_ok());
    }
}
