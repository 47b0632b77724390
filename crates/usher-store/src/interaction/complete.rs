//! Completing: the credential and the last state in one transaction.

use jiff::Timestamp;

use super::advance::swap;
use super::{Advanced, Interaction, Obstacle, StateName, TransitionError};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::credential::Change;
use crate::{Completion, CredentialKey, Event, Store, StoreError};

/// Others can be first only as often as they change this one credential.
const ATTEMPTS: usize = 8;

enum Attempt {
    Ended(Advanced),
    Overtaken,
}

impl Store {
    /// Stores the credential, or the approval, and completes the interaction, in one
    /// transaction: never the one without the other, and never twice (R-OAUTH-01).
    ///
    /// Only what was consented to completes. Waiters are told after the commit.
    pub async fn complete(
        &self,
        interaction: Interaction,
        completion: Completion,
        now: Timestamp,
    ) -> Result<Advanced, StoreError> {
        let from = interaction.state.name();
        let next = match interaction.completed(now) {
            Ok(next) => next,
            Err(error) => return Ok(Advanced::Refused(error)),
        };
        let ended = self
            .within(async {
                for _ in 0..ATTEMPTS {
                    match self.attempt(&next, &completion, from, now).await? {
                        Attempt::Ended(ended) => return Ok(ended),
                        Attempt::Overtaken => {}
                    }
                }
                Err(StoreError::Contended)
            })
            .await?;
        if let Advanced::Done(done) = &ended {
            self.key_is_noted();
            let key = CredentialKey::of(&done.principal.user, &done.provider);
            self.publish(Event::Credential(key));
            self.publish(Event::Interaction(done.id.clone()));
        }
        Ok(ended)
    }

    async fn attempt(
        &self,
        next: &Interaction,
        completion: &Completion,
        from: StateName,
        now: Timestamp,
    ) -> Result<Attempt, StoreError> {
        let mut transaction = self.begin().await?;
        let Some(done) = swap(&mut transaction, next).await? else {
            transaction.rollback().await?;
            return Ok(Attempt::Ended(Advanced::Lost));
        };
        match self.change_credential(&mut transaction, &done, completion, now).await? {
            Change::Stored => {}
            Change::Overtaken => {
                transaction.rollback().await?;
                return Ok(Attempt::Overtaken);
            }
            Change::NoCredential => {
                transaction.rollback().await?;
                return Ok(Attempt::Ended(Advanced::Refused(TransitionError {
                    from,
                    to: StateName::Completed,
                    obstacle: Obstacle::NoCredential,
                })));
            }
        }
        let stored = match completion {
            Completion::Connect { .. } => AuditAction::CredentialConnected,
            Completion::Allow => AuditAction::CredentialAllowed,
        };
        for action in [stored, AuditAction::InteractionCompleted] {
            AuditEntry::of_interaction(action, Outcome::Success, &done).insert(&mut transaction, now).await?;
        }
        transaction.commit().await?;
        Ok(Attempt::Ended(Advanced::Done(done)))
    }
}
