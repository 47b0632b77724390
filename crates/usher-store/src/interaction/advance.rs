//! Making a step last: compare and swap on the version.

use jiff::Timestamp;
use sqlx::AnyConnection;

use super::row::{self, StateColumns, columns};
use super::seal::{keep_name, operation, verify};
use super::{Advanced, DeclinedBy, Interaction, Obstacle, StateName, Step, TransitionError, decline};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::{Event, Store, StoreError, fail_point};

pub(crate) const ADVANCE: &str = concat!(
    "UPDATE interactions SET state = $3, state_at = COALESCE($4, state_at), failure = $5, \
     operation = CASE WHEN $3 IN ('declined', 'expired') THEN NULL ELSE operation END, flow_hash = NULL, flow = NULL, \
     flow_until = NULL, version = version + 1 WHERE id = $1 AND version = $2 RETURNING ",
    columns!()
);

impl Store {
    /// Takes a step, if the interaction is still the version that was read. Of two
    /// who try at the same time one gets [`Advanced::Done`], the other
    /// [`Advanced::Lost`] (R-MRTR-03).
    ///
    /// A step that changes nothing (opening what is open) is done without a write.
    ///
    /// [`Step::Open`] is where a person is shown what is asked, so it fails with [`StoreError::Unopened`] unless the
    /// row is as it was asked (R-GW-04); what was changed in the database is audited.
    pub async fn advance(&self, interaction: Interaction, step: Step, now: Timestamp) -> Result<Advanced, StoreError> {
        let from = interaction.state.name();
        let version = interaction.version;
        let next = match interaction.step(step, now) {
            Ok(next) if next.version == version => return self.stay(next, step, now).await,
            Ok(next) => next,
            Err(error) => return Ok(Advanced::Refused(error)),
        };
        let vault = &self.shared.vault;
        let written = Self::within(async {
            let mut transaction = self.begin().await?;
            let declines = matches!(step, Step::Decline { .. });
            // Before it goes; what cannot be read is declined all the same.
            let call = if declines { operation(&mut transaction, &next, vault).await.ok().flatten() } else { None };
            let Some(done) = swap(&mut transaction, &next).await? else {
                transaction.rollback().await?;
                return Ok(Advanced::Lost);
            };
            if step == Step::Open {
                verify(&mut transaction, &done, vault).await?;
            }
            if declines {
                decline::note(&mut transaction, &done.id, now).await?;
                if let Some(call) = call {
                    keep_name(&mut transaction, &done, &call, vault).await?;
                }
            }
            entry(step, &done).insert(&mut transaction, now).await?;
            transaction.commit().await?;
            Ok(Advanced::Done(done))
        });
        match written.await {
            Ok(Advanced::Done(done)) => {
                if matches!(step, Step::Decline { .. }) {
                    fail_point!(DeclineCommitted);
                }
                self.publish(Event::Interaction(done.id.clone()));
                Ok(Advanced::Done(done))
            }
            // Only starting again makes an interaction open that was not: a newer one has its place.
            Err(error) if error.is_unique_violation() => {
                Ok(Advanced::Refused(TransitionError { from, to: StateName::Opened, obstacle: Obstacle::Superseded }))
            }
            Err(error) => {
                self.note_tampering(&next, &error, now).await;
                Err(error)
            }
            other => other,
        }
    }

    /// Nothing changes, but a page that is opened again shows what is asked again.
    async fn stay(&self, interaction: Interaction, step: Step, now: Timestamp) -> Result<Advanced, StoreError> {
        if step != Step::Open {
            return Ok(Advanced::Done(interaction));
        }
        let verified = Self::within(async {
            let mut connection = self.shared.reader.acquire().await?;
            verify(&mut connection, &interaction, &self.shared.vault).await
        });
        match verified.await {
            Ok(true) => Ok(Advanced::Done(interaction)),
            Ok(false) => Ok(Advanced::Lost),
            Err(error) => {
                self.note_tampering(&interaction, &error, now).await;
                Err(error)
            }
        }
    }
}

/// Writes the state of `next`, whose version is one above the row's. `None` if the
/// row has moved on.
pub(super) async fn swap(
    connection: &mut AnyConnection,
    next: &Interaction,
) -> Result<Option<Interaction>, StoreError> {
    let columns = StateColumns::from(&next.state);
    let row = sqlx::query(ADVANCE)
        .bind(next.id.as_str().to_owned())
        .bind(next.version - 1)
        .bind(columns.state)
        .bind(columns.at)
        .bind(columns.failure)
        .fetch_optional(connection)
        .await?;
    row.map(|row| row::interaction(&row)).transpose()
}

fn entry(step: Step, interaction: &Interaction) -> AuditEntry {
    let (action, outcome, detail) = match step {
        Step::Open => (AuditAction::InteractionOpened, Outcome::Success, None),
        Step::Consent => (AuditAction::InteractionConsented, Outcome::Success, None),
        Step::Decline { by } => (
            AuditAction::InteractionDeclined,
            Outcome::Success,
            Some(match by {
                DeclinedBy::Page => "on the page",
                DeclinedBy::Client => "in the client",
            }),
        ),
        Step::Fail(reason) => (AuditAction::InteractionFailed, Outcome::Failure, Some(reason.as_str())),
        Step::Restart => (AuditAction::InteractionRestarted, Outcome::Success, None),
        Step::Withdraw => (AuditAction::InteractionWithdrawn, Outcome::Success, None),
    };
    AuditEntry { detail, ..AuditEntry::of_interaction(action, outcome, interaction) }
}
