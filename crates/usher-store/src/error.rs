//! What can go wrong in the store.

use std::io::ErrorKind;

use crate::keys::KeyError;

/// A failure of the store. "Not found" is no failure: it is `None`.
///
/// No text and no `Debug` of it carries a secret or an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store's URL is of no use. Fix the configuration.
    #[error("the store URL cannot be used: {0}; put store.url right")]
    Url(String),
    /// The SQLite file cannot be created or its mode cannot be set. Fix the
    /// directory's owner or mode.
    #[error(
        "the store file {path} cannot be prepared: {source}; see that its folder is there and that the service may write it"
    )]
    File {
        /// The file's path.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// What stands where the SQLite file should be is another file. It was left alone.
    #[error("{path} is not a SQLite database; restore it from a backup, or move it away to begin with a new one")]
    NotADatabase {
        /// The file's path.
        path: String,
    },
    /// There is no connection to the server, at the start.
    #[error("cannot connect to {place}: {cause}; see that it runs and takes connections there, or put store.url right")]
    Unreachable {
        /// `PostgreSQL at HOST:PORT`, without a user's name or password.
        place: String,
        /// What the operating system or the server said.
        cause: String,
    },
    /// The database cannot be reached, is too busy, or did not answer in time.
    /// Whether a write took place is not known; reads can be repeated at once.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// The database refused a statement. This is a fault of ours or of the database.
    #[error("the store refused a statement: {0}")]
    Database(#[source] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the store could not be migrated: {0}")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A newer version of Usher has used this store. Run that version, or restore
    /// a backup from before it.
    #[error("the store has schema {found}, this version knows {known}: run a newer version of Usher")]
    NewerSchema {
        /// The first schema version in the store that is unknown here.
        found: i64,
        /// The newest schema version that is known here.
        known: i64,
    },
    /// This version cannot tell of a store what was asked before it has brought it up to date.
    #[error(
        "the store has schema {found}, and this command needs {known}: start the service of this version first (usher serve), \
         which brings it up to date"
    )]
    OlderSchema {
        /// The schema version of the store.
        found: i64,
        /// The one that is needed.
        known: i64,
    },
    /// The key file lacks master keys that stored credentials need. Restore them,
    /// else those credentials stay unreadable. In a store that was opened without this error: another replica has keys
    /// that this one has not got yet.
    #[error(
        "the key file lacks keys that the store needs: {}; put them back from the backup of the file, or from the \
         replica that made them", ids.join(", ")
    )]
    MissingKey {
        /// Ids of the missing keys.
        ids: Vec<String>,
    },
    /// The key file has other keys than those that stored credentials need, under the same ids. Put the right file in
    /// its place.
    #[error(
        "the key file has another key than the store needs under the id {}; put the right file back from its backup",
        ids.join(", ")
    )]
    WrongKey {
        /// Ids of the keys that are other ones.
        ids: Vec<String>,
    },
    /// A sealed value does not open: the row was changed outside Usher, moved to
    /// another user or provider, or its key is gone. Of `credentials`: the user connects
    /// anew or disconnects; neither needs to open it. Of `interactions`: what it asks is not what
    /// was asked, so nobody may agree to it; where that is no lost key, it is audited
    /// ([`AuditAction::InteractionTampered`](crate::AuditAction::InteractionTampered)). Of
    /// `mcp_sessions`: the client begins anew.
    #[error("the sealed value of {table} {id} does not open: {source}")]
    Unopened {
        /// The table.
        table: &'static str,
        /// The row's id; no secret.
        id: String,
        /// Why.
        source: KeyError,
    },
    /// A value could not be sealed. This is a fault of the key provider.
    #[error("a value could not be sealed: {0}")]
    Unsealed(#[source] KeyError),
    /// A row holds what no version of Usher writes.
    #[error("{table} holds an impossible row: {what}")]
    ImpossibleRow {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Others changed the same row again and again. Try once more.
    #[error("the stored credential kept changing; try once more")]
    Contended,
}

impl StoreError {
    /// Whether a row is there and cannot be read, however often one tries: it was changed, its key is gone, or it is
    /// [impossible](Self::ImpossibleRow). For a credential this means the same as none: connect anew.
    pub fn is_unopened(&self) -> bool {
        match self {
            Self::Unopened { source, .. } => source.is_tampering() || matches!(source, KeyError::UnknownKey(_)),
            Self::ImpossibleRow { .. } => true,
            _ => false,
        }
    }

    /// Whether a sealed row was changed outside Usher. For the log of whoever guards the database.
    pub fn is_tampered(&self) -> bool {
        matches!(self, Self::Unopened { source, .. } if source.is_tampering())
    }

    pub(crate) fn impossible(table: &'static str, what: impl Into<String>) -> Self {
        Self::ImpossibleRow { table, what: what.into() }
    }

    /// The same error of a connection to `place`, with the place in it.
    pub(crate) fn at(self, place: &str) -> Self {
        match self {
            Self::Unavailable(cause) => Self::Unreachable { place: place.to_owned(), cause },
            Self::Url(cause) => Self::Url(format!("{place}: {cause}")),
            other => other,
        }
    }

    pub(crate) fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(fault)) if fault.is_unique_violation())
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Configuration(cause) => Self::Url(cause.to_string()),
            sqlx::Error::Io(cause) if cause.kind() == ErrorKind::ConnectionRefused => {
                Self::Unavailable("connection refused".to_owned())
            }
            sqlx::Error::Io(cause) => Self::Unavailable(cause.to_string()),
            sqlx::Error::Tls(cause) => Self::Unavailable(cause.to_string()),
            sqlx::Error::PoolTimedOut => Self::Unavailable("no connection became free".into()),
            sqlx::Error::PoolClosed => Self::Unavailable("the store is closed".into()),
            sqlx::Error::WorkerCrashed => Self::Unavailable("the connection broke".into()),
            sqlx::Error::Database(fault) if is_misdirected(fault.code().as_deref()) => {
                // Its own words name the user.
                Self::Url(match fault.code() {
                    Some(code) if code.starts_with("28") => "the server refuses this user or password".to_owned(),
                    _ => "the server has no database of this name; make it with createdb".to_owned(),
                })
            }
            sqlx::Error::Database(fault) if is_outage(fault.code().as_deref()) => {
                Self::Unavailable(fault.message().to_owned())
            }
            other => Self::Database(other),
        }
    }
}

/// PostgreSQL's codes for a wrong password (class 28) and an unknown database (3D).
fn is_misdirected(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.len() == 5 && (code.starts_with("28") || code.starts_with("3D")))
}

/// Codes that say "not now" rather than "not so".
///
/// PostgreSQL, five characters: classes 08 (connection), 40 (deadlock), 53 (resources)
/// and 57 (shutdown, start-up, statement time-out), 25006 (a standby), 55P03 (lock
/// time-out). SQLite, fewer digits: 5 (busy), 6 (locked), 10 (disk) and 13 (full) in
/// the lowest byte, the rest of it says more.
fn is_outage(code: Option<&str>) -> bool {
    match code {
        Some(code) if code.len() == 5 => {
            matches!(code, "25006" | "55P03") || ["08", "40", "53", "57"].iter().any(|class| code.starts_with(class))
        }
        Some(code) => code.parse::<u32>().is_ok_and(|number| matches!(number & 0xff, 5 | 6 | 10 | 13)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{StoreError, is_misdirected, is_outage};
    use crate::KeyError;

    #[test]
    fn what_passes_by_itself_is_told_from_what_does_not() {
        for code in ["08006", "40P01", "53300", "57P01", "57014", "55P03", "25006", "5", "517", "6", "10", "6410", "13"]
        {
            assert!(is_outage(Some(code)), "{code}");
        }
        for code in ["23505", "42P01", "28P01", "3D000", "2067", "1555", "1", "19", ""] {
            assert!(!is_outage(Some(code)), "{code}");
        }
        assert!(!is_outage(None));
    }

    /// A key holder that fails now may answer later: what it seals is not given up.
    #[test]
    fn what_cannot_be_read_is_told_from_what_cannot_be_read_now() {
        let unopened = |source| StoreError::Unopened { table: "credentials", id: "1".to_owned(), source };
        for (error, unreadable, tampered) in [
            (unopened(KeyError::Tampered), true, true),
            (unopened(KeyError::Malformed), true, true),
            (unopened(KeyError::UnknownKey("k1".to_owned())), true, false),
            (unopened(KeyError::Holder("away".to_owned())), false, false),
            (StoreError::impossible("credentials", "a status"), true, false),
            (StoreError::Unavailable("away".to_owned()), false, false),
        ] {
            assert_eq!((error.is_unopened(), error.is_tampered()), (unreadable, tampered), "{error}");
        }
    }

    #[test]
    fn a_wrong_password_or_database_is_a_fault_of_the_url() {
        for (code, expected) in [("28P01", true), ("28000", true), ("3D000", true), ("23505", false), ("28", false)] {
            assert_eq!(is_misdirected(Some(code)), expected, "{code}");
        }
    }
}
