//! Letting go of credentials: first nobody can use them any more, then their providers are told, then they are deleted.
//!
//! In this order, a crash at any moment leaves nothing that is used after its owner was told that it is gone, and nothing that
//! is gone here and still good there without anybody knowing: what was begun is ended by `jobs/let_go.rs`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use elicit::UserId;
use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;
use tokio::time::{Instant, timeout};
use usher_store::{LEAVING_LASTS, Leave, Leaving, Store, StoreError, fail_point};

use super::revoke::{Revocation, StillListed, revoke};
use crate::{clock::Clock, config::Config, egress::Egress};

/// How many providers are told at a time, where many credentials go at once.
const AT_A_TIME: usize = 8;
/// After so many answers that did not come, a provider is not asked any more in that batch.
const PATIENCE: u32 = 3;

/// What it takes to let go.
#[derive(Clone, Copy)]
pub struct LetGo<'a> {
    /// Where credentials are.
    pub store: &'a Store,
    /// Which providers there are.
    pub config: &'a Config,
    /// The way to them.
    pub egress: &'a Egress,
    /// The time of day.
    pub clock: &'a dyn Clock,
}

impl LetGo<'_> {
    /// A user gives up their own credential. `None` where there is none.
    pub async fn own(&self, user: &UserId, provider: &str) -> Result<Option<Revocation>, StoreError> {
        let leaving = self.store.leave(Leave::Own { user, provider }, self.clock.now()).await?;
        let mut became = None;
        for one in leaving {
            let revocation = self.tell(&one).await;
            self.store.left(&one, revocation.told(), self.clock.now()).await?;
            // A row whose key was changed may stand beside the one that counts.
            if one.credential.is_some() || became.is_none() {
                became = Some(revocation);
            }
        }
        Ok(became)
    }

    /// Tells the providers of many credentials, a few at a time, until `deadline`; without one, nobody is told. The caller
    /// deletes them all.
    pub async fn many(&self, leaving: Vec<Leaving>, deadline: Option<Instant>) -> Vec<(Leaving, Revocation)> {
        let patience = Patience { deadline, unheard: Mutex::default() };
        let told = stream::iter(leaving).map(|one| {
            let patience = &patience;
            async move {
                let revocation = self.tell_within(&one, patience).await;
                (one, revocation)
            }
        });
        told.buffer_unordered(AT_A_TIME).collect().await
    }

    async fn tell_within(&self, leaving: &Leaving, patience: &Patience) -> Revocation {
        let untold = |why| Revocation::untold(self.config, leaving, why);
        let Some(left) = patience.left(&leaving.provider) else { return untold(StillListed::NotTried) };
        // Others came first, for minutes. Where it stands there no more, its owner ended it or connected anew, and some
        // providers would end the new access with the old one.
        match self.store.is_leaving(leaving).await {
            Ok(true) => {}
            Ok(false) => return untold(StillListed::NotTried),
            Err(error) => {
                tracing::warn!(provider = leaving.provider, %error, "nobody knows whether an access is still to be ended");
                return untold(StillListed::NotTried);
            }
        }
        let told = timeout(left, self.tell(leaving)).await;
        let revocation = told.unwrap_or_else(|_| untold(StillListed::Unheard));
        patience.heard(&leaving.provider, &revocation);
        revocation
    }

    /// Tells the provider. A crash before, in between or after leaves what is told once more.
    async fn tell(&self, leaving: &Leaving) -> Revocation {
        let revocation = revoke(self.egress, self.config, &leaving.provider, leaving.credential.as_deref()).await;
        fail_point!(Revoked);
        let provider = &leaving.provider;
        match &revocation {
            Revocation::Nothing => {}
            Revocation::Ended { .. } => tracing::info!(provider, "access ended at the provider"),
            Revocation::StillListed { why, .. } => {
                tracing::warn!(provider, %why, "access may still be listed at the provider");
            }
        }
        revocation
    }

    /// What somebody began to let go, and did not end.
    pub async fn left_behind(&self) -> Result<(), StoreError> {
        let leaving = self.store.still_leaving(lasts(BATCH_WAIT), self.clock.now()).await?;
        let deadline = Instant::now() + BATCH_WAIT;
        for (one, revocation) in self.many(leaving, Some(deadline)).await {
            // One that cannot be deleted now keeps no other one.
            match self.store.left(&one, revocation.told(), self.clock.now()).await {
                Ok(true) => tracing::info!(provider = one.provider, "a credential that was being let go is deleted"),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(provider = one.provider, %error, "a credential that was being let go is not deleted yet");
                }
            }
        }
        Ok(())
    }
}

/// How long providers are told about many credentials, in all, unless an operator gives more.
pub const BATCH_WAIT: Duration = Duration::from_mins(5);

/// How long many credentials are nobody else's to let go, where their providers are told for `wait`.
pub fn lasts(wait: Duration) -> SignedDuration {
    SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX).saturating_add(LEAVING_LASTS)
}

/// How long a batch goes on asking.
struct Patience {
    deadline: Option<Instant>,
    /// How often in a row a provider was not heard of.
    unheard: Mutex<BTreeMap<String, u32>>,
}

impl Patience {
    /// How long a provider may take; `None` where it is not asked any more.
    fn left(&self, provider: &str) -> Option<Duration> {
        let left = self.deadline?.checked_duration_since(Instant::now())?;
        let unheard = self.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        (unheard.get(provider).copied().unwrap_or_default() < PATIENCE).then_some(left)
    }

    fn heard(&self, provider: &str, revocation: &Revocation) {
        let mut unheard = self.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        let count = unheard.entry(provider.to_owned()).or_default();
        *count = if revocation.is_unheard() { *count + 1 } else { 0 };
    }
}
