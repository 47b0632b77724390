//! Sign-ins at the issuer (identity mode oidc), as far as they are anybody's: a row for each one that came to its end.
//!
//! One that is under way has no row: anybody can begin as many as they like. It lies sealed with the browser and the issuer,
//! and what is kept here is that it was used.

use elicit::UserId;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use super::NewBrowserSession;
use crate::time::micros;
use crate::token::token_hash;
use crate::{Store, StoreError};

const USE: &str = "INSERT INTO sign_ins (id_hash, expires_at) VALUES ($1, $2) \
     ON CONFLICT (id_hash) DO NOTHING RETURNING id_hash";

impl Store {
    /// Uses a sign-in up and begins the session of `user`, in one transaction: of any number of attempts one succeeds, here
    /// or on another replica (R-OAUTH-02).
    ///
    /// Whoever calls this has verified who `user` is. `id` is the random id of the sign-in, of which the hash is kept until
    /// `expires_at`, when the sign-in itself has expired. False if it was used before; then nothing was done.
    pub async fn use_sign_in(
        &self,
        id: &SecretString,
        expires_at: Timestamp,
        user: &UserId,
        session: NewBrowserSession<'_>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let fresh = sqlx::query(USE)
                .bind(token_hash(id.expose_secret()))
                .bind(micros(expires_at))
                .fetch_optional(&mut *transaction)
                .await?;
            if fresh.is_none() {
                transaction.rollback().await?;
                return Ok(false);
            }
            self.begin_browser_session(&mut transaction, user, session, now).await?;
            transaction.commit().await?;
            Ok(true)
        })
        .await
    }
}
