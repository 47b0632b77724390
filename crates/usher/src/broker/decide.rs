//! Decides about a call: go on with these credentials, or ask for those; and waits for what becomes of a question.

use std::time::Duration;

use elicit::Principal;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use usher_store::{
    Advanced, AskReason, AuditAction, AuditEntry, Credential, CredentialStatus, DeclinedBy, Interaction, InteractionId,
    InteractionState, NewInteraction, Outcome, SessionKey, Step, StoreError,
};

use super::{Broker, needs::Call};
use crate::{
    config::Upstream,
    credentials::{InjectError, Injection, Used},
};

/// How long a person has for one visit.
pub const INTERACTION_LIVES: Duration = Duration::from_mins(15);

/// What is to be done with a call.
#[derive(Debug)]
pub enum Decision {
    /// Send it upstream with these credentials.
    Go(Injection),
    /// Ask for these first.
    Ask(Vec<Missing>),
}

/// A credential that a call cannot go on without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its provider.
    pub provider: String,
    /// Why it is asked for.
    pub reason: AskReason,
}

/// Why nobody is asked.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A person declined a moment ago; asking again at once would be nagging.
    #[error("{provider} was declined a moment ago")]
    Declined {
        /// The provider that was declined.
        provider: String,
    },
    /// Too many questions.
    #[error("too many questions; try again in {} s", retry_after.as_secs().max(1))]
    TooMany {
        /// When to come back.
        retry_after: Duration,
    },
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The stored credential cannot be used, or the store not be asked.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credential does not fit the configuration.
    #[error(transparent)]
    Inject(#[from] InjectError),
}

/// What became of the questions that a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// All are completed.
    Completed,
    /// A person declined this one.
    Declined(InteractionId),
    /// Nothing yet: time ran out, or the service stops.
    Open {
        /// Whether a person is at the page of one of them.
        seen: bool,
    },
    /// One has expired: it can only be asked anew.
    Over,
}

impl Broker {
    /// Go on, or ask? Reads the cache, and the store where the cache has nothing.
    pub async fn decide(&self, call: Call<'_>) -> Result<Decision, DecideError> {
        let mut injection = Injection::default();
        let mut missing = Vec::new();
        for need in &call.upstream.needs {
            let credential = self.credentials.of(&call.principal.user, &need.provider).await?;
            match (lacks(call.principal, call.upstream, credential.as_deref()), credential) {
                (None, Some(credential)) => injection.add(need, &credential)?,
                // A provider stands at most once among an upstream's needs.
                (Some(reason), _) if call.requires(need) => {
                    missing.push(Missing { provider: need.provider.clone(), reason });
                }
                _ => {}
            }
        }
        Ok(if missing.is_empty() { Decision::Go(injection) } else { Decision::Ask(missing) })
    }

    /// What of all that an upstream needs is missing, whatever the call.
    pub async fn lacking(&self, principal: &Principal, upstream: &Upstream) -> Result<Vec<Missing>, StoreError> {
        let mut missing = Vec::new();
        for need in &upstream.needs {
            let credential = self.credentials.of(&principal.user, &need.provider).await?;
            if let Some(reason) = lacks(principal, upstream, credential.as_deref()) {
                missing.push(Missing { provider: need.provider.clone(), reason });
            }
        }
        Ok(missing)
    }

    /// Puts questions into the store, one for each missing credential. An open question of the same principal about the
    /// same credential is joined, so that parallel calls lead to one page. One commit.
    pub async fn ask(
        &self,
        principal: &Principal,
        client_claim: Option<&str>,
        upstream: &Upstream,
        missing: &[Missing],
        notify: Option<&SessionKey>,
    ) -> Result<Vec<Interaction>, Refusal> {
        let now = self.clock.now();
        let rests = |one: &&Missing| self.limits.rests(principal, &upstream.name, &one.provider, now);
        if let Some(declined) = missing.iter().find(rests) {
            return Err(Refusal::Declined { provider: declined.provider.clone() });
        }
        if let Err(refused) = self.limits.count(principal, &upstream.name) {
            tracing::warn!(client = %principal.client, upstream = upstream.name, "question refused: too many");
            self.turned_away(AuditAction::InteractionLimited, Some(principal), Some(&upstream.name)).await;
            return Err(Refusal::TooMany { retry_after: refused.retry_after });
        }
        let expires_at = now + INTERACTION_LIVES;
        let new: Vec<NewInteraction> = missing
            .iter()
            .map(|one| NewInteraction {
                id: InteractionId::new(&*self.random),
                principal: principal.clone(),
                client_claim: client_claim.map(str::to_owned),
                provider: one.provider.clone(),
                destination: upstream.destination(),
                reason: one.reason,
                expires_at,
            })
            .collect();
        Ok(self.store.ask(&new, notify, now).await?)
    }

    /// Waits until something became of `ids`, the deadline, or the stop. Looks at the rows first and last: events are
    /// hints.
    pub async fn wait(
        &self,
        ids: &[InteractionId],
        deadline: Instant,
        stopping: &CancellationToken,
    ) -> Result<Waited, StoreError> {
        let mut waiters: Vec<_> = ids.iter().map(|id| self.waiting.on(id)).collect();
        loop {
            let waited = self.became(ids).await?;
            if !matches!(waited, Waited::Open { .. }) {
                return Ok(waited);
            }
            let woken = futures_util::future::select_all(waiters.iter_mut().map(|waiter| Box::pin(waiter.woken())));
            tokio::select! {
                _ = woken => {}
                () = tokio::time::sleep_until(deadline) => return self.became(ids).await,
                () = stopping.cancelled() => return self.became(ids).await,
            }
        }
    }

    /// What became of `ids`, by their rows.
    pub async fn became(&self, ids: &[InteractionId]) -> Result<Waited, StoreError> {
        let interactions = self.store.interactions(ids, self.clock.now()).await?;
        let (mut completed, mut seen, mut over) = (0, false, interactions.len() < ids.len());
        for interaction in &interactions {
            match interaction.state {
                InteractionState::Declined { .. } => return Ok(Waited::Declined(interaction.id.clone())),
                InteractionState::Completed { .. } => completed += 1,
                InteractionState::Opened { .. } | InteractionState::Consented { .. } => seen = true,
                // The page offers to start again, so it may still be completed.
                InteractionState::Created | InteractionState::Failed { .. } => {}
                InteractionState::Expired => over = true,
            }
        }
        Ok(match () {
            () if completed == ids.len() => Waited::Completed,
            () if over => Waited::Over,
            () => Waited::Open { seen },
        })
    }

    /// A person declined in the client, without opening the page.
    pub async fn declined_by_client(&self, id: &InteractionId) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(interaction) = self.store.interaction(id, now).await? else { return Ok(()) };
        self.limits.note_decline(&interaction.principal, &interaction.destination.upstream, &interaction.provider, now);
        if interaction.state.is_open() {
            match self.store.advance(interaction, Step::Decline { by: DeclinedBy::Client }, now).await? {
                Advanced::Done(_) => {}
                // The page was faster: what the person did there counts.
                Advanced::Lost | Advanced::Refused(_) => tracing::info!(interaction = %id, "a decline came too late"),
            }
        }
        Ok(())
    }

    /// Somebody was turned away before a call began: logged, and audited unless it happens all the time (R-SEC-03).
    pub async fn turned_away(&self, action: AuditAction, principal: Option<&Principal>, upstream: Option<&str>) {
        tracing::warn!(
            action = action.as_str(),
            client = principal.map(|principal| principal.client.as_str()),
            upstream,
            "turned away"
        );
        let audits = principal
            .map_or_else(|| self.limits.audits_token(), |principal| self.limits.audits(principal, action));
        if !audits {
            return;
        }
        let entry = AuditEntry {
            principal: principal.map(|principal| (principal.user.clone(), Some(principal.client.clone()))),
            upstream: upstream.map(str::to_owned),
            ..AuditEntry::new(action, Outcome::Refused)
        };
        if let Err(error) = self.store.audit(entry, self.clock.now()).await {
            tracing::warn!(%error, "a refusal was not audited");
        }
    }

    /// The upstream refused these credentials: they are not used again until their owner connects anew.
    pub async fn rejected(&self, principal: &Principal, used: &[Used]) -> Result<(), StoreError> {
        for Used { provider, version } in used {
            let marked = self.store.reject_credential(&principal.user, provider, *version, self.clock.now()).await?;
            self.credentials.forget(&principal.user, provider);
            tracing::info!(provider, marked, "credential rejected by the upstream");
        }
        Ok(())
    }
}

/// Why `credential` cannot be used for this principal at this upstream; `None` where it can (R-OAUTH-04, R-GW-04).
fn lacks(principal: &Principal, upstream: &Upstream, credential: Option<&Credential>) -> Option<AskReason> {
    let Some(credential) = credential else { return Some(AskReason::Missing) };
    if credential.status == CredentialStatus::Rejected {
        return Some(AskReason::Rejected);
    }
    let destination = upstream.destination();
    if credential.allows(&principal.client, &destination) {
        return None;
    }
    let known_client = credential.approvals.iter().any(|approval| approval.client == principal.client);
    Some(if known_client { AskReason::NewDestination } else { AskReason::NewClient })
}
