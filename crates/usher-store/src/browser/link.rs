//! One-time sign-in links (identity mode local).

use elicit::UserId;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Row as _;

use super::seal::{Pass, Seal};
use super::{NewBrowserSession, refused, user_of};
use crate::time::micros;
use crate::token::token_hash;
use crate::vault::RecordKind;
use crate::{Store, StoreError};

const LINKS: &str = "login_links";

const CREATE_LINK: &str = "INSERT INTO login_links (token_hash, issuer, subject, created_at, expires_at, seal) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const USE_LINK: &str = "DELETE FROM login_links WHERE token_hash = $1 AND expires_at > $2 \
     RETURNING issuer, subject, created_at, expires_at, seal";

impl Store {
    /// Keeps a one-time sign-in link. Only the token's hash is stored; the token
    /// must be random, with 128 bits or more.
    pub async fn create_login_link(
        &self,
        token: &SecretString,
        user: &UserId,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        Self::within(async {
            let hash = token_hash(token.expose_secret());
            let (created_at, expires_at) = (micros(now), micros(expires_at));
            let pass = Pass { kind: RecordKind::LoginLink, hash: &hash, user, created_at, expires_at };
            let seal = self.seal_pass(&pass, &[])?;
            let mut transaction = self.begin().await?;
            pass.bind(sqlx::query(CREATE_LINK), seal).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Uses up a sign-in link and begins a browser session, in one transaction.
    ///
    /// `None` if the link is unknown, expired, or used already: of any number of
    /// attempts one succeeds. `None` as well, and audited, if it is not as we made it.
    pub async fn use_login_link(
        &self,
        token: &SecretString,
        session: NewBrowserSession<'_>,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        Self::within(async {
            let hash = token_hash(token.expose_secret());
            let mut transaction = self.begin().await?;
            let link =
                sqlx::query(USE_LINK).bind(hash.as_str()).bind(micros(now)).fetch_optional(&mut *transaction).await?;
            let Some(link) = link else {
                transaction.rollback().await?;
                return Ok(None);
            };
            let user = user_of(&link, LINKS)?;
            let (created_at, expires_at) = (link.try_get("created_at")?, link.try_get("expires_at")?);
            let pass = Pass { kind: RecordKind::LoginLink, hash: &hash, user: &user, created_at, expires_at };
            let seal = self.check_pass(LINKS, &pass, &link)?;
            match seal {
                Seal::Genuine(_) => self.begin_browser_session(&mut transaction, &user, session, now).await?,
                Seal::Forged => {
                    refused(&user, "a link that was changed in the store").insert(&mut transaction, now).await?;
                }
                Seal::KeyGone => {}
            }
            transaction.commit().await?;
            Ok(matches!(seal, Seal::Genuine(_)).then_some(user))
        })
        .await
    }
}
