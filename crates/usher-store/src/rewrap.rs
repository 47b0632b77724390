//! Wrapping anew what an older master key wrapped.
//!
//! Only the wrapped data key of a value is exchanged: what it seals, and the row's version, stay as they are, so nobody
//! who holds what was read notices. What is left to do is what the rows say; a run that ends in the middle leaves whole
//! rows, of which each opens.

use std::collections::BTreeMap;

use elicit::UserId;
use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::browser::user_of;
use crate::vault::{Record, RecordKind, Vault};
use crate::{KeyError, Store, StoreError, key_notes};
use crate::{api_key, oauth_client};

/// Rows a transaction: others get their turn in between.
const BATCH: usize = 100;

/// A table whose rows outlive a rotation, and how one of its rows says what its value belongs to.
pub(crate) struct Table {
    name: &'static str,
    kind: RecordKind,
    /// After the id `$2`, in the order of the index. The order itself means nothing: it is another one on each database.
    pub(crate) find: &'static str,
    /// If it is still the value that was read.
    pub(crate) swap: &'static str,
    scope: fn(&AnyRow) -> Result<Vec<String>, sqlx::Error>,
}

pub(crate) const TABLES: [Table; 5] = [
    Table {
        name: "credentials",
        kind: RecordKind::Credential,
        find: "SELECT id AS place, issuer, subject, provider, sealed FROM credentials \
             WHERE key_id = $1 AND id > $2 ORDER BY id LIMIT 100",
        swap: "UPDATE credentials SET sealed = $3 WHERE id = $1 AND sealed = $2",
        scope: |row| Ok(vec![row.try_get("provider")?]),
    },
    Table {
        name: "mcp_sessions",
        kind: RecordKind::Session,
        find: "SELECT session_key AS place, issuer, subject, upstream, client, sealed FROM mcp_sessions \
             WHERE key_id = $1 AND session_key > $2 ORDER BY session_key LIMIT 100",
        swap: "UPDATE mcp_sessions SET sealed = $3 WHERE session_key = $1 AND sealed = $2",
        scope: |row| Ok(vec![row.try_get("upstream")?, row.try_get("client")?]),
    },
    Table {
        name: "browser_sessions",
        kind: RecordKind::BrowserSession,
        find: "SELECT token_hash AS place, issuer, subject, created_at, expires_at, seal AS sealed FROM browser_sessions \
             WHERE key_id = $1 AND token_hash > $2 ORDER BY token_hash LIMIT 100",
        swap: "UPDATE browser_sessions SET seal = $3 WHERE token_hash = $1 AND seal = $2",
        scope: |row| {
            let times: [i64; 2] = [row.try_get("created_at")?, row.try_get("expires_at")?];
            Ok(times.map(|time| time.to_string()).to_vec())
        },
    },
    Table {
        name: "api_keys",
        kind: RecordKind::ApiKey,
        find: api_key::REWRAP,
        swap: "UPDATE api_keys SET seal = $3 WHERE id = $1 AND seal = $2",
        scope: api_key::sealed_columns,
    },
    Table {
        name: "oauth_clients",
        kind: RecordKind::OAuthClient,
        find: oauth_client::REWRAP,
        swap: oauth_client::SWAP,
        scope: oauth_client::sealed_columns,
    },
];

/// What a run of [`Store::rewrap`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rewrapped {
    /// Rows that now need the active key alone.
    pub rewrapped: u64,
    /// Rows that do not open with the key that they name, because they were changed outside Usher. They stay as they are.
    pub unreadable: u64,
    /// Whether it stopped before the end, because the most was reached.
    pub more: bool,
}

/// A value that is to be exchanged for another.
struct Swap {
    place: String,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Store {
    /// Wraps with the active key what an older one wrapped: credentials, sessions of MCP clients and of browsers, keys
    /// of the API, registrations at authorization servers, at least until `most` rows are done. What is left is found
    /// by the next run, here or on another replica; a row that somebody changes or deletes meanwhile is theirs. No
    /// version, no time and nothing that was sealed changes, and nobody is told.
    pub async fn rewrap(&self, most: u64) -> Result<Rewrapped, StoreError> {
        let mut done = Rewrapped::default();
        for key in self.shared.vault.older_ids() {
            for table in &TABLES {
                let mut last = Some(String::new());
                while let Some(after) = last {
                    if done.rewrapped >= most {
                        done.more = true;
                        return Ok(done);
                    }
                    last = Self::within(self.rewrap_batch(table, &key, after, &mut done)).await?;
                }
            }
        }
        Ok(done)
    }

    /// One batch after the row `after`. Where the next one goes on, if there is one.
    async fn rewrap_batch(
        &self,
        table: &Table,
        key: &str,
        after: String,
        done: &mut Rewrapped,
    ) -> Result<Option<String>, StoreError> {
        let rows = sqlx::query(table.find).bind(key.to_owned()).bind(after).fetch_all(&self.shared.reader).await?;
        let mut swaps = Vec::with_capacity(rows.len());
        let mut last = None;
        for row in &rows {
            last = Some(row.try_get("place")?);
            match self.rewrap_row(table, row) {
                Ok(swap) => swaps.extend(swap),
                Err(StoreError::Unopened { source, .. }) if source.is_tampering() => done.unreadable += 1,
                // Impossible users and the like do not open either.
                Err(StoreError::ImpossibleRow { .. }) => done.unreadable += 1,
                // Taken out of the ring meanwhile, by somebody who made sure that nothing needs it.
                Err(StoreError::Unopened { source: KeyError::UnknownKey(_), .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        done.rewrapped += self.swap(table, swaps).await?;
        Ok(last.filter(|_| rows.len() == BATCH))
    }

    /// `None` for a row that needs nothing.
    fn rewrap_row(&self, table: &Table, row: &AnyRow) -> Result<Option<Swap>, StoreError> {
        let (place, before): (String, Vec<u8>) = (row.try_get("place")?, row.try_get("sealed")?);
        let user: UserId = user_of(row, table.name)?;
        let scope = (table.scope)(row)?;
        let scope: Vec<&str> = scope.iter().map(String::as_str).collect();
        let record = Record { kind: table.kind, id: &place, user: &user, scope: &scope };
        let after = self.shared.vault.rewrap(&record, &before).map_err(|source| StoreError::Unopened {
            table: table.name,
            id: place.clone(),
            source,
        })?;
        Ok(after.map(|after| Swap { place, before, after }))
    }

    /// In one transaction. Rows are taken in the order of the index by all who do this.
    async fn swap(&self, table: &Table, swaps: Vec<Swap>) -> Result<u64, StoreError> {
        if swaps.is_empty() {
            return Ok(0);
        }
        let mut transaction = self.begin().await?;
        let mut swapped = 0;
        // The active key may have changed in the middle of the batch. In the order of their ids, as all take them.
        let mut noted = BTreeMap::new();
        for Swap { place, before, after } in swaps {
            if table.kind == RecordKind::Credential {
                let key = Vault::key_id(&after).map_err(StoreError::Unsealed)?;
                noted.entry(key).or_insert_with(|| after.clone());
            }
            let result =
                sqlx::query(table.swap).bind(place).bind(before).bind(after).execute(&mut *transaction).await?;
            swapped += result.rows_affected();
        }
        for sealed in noted.values() {
            key_notes::note(&mut transaction, &self.shared.vault, sealed).await?;
        }
        transaction.commit().await?;
        Ok(swapped)
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Arc};

    use elicit::SystemRandom;

    use super::*;
    use crate::token::random_text;
    use crate::{KeyFile, KeyRing};

    const OLD: &str = "k1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const NEW: &str = "k2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE active";
    const CONNECT: &str = "INSERT INTO credentials (id, credential_key, user_key, issuer, subject, provider, version, \
         status, created_at, updated_at, sealed) VALUES ('1', 'c', 'u', 'i', 's', 'p', 1, 'working', 0, 0, $1)";
    const SIGN_IN: &str = "INSERT INTO browser_sessions (token_hash, issuer, subject, created_at, last_seen_at, expires_at, \
         seal) VALUES ('1', 'i', 's', 0, 0, 1, $1)";
    const BEGIN: &str = "INSERT INTO mcp_sessions (session_key, upstream, sealed, issuer, subject, client, revision, \
         capabilities, initialize_params, begun, created_at, expires_at) \
         VALUES ('1', 'p', $1, 'i', 's', 'c', '', '', '', 0, 0, 1)";

    async fn open() -> (Store, Arc<KeyRing>, Arc<Vault>, PathBuf) {
        let path = std::env::temp_dir().join(format!("usher-rewrap-{}", random_text(&SystemRandom)));
        let ring = Arc::new(KeyRing::new(KeyFile::parse(&format!("{OLD} active")).unwrap()));
        let random = Arc::new(SystemRandom);
        let vault = Arc::new(Vault::new(ring.clone(), random.clone()));
        let store = Store::open(&format!("sqlite:{}", path.display()).into(), vault.clone(), random).await.unwrap();
        (store, ring, vault, path)
    }

    /// Also where the active key changes while a batch is wrapped.
    #[tokio::test]
    async fn each_key_of_a_batch_is_noted() {
        let (store, ring, vault, path) = open().await;
        let user = UserId::new("i", "s").unwrap();
        let table = &TABLES[0];
        let swap = |place: &str| {
            let after =
                vault.seal(&Record { kind: table.kind, id: place, user: &user, scope: &["p"] }, b"secret").unwrap();
            Swap { place: place.to_owned(), before: Vec::new(), after }
        };
        let first = swap("1");
        ring.replace(KeyFile::parse(&format!("{OLD} older\n{NEW}")).unwrap());

        store.swap(table, vec![first, swap("2"), swap("3")]).await.unwrap();

        let rows = sqlx::query("SELECT id FROM key_ids ORDER BY id").fetch_all(&store.shared.reader).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.get::<String, _>("id")).collect::<Vec<_>>(), ["k1", "k2"]);
        store.close().await;
        std::fs::remove_file(path).unwrap();
    }

    /// What somebody stored between our reading and our writing is theirs.
    #[tokio::test]
    async fn a_row_that_changed_since_it_was_read_is_left_alone() {
        let (store, ring, vault, path) = open().await;
        let user = UserId::new("i", "s").unwrap();
        let mut changed = Vec::new();
        for (table, insert, scope) in
            [(&TABLES[0], CONNECT, &["p"][..]), (&TABLES[1], BEGIN, &["p", "c"]), (&TABLES[2], SIGN_IN, &["0", "1"])]
        {
            let record = Record { kind: table.kind, id: "1", user: &user, scope };
            let (before, after) = (vault.seal(&record, b"before").unwrap(), vault.seal(&record, b"after").unwrap());
            sqlx::query(insert).bind(before.clone()).execute(&store.shared.writer).await.unwrap();
            changed.push((table, before, after));
        }
        ring.replace(KeyFile::parse(&format!("{OLD} older\n{NEW}")).unwrap());

        for (table, before, after) in changed {
            let row = sqlx::query(table.find).bind("k1").bind("").fetch_one(&store.shared.reader).await.unwrap();
            let late = store.rewrap_row(table, &row).unwrap().unwrap();
            let stored = sqlx::query(table.swap).bind("1").bind(before).bind(after.clone());
            assert_eq!(stored.execute(&store.shared.writer).await.unwrap().rows_affected(), 1, "{}", table.name);

            assert_eq!(store.swap(table, vec![late]).await.unwrap(), 0, "{}", table.name);

            let row = sqlx::query(table.find).bind("k1").bind("").fetch_one(&store.shared.reader).await.unwrap();
            assert_eq!(row.get::<Vec<u8>, _>("sealed"), after, "{}", table.name);
        }
        store.close().await;
        std::fs::remove_file(path).unwrap();
    }
}
