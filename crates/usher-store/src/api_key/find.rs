//! Looking at keys: one that somebody presents, or all of them.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use jiff::{SignedDuration, Timestamp};
use sqlx::Row as _;

use super::row::{self, Genuine, Row, columns};
use super::{ApiKey, ApiKeyText, ListedApiKey, TABLE, change};
use crate::{Store, StoreError};

pub(crate) const FIND: &str = concat!("SELECT ", columns!(), " FROM api_keys WHERE id = $1");
const LIST: &str = concat!("SELECT ", columns!(), " FROM api_keys");

/// `last_used_at` is written at most this often.
const USED_EVERY: SignedDuration = SignedDuration::from_mins(1);

impl Store {
    /// The key of this text, unless it is unknown, expired or revoked, or its secret another one. A secret from before the
    /// last rotation counts for as long as was said then. Being used is written at most once a minute.
    ///
    /// A row that is not as we made it opens nothing: it is deleted, and that is audited (R-SEC-03). Hashes are compared in
    /// constant time.
    pub async fn api_key(&self, presented: &ApiKeyText, now: Timestamp) -> Result<Option<ApiKey>, StoreError> {
        Self::within(async {
            let found = sqlx::query(FIND)
                .bind(presented.id.as_str().to_owned())
                .fetch_optional(&self.shared.reader)
                .await?
                .map(|row| Row::read(&row));
            let row = match found.transpose() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(None),
                // Whoever wrote that was not us.
                Err(error @ StoreError::ImpossibleRow { .. }) => {
                    tracing::error!(key = %presented.id, %error, "an API key was changed in the store, and is refused");
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            let is = |hash: &str| verify_slices_are_equal(hash.as_bytes(), presented.hash.as_bytes()).is_ok();
            let former = row.key.former_until.is_some_and(|until| until > now)
                && row.hashes.former.as_deref().is_some_and(is);
            if !(is(&row.hashes.current) | former) || row.key.is_expired(now) {
                return Ok(None);
            }
            match row.genuine(&self.shared.vault)? {
                Genuine::Yes => {}
                Genuine::KeyGone => {
                    tracing::warn!(key = %row.key.id, "the master key of an API key is gone; make another one");
                    return Ok(None);
                }
                Genuine::Forged => {
                    tracing::error!(table = TABLE, key = %row.key.id, "an API key was changed in the store, and is refused");
                    change::drop_forged(self, &row.key, now).await?;
                    return Ok(None);
                }
            }
            if row.key.last_used_at.is_none_or(|used| now.duration_since(used) >= USED_EVERY) {
                row::used(&mut *self.shared.writer.acquire().await?, &row.key.id, now).await?;
            }
            Ok(Some(row.key))
        })
        .await
    }

    /// All keys, the newest first, and what is none at the end. Ended ones are kept for 30 days.
    pub async fn api_keys(&self) -> Result<Vec<ListedApiKey>, StoreError> {
        Self::within(async {
            let rows = sqlx::query(LIST).fetch_all(&self.shared.reader).await?;
            let mut listed = Vec::with_capacity(rows.len());
            for row in &rows {
                let id = row.try_get("id")?;
                listed.push(match Row::read(row) {
                    Ok(row) => {
                        let genuine = row.genuine(&self.shared.vault)? == Genuine::Yes;
                        ListedApiKey { id, key: Some(row.key), genuine }
                    }
                    Err(StoreError::ImpossibleRow { .. }) => ListedApiKey { id, key: None, genuine: false },
                    Err(error) => return Err(error),
                });
            }
            let made = |listed: &ListedApiKey| listed.key.as_ref().map(|key| key.created_at);
            listed.sort_by(|one, other| (made(other), &one.id).cmp(&(made(one), &other.id)));
            Ok(listed)
        })
        .await
    }
}
