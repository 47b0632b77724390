//! Completion notices that legacy clients are owed (R-DONE-01).

use sqlx::Row as _;

use crate::{InteractionId, SessionKey, Store, StoreError};

pub(crate) const OWE: &str = "INSERT INTO notices (interaction_id, session_key, expires_at) \
     VALUES ($1, $2, $3) ON CONFLICT (interaction_id, session_key) \
     DO UPDATE SET expires_at = excluded.expires_at";
const CLAIM: &str = "DELETE FROM notices WHERE interaction_id = $1 AND session_key = $2";
const OWE_AGAIN: &str = "INSERT INTO notices (interaction_id, session_key, expires_at) \
     SELECT interactions.id, mcp_sessions.session_key, interactions.expires_at FROM interactions, mcp_sessions \
     WHERE interactions.id = $1 AND mcp_sessions.session_key = $2 ON CONFLICT (interaction_id, session_key) DO NOTHING";
pub(crate) const DUE: &str = "SELECT notices.interaction_id FROM notices \
     JOIN interactions ON interactions.id = notices.interaction_id \
     WHERE notices.session_key = $1 AND interactions.state = 'completed'";
pub(crate) const SESSIONS: &str = "SELECT session_key FROM notices WHERE interaction_id = $1";
pub(crate) const DELETE_OF_SESSION: &str = "DELETE FROM notices WHERE session_key = $1";

impl Store {
    /// Takes it upon the caller to deliver a notice: true once, whoever calls, on
    /// whichever replica.
    pub async fn claim_notice(&self, interaction: &InteractionId, session: &SessionKey) -> Result<bool, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let deleted = sqlx::query(CLAIM)
                .bind(interaction.as_str().to_owned())
                .bind(session.as_str().to_owned())
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            transaction.commit().await?;
            Ok(deleted == 1)
        })
        .await
    }

    /// Gives a notice back that was claimed and could not be delivered. A session or an interaction that is gone meanwhile is
    /// owed nothing.
    pub async fn owe_notice(&self, interaction: &InteractionId, session: &SessionKey) -> Result<(), StoreError> {
        Self::within(async {
            sqlx::query(OWE_AGAIN)
                .bind(interaction.as_str().to_owned())
                .bind(session.as_str().to_owned())
                .execute(&self.shared.writer)
                .await?;
            Ok(())
        })
        .await
    }

    /// The completed interactions of which this session has not been told.
    pub async fn due_notices(&self, session: &SessionKey) -> Result<Vec<InteractionId>, StoreError> {
        Self::within(async {
            let rows = sqlx::query(DUE).bind(session.as_str().to_owned()).fetch_all(&self.shared.reader).await?;
            rows.iter()
                .map(|row| {
                    InteractionId::parse(row.try_get("interaction_id")?)
                        .map_err(|_| StoreError::impossible("notices", "an interaction id that is none"))
                })
                .collect()
        })
        .await
    }

    /// The sessions that are owed a notice when this interaction completes.
    pub async fn notice_sessions(&self, interaction: &InteractionId) -> Result<Vec<SessionKey>, StoreError> {
        Self::within(async {
            let rows =
                sqlx::query(SESSIONS).bind(interaction.as_str().to_owned()).fetch_all(&self.shared.reader).await?;
            rows.iter()
                .map(|row| {
                    SessionKey::parse(row.try_get("session_key")?)
                        .ok_or_else(|| StoreError::impossible("notices", "a session key that is none"))
                })
                .collect()
        })
        .await
    }
}
