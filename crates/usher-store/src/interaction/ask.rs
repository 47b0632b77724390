//! Asking: one commit, and nothing read before it.

use elicit::{Digest, Principal};
use jiff::{SignedDuration, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::row::{self, columns, open_states};
use super::seal::Seals;
use super::{Destination, Interaction, NewInteraction, Operation, decline};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::session::storable;
use crate::time::{micros, timestamp};
use crate::{SessionKey, Store, StoreError, fail_point, lookup, notice};

pub(crate) const EXPIRE: &str = concat!(
    "UPDATE interactions SET state = 'expired', operation = NULL, flow_hash = NULL, flow = NULL, flow_until = NULL, \
     version = version + 1 WHERE ask_key = $1 AND ",
    open_states!(),
    " AND expires_at <= $2"
);

/// [`OPEN_AT_MOST`] in microseconds.
macro_rules! open_at_most {
    () => {
        10_800_000_000
    };
}

/// How long a question can be kept open, from when it was asked, however often it is asked again: more than ten times its
/// first end (WCAG 2.2, 2.2.1), and an end for its master key.
pub const OPEN_AT_MOST: SignedDuration = SignedDuration::from_micros(open_at_most!());

macro_rules! insert {
    ($head:literal, $tail:expr) => {
        concat!(
            "INSERT INTO interactions (id, ask_key, user_key, issuer, subject, client, client_claim, provider, \
             upstream, target, reason, state, state_at, created_at, expires_at, seal, operation, version, asked_by) ",
            $head,
            "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'created', $12, $12, $13, $14, $15, 1, $16",
            $tail,
            " ON CONFLICT (ask_key) WHERE ",
            open_states!(),
            " DO UPDATE SET reason = excluded.reason, expires_at = CASE \
             WHEN excluded.expires_at <= interactions.expires_at THEN interactions.expires_at \
             WHEN excluded.expires_at <= interactions.created_at + ",
            open_at_most!(),
            " THEN excluded.expires_at \
             WHEN interactions.expires_at >= interactions.created_at + ",
            open_at_most!(),
            " THEN interactions.expires_at ELSE interactions.created_at + ",
            open_at_most!(),
            " END RETURNING ",
            columns!()
        )
    };
}

const INSERT: &str = insert!("VALUES (", ")");

/// The same unless the question rests, or the user or the client has too many: both are counted in one pass over what the user
/// has open. One that is open already is not one more.
pub(crate) const INSERT_WITHIN: &str = insert!(
    "SELECT ",
    concat!(
        " WHERE NOT EXISTS (SELECT 1 FROM declines WHERE ask_key = $2 AND rests_until > $12) \
         AND (1 = (SELECT CASE WHEN COUNT(*) < $17 AND COUNT(CASE WHEN client = $6 THEN 1 END) < $18 THEN 1 ELSE 0 END \
         FROM interactions WHERE user_key = $3 AND ",
        open_states!(),
        " AND expires_at > $12) OR EXISTS (SELECT 1 FROM interactions WHERE ask_key = $2 AND ",
        open_states!(),
        "))"
    )
);

pub(crate) const FIRST_END: &str = concat!(
    "SELECT COUNT(CASE WHEN client = $3 THEN 1 END) AS of_client, MIN(expires_at) AS first, \
     MIN(CASE WHEN client = $3 THEN expires_at END) AS first_of_client FROM interactions WHERE user_key = $1 AND ",
    open_states!(),
    " AND expires_at > $2"
);

/// How many questions may be open at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenLimits {
    /// Of one user, over all clients.
    pub user: u32,
    /// Of one client of one user, so that it leaves room for the others.
    pub client: u32,
}

/// What came of asking by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Asked {
    /// Asked, or found open, in the order of the questions.
    Open(Vec<Interaction>),
    /// One of them was declined of late; none is asked.
    Resting {
        /// Whose credential it is about.
        provider: String,
        /// From when on it may be asked.
        until: Timestamp,
    },
    /// The user or the client has too many open questions; none is asked.
    TooMany {
        /// When the first of them ends by itself.
        until: Timestamp,
    },
}

impl Store {
    /// Asks because a person wants it, or finds what is already being asked: a question of the same user,
    /// client, provider and destination (and of the same call, where it is about one call alone) that is still open is returned with its own
    /// id, now lasting as long as the new one would have, within [`OPEN_AT_MOST`]
    /// (R-SEC-01).
    ///
    /// With `notify`, that session is owed a completion notice for each (R-DONE-01).
    /// The answer keeps the order of `new`. One commit in all, nothing is read
    /// before, and the cost does not grow with what the store holds.
    pub async fn ask(
        &self,
        new: &[NewInteraction],
        notify: Option<&SessionKey>,
        now: Timestamp,
    ) -> Result<Vec<Interaction>, StoreError> {
        match self.ask_all(new, notify, None, now).await? {
            Asked::Open(asked) => Ok(asked),
            Asked::Resting { .. } | Asked::TooMany { .. } => Err(StoreError::impossible("interactions", "a refusal")),
        }
    }

    /// Asks because a client called: not what the person declined a while ago (see [`DECLINE_RESTS`](crate::DECLINE_RESTS)),
    /// and nothing new where the user or this client of theirs has as many open questions as it may (R-SEC-01).
    ///
    /// Both are looked at by the statement that asks. It costs as much as [`ask`](Self::ask), and grows with the user's open
    /// questions alone. Askers who come at the same time may pass the limit together.
    pub async fn ask_within(
        &self,
        new: &[NewInteraction],
        notify: Option<&SessionKey>,
        open_at_most: OpenLimits,
        now: Timestamp,
    ) -> Result<Asked, StoreError> {
        self.ask_all(new, notify, Some(open_at_most), now).await
    }

    async fn ask_all(
        &self,
        new: &[NewInteraction],
        notify: Option<&SessionKey>,
        open_at_most: Option<OpenLimits>,
        now: Timestamp,
    ) -> Result<Asked, StoreError> {
        if new.is_empty() {
            return Ok(Asked::Open(Vec::new()));
        }
        let seals = new.iter().map(|new| Seals::of(&self.shared.vault, new)).collect::<Result<Vec<_>, _>>()?;
        // Rows are locked in one order by all, else two askers could wait for each other.
        let mut order: Vec<_> = new.iter().map(key_of_new).enumerate().collect();
        order.sort_by(|(_, one), (_, other)| one.cmp(other));
        Self::within(async {
            let mut transaction = self.begin().await?;
            let mut asked = Vec::with_capacity(new.len());
            for (index, key) in order {
                let (one, seals) = (&new[index], &seals[index]);
                let Some(row) = insert(&mut transaction, one, seals, &key, open_at_most, now).await? else {
                    let refused = refused(&mut transaction, one, &key, open_at_most, now).await?;
                    transaction.rollback().await?;
                    return Ok(refused);
                };
                // One whose exchange was cut off is open still, and shown as what it is.
                let interaction = row::interaction(&row)?.at(now);
                note(&mut transaction, &interaction, interaction.id == one.id, notify, now).await?;
                asked.push((index, interaction));
            }
            fail_point!(QuestionUncommitted);
            transaction.commit().await?;
            asked.sort_by_key(|(index, _)| *index);
            Ok(Asked::Open(asked.into_iter().map(|(_, interaction)| interaction).collect()))
        })
        .await
    }
}

/// What makes two questions the same one. With a digest, the answer is good for that call alone.
pub(super) fn ask_key(
    principal: &Principal,
    provider: &str,
    destination: &Destination,
    digest: Option<&Digest>,
) -> String {
    let user = &principal.user;
    let digest = digest.map(Digest::to_hex);
    let fixed = [
        user.issuer(),
        user.subject(),
        principal.client.as_str(),
        provider,
        &destination.upstream,
        &destination.target,
    ];
    lookup::key_of(&fixed.into_iter().chain(digest.as_deref()).collect::<Vec<_>>())
}

fn key_of_new(new: &NewInteraction) -> String {
    let digest = new.operation.as_ref().and_then(Operation::digest);
    ask_key(&new.principal, &new.provider, &new.destination, digest)
}

/// Why a question was not asked.
async fn refused(
    connection: &mut AnyConnection,
    new: &NewInteraction,
    key: &str,
    open_at_most: Option<OpenLimits>,
    now: Timestamp,
) -> Result<Asked, StoreError> {
    if let Some(until) = decline::rests(connection, key, now).await? {
        return Ok(Asked::Resting { provider: new.provider.clone(), until });
    }
    let row = sqlx::query(FIRST_END)
        .bind(lookup::user_key(&new.principal.user))
        .bind(micros(now))
        .bind(new.principal.client.as_str().to_owned())
        .fetch_one(connection)
        .await?;
    let of_client: i64 = row.try_get("of_client")?;
    let client_has_too_many = open_at_most.is_some_and(|most| of_client >= i64::from(most.client));
    let first: Option<i64> = row.try_get(if client_has_too_many { "first_of_client" } else { "first" })?;
    // None where they ended a moment ago: then it may be tried at once.
    Ok(Asked::TooMany { until: first.map_or(Ok(now), |first| timestamp(first, "interactions"))? })
}

/// `None` where a limit is in the way.
async fn insert(
    connection: &mut AnyConnection,
    new: &NewInteraction,
    seals: &Seals,
    key: &str,
    open_at_most: Option<OpenLimits>,
    now: Timestamp,
) -> Result<Option<AnyRow>, StoreError> {
    sqlx::query(EXPIRE).bind(key.to_owned()).bind(micros(now)).execute(&mut *connection).await?;
    let user = &new.principal.user;
    let query = sqlx::query(if open_at_most.is_some() { INSERT_WITHIN } else { INSERT })
        .bind(new.id.as_str().to_owned())
        .bind(key.to_owned())
        .bind(lookup::user_key(user))
        .bind(user.issuer().to_owned())
        .bind(user.subject().to_owned())
        .bind(new.principal.client.as_str().to_owned())
        .bind(new.client_claim.as_deref().map(storable))
        .bind(new.provider.clone())
        .bind(new.destination.upstream.clone())
        .bind(new.destination.target.clone())
        .bind(new.reason.as_str())
        .bind(micros(now))
        .bind(micros(new.expires_at))
        .bind(seals.seal.clone())
        .bind(seals.operation.clone())
        .bind(new.asked_by.clone());
    let query = match open_at_most {
        Some(most) => query.bind(i64::from(most.user)).bind(i64::from(most.client)),
        None => query,
    };
    Ok(query.fetch_optional(connection).await?)
}

/// What goes with a question.
async fn note(
    connection: &mut AnyConnection,
    interaction: &Interaction,
    is_new: bool,
    notify: Option<&SessionKey>,
    now: Timestamp,
) -> Result<(), StoreError> {
    if is_new {
        AuditEntry::of_interaction(AuditAction::InteractionAsked, Outcome::Success, interaction)
            .insert(connection, now)
            .await?;
    }
    if let Some(session) = notify {
        sqlx::query(notice::OWE)
            .bind(interaction.id.as_str().to_owned())
            .bind(session.as_str().to_owned())
            .bind(micros(interaction.expires_at))
            .execute(connection)
            .await?;
    }
    Ok(())
}
