//! How a browser comes back from somebody else's page: a token for one return of one browser.

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use super::InteractionId;
use crate::lookup::key_of;
use crate::time::micros;
use crate::{Store, StoreError};

/// The newest way out is the one way back.
const KEEP: &str = "UPDATE interactions SET return_hash = $2 WHERE id = $1 AND state = 'consented' RETURNING id";
pub(crate) const TAKE: &str = "UPDATE interactions SET return_hash = NULL \
     WHERE id = $1 AND return_hash = $2 AND expires_at > $3 RETURNING id";

impl Store {
    /// Keeps the way back to an interaction that was consented to; false where it is in another state by now. Only a hash
    /// is stored. `token` travels, and must be random with 128 bits or more; `browser` is what the browser holds that left.
    pub async fn keep_return(
        &self,
        id: &InteractionId,
        token: &SecretString,
        browser: &str,
    ) -> Result<bool, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let kept = sqlx::query(KEEP)
                .bind(id.as_str().to_owned())
                .bind(hash(id, token, browser))
                .fetch_optional(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(kept.is_some())
        })
        .await
    }

    /// Uses up a way back: true once, for the browser that left, until the interaction ends (R-OAUTH-02).
    pub async fn take_return(
        &self,
        id: &InteractionId,
        token: &SecretString,
        browser: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let done = sqlx::query(TAKE)
                .bind(id.as_str().to_owned())
                .bind(hash(id, token, browser))
                .bind(micros(now))
                .fetch_optional(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(done.is_some())
        })
        .await
    }
}

fn hash(id: &InteractionId, token: &SecretString, browser: &str) -> String {
    key_of(&["return", id.as_str(), token.expose_secret(), browser])
}
