//! A server demands more scopes than were granted.

use std::collections::BTreeSet;

use elicit::UserId;
use jiff::Timestamp;

use super::content::Content;
use super::find::of_provider;
use super::row;
use super::{CredentialKey, CredentialStatus, FIND};
use crate::audit::{AuditAction, Outcome};
use crate::{Event, Store, StoreError, key_notes};

/// What servers demand of one grant, at most: they could go on for ever.
pub const DEMANDED_AT_MOST: usize = 64;

impl Store {
    /// Notes that a server demands scopes that a grant lacks, if it is still the version that was used and works: true
    /// if so. It stays in use for what it is good for, as [`CredentialStatus::Narrow`], until its user grants more.
    ///
    /// Of more than [`DEMANDED_AT_MOST`] in all, those of before are forgotten.
    pub async fn demand_scopes(
        &self,
        user: &UserId,
        provider: &str,
        version: i64,
        scopes: &BTreeSet<String>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = CredentialKey::of(user, provider);
        let (noted, changed) = Self::within(async {
            let mut transaction = self.begin().await?;
            let row = sqlx::query(FIND).bind(key.as_str().to_owned()).fetch_optional(&mut *transaction).await?;
            let Some(row) = row else { return Ok((false, false)) };
            let current = match row::credential(&row, user, provider, &self.shared.vault) {
                Ok(current) => current,
                Err(error) => return Err(key_notes::behind(&mut transaction, error).await),
            };
            let mut content = Content::of(&current);
            let Some(grant) = &mut content.grant else { return Ok((false, false)) };
            if current.version != version || current.status == CredentialStatus::Rejected {
                return Ok((false, false));
            }
            let before = grant.demanded.clone();
            grant.demanded = demanded(&before, scopes);
            if grant.demanded == before && current.status == CredentialStatus::Narrow {
                return Ok((true, false));
            }
            if self.update(&mut transaction, &current, &content, CredentialStatus::Narrow, now).await? == 0 {
                transaction.rollback().await?;
                return Ok((false, false));
            }
            of_provider(AuditAction::CredentialNarrow, Outcome::Failure, user, provider)
                .insert(&mut transaction, now)
                .await?;
            transaction.commit().await?;
            Ok((true, true))
        })
        .await?;
        if changed {
            self.publish(Event::Credential(key));
        }
        Ok(noted)
    }
}

fn demanded(before: &BTreeSet<String>, scopes: &BTreeSet<String>) -> BTreeSet<String> {
    let all: BTreeSet<String> = before.union(scopes).cloned().collect();
    if all.len() <= DEMANDED_AT_MOST { all } else { scopes.iter().take(DEMANDED_AT_MOST).cloned().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_demanded_adds_up_to_a_limit() {
        let set =
            |names: std::ops::Range<usize>| -> BTreeSet<String> { names.map(|name| format!("s{name}")).collect() };
        assert_eq!(demanded(&set(0..3), &set(2..5)), set(0..5));
        assert_eq!(demanded(&set(0..60), &set(60..70)), set(60..70), "those of now count");
        assert_eq!(demanded(&set(0..3), &set(0..1000)).len(), DEMANDED_AT_MOST);
    }
}
