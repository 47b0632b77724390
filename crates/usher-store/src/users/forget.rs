//! Everything of a user goes at once, but the audit log.

use elicit::UserId;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::Holdings;
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::{CredentialKey, Event, InteractionId, Kind, SessionKey, Store, StoreError, interaction};

pub(crate) const DELETE_DECLINES: &str =
    "DELETE FROM declines WHERE ask_key IN (SELECT ask_key FROM interactions WHERE user_key = $1)";
pub(crate) const DELETE_QUESTIONS: &str = "DELETE FROM interactions WHERE user_key = $1 RETURNING id";
const LOCK_SESSIONS: &str =
    "SELECT session_key FROM mcp_sessions WHERE user_key = $1 ORDER BY session_key COLLATE \"C\" FOR UPDATE";
pub(crate) const DELETE_NOTICES: &str =
    "DELETE FROM notices WHERE session_key IN (SELECT session_key FROM mcp_sessions WHERE user_key = $1)";
pub(crate) const DELETE_CREDENTIALS: &str = "DELETE FROM credentials WHERE user_key = $1 RETURNING provider";
pub(crate) const DELETE_SESSIONS: &str = "DELETE FROM mcp_sessions WHERE user_key = $1 RETURNING session_key";
pub(crate) const DELETE_BROWSERS: &str = "DELETE FROM browser_sessions WHERE user_key = $1 RETURNING token_hash";
pub(crate) const DELETE_LINKS: &str = "DELETE FROM login_links WHERE issuer = $1 AND subject = $2 RETURNING token_hash";

pub(crate) const COUNTS: [&str; 4] = [
    "SELECT COUNT(*) AS number FROM credentials WHERE user_key = $1",
    "SELECT COUNT(*) AS number FROM interactions WHERE user_key = $1",
    "SELECT COUNT(*) AS number FROM mcp_sessions WHERE user_key = $1",
    "SELECT COUNT(*) AS number FROM browser_sessions WHERE user_key = $1",
];
pub(crate) const COUNT_LINKS: &str = "SELECT COUNT(*) AS number FROM login_links WHERE issuer = $1 AND subject = $2";

/// What is stored of a user.
pub(super) async fn count(connection: &mut AnyConnection, user: &UserId) -> Result<Holdings, StoreError> {
    let number = |row: AnyRow| row.try_get::<i64, _>("number").map(|number| u64::try_from(number).unwrap_or_default());
    let mut numbers = [0; 4];
    for (sql, counted) in COUNTS.into_iter().zip(&mut numbers) {
        *counted = number(sqlx::query(sql).bind(user_key(user)).fetch_one(&mut *connection).await?)?;
    }
    let links = sqlx::query(COUNT_LINKS).bind(user.issuer().to_owned()).bind(user.subject().to_owned());
    let login_links = number(links.fetch_one(connection).await?)?;
    let [connections, questions, sessions, browser_sessions] = numbers;
    Ok(Holdings { connections, questions, sessions, browser_sessions, login_links })
}

impl Store {
    /// Deletes all that is stored of a user, in one transaction: credentials, questions and what was declined, sessions of
    /// their clients with the notices that are owed to these, signed-in browsers and sign-in links. What there was. A few
    /// statements in all, however much it is.
    ///
    /// Lines of the audit log stay for their 400 days: an operator has to be able to say what was done, also by and to
    /// somebody who has left. That the user was forgotten is a line as well.
    pub async fn forget_user(&self, user: &UserId, now: Timestamp) -> Result<Holdings, StoreError> {
        let (forgotten, events) = Self::within(async {
            let mut transaction = self.begin().await?;
            let mut events = Vec::new();
            let questions = self.forget_questions(&mut transaction, user, &mut events).await?;
            let key = user_key(user);
            let credentials = run(&mut transaction, DELETE_CREDENTIALS, &key).await?;
            for row in &credentials {
                events.push(Event::Credential(CredentialKey::of(user, row.try_get("provider")?)));
            }
            // The sessions are locked before their notices, as by whoever ends one.
            if self.kind() == Kind::Postgres {
                run(&mut transaction, LOCK_SESSIONS, &key).await?;
            }
            run(&mut transaction, DELETE_NOTICES, &key).await?;
            let sessions = run(&mut transaction, DELETE_SESSIONS, &key).await?;
            for row in &sessions {
                let session: String = row.try_get("session_key")?;
                events.extend(SessionKey::parse(&session).map(Event::Session));
            }
            let browsers = run(&mut transaction, DELETE_BROWSERS, &key).await?;
            let links = sqlx::query(DELETE_LINKS)
                .bind(user.issuer().to_owned())
                .bind(user.subject().to_owned())
                .fetch_all(&mut *transaction)
                .await?;
            let count = |rows: &[AnyRow]| rows.len() as u64;
            let forgotten = Holdings {
                connections: count(&credentials),
                questions,
                sessions: count(&sessions),
                browser_sessions: count(&browsers),
                login_links: count(&links),
            };
            if !forgotten.is_empty() {
                AuditEntry::of_user(AuditAction::UserForgotten, Outcome::Success, user)
                    .insert(&mut transaction, now)
                    .await?;
            }
            transaction.commit().await?;
            Ok((forgotten, events))
        })
        .await?;
        for event in events {
            self.publish(event);
        }
        Ok(forgotten)
    }

    /// Questions and what was declined. How many questions.
    async fn forget_questions(
        &self,
        connection: &mut AnyConnection,
        user: &UserId,
        events: &mut Vec<Event>,
    ) -> Result<u64, StoreError> {
        let key = user_key(user);
        // Questions first, then what they led to, as whoever completes one locks them.
        if self.kind() == Kind::Postgres {
            interaction::lock_of_user(connection, user).await?;
        }
        run(connection, DELETE_DECLINES, &key).await?;
        let rows = run(connection, DELETE_QUESTIONS, &key).await?;
        for row in &rows {
            events.extend(InteractionId::parse(row.try_get("id")?).ok().map(Event::Interaction));
        }
        Ok(rows.len() as u64)
    }
}

async fn run(connection: &mut AnyConnection, sql: &'static str, key: &str) -> Result<Vec<AnyRow>, StoreError> {
    Ok(sqlx::query(sql).bind(key.to_owned()).fetch_all(connection).await?)
}
