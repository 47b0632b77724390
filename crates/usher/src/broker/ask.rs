//! Puts questions to people: within limits, and not what was declined a while ago.

use std::time::Duration;

use jiff::Timestamp;
use usher_store::{
    Asked, AuditAction, Interaction, InteractionId, NewInteraction, OpenLimits, Operation, SessionKey, StoreError,
    fail_point,
};

use super::{Broker, INTERACTION_LIVES, Missing, limits::Question, needs::Call};
use crate::config::Provider;

/// Why nobody is asked.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A person declined a while ago; asking again by itself would be nagging.
    #[error("{provider} was declined; try again in {} s", retry_after.as_secs().max(1))]
    Declined {
        /// The provider that was declined.
        provider: String,
        /// When it may be asked again.
        retry_after: Duration,
    },
    /// The person, or this client of theirs, has too many open questions.
    #[error("too many questions are open; try again in {} s", retry_after.as_secs().max(1))]
    TooManyOpen {
        /// When the first of them ends by itself.
        retry_after: Duration,
    },
    /// Too many questions.
    #[error("too many questions; try again in {} s", retry_after.as_secs().max(1))]
    TooMany {
        /// When to come back.
        retry_after: Duration,
    },
    /// What is asked is good for one call alone, and the call is not known.
    #[error("the call that {0} is asked for is not known")]
    NoOperation(String),
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How questions are asked.
pub(super) struct Asking<'a> {
    /// What the client says of itself.
    pub(super) client_claim: Option<&'a str>,
    /// The key of the API that it is asked with, where the client did not call through us.
    pub(super) asked_by: Option<&'a str>,
    /// What is asked for.
    pub(super) missing: &'a [Missing],
    /// The session that is owed a completion notice for each (R-DONE-01).
    pub(super) notify: Option<&'a SessionKey>,
    /// How long a person has for it.
    pub(super) lives: Duration,
}

impl Broker {
    /// Puts questions into the store, one for each thing that is missing. An open question of the same principal about the
    /// same credential (or the same call, where its answer is good for that call alone) is joined, so that parallel calls
    /// lead to one page. One commit.
    ///
    /// With `notify`, that session is owed a completion notice for each (R-DONE-01).
    pub async fn ask(
        &self,
        call: Call<'_>,
        client_claim: Option<&str>,
        missing: &[Missing],
        notify: Option<&SessionKey>,
    ) -> Result<Vec<Interaction>, Refusal> {
        let asking = Asking { client_claim, asked_by: None, missing, notify, lives: INTERACTION_LIVES };
        self.ask_as(call, &asking).await
    }

    /// The same in full.
    pub(super) async fn ask_as(&self, call: Call<'_>, asking: &Asking<'_>) -> Result<Vec<Interaction>, Refusal> {
        let asked = self.ask_within_limits(call, asking).await;
        if matches!(&asked, Err(refusal) if !matches!(refusal, Refusal::Store(_))) {
            self.turned_away(AuditAction::InteractionLimited, Some(call.principal), Some(&call.upstream.name));
        }
        asked
    }

    async fn ask_within_limits(&self, call: Call<'_>, asking: &Asking<'_>) -> Result<Vec<Interaction>, Refusal> {
        let Asking { missing, notify, lives, .. } = *asking;
        let questions: Vec<Question> = missing.iter().map(|one| self.question(call, &one.provider)).collect();
        for (question, Missing { provider, .. }) in questions.iter().zip(missing) {
            if let Some(retry_after) = self.limits.rests(question) {
                return Err(Refusal::Declined { provider: provider.clone(), retry_after });
            }
        }
        if let Err(refused) = self.limits.count_once(&questions) {
            return Err(Refusal::TooMany { retry_after: refused.retry_after });
        }
        let now = self.clock.now();
        let new = missing.iter().map(|one| self.new_interaction(call, asking, one, now + lives));
        let new = new.collect::<Result<Vec<_>, _>>()?;
        let from_now = |until: Timestamp| Duration::try_from(until.duration_since(now)).unwrap_or_default();
        let limits = &self.config.limits;
        let most = OpenLimits { user: limits.user_open_questions, client: limits.client_open_questions };
        match self.store.ask_within(&new, notify, most, now).await? {
            Asked::Open(asked) => {
                fail_point!(QuestionStored);
                Ok(asked)
            }
            Asked::Resting { provider, until } => {
                self.limits.note_rest(self.question(call, &provider), until);
                Err(Refusal::Declined { provider, retry_after: from_now(until) })
            }
            Asked::TooMany { until } => Err(Refusal::TooManyOpen { retry_after: from_now(until) }),
        }
    }

    fn new_interaction(
        &self,
        call: Call<'_>,
        asking: &Asking<'_>,
        missing: &Missing,
        expires_at: Timestamp,
    ) -> Result<NewInteraction, Refusal> {
        let operation = if self.is_per_call(&missing.provider) {
            let whole = call.operation.filter(|operation| operation.digest().is_some());
            Some(whole.ok_or_else(|| Refusal::NoOperation(missing.provider.clone()))?.clone())
        } else {
            call.subject.map(|subject| Operation::named(call.method, subject))
        };
        Ok(NewInteraction {
            id: InteractionId::new(&*self.random),
            principal: call.principal.clone(),
            client_claim: asking.client_claim.map(str::to_owned),
            asked_by: asking.asked_by.map(str::to_owned),
            provider: missing.provider.clone(),
            destination: call.upstream.destination(),
            reason: missing.reason,
            operation,
            expires_at,
        })
    }

    /// Whether what the provider asks for is good for one call alone.
    pub fn is_per_call(&self, provider: &str) -> bool {
        self.config.provider(provider).is_some_and(Provider::is_per_call)
    }

    /// What makes a question of this call the same as another.
    fn question(&self, call: Call<'_>, provider: &str) -> Question {
        let digest = call.operation.and_then(Operation::digest).filter(|_| self.is_per_call(provider));
        Question::new(call.principal, &call.upstream.name, provider, digest)
    }

    /// How long the question of an interaction rests, after it was declined.
    pub async fn rest_of(&self, id: &InteractionId) -> Result<Option<Duration>, StoreError> {
        let now = self.clock.now();
        let until = self.store.rest_of(id, now).await?;
        Ok(until.and_then(|until| Duration::try_from(until.duration_since(now)).ok()))
    }

    /// The client says that the person dismissed a question. That is no refusal, and the next call may ask again; but it
    /// counts as one more question.
    pub fn dismissed(&self, call: Call<'_>, provider: &str) {
        self.limits.dismissed(&self.question(call, provider));
    }
}
