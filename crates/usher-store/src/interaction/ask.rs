//! Asking: one commit, and nothing read before it.

use jiff::Timestamp;
use sqlx::AnyConnection;

use super::row::{self, columns, open_states};
use super::seal::{place, scope};
use super::{Interaction, NewInteraction};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::session::storable;
use crate::time::micros;
use crate::{SessionKey, Store, StoreError, Vault, fail_point, lookup, notice};

pub(crate) const EXPIRE: &str = concat!(
    "UPDATE interactions SET state = 'expired', version = version + 1 WHERE ask_key = $1 AND ",
    open_states!(),
    " AND expires_at <= $2"
);

const INSERT: &str = concat!(
    "INSERT INTO interactions (id, ask_key, user_key, issuer, subject, client, client_claim, provider, \
     upstream, target, reason, state, state_at, created_at, expires_at, seal, version) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'created', $12, $12, $13, $14, 1) \
     ON CONFLICT (ask_key) WHERE ",
    open_states!(),
    " DO UPDATE SET reason = excluded.reason, expires_at = CASE \
     WHEN excluded.expires_at > interactions.expires_at THEN excluded.expires_at \
     ELSE interactions.expires_at END RETURNING ",
    columns!()
);

impl Store {
    /// Asks, or finds what is already being asked: a question of the same user,
    /// client, provider and destination that is still open is returned with its own
    /// id, now lasting at least as long as the new one would have (R-SEC-01).
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
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let seals = new.iter().map(|new| seal(&self.shared.vault, new)).collect::<Result<Vec<_>, _>>()?;
        // Rows are locked in one order by all, else two askers could wait for each other.
        let mut order: Vec<_> = new.iter().map(ask_key).enumerate().collect();
        order.sort_by(|(_, one), (_, other)| one.cmp(other));
        Self::within(async {
            let mut transaction = self.begin().await?;
            let mut asked = Vec::with_capacity(new.len());
            for (index, key) in order {
                let interaction = ask_one(&mut transaction, &new[index], &seals[index], &key, notify, now).await?;
                asked.push((index, interaction));
            }
            fail_point!(QuestionUncommitted);
            transaction.commit().await?;
            asked.sort_by_key(|(index, _)| *index);
            Ok(asked.into_iter().map(|(_, interaction)| interaction).collect())
        })
        .await
    }
}

/// What makes two questions the same one.
fn ask_key(new: &NewInteraction) -> String {
    let user = &new.principal.user;
    lookup::key_of(&[
        user.issuer(),
        user.subject(),
        new.principal.client.as_str(),
        &new.provider,
        &new.destination.upstream,
        &new.destination.target,
    ])
}

fn seal(vault: &Vault, new: &NewInteraction) -> Result<Vec<u8>, StoreError> {
    let scope = scope(&new.principal, &new.provider, &new.destination);
    vault.seal(&place(&new.id, &new.principal, &scope), &[]).map_err(StoreError::Unsealed)
}

async fn ask_one(
    connection: &mut AnyConnection,
    new: &NewInteraction,
    seal: &[u8],
    key: &str,
    notify: Option<&SessionKey>,
    now: Timestamp,
) -> Result<Interaction, StoreError> {
    sqlx::query(EXPIRE).bind(key.to_owned()).bind(micros(now)).execute(&mut *connection).await?;
    let user = &new.principal.user;
    let row = sqlx::query(INSERT)
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
        .bind(seal.to_vec())
        .fetch_one(&mut *connection)
        .await?;
    let interaction = row::interaction(&row)?;
    if interaction.id == new.id {
        AuditEntry::of_interaction(AuditAction::InteractionAsked, Outcome::Success, &interaction)
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
    Ok(interaction)
}
