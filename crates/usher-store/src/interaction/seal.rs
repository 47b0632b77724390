//! The proof that a question is one of ours.
//!
//! What the user agrees to comes from the interaction's row. Were it not sealed,
//! whoever can write to the database could have them agree to another destination
//! than the one that was asked for (R-GW-04).

use elicit::Principal;
use sqlx::{AnyConnection, Row as _};

use super::{Destination, Interaction, InteractionId};
use crate::vault::{Record, RecordKind, Vault};
use crate::{KeyError, StoreError};

const FIND: &str = "SELECT seal FROM interactions WHERE id = $1";

/// All that must stay as it was asked.
pub(super) fn scope<'a>(principal: &'a Principal, provider: &'a str, destination: &'a Destination) -> [&'a str; 4] {
    [principal.client.as_str(), provider, &destination.upstream, &destination.target]
}

pub(super) fn place<'a>(id: &'a InteractionId, principal: &'a Principal, scope: &'a [&'a str; 4]) -> Record<'a> {
    Record { kind: RecordKind::Interaction, id: id.as_str(), user: &principal.user, scope }
}

/// Fails unless the interaction is as it was asked.
pub(super) async fn verify(
    connection: &mut AnyConnection,
    interaction: &Interaction,
    vault: &Vault,
) -> Result<(), StoreError> {
    let row = sqlx::query(FIND).bind(interaction.id.as_str().to_owned()).fetch_one(connection).await?;
    let seal: Vec<u8> = row.try_get("seal")?;
    let scope = scope(&interaction.principal, &interaction.provider, &interaction.destination);
    let opened = vault.open(&place(&interaction.id, &interaction.principal, &scope), &seal);
    // The seal has nothing in it: to open is to be genuine.
    opened.map(drop).map_err(|source: KeyError| StoreError::Unopened {
        table: "interactions",
        id: interaction.id.to_string(),
        source,
    })
}
