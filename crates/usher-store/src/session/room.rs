//! Room for one more session (R-SEC-01).
//!
//! A host that starts often and never ends its sessions would be locked out by a limit that refuses. So the session of the
//! same client, or the same user, that was idle for longest makes room. Only where none can end is the new one refused.

use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::{NewSession, Session, SessionKey, columns};
use crate::lookup::{client_key, user_key};
use crate::time::micros;
use crate::{Event, Store, StoreError, notice};

pub(crate) const COUNT: &str = "SELECT \
     (SELECT COUNT(*) FROM mcp_sessions WHERE expires_at > $1) AS in_all, \
     (SELECT COUNT(*) FROM mcp_sessions WHERE user_key = $2 AND expires_at > $1) AS of_user, \
     (SELECT COUNT(*) FROM mcp_sessions WHERE client_key = $3 AND expires_at > $1) AS of_client";

/// Sessions that may end, the longest idle first: each message lets its session last longer. One with a question that is
/// open, or whose end it was not told, is not idle (R-GW-09).
macro_rules! idle {
    ($key:literal) => {
        concat!(
            "SELECT session_key FROM mcp_sessions WHERE ",
            $key,
            " = $1 AND expires_at > $2 AND NOT EXISTS (SELECT 1 FROM notices \
             WHERE notices.session_key = mcp_sessions.session_key AND notices.expires_at > $2) \
             ORDER BY expires_at LIMIT $3 OFFSET $4"
        )
    };
}
pub(crate) const IDLE_OF_CLIENT: &str = idle!("client_key");
pub(crate) const IDLE_OF_USER: &str = idle!("user_key");

const END: &str = concat!("DELETE FROM mcp_sessions WHERE session_key = $1 RETURNING ", columns!());

/// Sessions beyond those to be ended that are looked at first, in case that some are in use. Where that is not enough twice
/// as many follow, and so on.
const LOOKED_AT: i64 = 100;

/// How often more are looked at: beyond some ten thousand in use there is no room.
const LOOKS: usize = 8;

/// How many sessions there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// Of one client of one user.
    pub of_client: u32,
    /// Of one user.
    pub of_user: u32,
    /// Of all.
    pub in_all: u32,
}

/// What came of beginning a session.
#[derive(Debug)]
#[must_use]
pub enum Begun {
    /// It is kept. These were ended to make room for it, and can be told upstream; their events are published.
    Kept(Vec<Session>),
    /// There is no room, and nothing changed.
    Full,
}

/// How many sessions there are.
struct Count {
    in_all: i64,
    of_user: i64,
    of_client: i64,
}

impl Store {
    /// Keeps a session as [`create_session`](Self::create_session) does, within limits. `in_use` tells of a session whether
    /// it must not be ended, whatever the store knows of it.
    ///
    /// Costs one query more, which counts by indices: it grows with the number of sessions, a millisecond for some ten
    /// thousand.
    pub async fn create_session_within(
        &self,
        session: NewSession,
        limits: SessionLimits,
        in_use: &(dyn Fn(&SessionKey) -> bool + Sync),
        now: Timestamp,
    ) -> Result<Begun, StoreError> {
        let begun = Self::within(async {
            let mut transaction = self.begin().await?;
            let Some(ended) = self.make_room(&mut transaction, &session, limits, in_use, now).await? else {
                transaction.rollback().await?;
                return Ok(None);
            };
            self.insert_session(&mut transaction, &session, now).await?;
            transaction.commit().await?;
            Ok(Some(ended))
        })
        .await?;
        let Some(ended) = begun else { return Ok(Begun::Full) };
        for (key, _) in &ended {
            self.publish(Event::Session(key.clone()));
        }
        Ok(Begun::Kept(ended.into_iter().filter_map(|(_, session)| session).collect()))
    }

    /// Ends what must make room; `None` where that is not enough.
    async fn make_room(
        &self,
        connection: &mut AnyConnection,
        session: &NewSession,
        limits: SessionLimits,
        in_use: &(dyn Fn(&SessionKey) -> bool + Sync),
        now: Timestamp,
    ) -> Result<Option<Vec<(SessionKey, Option<Session>)>>, StoreError> {
        let (user, client) = (user_key(&session.principal.user), client_key(&session.principal));
        let count = count(connection, &user, &client, now).await?;
        let mut ended = Vec::new();
        for (sql, key, has, most) in [
            (IDLE_OF_CLIENT, client, count.of_client, limits.of_client),
            (IDLE_OF_USER, user, count.of_user, limits.of_user),
        ] {
            // Those that the client's limit ended were the user's as well.
            let gone = if sql == IDLE_OF_USER { length(&ended) } else { 0 };
            let excess = has - gone + 1 - i64::from(most);
            let idle = if excess > 0 { idle(connection, sql, key, excess, in_use, now).await? } else { Vec::new() };
            if length(&idle) < excess {
                return Ok(None);
            }
            for key in idle {
                let session = self.end_session(connection, &key).await?;
                ended.push((key, session));
            }
        }
        let room = count.in_all - length(&ended) < i64::from(limits.in_all);
        Ok(room.then_some(ended))
    }

    async fn end_session(
        &self,
        connection: &mut AnyConnection,
        key: &SessionKey,
    ) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(END).bind(key.as_str().to_owned()).fetch_optional(&mut *connection).await?;
        sqlx::query(notice::DELETE_OF_SESSION).bind(key.as_str().to_owned()).execute(connection).await?;
        let Some(row) = row else { return Ok(None) };
        match self.read_session(&row) {
            Ok(session) => Ok(session),
            // It ends all the same; there is only nobody to tell.
            Err(error) if error.is_unopened() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn length<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}

async fn count(connection: &mut AnyConnection, user: &str, client: &str, now: Timestamp) -> Result<Count, StoreError> {
    let row = sqlx::query(COUNT)
        .bind(micros(now))
        .bind(user.to_owned())
        .bind(client.to_owned())
        .fetch_one(connection)
        .await?;
    Ok(Count { in_all: row.try_get("in_all")?, of_user: row.try_get("of_user")?, of_client: row.try_get("of_client")? })
}

/// As many idle sessions as are wanted, or fewer where there are not so many.
async fn idle(
    connection: &mut AnyConnection,
    sql: &'static str,
    key: String,
    wanted: i64,
    in_use: &(dyn Fn(&SessionKey) -> bool + Sync),
    now: Timestamp,
) -> Result<Vec<SessionKey>, StoreError> {
    let (mut idle, mut seen, mut size) = (Vec::new(), 0, wanted + LOOKED_AT);
    for _ in 0..LOOKS {
        let query = sqlx::query(sql).bind(key.clone()).bind(micros(now)).bind(size).bind(seen);
        let rows = query.fetch_all(&mut *connection).await?;
        let last = length(&rows) < size;
        for row in rows {
            let key = SessionKey::parse(row.try_get("session_key")?)
                .ok_or_else(|| StoreError::impossible(super::TABLE, "a key that is none"))?;
            // One that was used meanwhile can stand twice.
            if length(&idle) < wanted && !in_use(&key) && !idle.contains(&key) {
                idle.push(key);
            }
        }
        if last || length(&idle) >= wanted {
            break;
        }
        (seen, size) = (seen + size, size * 2);
    }
    Ok(idle)
}
