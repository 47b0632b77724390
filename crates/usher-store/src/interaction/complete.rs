//! Completing: the credential, or the proof of an approval, and the last state in one transaction.

use jiff::Timestamp;

use super::advance::swap;
use super::seal::verify;
use super::{Advanced, Interaction, Obstacle, StateName, TransitionError, decline, once};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::credential::Change;
use crate::{Completion, CredentialKey, Event, Store, StoreError, fail_point};

/// Others can be first only as often as they change this one credential.
const ATTEMPTS: usize = 8;

impl Store {
    /// Stores the credential, the approval of a client, or the [proof](Store::claim) that a call was approved, and completes the interaction, in one
    /// transaction: never the one without the other, and never twice (R-OAUTH-01).
    ///
    /// Only what was consented to completes, a [grant](Completion::Grant) only from [exchanging](Store::claim_flow),
    /// and only if its row is as it was asked ([`StoreError::Unopened`] otherwise; what was changed in the database is
    /// audited). Waiters are told after the commit.
    pub async fn complete(
        &self,
        interaction: Interaction,
        completion: Completion,
        now: Timestamp,
    ) -> Result<Advanced, StoreError> {
        let from = interaction.state.name();
        let next = match interaction.completed(completion.follows(), now) {
            Ok(next) => next,
            Err(error) => return Ok(Advanced::Refused(error)),
        };
        let ended = Self::within(async {
            for _ in 0..ATTEMPTS {
                if let Some(ended) = self.attempt(&next, &completion, from, now).await? {
                    return Ok(ended);
                }
            }
            Err(StoreError::Contended)
        })
        .await;
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                self.note_tampering(&next, &error, now).await;
                return Err(error);
            }
        };
        if let Advanced::Done(done) = &ended {
            let key = CredentialKey::of(&done.principal.user, &done.provider);
            self.publish(Event::Credential(key));
            self.publish(Event::Interaction(done.id.clone()));
        }
        Ok(ended)
    }

    /// `None` if another transaction changed the credential first.
    async fn attempt(
        &self,
        next: &Interaction,
        completion: &Completion,
        from: StateName,
        now: Timestamp,
    ) -> Result<Option<Advanced>, StoreError> {
        fail_point!(Completing);
        let mut transaction = self.begin().await?;
        let Some(done) = swap(&mut transaction, next).await? else {
            transaction.rollback().await?;
            return Ok(Some(Advanced::Lost));
        };
        verify(&mut transaction, &done, &self.shared.vault).await?;
        let obstacle = match self.change_credential(&mut transaction, &done, completion, now).await? {
            Change::Stored => None,
            Change::Overtaken => {
                transaction.rollback().await?;
                return Ok(None);
            }
            Change::NoCredential => Some(Obstacle::NoCredential),
        };
        let approved = match completion {
            Completion::Once { lasts } => {
                once::prove(&mut transaction, &done, now + *lasts, &self.shared.vault).await?
            }
            Completion::Connect { .. } | Completion::Grant { .. } | Completion::Allow => None,
        };
        let lacks_call = matches!(completion, Completion::Once { .. }) && approved.is_none();
        if let Some(obstacle) = obstacle.or(lacks_call.then_some(Obstacle::NoOperation)) {
            transaction.rollback().await?;
            return Ok(Some(Advanced::Refused(TransitionError { from, to: StateName::Completed, obstacle })));
        }
        decline::forget(&mut transaction, &done.id).await?;
        let stored = match completion {
            Completion::Connect { .. } | Completion::Grant { .. } => AuditAction::CredentialConnected,
            Completion::Allow => AuditAction::CredentialAllowed,
            Completion::Once { .. } => AuditAction::OperationApproved,
        };
        let approved = approved.map(|operation| operation.told());
        for (action, operation) in [(stored, approved), (AuditAction::InteractionCompleted, None)] {
            let entry = AuditEntry { operation, ..AuditEntry::of_interaction(action, Outcome::Success, &done) };
            entry.insert(&mut transaction, now).await?;
        }
        fail_point!(CompletionUncommitted);
        transaction.commit().await?;
        fail_point!(CompletionCommitted);
        Ok(Some(Advanced::Done(done)))
    }
}
