//! In which order rows are locked on PostgreSQL by whoever changes several: by what they ask, byte by byte. Asking and claiming
//! take one key after the other in the same order. SQLite has one writer, and nothing to order.

use elicit::UserId;
use sqlx::AnyConnection;

use super::row::open_states;
use crate::StoreError;
use crate::lookup::user_key;

macro_rules! lock {
    ($where:expr) => {
        concat!(
            "SELECT id FROM interactions WHERE user_key = $1",
            $where,
            " ORDER BY ask_key COLLATE \"C\", id FOR UPDATE"
        )
    };
}

/// What a client asks or may ask again, and what it was allowed once.
pub(super) const LOCK_OF_CLIENT: &str =
    lock!(concat!(" AND client = $2 AND (", open_states!(), " OR state = 'failed' OR proof IS NOT NULL)"));
const LOCK_OF_USER: &str = lock!("");

/// All questions of a user.
pub(crate) async fn lock_of_user(connection: &mut AnyConnection, user: &UserId) -> Result<(), StoreError> {
    sqlx::query(LOCK_OF_USER).bind(user_key(user)).fetch_all(connection).await?;
    Ok(())
}
