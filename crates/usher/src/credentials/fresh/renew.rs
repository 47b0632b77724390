//! One renewal: the lease, the request, the commit.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout},
};
use usher_store::{
    Credential, CredentialKey, CredentialStatus, Event, HeldLease, Lease, RefreshFailed, StoreError, fail_point,
};

use super::{
    JUST_NOW, Parts, Renewal, Trouble, Unavailable,
    merge::merged,
    pauses::{self, Failure, again_at},
    server::{Final, Plan},
};
use crate::{
    credentials::revoke::revoke,
    oauth::{self, Held, TokenError, Tokens},
};

/// How long a provider has for its answer, whatever the steps of the request (R-SEC-04). A lease lasts longer.
const REQUEST: Duration = Duration::from_secs(12);
/// How long a store that fails is asked to keep what a provider answered. Its lease lasts as long.
const COMMIT: Duration = Duration::from_secs(25);
/// How often.
const COMMIT_AGAIN: Duration = Duration::from_millis(500);
/// How many of one provider are renewed at a time, whoever wants them.
const AT_A_TIME: usize = 16;
/// From how many on those that nobody uses are dropped.
const PACES: usize = 1000;
/// How long another replica's renewal is waited for: to the end of its lease, and then for our own.
const BUSY: Duration = Duration::from_secs(50);
/// How often it is looked at, in case no event comes.
const LOOK: Duration = Duration::from_secs(1);
/// What was not used for so long is not renewed ahead any more. It is when it is used again, if its provider still knows it.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(24 * 30);

/// After so many failures in a row, half a day of them, nobody tries ahead of a use any more; and a provider that refuses the
/// client of this grant alone as long is taken at its word.
pub(super) const TRIES: u32 = 48;

/// Whether nobody has used it for so long that it is not kept alive for them.
pub(super) fn is_forgotten(credential: &Credential, now: Timestamp) -> bool {
    let used_at = credential.last_used_at.max(Some(credential.created_at)).unwrap_or(now);
    now.duration_since(used_at) > FORGOTTEN
}

impl Parts {
    /// Renews a credential of which this version was seen.
    pub(super) async fn renew(&self, seen: &Credential) -> Renewal {
        let renewal = match self.try_renew(seen).await {
            Ok(renewal) => renewal,
            Err(error) => {
                tracing::warn!(provider = seen.provider, user = %seen.user, %error, "a credential cannot be refreshed: the store");
                Renewal::Unavailable(unavailable(seen, Trouble::Store, None))
            }
        };
        if let Renewal::Renewed(now) = &renewal {
            self.doubts.renewed(&seen.key(), seen.version, now.version);
            self.just_now.insert(seen.key(), (now.version, self.clock.now()));
        }
        renewal
    }

    /// Whether this version was made here a moment ago.
    pub(super) fn is_of_just_now(&self, credential: &Credential) -> bool {
        let made = self.just_now.get(&credential.key()).filter(|(version, _)| *version == credential.version);
        made.is_some_and(|(_, at)| self.clock.now().duration_since(at).unsigned_abs() < JUST_NOW)
    }

    async fn try_renew(&self, seen: &Credential) -> Result<Renewal, StoreError> {
        let plan = match self.plan(seen) {
            Ok(plan) => plan,
            Err(Final::NoRefreshToken | Final::NoGrant) => return Ok(Renewal::Ended),
            // What the configuration says may be a mistake, and be mended: the grant stays as it is.
            Err(Final::NotConfigured | Final::AnotherServer | Final::AnotherClient) => return Ok(Renewal::Foreign),
        };
        if !self.is_of_its_server(seen).await {
            return Ok(Renewal::Gone);
        }
        // Before the lease is asked for, so that its end is not missed.
        let mut events = self.store.events();
        let give_up = Instant::now() + BUSY;
        let Some(_turn) = self.turn(&plan.pace).await else {
            return Ok(Renewal::Unavailable(unavailable(seen, Trouble::Busy, None)));
        };
        loop {
            // What is asked for now might be answered when nobody is left to store it.
            if self.flights.is_closed() {
                return Ok(Renewal::Unavailable(unavailable(seen, Trouble::Busy, None)));
            }
            let now = self.clock.now();
            match self.store.lease_refresh(&seen.user, &seen.provider, seen.version, &self.owner, now).await? {
                Lease::Held(lease) => return self.refresh(lease, &plan).await,
                Lease::Changed(current) => return Ok(usable(*current)),
                Lease::Gone => return Ok(Renewal::Gone),
                Lease::Resting { until } => {
                    self.pauses.pause(seen.key(), Trouble::Away, until, now);
                    let rest = pauses::rest(until, now);
                    return Ok(Renewal::Unavailable(unavailable(seen, Trouble::Away, rest)));
                }
                Lease::Busy { .. } if Instant::now() >= give_up => {
                    return Ok(Renewal::Unavailable(unavailable(seen, Trouble::Busy, None)));
                }
                Lease::Busy { .. } => {
                    let _ = timeout(LOOK, changed(&mut events, &seen.key())).await;
                }
            }
        }
    }

    /// A turn at what rests together: after an outage everybody comes at once.
    async fn turn(&self, pace: &str) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut all = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= PACES {
                all.retain(|_, turns| Arc::strong_count(turns) > 1);
            }
            Arc::clone(all.entry(pace.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(AT_A_TIME))))
        };
        // Nobody closes it.
        timeout(BUSY, turns.acquire_owned()).await.ok()?.ok()
    }

    async fn refresh(&self, lease: HeldLease, plan: &Plan) -> Result<Renewal, StoreError> {
        let held = Instant::now();
        let Some(grant) = &lease.credential.grant else { return Ok(Renewal::Gone) };
        let own = Held {
            fields: &lease.credential.secrets,
            refresh_token: grant.refresh_token.as_ref(),
            scopes: &grant.scopes,
            values: &grant.values,
        };
        let began = self.clock.now();
        let request = oauth::refresh(&self.egress, &plan.server, &plan.client, &own, began);
        let answer = timeout(REQUEST, request).await.unwrap_or(Err(TokenError::TooSlow));
        fail_point!(RefreshAnswered);
        match answer {
            Ok(tokens) => self.keep(lease, tokens, plan, held).await,
            Err(error) => self.failed(lease, &error, plan, began).await,
        }
    }

    /// Stores what the provider answered. The token of before may be good for nothing from here on, so a store that does not
    /// answer is asked again for as long as the lease lasts.
    async fn keep(&self, lease: HeldLease, tokens: Tokens, plan: &Plan, held: Instant) -> Result<Renewal, StoreError> {
        let Some(grant) = &lease.credential.grant else { return Ok(Renewal::Gone) };
        let (before, now) = (lease.credential.clone(), self.clock.now());
        let (grant, secrets) = (merged(grant, &tokens, now, &*self.random), tokens.fields);
        let stored = loop {
            match self.store.refreshed(lease.clone(), secrets.clone(), grant.clone(), now).await {
                Ok(stored) => break stored,
                Err(error) if held.elapsed() + COMMIT_AGAIN > COMMIT => {
                    tracing::error!(provider = before.provider, user = %before.user, %error, "what a refresh brought cannot be stored, and may be lost");
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!(provider = before.provider, user = %before.user, %error, "what a refresh brought is not stored yet");
                    sleep(COMMIT_AGAIN).await;
                }
            }
        };
        self.pauses.end(&before.key(), &plan.pace, now);
        if let Some(stored) = stored {
            tracing::info!(provider = stored.provider, user = %stored.user, "credential refreshed");
            return Ok(Renewal::Renewed(Arc::new(stored)));
        }
        // Connected anew meanwhile, disconnected, or stored by the attempt that got no answer.
        let renewal = self.look_again(&before).await?;
        if matches!(renewal, Renewal::Gone) {
            self.give_back(Credential { secrets, grant: Some(grant), ..before });
        }
        Ok(renewal)
    }

    /// The owner of a credential gave it up while its provider answered: nobody else knows the tokens that came.
    fn give_back(&self, brought: Credential) {
        let (egress, config) = (self.egress.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let revocation = revoke(&egress, &config, &brought.provider, Some(&brought)).await;
            let Credential { provider, user, .. } = &brought;
            tracing::info!(provider, %user, ?revocation, "a refresh came after its credential was let go");
        });
    }

    async fn failed(
        &self,
        lease: HeldLease,
        error: &TokenError,
        plan: &Plan,
        began: Timestamp,
    ) -> Result<Renewal, StoreError> {
        let (before, now) = (lease.credential.clone(), self.clock.now());
        let (provider, user) = (before.provider.as_str(), &before.user);
        let (trouble, asked) = match error {
            TokenError::Dead(_) => return self.ended(lease, error).await,
            // A registration that its server has forgotten: another one, and another grant.
            TokenError::Client(code) if plan.registered && code == "invalid_client" => {
                let client = &plan.client;
                self.store.forget_oauth_client(&plan.server.issuer(), &client.redirect_uri, &client.id).await?;
                return self.ended(lease, error).await;
            }
            TokenError::Client(_) => (Trouble::Registration, None),
            TokenError::Limited { until } => (Trouble::Limited, Some(*until)),
            _ => (Trouble::Away, None),
        };
        let attempts = before.attempts.saturating_add(1);
        // A client that the operator wrote down is theirs to mend, and then everything goes on.
        if trouble == Trouble::Registration && plan.of_grant && attempts >= TRIES {
            return self.ended(lease, error).await;
        }
        let at = again_at(attempts, asked, now, &*self.random);
        let key = before.key();
        self.pauses.failed(&plan.pace, Failure { key: &key, trouble, asked, began }, now, &*self.random);
        self.pauses.pause(key, trouble, at, now);
        if trouble == Trouble::Registration {
            tracing::error!(provider, %user, %error, attempts, "credential not refreshed: the provider refuses our registration; check client_id and client_secret");
        } else {
            tracing::warn!(provider, %user, %error, attempts, "credential not refreshed yet");
        }
        if !self.store.refresh_failed(lease, RefreshFailed::Later { at }, now).await? {
            return self.look_again(&before).await;
        }
        Ok(Renewal::Unavailable(unavailable(&before, trouble, pauses::rest(at, now))))
    }

    /// Nothing but a new consent helps. The record stays, and so does what another one stored meanwhile.
    async fn ended(&self, lease: HeldLease, error: &TokenError) -> Result<Renewal, StoreError> {
        let before = lease.credential.clone();
        if !self.store.refresh_failed(lease, RefreshFailed::Dead, self.clock.now()).await? {
            return self.look_again(&before).await;
        }
        let Credential { provider, user, .. } = &before;
        tracing::info!(provider, %user, %error, "credential ended: its owner signs in again on the next use");
        Ok(Renewal::Ended)
    }

    /// What is stored now, of which another one has the last word.
    async fn look_again(&self, before: &Credential) -> Result<Renewal, StoreError> {
        Ok(match self.store.credential(&before.user, &before.provider).await? {
            None => Renewal::Gone,
            Some(current) => usable(current),
        })
    }
}

pub(super) fn unavailable(credential: &Credential, trouble: Trouble, rest: Option<Duration>) -> Unavailable {
    Unavailable { provider: credential.provider.clone(), trouble, retry_after: rest }
}

fn usable(current: Credential) -> Renewal {
    if current.status == CredentialStatus::Rejected { Renewal::Ended } else { Renewal::Renewed(Arc::new(current)) }
}

/// Resolves when this credential may have changed.
async fn changed(events: &mut Receiver<Event>, key: &CredentialKey) {
    loop {
        match events.recv().await {
            Ok(Event::Credential(of)) if of == *key => return,
            Ok(Event::Everything) | Err(RecvError::Lagged(_)) => return,
            Ok(_) => {}
            // The store was closed, which the next call to it says.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
