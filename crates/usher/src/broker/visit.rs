//! One visit of a person to the page of an interaction: open, submit, allow, approve, decline, start again.
//!
//! Each step reads the interaction anew and compares its user with the person in the browser (R-ID-03), so that no page
//! and no form is trusted to say whose question it is. A step that somebody else took first shows what became of it.

mod authorize;
mod callback;
mod decline_all;
mod extend;
mod kept;
mod purpose;
mod reconnect;
mod release;
mod scopes;
mod typed;

use std::collections::BTreeMap;

use elicit::UserId;
use secrecy::SecretString;
use usher_store::{
    APPROVAL_LASTS, Advanced, Approval, AuditAction, AuditEntry, Completion, DeclinedBy, Interaction, InteractionId,
    InteractionState, Obstacle, Operation, Outcome, Step, StoreError, fail_point,
};

pub use self::{
    authorize::{Leaving, Left, NoWay, Way},
    callback::{Back, Came},
    purpose::Purpose,
    scopes::Scopes,
    typed::{FIELD_AT_MOST, Fault},
};
pub(crate) use self::{purpose::Stored, reconnect::reconnectable, scopes::lacks};
use self::{
    purpose::purpose,
    typed::{fits, read},
};
use super::{Broker, Question};
use crate::{
    config::{Provider, ProviderKind, Text, Upstream},
    credentials::check::{CheckError, check},
};

/// How often a step is repeated when others keep changing the same interaction.
const ATTEMPTS: usize = 4;

/// An open question, with what a person needs to decide.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The question: its verified client, its destination, its end.
    pub interaction: Interaction,
    /// Whose credential is asked for.
    pub provider: Provider,
    /// The server that will get it.
    pub upstream: Upstream,
    /// The call that it is asked for, as far as it is kept. Whole where the answer is good for that call alone.
    pub operation: Option<Operation>,
    /// What the person is asked to do.
    pub purpose: Purpose,
    /// Who may have what is stored, and where: a new key is used there as well.
    pub approvals: Vec<Approval>,
    /// What people call the servers of `approvals`, as far as they are configured still.
    pub titles: BTreeMap<String, Text>,
    /// Which permissions are asked for, where they are a provider's.
    pub scopes: Scopes,
    /// Whose account is connected, as far as it is known.
    pub account: Option<String>,
    /// What the person chose of the provider's addresses the last time.
    pub values: BTreeMap<String, String>,
}

/// Why there is no question to answer.
#[derive(Debug, thiserror::Error)]
pub enum VisitError {
    /// There is no such interaction.
    #[error("there is no such interaction")]
    NotFound,
    /// It is another person's. Audited; the page names neither account.
    #[error("the interaction belongs to another user")]
    OtherPerson,
    /// It is completed, declined, failed or expired: its state says which.
    #[error("the interaction is {}", .0.state.name())]
    Ended(Box<Interaction>),
    /// Its provider or its upstream is configured no longer, or elsewhere: what it asks is no longer what would happen.
    #[error("the configuration changed since the interaction was asked for")]
    Changed(Box<Interaction>),
    /// Others changed it again and again.
    #[error("the interaction kept changing")]
    Busy,
    /// The store could not be asked.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for VisitError {
    fn from(error: StoreError) -> Self {
        if error.is_tampered() {
            // Somebody changed the row in the database; the store has audited it. There is no such question.
            tracing::error!(%error, "an interaction was changed outside of Usher");
            return Self::NotFound;
        }
        Self::Store(error)
    }
}

/// What became of an answer.
#[derive(Debug)]
pub enum Submitted {
    /// It is stored, and the interaction completed.
    Completed(Box<Interaction>),
    /// These fields are to be filled in again.
    Wrong(Box<Visit>, Vec<Fault>),
    /// The provider did not say that it is good.
    Unchecked(Box<Visit>, CheckError),
    /// What was to be allowed is there no longer, so the question is another one now.
    Again(Box<Visit>),
}

impl Broker {
    /// A person opens the page. Nothing but "opened" happens, however often.
    pub async fn open(&self, id: &InteractionId, user: &UserId) -> Result<Visit, VisitError> {
        for _ in 0..ATTEMPTS {
            let interaction = self.of_user(id, user).await?;
            if !interaction.state.is_open() {
                return Err(VisitError::Ended(Box::new(interaction)));
            }
            let Some((provider, upstream)) = self.still_configured(&interaction) else {
                return Err(VisitError::Changed(Box::new(interaction)));
            };
            let (provider, upstream) = (provider.clone(), upstream.clone());
            if let Advanced::Done(interaction) = self.store.advance(interaction, Step::Open, self.clock.now()).await? {
                fail_point!(PageOpened);
                let operation = self.store.operation(&interaction, self.clock.now()).await?;
                let is_whole = operation.as_ref().is_some_and(|operation| operation.digest().is_some());
                if provider.is_per_call() && !is_whole {
                    // It was asked when this provider was of another kind: nobody could see what they approve.
                    return Err(VisitError::Changed(Box::new(interaction)));
                }
                let stored = self.stored(user, &provider.name).await?;
                let purpose = purpose(&interaction, &provider, &upstream, &stored);
                let approvals = stored.approvals().to_vec();
                let titles = self.titles(&approvals);
                let need = upstream.needs.iter().find(|need| need.provider == provider.name);
                let scopes = need.map(|need| Scopes::of(&provider, need, stored.grant())).unwrap_or_default();
                let (account, values) =
                    stored.grant().map_or_else(Default::default, |grant| (grant.account.clone(), grant.values.clone()));
                return Ok(Visit {
                    interaction,
                    provider,
                    upstream,
                    operation,
                    purpose,
                    approvals,
                    titles,
                    scopes,
                    account,
                    values,
                });
            }
        }
        Err(VisitError::Busy)
    }

    /// A person answers with what they typed. Stored only when every field is right and the provider finds it good.
    pub async fn submit(
        &self,
        id: &InteractionId,
        user: &UserId,
        fields: BTreeMap<String, SecretString>,
    ) -> Result<Submitted, VisitError> {
        let visit = self.open(id, user).await?;
        if !visit.provider.is_typed() {
            return Ok(Submitted::Again(Box::new(visit)));
        }
        let read =
            read(visit.provider.fields(), &fields).and_then(|secrets| fits(&self.config, &visit.provider, secrets));
        let secrets = match read {
            Ok(secrets) => secrets,
            Err(faults) => return Ok(Submitted::Wrong(Box::new(visit), faults)),
        };
        let visit = self.consent(visit).await?;
        fail_point!(Consented);
        fail_point!(CheckSending);
        if let Some(request) = visit.provider.check()
            && let Err(error) = check(&self.egress, &visit.provider, request, &secrets).await
        {
            tracing::info!(provider = visit.provider.name, interaction = %id, %error, "the check failed");
            return Ok(Submitted::Unchecked(Box::new(visit), error));
        }
        fail_point!(CheckAnswered);
        self.complete(visit, &|| Completion::Connect { secrets: secrets.clone() }).await
    }

    /// A person allows this client and this destination to use what is stored already.
    pub async fn allow(&self, id: &InteractionId, user: &UserId) -> Result<Submitted, VisitError> {
        let visit = self.open(id, user).await?;
        if !visit.purpose.reuses() {
            return Ok(Submitted::Again(Box::new(visit)));
        }
        let visit = self.consent(visit).await?;
        self.complete(visit, &|| Completion::Allow).await
    }

    /// A person approves the very call that the page shows, once.
    pub async fn approve(&self, id: &InteractionId, user: &UserId) -> Result<Submitted, VisitError> {
        let visit = self.open(id, user).await?;
        match visit.provider.kind {
            ProviderKind::Approval => {}
            ProviderKind::Secret { .. } | ProviderKind::OAuth(_) | ProviderKind::Mcp(_) | ProviderKind::External(_) => {
                return Ok(Submitted::Again(Box::new(visit)));
            }
        }
        let visit = self.consent(visit).await?;
        fail_point!(Consented);
        self.complete(visit, &|| Completion::Once { lasts: APPROVAL_LASTS }).await
    }

    /// A person declines on the page. The same is not asked again by itself for a while.
    pub async fn decline(&self, id: &InteractionId, user: &UserId) -> Result<Interaction, VisitError> {
        for _ in 0..ATTEMPTS {
            let interaction = self.of_user(id, user).await?;
            let may = interaction.state.is_open() || matches!(interaction.state, InteractionState::Failed { .. });
            if !may {
                return Err(VisitError::Ended(Box::new(interaction)));
            }
            let step = Step::Decline { by: DeclinedBy::Page };
            if let Advanced::Done(interaction) = self.store.advance(interaction, step, self.clock.now()).await? {
                return Ok(interaction);
            }
        }
        Err(VisitError::Busy)
    }

    /// A person starts a failed visit again. Where that cannot be, its page says what became of it.
    pub async fn restart(&self, id: &InteractionId, user: &UserId) -> Result<Visit, VisitError> {
        let interaction = self.of_user(id, user).await?;
        if matches!(interaction.state, InteractionState::Failed { .. })
            && let Advanced::Refused(refused) =
                self.store.advance(interaction.clone(), Step::Restart, self.clock.now()).await?
        {
            tracing::info!(interaction = %id, %refused, "not started again");
            return Err(VisitError::Changed(Box::new(interaction)));
        }
        self.open(id, user).await
    }

    /// The interaction, if it is this person's (R-ID-03).
    pub(super) async fn of_user(&self, id: &InteractionId, user: &UserId) -> Result<Interaction, VisitError> {
        let Some(interaction) = self.store.interaction(id, self.clock.now()).await? else {
            return Err(VisitError::NotFound);
        };
        if interaction.principal.user != *user {
            tracing::warn!(interaction = %id, "another user came to the page of an interaction");
            let entry = AuditEntry {
                principal: Some((user.clone(), None)),
                upstream: Some(interaction.destination.upstream),
                provider: Some(interaction.provider),
                interaction: Some(interaction.id),
                detail: Some("another user"),
                ..AuditEntry::new(AuditAction::InteractionRefused, Outcome::Refused)
            };
            self.store.audit(entry, self.clock.now()).await?;
            return Err(VisitError::OtherPerson);
        }
        Ok(interaction)
    }

    /// The provider and the upstream, if they are still what the question was about (R-GW-04).
    pub(super) fn still_configured(&self, interaction: &Interaction) -> Option<(&Provider, &Upstream)> {
        let provider = self.config.provider(&interaction.provider)?;
        let upstream = self.config.upstream(&interaction.destination.upstream)?;
        let needed = upstream.needs.iter().any(|need| need.provider == provider.name);
        (needed && upstream.destination() == interaction.destination).then_some((provider, upstream))
    }

    /// What this replica remembers of a question that was answered is out of date.
    pub(super) fn answered(&self, interaction: &Interaction, operation: Option<&Operation>) {
        let Interaction { principal, provider, destination, .. } = interaction;
        self.credentials.forget(&principal.user, provider);
        let digest = operation.and_then(Operation::digest);
        self.limits.forget_rest(&Question::new(principal, &destination.upstream, provider, digest));
    }

    fn titles(&self, approvals: &[Approval]) -> BTreeMap<String, Text> {
        let servers = approvals.iter().filter_map(|approval| self.config.upstream(&approval.destination.upstream));
        servers.map(|server| (server.name.clone(), server.title.clone())).collect()
    }

    pub(super) async fn consent(&self, mut visit: Visit) -> Result<Visit, VisitError> {
        let (id, user) = (visit.interaction.id.clone(), visit.interaction.principal.user.clone());
        for _ in 0..ATTEMPTS {
            match self.store.advance(visit.interaction, Step::Consent, self.clock.now()).await? {
                Advanced::Done(interaction) => return Ok(Visit { interaction, ..visit }),
                Advanced::Lost | Advanced::Refused(_) => visit = self.open(&id, &user).await?,
            }
        }
        Err(VisitError::Busy)
    }

    pub(super) async fn complete(
        &self,
        mut visit: Visit,
        completion: &(dyn Fn() -> Completion + Sync),
    ) -> Result<Submitted, VisitError> {
        for _ in 0..ATTEMPTS {
            let Interaction { id, principal, .. } = visit.interaction.clone();
            match self.store.complete(visit.interaction, completion(), self.clock.now()).await? {
                Advanced::Done(interaction) => {
                    fail_point!(CompletionTold);
                    self.answered(&interaction, visit.operation.as_ref());
                    return Ok(Submitted::Completed(Box::new(interaction)));
                }
                Advanced::Refused(refused)
                    if matches!(refused.obstacle, Obstacle::NoCredential | Obstacle::NoOperation) =>
                {
                    return Ok(Submitted::Again(Box::new(self.open(&id, &principal.user).await?)));
                }
                // An ended one comes back as an error that says how it ended.
                Advanced::Lost | Advanced::Refused(_) => {
                    let open = self.open(&id, &principal.user).await?;
                    visit = self.consent(open).await?;
                }
            }
        }
        Err(VisitError::Busy)
    }
}

#[cfg(test)]
mod tests;
