//! What a server beside Usher asks, and what it may know of it: through the API, in the name of its own key, about its own
//! questions alone. Nothing here tells a credential, and nothing goes past the page.

use std::time::Duration;

use elicit::Principal;
use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use usher_store::{
    Advanced, ApiKey, AuditAction, AuditEntry, Claimed, Interaction, InteractionId, InteractionState, Operation,
    Outcome, Step, StoreError,
};

use super::{Broker, Missing, NotCompleted, Patience, Refusal, ask::Asking, needs::Call, waiting::until};
use crate::{
    config::{Need, Upstream},
    credentials::Injection,
};

/// How often a step is repeated when others keep changing the same interaction.
const ATTEMPTS: usize = 4;

/// What a server asks for.
#[derive(Debug)]
pub struct ServerQuestion<'a> {
    /// The user and the client, as the server verified them.
    pub principal: &'a Principal,
    /// The call that it is asked for, whole, where the server says.
    pub operation: Option<&'a Operation>,
    /// What the client says of itself.
    pub client_claim: Option<&'a str>,
    /// Whose credential is needed.
    pub provider: &'a str,
    /// How long a person has for it.
    pub lives: Duration,
}

/// What came of it.
#[derive(Debug)]
pub enum AskedFor {
    /// Nothing is missing: it is connected, and allowed for this client at this server.
    Nothing,
    /// It is asked now.
    New(Box<Interaction>),
    /// The same was being asked already, and lasts longer now.
    Joined(Box<Interaction>),
}

/// What a server learns of an interaction.
#[derive(Debug)]
pub enum Followed {
    /// It is one of its own.
    Own(Box<Interaction>),
    /// There is none of this id.
    Unknown,
    /// It is another server's, which this one must not learn.
    Foreign,
}

/// What came of taking a question back.
#[derive(Debug)]
pub enum Withdrawn {
    /// It is over; so it may have been before.
    Done(Box<Interaction>),
    /// It was answered first.
    Answered(Box<Interaction>),
    /// There is none of this id for this server.
    None(Followed),
}

impl Broker {
    /// Asks in the name of a server, which has verified for itself who and which client it is about. What was done for one
    /// call alone is used up where nothing is missing (R-MRTR-03).
    pub async fn ask_for(
        &self,
        key: &ApiKey,
        upstream: &Upstream,
        question: &ServerQuestion<'_>,
    ) -> Result<AskedFor, Refusal> {
        let ServerQuestion { principal, operation, client_claim, provider, lives } = *question;
        let call = Call {
            principal,
            upstream,
            method: operation.map_or("", Operation::method),
            subject: operation.map(Operation::subject),
            operation,
            round: "",
        };
        let missing = if !self.is_per_call(provider) {
            let required = |need: &Need| need.provider == provider;
            // What its provider renews later is connected all the same.
            self.examine(principal, upstream, required, Patience::Waits, &mut Injection::default()).await?.missing
        } else if operation.is_some() {
            match self.approved_of(call, &[provider], true).await? {
                Claimed::All(_) => Vec::new(),
                Claimed::Lacking(lacking) => lacking.into_iter().map(Missing::of).collect(),
            }
        } else {
            return Err(Refusal::NoOperation(provider.to_owned()));
        };
        if missing.is_empty() {
            return Ok(AskedFor::Nothing);
        }
        // As the store has it, where what is finer is cut off.
        let before = self.clock.now().as_microsecond();
        let asking = Asking { client_claim, asked_by: Some(key.id.as_str()), missing: &missing, notify: None, lives };
        let asked = self.ask_as(call, &asking).await?;
        let Some(asked) = asked.into_iter().next() else { return Ok(AskedFor::Nothing) };
        if asked.created_at.as_microsecond() < before {
            return Ok(AskedFor::Joined(Box::new(asked)));
        }
        self.audit_api(AuditAction::ApiInteractionAsked, key, &asked).await?;
        Ok(AskedFor::New(Box::new(asked)))
    }

    /// An interaction, if it is this server's.
    pub async fn of_server(&self, id: &InteractionId, server: &str) -> Result<Followed, StoreError> {
        Ok(match self.store.interaction(id, self.clock.now()).await? {
            None => Followed::Unknown,
            Some(interaction) if interaction.destination.upstream == server => Followed::Own(Box::new(interaction)),
            Some(_) => Followed::Foreign,
        })
    }

    /// The same once it is no longer open, or as it is at the deadline or when the service stops.
    pub async fn follow(
        &self,
        id: &InteractionId,
        server: &str,
        deadline: Instant,
        stopping: &CancellationToken,
    ) -> Result<Followed, StoreError> {
        let mut waiters = [self.waiting.on(id)];
        let first = match self.of_server(id, server).await? {
            Followed::Own(first) => first,
            other => return Ok(other),
        };
        // Its own end wakes nobody.
        let left = Duration::try_from(first.expires_at.duration_since(self.clock.now())).unwrap_or_default();
        let deadline = deadline.min(Instant::now() + left);
        let over = async {
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => {}
                () = stopping.cancelled() => {}
            }
        };
        let is_open = |followed: &Followed| matches!(followed, Followed::Own(own) if own.state.is_open());
        until(&mut waiters, || self.of_server(id, server), is_open, over).await
    }

    /// A server takes its question back: nobody refused it, so nothing rests. Once more is no fault.
    pub async fn withdraw_for(&self, key: &ApiKey, id: &InteractionId) -> Result<Withdrawn, StoreError> {
        for _ in 0..ATTEMPTS {
            let interaction = match self.of_server(id, &key.server).await? {
                Followed::Own(interaction) => interaction,
                other => return Ok(Withdrawn::None(other)),
            };
            match interaction.state {
                InteractionState::Completed { .. } | InteractionState::Declined { .. } => {
                    return Ok(Withdrawn::Answered(interaction));
                }
                InteractionState::Expired => return Ok(Withdrawn::Done(interaction)),
                _ => {}
            }
            if let Advanced::Done(withdrawn) =
                self.store.advance(*interaction, Step::Withdraw, self.clock.now()).await?
            {
                self.audit_api(AuditAction::ApiInteractionCancelled, key, &withdrawn).await?;
                return Ok(Withdrawn::Done(Box::new(withdrawn)));
            }
        }
        Err(StoreError::Contended)
    }

    /// A server says that a visit to an external page is done. Once more says the same.
    pub async fn complete_for(&self, key: &ApiKey, id: &InteractionId) -> Result<Interaction, NotCompleted> {
        let Followed::Own(before) = self.of_server(id, &key.server).await? else { return Err(NotCompleted::NotFound) };
        let done = self.complete_external(&key.server, id).await?;
        if !matches!(before.state, InteractionState::Completed { .. }) {
            self.audit_api(AuditAction::ApiInteractionCompleted, key, &done).await?;
        }
        Ok(done)
    }

    /// Who did what to which question, with the key that it was done with.
    async fn audit_api(&self, action: AuditAction, key: &ApiKey, interaction: &Interaction) -> Result<(), StoreError> {
        let entry = AuditEntry {
            principal: key.actor().map(|actor| (actor, Some(interaction.principal.client.clone()))),
            upstream: Some(key.server.clone()),
            provider: Some(interaction.provider.clone()),
            interaction: Some(interaction.id.clone()),
            ..AuditEntry::new(action, Outcome::Success)
        };
        let now: Timestamp = self.clock.now();
        self.store.audit(entry, now).await
    }
}
