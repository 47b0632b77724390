//! Keeps what was granted alive: an access token is exchanged for a new one before it expires, after it has, or when an
//! upstream refuses it. One at a time does so for each credential, in this process and over all replicas.

mod ahead;
mod doubts;
mod flights;
mod merge;
mod pauses;
mod renew;
mod server;
mod standing;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use elicit::{Random, UserId};
use jiff::Timestamp;
use moka::sync::Cache;
use tokio::{sync::Semaphore, time::Instant};
use usher_store::{Credential, CredentialKey, DueRefresh, Store, StoreError};

pub use self::ahead::refresh_at;
use self::{doubts::Doubts, flights::Flights, pauses::Pauses, standing::Standing};
use super::servers::AuthorizationServers;
use crate::{
    clock::Clock,
    config::{Config, Provider},
    egress::Egress,
};

/// For so long nothing is begun again in the background for the same version: what failed is tried by whoever needs it.
const BEGUN: Duration = Duration::from_secs(10);
/// A token that was given so short a while ago is used even where it has expired: one that lives for seconds would otherwise be
/// renewed by every call.
const JUST_NOW: Duration = Duration::from_secs(5);
/// The most of those that are remembered.
const JUST_NOW_AT_MOST: u64 = 10_000;

/// Keeps tokens alive. One per service; cheap to clone.
#[derive(Clone)]
pub struct Fresh {
    parts: Arc<Parts>,
}

/// What it works with.
pub struct Means {
    /// The configuration.
    pub config: Arc<Config>,
    /// Where grants are kept.
    pub store: Store,
    /// The time of day, by which tokens expire.
    pub clock: Arc<dyn Clock>,
    /// For pauses and times that differ.
    pub random: Arc<dyn Random>,
    /// Outbound HTTP.
    pub egress: Egress,
    /// What authorization servers MCP servers name.
    pub servers: AuthorizationServers,
}

struct Parts {
    means: Means,
    flights: Flights,
    pauses: Pauses,
    doubts: Doubts,
    /// The versions that we ourselves made last, and when.
    just_now: Cache<CredentialKey, (i64, Timestamp)>,
    /// Turns, by what rests together.
    turns: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// The versions for which a renewal was begun in the background a moment ago.
    begun: Cache<CredentialKey, i64>,
    /// Who we are where leases are looked at.
    owner: String,
}

impl std::ops::Deref for Parts {
    type Target = Means;

    fn deref(&self) -> &Means {
        &self.means
    }
}

/// What came of renewing a credential.
#[derive(Debug, Clone)]
pub(crate) enum Renewal {
    /// This is the one to use.
    Renewed(Arc<Credential>),
    /// Nothing is stored any more that could be renewed: look again.
    Gone,
    /// It cannot be renewed, now or later: its owner signs in again.
    Ended,
    /// It cannot be renewed as the configuration is now, which names another server or another client: its owner signs in again,
    /// and nothing is written down.
    Foreign,
    /// Not now.
    Unavailable(Unavailable),
}

/// A token has expired, and its provider gives no other one at the moment. Nobody is asked for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The provider.
    pub provider: String,
    /// Why.
    pub trouble: Trouble,
    /// When to try again, where that is known.
    pub retry_after: Option<Duration>,
}

/// Why a provider gives no new token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It cannot be reached, is too slow, or says nothing that could be understood.
    Away,
    /// It has enough requests for now.
    Limited,
    /// It refuses our own registration: whoever runs the service must see to it.
    Registration,
    /// The store does not answer.
    Store,
    /// The service stops, or it takes too long.
    Busy,
}

impl Fresh {
    /// Knows nothing yet.
    pub fn new(means: Means) -> Self {
        let mut name = [0_u8; 8];
        means.random.fill(&mut name);
        let parts = Parts {
            means,
            flights: Flights::default(),
            pauses: Pauses::default(),
            doubts: Doubts::default(),
            turns: Mutex::default(),
            just_now: Cache::builder().time_to_live(JUST_NOW).max_capacity(JUST_NOW_AT_MOST).build(),
            begun: Cache::builder().time_to_live(BEGUN).max_capacity(JUST_NOW_AT_MOST).build(),
            owner: format!("{:016x}", u64::from_be_bytes(name)),
        };
        Self { parts: Arc::new(parts) }
    }

    /// Whether a credential can be used as it is. Where it is time for another one, that is got meanwhile. Asks nobody, and
    /// waits for nothing.
    pub(crate) fn is_good(&self, credential: &Arc<Credential>) -> bool {
        if credential.grant.is_none() {
            return true;
        }
        if self.parts.doubts.is_refused(|| credential.key(), credential.version) {
            return false;
        }
        match standing::standing(credential, self.parts.clock.now()) {
            Standing::Lasting => true,
            Standing::Ageing => {
                self.renew_meanwhile(credential);
                true
            }
            Standing::Expired => self.parts.is_of_just_now(credential),
        }
    }

    /// Has another one got, and waits for nothing.
    pub(crate) fn renew_meanwhile(&self, credential: &Arc<Credential>) {
        let key = credential.key();
        // Calls come by the hundred while one renewal is under way, or none can be had.
        if self.parts.begun.get(&key) == Some(credential.version) {
            return;
        }
        self.parts.begun.insert(key, credential.version);
        if self.resting(credential).is_none() {
            drop(self.flight(credential));
        }
    }

    /// Waits for another one: until it is there, or until then.
    pub(crate) async fn renewed(&self, credential: &Arc<Credential>, until: Instant) -> Renewal {
        // What was under way may have begun before this version.
        for _ in 0..2 {
            if let Some(resting) = self.resting(credential) {
                return Renewal::Unavailable(resting);
            }
            match self.flight(credential).within(until.saturating_duration_since(Instant::now())).await {
                Some(Renewal::Renewed(same)) if same.version == credential.version => {}
                Some(renewal) => return renewal,
                None => break,
            }
        }
        Renewal::Unavailable(renew::unavailable(credential, Trouble::Busy, None))
    }

    /// An upstream refused this version of a credential. Whether another one is got for that before its owner is asked: once,
    /// where there is a way.
    pub(crate) fn refused(&self, credential: &Credential, version: i64) -> bool {
        // Another one is there already.
        if credential.version != version {
            return credential.version > version;
        }
        self.parts.plan(credential).is_ok() && self.parts.doubts.refused(&credential.key(), version)
    }

    /// An upstream took this version.
    pub(crate) fn worked(&self, user: &UserId, provider: &str, version: i64) {
        self.parts.doubts.worked(|| CredentialKey::of(user, provider), version);
    }

    /// The providers whose tokens can be renewed.
    pub(crate) fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.parts.config.providers.iter().filter(|provider| server::is_renewable(provider))
    }

    /// How long all of a provider rests.
    pub(crate) fn rest_of(&self, provider: &str) -> Option<Duration> {
        self.parts.pauses.of_provider(provider, self.parts.clock.now())
    }

    /// Renews what is due, ahead of its use.
    pub(crate) async fn renew_ahead(&self, due: &DueRefresh) -> Result<(), StoreError> {
        let credential = match self.parts.store.credential(&due.user, &due.provider).await {
            Ok(Some(credential)) => credential,
            // Nobody's any more, or nobody can open it: others get their turn.
            Ok(None) => return self.put_off(due, None).await,
            Err(error) if error.is_unopened() => {
                tracing::warn!(provider = due.provider, user = %due.user, %error, "what is due cannot be read, and is left alone");
                return self.put_off(due, None).await;
            }
            Err(error) => return Err(error),
        };
        let credential = Arc::new(credential);
        let now = self.parts.clock.now();
        // Somebody was faster.
        if credential.version != due.version || standing::standing(&credential, now) == Standing::Lasting {
            return Ok(());
        }
        if renew::is_forgotten(&credential, now)
            || credential.attempts >= renew::TRIES
            || self.parts.plan(&credential).is_err()
            || !self.parts.is_of_its_server(&credential).await
        {
            return self.put_off(due, None).await;
        }
        if let Some(rest) = self.resting(&credential) {
            let until = rest.retry_after.and_then(|rest| now.checked_add(rest).ok());
            return self.put_off(due, until).await;
        }
        // Its own deadlines bound it.
        match self.flight(&credential).within(Duration::MAX).await {
            Some(Renewal::Unavailable(Unavailable { trouble: Trouble::Store, .. })) => {
                Err(StoreError::Unavailable("a refresh could not be written".to_owned()))
            }
            _ => Ok(()),
        }
    }

    async fn put_off(&self, due: &DueRefresh, until: Option<Timestamp>) -> Result<(), StoreError> {
        self.parts.store.put_off_refresh(due, until, self.parts.clock.now()).await.map(|_| ())
    }

    /// Begins nothing more, and waits for what is under way.
    pub async fn close(&self) {
        self.parts.flights.close().await;
    }

    fn flight(&self, credential: &Arc<Credential>) -> flights::Landing {
        self.parts.flights.join(&credential.key(), || {
            let (parts, credential) = (Arc::clone(&self.parts), Arc::clone(credential));
            async move { parts.renew(&credential).await }
        })
    }

    /// Why it is not tried now: it failed a moment ago, or its provider has enough.
    fn resting(&self, credential: &Credential) -> Option<Unavailable> {
        let now = self.parts.clock.now();
        let noted = credential.grant.as_ref().filter(|_| credential.attempts > 0).and_then(|grant| grant.refresh_at);
        let noted = noted.and_then(|until| pauses::rest(until, now));
        let known = self.parts.pauses.rest(&credential.key(), &self.parts.pace(credential), now);
        // Another replica noted it, and did not say why.
        let (rest, trouble) = known.max(noted.map(|rest| (rest, Trouble::Away)))?;
        Some(renew::unavailable(credential, trouble, Some(rest)))
    }
}
