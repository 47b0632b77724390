//! Taking back from a client what its user had allowed it (R-OAUTH-04).

use elicit::{ClientId, UserId};
use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::content::Content;
use super::find::OF_USER;
use super::{Credential, CredentialKey, row};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::interaction::{self, Interaction};
use crate::lookup::user_key;
use crate::{Event, Store, StoreError, key_notes};

/// Others can be first only as often as they change these credentials.
const ATTEMPTS: usize = 8;

/// What a client had, and has no longer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Withdrawn {
    /// Providers whose credential it may use no longer.
    pub providers: Vec<String>,
    /// How many questions of it were open.
    pub questions: usize,
    /// How many calls it was allowed once, and had not made.
    pub approvals: u64,
}

impl Withdrawn {
    /// Whether it had nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Takes back all that a user has allowed a client, and its open questions: its next use asks again (R-OAUTH-04). In one
    /// transaction, which nothing that completes meanwhile can undo.
    ///
    /// The credentials stay, for other clients and to be allowed again. One that cannot be read is used for nobody, and stays
    /// as it is.
    pub async fn revoke_client(
        &self,
        user: &UserId,
        client: &ClientId,
        now: Timestamp,
    ) -> Result<Withdrawn, StoreError> {
        let (withdrawn, questions) = Self::within(async {
            for _ in 0..ATTEMPTS {
                if let Some(done) = self.try_revoke_client(user, client, now).await? {
                    return Ok(done);
                }
            }
            Err(StoreError::Contended)
        })
        .await?;
        for provider in &withdrawn.providers {
            self.publish(Event::Credential(CredentialKey::of(user, provider)));
        }
        for question in questions {
            self.publish(Event::Interaction(question.id));
        }
        Ok(withdrawn)
    }

    /// `None` if another transaction changed a credential first.
    async fn try_revoke_client(
        &self,
        user: &UserId,
        client: &ClientId,
        now: Timestamp,
    ) -> Result<Option<(Withdrawn, Vec<Interaction>)>, StoreError> {
        let mut transaction = self.begin().await?;
        // First the questions, then the credentials, as whoever completes does it: what completes now waits or is seen.
        let (questions, approvals) =
            interaction::withdraw_of_client(&mut transaction, self.kind(), user, client).await?;
        let mut withdrawn = Withdrawn { providers: Vec::new(), questions: questions.len(), approvals };
        for credential in self.approved(&mut transaction, user, client).await? {
            let mut content = Content::of(&credential);
            content.withdraw(client);
            if self.update(&mut transaction, &credential, &content, credential.status, now).await? == 0 {
                transaction.rollback().await?;
                return Ok(None);
            }
            withdrawn.providers.push(credential.provider);
        }
        // One line a provider; one of none where it was allowed calls alone.
        let calls_alone = withdrawn.providers.is_empty() && approvals > 0;
        for provider in withdrawn.providers.iter().map(Some).chain(calls_alone.then_some(None)) {
            let entry = AuditEntry {
                principal: Some((user.clone(), Some(client.clone()))),
                provider: provider.cloned(),
                ..AuditEntry::new(AuditAction::ClientRevoked, Outcome::Success)
            };
            entry.insert(&mut transaction, now).await?;
        }
        for question in &questions {
            AuditEntry::of_interaction(AuditAction::InteractionWithdrawn, Outcome::Success, question)
                .insert(&mut transaction, now)
                .await?;
        }
        transaction.commit().await?;
        Ok(Some((withdrawn, questions)))
    }

    /// The credentials that a client may use, in the order of their ids, in which all lock them who change several.
    async fn approved(
        &self,
        connection: &mut AnyConnection,
        user: &UserId,
        client: &ClientId,
    ) -> Result<Vec<Credential>, StoreError> {
        let mut approved = Vec::new();
        for row in sqlx::query(OF_USER).bind(user_key(user)).fetch_all(&mut *connection).await? {
            let provider: String = row.try_get("provider")?;
            match row::credential(&row, user, &provider, &self.shared.vault) {
                Ok(credential) if credential.clients().contains(client) => approved.push(credential),
                Ok(_) => {}
                Err(error) => {
                    let error = key_notes::behind(connection, error).await;
                    if !error.is_unopened() {
                        return Err(error);
                    }
                }
            }
        }
        approved.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(approved)
    }
}
