//! Taking back all that a client asks a person.

use elicit::{ClientId, UserId};
use sqlx::AnyConnection;

use super::Interaction;
use super::row::{self, columns, open_states};
use crate::lookup::user_key;
use crate::{Kind, StoreError};

macro_rules! withdraw {
    ($lock:literal) => {
        concat!(
            "UPDATE interactions SET state = 'expired', failure = NULL, operation = NULL, version = version + 1 WHERE id IN \
             (SELECT id FROM interactions WHERE user_key = $1 AND client = $2 AND (",
            open_states!(),
            " OR state = 'failed')",
            $lock,
            ") RETURNING ",
            columns!()
        )
    };
}

// Whoever asks several at once locks them in this order.
pub(crate) const WITHDRAW: [&str; 2] = [withdraw!(""), withdraw!(" ORDER BY ask_key COLLATE \"C\" FOR UPDATE")];

pub(crate) const WITHDRAW_APPROVALS: &str =
    "UPDATE interactions SET proof = NULL, operation = NULL WHERE user_key = $1 AND client = $2 AND proof IS NOT NULL";

/// Ends the questions of a client that may still be answered, also those that could be started again; and takes back what it
/// was allowed to call once and has not called yet.
pub(crate) async fn withdraw_of_client(
    connection: &mut AnyConnection,
    kind: Kind,
    user: &UserId,
    client: &ClientId,
) -> Result<Vec<Interaction>, StoreError> {
    let [sqlite, postgres] = WITHDRAW;
    let sql = match kind {
        Kind::Sqlite => sqlite,
        Kind::Postgres => postgres,
    };
    let rows =
        sqlx::query(sql).bind(user_key(user)).bind(client.as_str().to_owned()).fetch_all(&mut *connection).await?;
    sqlx::query(WITHDRAW_APPROVALS)
        .bind(user_key(user))
        .bind(client.as_str().to_owned())
        .execute(&mut *connection)
        .await?;
    rows.iter().map(row::interaction).collect()
}
