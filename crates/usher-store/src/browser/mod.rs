//! The browser side: sessions, and the two ways to begin one, a one-time link and a sign-in at the issuer.
//!
//! The rows of links and sessions are sealed: were they not, whoever can write to the database could sign in as anybody.

mod link;
mod list;
mod seal;
mod session;
mod sign_in;

use elicit::UserId;
use sqlx::Row as _;
use sqlx::any::AnyRow;

pub use self::list::{BrowserId, SignedInBrowser};
#[cfg(test)]
pub(crate) use self::list::{END_ONE, END_OTHERS, OF_USER, UNNAMED};
#[cfg(test)]
pub(crate) use self::session::FIND_SESSION;
pub use self::session::{
    BROWSER_IDLE, BROWSER_LIFETIME, BrowserSession, BrowserTimes, EndedBrowserSession, NewBrowserSession,
};
use crate::StoreError;
use crate::audit::{AuditAction, AuditEntry, Outcome};

fn refused(user: &UserId, detail: &'static str) -> AuditEntry {
    AuditEntry { detail: Some(detail), ..AuditEntry::of_user(AuditAction::BrowserRefused, Outcome::Refused, user) }
}

/// The user in a row's `issuer` and `subject`.
pub(crate) fn user_of(row: &AnyRow, table: &'static str) -> Result<UserId, StoreError> {
    let issuer: String = row.try_get("issuer")?;
    let subject: String = row.try_get("subject")?;
    UserId::new(issuer, subject).map_err(|_| StoreError::impossible(table, "a user that is none"))
}
