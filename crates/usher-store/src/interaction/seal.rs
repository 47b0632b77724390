//! The proof that a question is one of ours, and the call that it is asked for.
//!
//! What the user agrees to comes from the interaction's row. Were it not sealed,
//! whoever can write to the database could have them agree to another destination
//! than the one that was asked for (R-GW-04), or to another call.

use std::collections::BTreeMap;

use elicit::Principal;
use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::find::several;
use super::{Destination, Interaction, InteractionId, NewInteraction, Operation};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::vault::{Record, RecordKind, Vault};
use crate::{KeyError, Store, StoreError, key_notes};

const TABLE: &str = "interactions";
const FIND: &str = "SELECT seal FROM interactions WHERE id = $1";
const KEEP_OPERATION: &str = "UPDATE interactions SET operation = $2 WHERE id = $1";
const FIND_OPERATION: &str = "SELECT operation FROM interactions WHERE id = $1";

/// All that must stay as it was asked.
fn scope<'a>(
    principal: &'a Principal,
    provider: &'a str,
    destination: &'a Destination,
    asked_by: Option<&'a str>,
) -> Vec<&'a str> {
    let fixed = [principal.client.as_str(), provider, &destination.upstream, &destination.target];
    fixed.into_iter().chain(asked_by).collect()
}

pub(super) fn scope_of(interaction: &Interaction) -> Vec<&str> {
    let Interaction { principal, provider, destination, asked_by, .. } = interaction;
    scope(principal, provider, destination, asked_by.as_deref())
}

pub(super) fn place<'a>(id: &'a InteractionId, principal: &'a Principal, scope: &'a [&'a str]) -> Record<'a> {
    Record { kind: RecordKind::Interaction, id: id.as_str(), user: &principal.user, scope }
}

/// What a new row is sealed with: nothing, which proves what it is about, and the call.
pub(super) struct Seals {
    pub(super) seal: Vec<u8>,
    pub(super) operation: Option<Vec<u8>>,
}

impl Seals {
    pub(super) fn of(vault: &Vault, new: &NewInteraction) -> Result<Self, StoreError> {
        let scope = scope(&new.principal, &new.provider, &new.destination, new.asked_by.as_deref());
        let place = place(&new.id, &new.principal, &scope);
        let seal = vault.seal(&place, &[]).map_err(StoreError::Unsealed)?;
        let operation = |operation: &Operation| sealed(operation, &place, vault);
        Ok(Self { seal, operation: new.operation.as_ref().map(operation).transpose()? })
    }
}

fn sealed(operation: &Operation, place: &Record<'_>, vault: &Vault) -> Result<Vec<u8>, StoreError> {
    let bytes = operation.to_bytes().map_err(|_| StoreError::Unsealed(KeyError::Malformed))?;
    vault.seal(&Record { kind: RecordKind::Operation, ..*place }, &bytes).map_err(StoreError::Unsealed)
}

/// Keeps of the call of a question that was declined its name, for its owner to tell one from another.
pub(super) async fn keep_name(
    connection: &mut AnyConnection,
    declined: &Interaction,
    call: &Operation,
    vault: &Vault,
) -> Result<(), StoreError> {
    let scope = scope_of(declined);
    let sealed = sealed(&call.without_arguments(), &place(&declined.id, &declined.principal, &scope), vault)?;
    sqlx::query(KEEP_OPERATION).bind(declined.id.as_str().to_owned()).bind(sealed).execute(connection).await?;
    Ok(())
}

/// The call that an interaction is asked for; `None` where the row has none (any more).
pub(super) async fn operation(
    connection: &mut AnyConnection,
    interaction: &Interaction,
    vault: &Vault,
) -> Result<Option<Operation>, StoreError> {
    let id = interaction.id.as_str().to_owned();
    let row = sqlx::query(FIND_OPERATION).bind(id).fetch_optional(&mut *connection).await?;
    let sealed: Option<Vec<u8>> = row.map(|row| row.try_get("operation")).transpose()?.flatten();
    let Some(sealed) = sealed else { return Ok(None) };
    open_operation(connection, interaction, &sealed, vault).await.map(Some)
}

async fn open_operation(
    connection: &mut AnyConnection,
    interaction: &Interaction,
    sealed: &[u8],
    vault: &Vault,
) -> Result<Operation, StoreError> {
    let scope = scope_of(interaction);
    let place = Record { kind: RecordKind::Operation, ..place(&interaction.id, &interaction.principal, &scope) };
    match vault.open(&place, sealed).and_then(|bytes| Operation::parse(&bytes).ok_or(KeyError::Malformed)) {
        Ok(operation) => Ok(operation),
        Err(source) => Err(key_notes::behind(connection, unopened(&interaction.id, source)).await),
    }
}

pub(crate) fn find_operations(size: usize) -> String {
    several("SELECT id, operation FROM interactions WHERE operation IS NOT NULL AND id IN (", size)
}

pub(super) fn unopened(id: &InteractionId, source: KeyError) -> StoreError {
    StoreError::Unopened { table: TABLE, id: id.to_string(), source }
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
    let scope = scope_of(interaction);
    let opened = vault.open(&place(&interaction.id, &interaction.principal, &scope), &seal);
    // The seal has nothing in it: to open is to be genuine.
    let Err(source) = opened else { return Ok(true) };
    Err(key_notes::behind(connection, unopened(&interaction.id, source)).await)
}

impl Store {
    /// The call that `interaction` is asked for, where it is kept still. One that was changed in the database does not
    /// open ([`StoreError::Unopened`]), and is audited.
    pub async fn operation(&self, interaction: &Interaction, now: Timestamp) -> Result<Option<Operation>, StoreError> {
        let read = Self::within(async {
            let mut connection = self.shared.reader.acquire().await?;
            operation(&mut connection, interaction, &self.shared.vault).await
        });
        let read = read.await;
        if let Err(error) = &read {
            self.note_tampering(interaction, error, now).await;
        }
        read
    }

    /// The calls that `interactions` are asked for, by their ids, where they are kept still and open; what was changed in the
    /// database is audited. For a list: few statements, however many they are.
    pub async fn operations(
        &self,
        interactions: &[&Interaction],
        now: Timestamp,
    ) -> Result<BTreeMap<InteractionId, Operation>, StoreError> {
        let ids: Vec<_> = interactions.iter().map(|one| &one.id).collect();
        let (found, unopened) = Self::within(async {
            let mut sealed = BTreeMap::new();
            for row in self.rows_of(&ids, find_operations).await? {
                sealed.insert(row.try_get::<String, _>("id")?, row.try_get::<Vec<u8>, _>("operation")?);
            }
            let (mut found, mut unopened) = (BTreeMap::new(), Vec::new());
            let mut connection = self.shared.reader.acquire().await?;
            for one in interactions {
                let Some(sealed) = sealed.get(one.id.as_str()) else { continue };
                match open_operation(&mut connection, one, sealed, &self.shared.vault).await {
                    Ok(operation) => drop(found.insert(one.id.clone(), operation)),
                    Err(error) if error.is_unopened() => unopened.push((*one, error)),
                    Err(error) => return Err(error),
                }
            }
            Ok((found, unopened))
        })
        .await?;
        for (one, error) in unopened {
            self.note_tampering(one, &error, now).await;
        }
        Ok(found)
    }

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
