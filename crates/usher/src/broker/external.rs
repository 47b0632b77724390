//! A visit to somebody else's page: out, back, and whether it is done.
//!
//! That the browser came back says nothing: it is the other side that knows. We ask it, or it tells us through the API.

mod confirm;

use elicit::UserId;
use jiff::SignedDuration;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_store::{
    Advanced, AuditAction, AuditEntry, Completion, Interaction, InteractionId, InteractionState, Operation, Outcome,
    StateName, StoreError, VISIT_LASTS, fail_point,
};

pub use self::confirm::ConfirmError;
use super::{Broker, Submitted, Visit, VisitError, looks::Turn};
use crate::{
    config::{
        Confirm, External, Per,
        link::{REFERENCE, RETURN_URL},
    },
    identity::tokens::new_token,
};

/// How long a person has at the other side's page, from the moment they leave.
const AWAY: SignedDuration = SignedDuration::from_hours(1);

/// How often a completion is tried when others keep changing the same interaction.
const ATTEMPTS: usize = 4;

/// What came of leaving for the other side's page.
#[derive(Debug)]
pub enum Departed {
    /// The person goes there.
    To(Url),
    /// There is nothing to go there for: the question is another one now.
    Again(Box<Visit>),
}

/// What is known of a visit to the other side's page.
#[derive(Debug)]
pub enum Looked {
    /// It is done.
    Completed(Box<Interaction>),
    /// It is not done yet, or nobody could say so.
    Open(Box<Visit>, ConfirmError),
    /// The other side is not asked: it tells us.
    Waiting(Box<Visit>),
}

/// Why a server's word that a visit is done is not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotCompleted {
    /// There is no such visit for this server.
    #[error("there is no such interaction for this server")]
    NotFound,
    /// It is no visit to somebody else's page: only its person can complete it.
    #[error("only a visit to an external page can be completed like this")]
    NotExternal,
    /// Its person has not agreed, or it has ended otherwise.
    #[error("the interaction is {0}: only one whose person went to the page can be completed")]
    State(StateName),
    /// Provider or upstream are configured otherwise since it was asked.
    #[error("the configuration changed since the interaction was asked for")]
    Changed,
    /// Others changed it again and again.
    #[error("the interaction kept changing; try again")]
    Busy,
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl External {
    fn completion(&self) -> Completion {
        match self.per {
            Per::Call => Completion::Once { lasts: VISIT_LASTS },
            Per::User => Completion::Connect { secrets: std::collections::BTreeMap::new() },
        }
    }
}

impl Broker {
    /// A person agrees to go to the other side's page. `browser` is what this browser alone will come back with
    /// (R-SEC-06); the way back is good once, and for as long as the question is open.
    pub async fn depart(&self, id: &InteractionId, user: &UserId, browser: &str) -> Result<Departed, VisitError> {
        let visit = self.open(id, user).await?;
        let Some(external) = visit.provider.external().filter(|_| !visit.purpose.reuses()).cloned() else {
            return Ok(Departed::Again(Box::new(visit)));
        };
        let visit = self.consent(visit).await?;
        fail_point!(Consented);
        let visit = self.lengthen(visit, AWAY).await?;
        let token = new_token(&*self.random);
        if !self.store.keep_return(id, &token, browser).await? {
            // It ended in this moment; its page says how.
            return Err(VisitError::Ended(Box::new(self.of_user(id, user).await?)));
        }
        let path = format!("/return/{}?token={id}.{}", visit.provider.name, token.expose_secret());
        let back = self.config.public_url.join(&path);
        let url = external.url.fill(&[(REFERENCE, id.as_str()), (RETURN_URL, &back)]);
        url.map(Departed::To).ok_or_else(|| VisitError::Changed(Box::new(visit.interaction)))
    }

    /// A browser comes back from `provider`. False, and audited, unless it is the one that left for there, for the first time.
    pub async fn arrive(
        &self,
        id: &InteractionId,
        user: &UserId,
        provider: &str,
        token: &SecretString,
        browser: &str,
    ) -> Result<bool, VisitError> {
        let interaction = self.of_user(id, user).await?;
        let now = self.clock.now();
        if interaction.provider == provider && self.store.take_return(id, token, browser, now).await? {
            return Ok(true);
        }
        tracing::warn!(interaction = %id, "a return from an external page was refused");
        let entry = AuditEntry {
            principal: Some((user.clone(), None)),
            upstream: Some(interaction.destination.upstream),
            provider: Some(interaction.provider),
            interaction: Some(interaction.id),
            ..AuditEntry::new(AuditAction::ReturnRefused, Outcome::Refused)
        };
        self.store.audit(entry, now).await?;
        Ok(false)
    }

    /// Finds out whether a visit is done, where the other side can be asked, and completes it if so. The other side is asked
    /// once at a time, and once in five seconds: in between its last answer counts.
    pub async fn look(&self, id: &InteractionId, user: &UserId) -> Result<Looked, VisitError> {
        let visit = self.open(id, user).await?;
        let Some(external) = visit.provider.external().cloned() else {
            return Ok(Looked::Waiting(Box::new(visit)));
        };
        // Before the person agreed to go there, nothing is asked about them.
        let left = matches!(visit.interaction.state, InteractionState::Consented { .. });
        let Some(confirm) = external.confirm.as_ref().filter(|_| left) else {
            return Ok(Looked::Waiting(Box::new(visit)));
        };
        match self.looks.turn(id, self.clock.now()) {
            Turn::Look => {}
            Turn::Known(Some(error)) => return Ok(Looked::Open(Box::new(visit), error)),
            Turn::Known(None) => return Ok(Looked::Waiting(Box::new(visit))),
        }
        match self.confirmed(confirm, id).await {
            Ok(()) => match self.complete(visit, &|| external.completion()).await? {
                Submitted::Completed(interaction) => Ok(Looked::Completed(interaction)),
                Submitted::Again(visit) | Submitted::Wrong(visit, _) | Submitted::Unchecked(visit, _) => {
                    Ok(Looked::Waiting(visit))
                }
            },
            Err(error) => {
                self.looks.note(id, error);
                tracing::info!(provider = visit.provider.name, interaction = %id, %error, "an external visit is open");
                Ok(Looked::Open(Box::new(visit), error))
            }
        }
    }

    async fn confirmed(&self, confirm: &Confirm, id: &InteractionId) -> Result<(), ConfirmError> {
        fail_point!(CheckSending);
        let confirmed = confirm::ask(&self.egress, confirm, id.as_str()).await;
        fail_point!(CheckAnswered);
        confirmed
    }

    /// The other side says through the API that a visit is done: `upstream` is the server whose word it is. A second time
    /// changes nothing, and says the same. Only a visit whose person agreed to it is completed.
    pub async fn complete_external(&self, upstream: &str, id: &InteractionId) -> Result<Interaction, NotCompleted> {
        for _ in 0..ATTEMPTS {
            let now = self.clock.now();
            let interaction = self.store.interaction(id, now).await?.ok_or(NotCompleted::NotFound)?;
            if interaction.destination.upstream != upstream {
                return Err(NotCompleted::NotFound);
            }
            let (provider, _) = self.still_configured(&interaction).ok_or(NotCompleted::Changed)?;
            let external = provider.external().ok_or(NotCompleted::NotExternal)?;
            match interaction.state {
                InteractionState::Completed { .. } => return Ok(interaction),
                InteractionState::Consented { .. } => {}
                InteractionState::Created
                | InteractionState::Opened { .. }
                | InteractionState::Exchanging { .. }
                | InteractionState::Declined { .. }
                | InteractionState::Failed { .. }
                | InteractionState::Expired => return Err(NotCompleted::State(interaction.state.name())),
            }
            let operation = self.store.operation(&interaction, now).await?;
            if external.per == Per::Call && operation.as_ref().and_then(Operation::digest).is_none() {
                return Err(NotCompleted::Changed);
            }
            if let Advanced::Done(done) = self.store.complete(interaction, external.completion(), now).await? {
                self.answered(&done, operation.as_ref());
                return Ok(done);
            }
        }
        Err(NotCompleted::Busy)
    }
}
