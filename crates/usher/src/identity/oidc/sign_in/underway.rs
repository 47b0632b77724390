//! Sign-ins whose code is exchanged on this replica: each once, and not too many at a time.

use std::{fmt, time::Duration};

use moka::sync::Cache;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{Fault, LIVES};

/// How many codes are exchanged at a time. Whoever sends codes that are none costs the issuer as many requests.
const AT_ONCE: usize = 32;

/// How long one waits for its turn (R-SEC-04).
const PATIENCE: Duration = Duration::from_secs(5);

/// The most that are remembered. Beyond that only the issuer's own rule, and the store's, stand against a second time.
const REMEMBERED_AT_MOST: u64 = 100_000;

/// The sign-ins of this replica.
pub struct Underway {
    claimed: Cache<String, ()>,
    turns: Semaphore,
}

impl Default for Underway {
    fn default() -> Self {
        let claimed = Cache::builder().max_capacity(REMEMBERED_AT_MOST).time_to_live(LIVES).build();
        Self { claimed, turns: Semaphore::new(AT_ONCE) }
    }
}

impl Underway {
    /// Claims a sign-in for good: a code is sent to the issuer once, whatever comes of it (R-OAUTH-02).
    pub(super) async fn claim(&self, id: &SecretString) -> Result<SemaphorePermit<'_>, Fault> {
        let Ok(Ok(turn)) = tokio::time::timeout(PATIENCE, self.turns.acquire()).await else { return Err(Fault::Busy) };
        let fresh = self.claimed.entry_by_ref(id.expose_secret()).or_insert(()).is_fresh();
        if fresh { Ok(turn) } else { Err(Fault::Used) }
    }
}

impl fmt::Debug for Underway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Underway").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-OAUTH-02
    #[tokio::test]
    async fn a_sign_in_is_claimed_once() {
        let underway = Underway::default();
        let id = SecretString::from("one");
        drop(underway.claim(&id).await.unwrap());
        assert!(matches!(underway.claim(&id).await, Err(Fault::Used)));
        assert!(underway.claim(&SecretString::from("other")).await.is_ok());
    }

    /// R-SEC-04: a flood is told to come back, and ends.
    #[tokio::test(start_paused = true)]
    async fn only_so_many_are_exchanged_at_a_time() {
        let underway = Underway::default();
        let mut turns = Vec::new();
        for number in 0..AT_ONCE {
            turns.push(underway.claim(&SecretString::from(number.to_string())).await.unwrap());
        }
        let late = SecretString::from("late");
        assert!(matches!(underway.claim(&late).await, Err(Fault::Busy)));
        turns.pop();
        assert!(underway.claim(&late).await.is_ok(), "it was not claimed while it waited");
    }
}
