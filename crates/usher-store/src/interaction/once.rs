//! What is approved for one call alone: the proof that its user approved it, and the call that uses it up.

use elicit::{Digest, Principal};
use jiff::{SignedDuration, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::ask::ask_key;
use super::row::{self, columns};
use super::seal::{operation, unopened};
use super::{Destination, Interaction, InteractionState, Operation};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::time::{micros, micros_before};
use crate::vault::{Record, RecordKind, Vault};
use crate::{Store, StoreError, key_notes};

/// How long an approved call may take to come, from its approval.
pub const APPROVAL_LASTS: SignedDuration = SignedDuration::from_mins(15);

const KEEP: &str = "UPDATE interactions SET proof = $2 WHERE id = $1";
pub(crate) const PROVED: &str = concat!(
    "SELECT ",
    columns!(),
    ", proof FROM interactions WHERE ask_key = $1 AND proof IS NOT NULL AND state = 'completed' AND state_at > $2"
);
/// Whoever comes second finds no proof. The call is of no more use either.
pub(crate) const TAKE: &str = "UPDATE interactions SET proof = NULL, operation = NULL \
     WHERE id = $1 AND proof IS NOT NULL RETURNING id";

/// One very call: who makes it, where it goes, and all that it asks for.
#[derive(Debug, Clone, Copy)]
pub struct ExactCall<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// Where the call goes.
    pub destination: &'a Destination,
    /// What tells it from any other.
    pub digest: &'a Digest,
}

/// What came of claiming approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Claimed {
    /// All are this call's now, and nobody else's.
    All,
    /// These providers have none for this call; none was taken.
    Lacking(Vec<String>),
}

/// What is found for one call.
#[derive(Default)]
struct Proved {
    good: Vec<Interaction>,
    /// With what is wrong with each.
    forged: Vec<(Interaction, StoreError)>,
}

/// What a proof is sealed with: the record of its interaction, the call and the moment.
struct Place<'a> {
    interaction: &'a Interaction,
    digest: String,
    at: String,
}

impl<'a> Place<'a> {
    fn new(interaction: &'a Interaction, digest: &Digest) -> Option<Self> {
        let InteractionState::Completed { at } = interaction.state else { return None };
        Some(Self { interaction, digest: digest.to_hex(), at: micros(at).to_string() })
    }

    fn scope(&self) -> [&str; 6] {
        let Interaction { principal, provider, destination, .. } = self.interaction;
        let Destination { upstream, target } = destination;
        [principal.client.as_str(), provider, upstream, target, &self.digest, &self.at]
    }

    fn record<'r>(&'r self, scope: &'r [&'r str; 6]) -> Record<'r> {
        let Interaction { id, principal, .. } = self.interaction;
        Record { kind: RecordKind::Approval, id: id.as_str(), user: &principal.user, scope }
    }
}

/// Keeps the proof that `done`, which is completed in this transaction, was approved for its call, and returns the call. `None`
/// where it is not kept whole.
pub(super) async fn prove(
    connection: &mut AnyConnection,
    done: &Interaction,
    vault: &Vault,
) -> Result<Option<Operation>, StoreError> {
    let operation = operation(connection, done, vault).await?;
    let place = operation.as_ref().and_then(Operation::digest).and_then(|digest| Place::new(done, digest));
    let Some(place) = place else { return Ok(None) };
    let proof = vault.seal(&place.record(&place.scope()), &[]).map_err(StoreError::Unsealed)?;
    sqlx::query(KEEP).bind(done.id.as_str().to_owned()).bind(proof).execute(connection).await?;
    Ok(operation)
}

impl Store {
    /// Which of `providers` have no approval for this very call. Nothing is taken.
    pub async fn unapproved(
        &self,
        call: ExactCall<'_>,
        providers: &[&str],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        Self::within(async {
            let mut connection = self.shared.reader.acquire().await?;
            let mut lacking = Vec::new();
            for provider in providers {
                if self.proved(&mut connection, call, provider, now).await?.good.is_empty() {
                    lacking.push((*provider).to_owned());
                }
            }
            Ok(lacking)
        })
        .await
    }

    /// Uses up one approval of each of `providers` for this very call: all of them or none. Of two calls that are alike one
    /// gets it (R-MRTR-03). What is taken is taken when this returns: a call that is not sent after that needs another.
    pub async fn claim(&self, call: ExactCall<'_>, providers: &[&str], now: Timestamp) -> Result<Claimed, StoreError> {
        // In one order by all, else two calls could wait for each other.
        let mut providers = providers.to_vec();
        providers.sort_by_cached_key(|one| ask_key(call.principal, one, call.destination, Some(call.digest)));
        let (claimed, forged) = Self::within(async {
            let mut transaction = self.begin().await?;
            let (mut lacking, mut forged) = (Vec::new(), Vec::new());
            for provider in providers {
                let proved = self.proved(&mut transaction, call, provider, now).await?;
                forged.extend(proved.forged);
                if !take_one(&mut transaction, proved.good, &self.shared.vault, now).await? {
                    lacking.push(provider.to_owned());
                }
            }
            if !lacking.is_empty() {
                transaction.rollback().await?;
                return Ok((Claimed::Lacking(lacking), forged));
            }
            transaction.commit().await?;
            Ok((Claimed::All, forged))
        })
        .await?;
        for (interaction, error) in forged {
            self.note_tampering(&interaction, &error, now).await;
        }
        Ok(claimed)
    }

    /// The approvals of this very call that are good still. One that was changed in the database is none.
    async fn proved(
        &self,
        connection: &mut AnyConnection,
        call: ExactCall<'_>,
        provider: &str,
        now: Timestamp,
    ) -> Result<Proved, StoreError> {
        let key = ask_key(call.principal, provider, call.destination, Some(call.digest));
        let since = micros_before(now, APPROVAL_LASTS);
        let rows = sqlx::query(PROVED).bind(key).bind(since).fetch_all(&mut *connection).await?;
        let mut proved = Proved::default();
        for row in rows {
            let interaction = row::interaction(&row)?;
            match self.open_proof(&row, &interaction, call, provider) {
                Ok(()) => proved.good.push(interaction),
                Err(error) => {
                    let error = key_notes::behind(connection, error).await;
                    tracing::warn!(interaction = %interaction.id, %error, "an approval cannot be read, and is not used");
                    proved.forged.push((interaction, error));
                }
            }
        }
        Ok(proved)
    }

    /// By what is asked for, whatever the row says of itself.
    fn open_proof(
        &self,
        row: &AnyRow,
        found: &Interaction,
        call: ExactCall<'_>,
        provider: &str,
    ) -> Result<(), StoreError> {
        let proof: Vec<u8> = row.try_get("proof")?;
        let asked = Interaction {
            principal: call.principal.clone(),
            provider: provider.to_owned(),
            destination: call.destination.clone(),
            ..found.clone()
        };
        let Some(place) = Place::new(&asked, call.digest) else {
            return Err(StoreError::impossible("interactions", "an approval of what is not completed"));
        };
        let opened = self.shared.vault.open(&place.record(&place.scope()), &proof);
        opened.map(drop).map_err(|source| unopened(&found.id, source))
    }
}

/// Takes one that nobody else has taken; false where there is none.
async fn take_one(
    connection: &mut AnyConnection,
    proved: Vec<Interaction>,
    vault: &Vault,
    now: Timestamp,
) -> Result<bool, StoreError> {
    for interaction in proved {
        // Read before it goes, and told as far as it can be: what counts is the proof.
        let told = operation(connection, &interaction, vault).await.ok().flatten().map(|operation| operation.told());
        let id = interaction.id.as_str().to_owned();
        if sqlx::query(TAKE).bind(id).fetch_optional(&mut *connection).await?.is_some() {
            let entry = AuditEntry::of_interaction(AuditAction::OperationUsed, Outcome::Success, &interaction);
            AuditEntry { operation: told, ..entry }.insert(connection, now).await?;
            return Ok(true);
        }
    }
    Ok(false)
}
