//! What is approved for one call alone: the proof that its user approved it, and the call that uses it up.

use elicit::{Digest, Principal};
use jiff::{SignedDuration, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::ask::{OPEN_AT_MOST, ask_key};
use super::row::{self, columns};
use super::seal::{operation, unopened};
use super::{Destination, Interaction, InteractionState, Operation};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::time::{micros, timestamp};
use crate::token::random_text;
use crate::vault::{Record, RecordKind, Vault};
use crate::{Store, StoreError, key_notes};

/// How long an approved call may take to come, from its approval.
pub const APPROVAL_LASTS: SignedDuration = SignedDuration::from_mins(15);

/// The same where the person did something at somebody else's page for it, which cannot be done again for nothing.
pub const VISIT_LASTS: SignedDuration = SignedDuration::from_hours(24);

/// How long a call that was approved may take to come with the answers of a round: longer than the state of the round lives.
const ROUND_LASTS: SignedDuration = OPEN_AT_MOST.saturating_add(SignedDuration::from_mins(5));

const KEEP: &str = "UPDATE interactions SET proof = $2, proof_until = $3, proof_round = '' WHERE id = $1";
pub(crate) const PROVED: &str = concat!(
    "SELECT ",
    columns!(),
    ", proof, proof_until FROM interactions WHERE ask_key = $1 AND proof IS NOT NULL AND state = 'completed' \
     AND proof_until > $2 AND proof_round = $3"
);
/// Whoever comes second finds the proof of another round. The call is of no more use either.
pub(crate) const MOVE: &str = "UPDATE interactions SET proof = $3, proof_round = $4, proof_until = $5, operation = NULL \
     WHERE id = $1 AND proof_round = $2 AND proof IS NOT NULL RETURNING id";

/// One very call: who makes it, where it goes, and all that it asks for.
#[derive(Debug, Clone, Copy)]
pub struct ExactCall<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// Where the call goes.
    pub destination: &'a Destination,
    /// What tells it from any other.
    pub digest: &'a Digest,
    /// The [round](Claim::round) of the server's own questions that it brings the answers of; empty where it brings none.
    pub round: &'a str,
}

/// Approvals that a call has used up. They are good for one thing still: the round in which the server asked something itself
/// instead of running the call, if it did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claim {
    round: String,
    taken: Vec<Taken>,
}

/// An approval as it was before it was used.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Taken {
    interaction: Interaction,
    until: Timestamp,
}

impl Claim {
    /// Whether the call needed none.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// What the call that comes with the answers of the next round must name: random, and never used for another one.
    pub fn round(&self) -> &str {
        &self.round
    }
}

/// What came of claiming approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Claimed {
    /// All are this call's now, and nobody else's.
    All(Claim),
    /// These providers have none for this call; none was taken.
    Lacking(Vec<String>),
}

/// What is found for one call.
#[derive(Default)]
struct Proved {
    good: Vec<Taken>,
    /// With what is wrong with each.
    forged: Vec<(Interaction, StoreError)>,
}

/// What a proof is sealed with: the record of its interaction, the call, the moment, how long and for which round it is good.
struct Place<'a> {
    interaction: &'a Interaction,
    digest: String,
    at: String,
    until: String,
    round: &'a str,
}

impl<'a> Place<'a> {
    fn new(interaction: &'a Interaction, digest: &Digest, until: Timestamp, round: &'a str) -> Option<Self> {
        let InteractionState::Completed { at } = interaction.state else { return None };
        let (at, until) = (micros(at).to_string(), micros(until).to_string());
        Some(Self { interaction, digest: digest.to_hex(), at, until, round })
    }

    fn scope(&self) -> [&str; 8] {
        let Interaction { principal, provider, destination, .. } = self.interaction;
        let Destination { upstream, target } = destination;
        [principal.client.as_str(), provider, upstream, target, &self.digest, &self.at, &self.until, self.round]
    }

    fn record<'r>(&'r self, scope: &'r [&'r str; 8]) -> Record<'r> {
        let Interaction { id, principal, .. } = self.interaction;
        Record { kind: RecordKind::Approval, id: id.as_str(), user: &principal.user, scope }
    }

    fn seal(&self, vault: &Vault) -> Result<Vec<u8>, StoreError> {
        vault.seal(&self.record(&self.scope()), &[]).map_err(StoreError::Unsealed)
    }
}

/// Keeps the proof that `done`, which is completed in this transaction, was approved for its call, and returns the call. `None`
/// where it is not kept whole.
pub(super) async fn prove(
    connection: &mut AnyConnection,
    done: &Interaction,
    until: Timestamp,
    vault: &Vault,
) -> Result<Option<Operation>, StoreError> {
    let operation = operation(connection, done, vault).await?;
    let place = operation.as_ref().and_then(Operation::digest).and_then(|digest| Place::new(done, digest, until, ""));
    let Some(place) = place else { return Ok(None) };
    let proof = place.seal(vault)?;
    let id = done.id.as_str().to_owned();
    sqlx::query(KEEP).bind(id).bind(proof).bind(micros(until)).execute(connection).await?;
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
    /// gets it (R-MRTR-03). What is taken is taken when this returns: a call that is not sent after that
    /// [gives it back](Self::give_back), or needs another.
    pub async fn claim(&self, call: ExactCall<'_>, providers: &[&str], now: Timestamp) -> Result<Claimed, StoreError> {
        // In one order by all, else two calls could wait for each other.
        let mut providers = providers.to_vec();
        providers.sort_by_cached_key(|one| ask_key(call.principal, one, call.destination, Some(call.digest)));
        let next = random_text(&*self.shared.random);
        let (claimed, forged) = Self::within(async {
            let mut transaction = self.begin().await?;
            let (mut lacking, mut forged) = (Vec::new(), Vec::new());
            let mut claim = Claim { round: next.clone(), taken: Vec::new() };
            for provider in providers {
                let proved = self.proved(&mut transaction, call, provider, now).await?;
                forged.extend(proved.forged);
                match self.take_one(&mut transaction, call, proved.good, &next, now).await? {
                    Some(taken) => claim.taken.push(taken),
                    None => lacking.push(provider.to_owned()),
                }
            }
            if !lacking.is_empty() {
                transaction.rollback().await?;
                return Ok((Claimed::Lacking(lacking), forged));
            }
            transaction.commit().await?;
            Ok((Claimed::All(claim), forged))
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
        let rows = sqlx::query(PROVED)
            .bind(key)
            .bind(micros(now))
            .bind(call.round.to_owned())
            .fetch_all(&mut *connection)
            .await?;
        let mut proved = Proved::default();
        for row in rows {
            let interaction = row::interaction(&row)?;
            let until = timestamp(row.try_get("proof_until")?, "interactions")?;
            match self.open_proof(&row, &interaction, until, call, provider) {
                Ok(()) => proved.good.push(Taken { interaction, until }),
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
        until: Timestamp,
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
        let Some(place) = Place::new(&asked, call.digest, until, call.round) else {
            return Err(StoreError::impossible("interactions", "an approval of what is not completed"));
        };
        let opened = self.shared.vault.open(&place.record(&place.scope()), &proof);
        opened.map(drop).map_err(|source| unopened(&found.id, source))
    }

    /// Takes one that nobody else has taken, and leaves the proof for the round that may follow; `None` where there is none.
    async fn take_one(
        &self,
        connection: &mut AnyConnection,
        call: ExactCall<'_>,
        proved: Vec<Taken>,
        next: &str,
        now: Timestamp,
    ) -> Result<Option<Taken>, StoreError> {
        for taken in proved {
            let interaction = &taken.interaction;
            // Read before it goes, and told as far as it can be: what counts is the proof.
            let told = operation(connection, interaction, &self.shared.vault).await.ok().flatten();
            let told = told.map(|operation| operation.told());
            if self.change(connection, call, interaction, [call.round, next], now + ROUND_LASTS).await? {
                let detail = (!call.round.is_empty()).then_some("a further round");
                let entry = AuditEntry::of_interaction(AuditAction::OperationUsed, Outcome::Success, interaction);
                AuditEntry { detail, operation: told, ..entry }.insert(connection, now).await?;
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    /// Seals a proof for another round; false where it is not that of `from` (any more).
    async fn change(
        &self,
        connection: &mut AnyConnection,
        call: ExactCall<'_>,
        interaction: &Interaction,
        [from, to]: [&str; 2],
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(place) = Place::new(interaction, call.digest, until, to) else { return Ok(false) };
        let changed = sqlx::query(MOVE)
            .bind(interaction.id.as_str().to_owned())
            .bind(from.to_owned())
            .bind(place.seal(&self.shared.vault)?)
            .bind(to.to_owned())
            .bind(micros(until))
            .fetch_optional(connection)
            .await?;
        Ok(changed.is_some())
    }

    /// Gives back what `call` has claimed: it was not sent, or whoever got it says that it did nothing. What was taken away
    /// meanwhile stays so.
    pub async fn give_back(&self, call: ExactCall<'_>, claim: &Claim, now: Timestamp) -> Result<(), StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            for Taken { interaction, until } in &claim.taken {
                if self.change(&mut transaction, call, interaction, [&claim.round, call.round], *until).await? {
                    AuditEntry::of_interaction(AuditAction::OperationReturned, Outcome::Success, interaction)
                        .insert(&mut transaction, now)
                        .await?;
                }
            }
            transaction.commit().await?;
            Ok(())
        })
        .await
    }
}
