//! Taking back all that a client asks a person.

use elicit::{ClientId, UserId};
use sqlx::AnyConnection;

use super::Interaction;
use super::lock::LOCK_OF_CLIENT;
use super::row::{self, columns, open_states};
use crate::lookup::user_key;
use crate::{Kind, StoreError};

pub(crate) const WITHDRAW: &str = concat!(
    "UPDATE interactions SET state = 'expired', failure = NULL, operation = NULL, flow_hash = NULL, flow = NULL, \
     flow_until = NULL, version = version + 1 WHERE user_key = $1 AND client = $2 AND (",
    open_states!(),
    " OR state = 'failed') RETURNING ",
    columns!()
);
pub(crate) const WITHDRAW_APPROVALS: &str =
    "UPDATE interactions SET proof = NULL, operation = NULL WHERE user_key = $1 AND client = $2 AND proof IS NOT NULL";

/// Ends the questions of a client that may still be answered, also those that could be started again; and takes back what it
/// was allowed to call once and has not called yet. The questions, and how many calls.
pub(crate) async fn withdraw_of_client(
    connection: &mut AnyConnection,
    kind: Kind,
    user: &UserId,
    client: &ClientId,
) -> Result<(Vec<Interaction>, u64), StoreError> {
    let client = client.as_str();
    if kind == Kind::Postgres {
        sqlx::query(LOCK_OF_CLIENT).bind(user_key(user)).bind(client.to_owned()).fetch_all(&mut *connection).await?;
    }
    let rows = sqlx::query(WITHDRAW).bind(user_key(user)).bind(client.to_owned()).fetch_all(&mut *connection).await?;
    let approvals =
        sqlx::query(WITHDRAW_APPROVALS).bind(user_key(user)).bind(client.to_owned()).execute(&mut *connection).await?;
    Ok((rows.iter().map(row::interaction).collect::<Result<_, _>>()?, approvals.rows_affected()))
}
