//! The way to a provider and back (OAuth): kept when the browser leaves, claimed by the one browser that comes back,
//! once.
//!
//! What is kept is sealed for its interaction as it was asked, and for the hash by which it is found: nobody who writes
//! to the database can have a code of theirs exchanged with it.

use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{AnyConnection, Row as _};

use super::find::FIND;
use super::row::{self, columns};
use super::seal::{place, scope_of, unopened, verify};
use super::{Interaction, InteractionId, InteractionState};
use crate::lookup::key_of;
use crate::time::micros;
use crate::vault::{Record, RecordKind};
use crate::{Event, KeyError, Store, StoreError, fail_point, key_notes};

/// How long a browser may take to come back from a provider (R-OAUTH-02).
pub const FLOW_LASTS: SignedDuration = SignedDuration::from_mins(10);

/// The newest way out is the one way back.
pub(crate) const KEEP_FLOW: &str = "UPDATE interactions SET flow_hash = $3, flow = $4, flow_until = $5 \
     WHERE id = $1 AND version = $2 AND state = 'consented' RETURNING id";
pub(crate) const FIND_FLOW: &str = concat!(
    "SELECT ",
    columns!(),
    ", flow FROM interactions WHERE id = $1 AND state = 'consented' AND flow_hash = $2 AND flow_until > $3 \
     AND expires_at > $3"
);
pub(crate) const CLAIM_FLOW: &str = concat!(
    "UPDATE interactions SET state = 'exchanging', state_at = $3, flow_hash = NULL, flow = NULL, flow_until = NULL, \
     version = version + 1 WHERE id = $1 AND state = 'consented' AND flow_hash = $2 AND flow_until > $3 \
     AND expires_at > $3 RETURNING ",
    columns!()
);

/// A flow that was claimed: nobody else gets it, also not after a crash.
#[derive(Debug)]
pub struct Flow {
    /// Its interaction, which is exchanging now.
    pub interaction: Interaction,
    /// What was kept for it.
    pub kept: SecretString,
}

impl Store {
    /// Keeps the way back from a provider for an interaction that was consented to; false where it is in another state
    /// by now. Another one that was kept before is good no longer.
    ///
    /// `state` travels, and must be random with 128 bits or more; `browser` is what the browser holds that leaves. Of
    /// both only a hash is stored, for [`FLOW_LASTS`]. `kept` (the PKCE verifier and what else the exchange needs) is
    /// sealed.
    pub async fn begin_flow(
        &self,
        id: &InteractionId,
        state: &SecretString,
        browser: &str,
        kept: &SecretString,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut found = None;
        let begun = Self::within(async {
            let mut transaction = self.begin().await?;
            let row = sqlx::query(FIND).bind(id.as_str().to_owned()).fetch_optional(&mut *transaction).await?;
            let Some(row) = row else { return Ok(false) };
            let interaction = found.insert(row::interaction(&row)?.at(now));
            if !matches!(interaction.state, InteractionState::Consented { .. })
                || !verify(&mut transaction, interaction, &self.shared.vault).await?
            {
                return Ok(false);
            }
            let hash = hash(id, state, browser);
            let scope = scope(interaction, &hash);
            let sealed = self.shared.vault.seal(&record(interaction, &scope), kept.expose_secret().as_bytes());
            let stored = sqlx::query(KEEP_FLOW)
                .bind(id.as_str().to_owned())
                .bind(interaction.version)
                .bind(hash.clone())
                .bind(sealed.map_err(StoreError::Unsealed)?)
                .bind(micros(now).saturating_add(i64::try_from(FLOW_LASTS.as_micros()).unwrap_or(i64::MAX)))
                .fetch_optional(&mut *transaction)
                .await?;
            transaction.commit().await?;
            fail_point!(FlowStored);
            Ok(stored.is_some())
        })
        .await;
        if let (Err(error), Some(interaction)) = (&begun, &found) {
            self.note_tampering(interaction, error, now).await;
        }
        begun
    }

    /// Claims the flow of the browser that left, before its code is sent anywhere: of any number of attempts one gets
    /// it, here or on another replica, and the interaction is [exchanging](InteractionState::Exchanging) when this
    /// returns (R-OAUTH-02).
    ///
    /// `None` for everything else: another `state` or browser, one that was used, replaced or is too old, and an
    /// interaction that is not waiting for it. A flow that was changed in the database does not open
    /// ([`StoreError::Unopened`]), and is audited.
    pub async fn claim_flow(
        &self,
        id: &InteractionId,
        state: &SecretString,
        browser: &str,
        now: Timestamp,
    ) -> Result<Option<Flow>, StoreError> {
        let mut found = None;
        let hash = hash(id, state, browser);
        let claimed = Self::within(async {
            let mut transaction = self.begin().await?;
            let row = sqlx::query(FIND_FLOW)
                .bind(id.as_str().to_owned())
                .bind(hash.clone())
                .bind(micros(now))
                .fetch_optional(&mut *transaction)
                .await?;
            let Some(row) = row else { return Ok(None) };
            let sealed: Vec<u8> = row.try_get("flow")?;
            let interaction = found.insert(row::interaction(&row)?);
            let kept = self.open_flow(&mut transaction, interaction, &hash, &sealed).await?;
            let claimed = sqlx::query(CLAIM_FLOW)
                .bind(id.as_str().to_owned())
                .bind(hash.clone())
                .bind(micros(now))
                .fetch_optional(&mut *transaction)
                .await?;
            let Some(claimed) = claimed else { return Ok(None) };
            let interaction = row::interaction(&claimed)?;
            transaction.commit().await?;
            fail_point!(FlowClaimed);
            Ok(Some(Flow { interaction, kept }))
        })
        .await;
        match (&claimed, &found) {
            (Ok(Some(flow)), _) => self.publish(Event::Interaction(flow.interaction.id.clone())),
            (Err(error), Some(interaction)) => self.note_tampering(interaction, error, now).await,
            _ => {}
        }
        claimed
    }

    async fn open_flow(
        &self,
        connection: &mut AnyConnection,
        interaction: &Interaction,
        hash: &str,
        sealed: &[u8],
    ) -> Result<SecretString, StoreError> {
        let scope = scope(interaction, hash);
        let opened = self.shared.vault.open(&record(interaction, &scope), sealed);
        let opened = opened
            .and_then(|bytes| std::str::from_utf8(&bytes).map(SecretString::from).map_err(|_| KeyError::Malformed));
        match opened {
            Ok(kept) => Ok(kept),
            Err(source) => Err(key_notes::behind(connection, unopened(&interaction.id, source)).await),
        }
    }
}

fn scope<'a>(interaction: &'a Interaction, hash: &'a str) -> Vec<&'a str> {
    let mut scope = scope_of(interaction);
    scope.push(hash);
    scope
}

fn record<'a>(interaction: &'a Interaction, scope: &'a [&'a str]) -> Record<'a> {
    Record { kind: RecordKind::Flow, ..place(&interaction.id, &interaction.principal, scope) }
}

fn hash(id: &InteractionId, state: &SecretString, browser: &str) -> String {
    key_of(&["flow", id.as_str(), state.expose_secret(), browser])
}
