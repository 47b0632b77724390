//! The proof that a question is one of ours.
//!
//! What the user agrees to comes from the interaction's row. Were it not sealed,
//! whoever can write to the database could have them agree to another destination
//! than the one that was asked for (R-GW-04).

use elicit::Principal;
use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::{Destination, Interaction, InteractionId};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::vault::{Record, RecordKind, Vault};
use crate::{Store, StoreError, key_notes};

const TABLE: &str = "interactions";
const FIND: &str = "SELECT seal FROM interactions WHERE id = $1";

/// All that must stay as it was asked.
pub(super) fn scope<'a>(principal: &'a Principal, provider: &'a str, destination: &'a Destination) -> [&'a str; 4] {
    [principal.client.as_str(), provider, &destination.upstream, &destination.target]
}

pub(super) fn place<'a>(id: &'a InteractionId, principal: &'a Principal, scope: &'a [&'a str; 4]) -> Record<'a> {
    Record { kind: RecordKind::Interaction, id: id.as_str(), user: &principal.user, scope }
}

/// Fails unless the interaction is as it was asked. False if it is there no longer.
pub(super) async fn verify(
    connection: &mut AnyConnection,
    interaction: &Interaction,
    vault: &Vault,
) -> Result<bool, StoreError> {
    let row = sqlx::query(FIND).bind(interaction.id.as_str().to_owned()).fetch_optional(&mut *connection).await?;
    let Some(row) = row else { return Ok(false) };
    let seal: Vec<u8> = row.try_get("seal")?;
    let scope = scope(&interaction.principal, &interaction.provider, &interaction.destination);
    let opened = vault.open(&place(&interaction.id, &interaction.principal, &scope), &seal);
    // The seal has nothing in it: to open is to be genuine.
    let Err(source) = opened else { return Ok(true) };
    let error = StoreError::Unopened { table: TABLE, id: interaction.id.to_string(), source };
    Err(key_notes::behind(connection, error).await)
}

impl Store {
    /// Audits it if this is why a step was not taken (R-SEC-03). After the transaction, which is rolled back.
    pub(super) async fn note_tampering(&self, interaction: &Interaction, error: &StoreError, now: Timestamp) {
        if !matches!(error, StoreError::Unopened { table: TABLE, source, .. } if source.is_tampering()) {
            return;
        }
        let id = &interaction.id;
        tracing::error!(interaction = %id, "an interaction was changed in the store, and is refused");
        let entry = AuditEntry::of_interaction(AuditAction::InteractionTampered, Outcome::Refused, interaction);
        if let Err(error) = self.audit(entry, now).await {
            tracing::warn!(interaction = %id, %error, "a refusal was not audited");
        }
    }
}
