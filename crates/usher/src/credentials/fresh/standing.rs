//! How an access token stands, by the time of day.

use jiff::{SignedDuration, Timestamp};
use usher_store::Credential;

/// A token that lasts no longer than this is renewed before it is used: it would end on its way.
const ON_ITS_WAY: SignedDuration = SignedDuration::from_secs(10);

/// How a credential stands at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is used as it is.
    Lasting,
    /// It is used as it is, and it is time for another one.
    Ageing,
    /// It is used no more.
    Expired,
}

/// Looks at the clock alone: no store, no lock. What no provider granted, or granted without an end, lasts.
pub(super) fn standing(credential: &Credential, now: Timestamp) -> Standing {
    let Some(grant) = &credential.grant else { return Standing::Lasting };
    // What cannot be renewed is used to its end.
    let early = if grant.is_renewed() { ON_ITS_WAY } else { SignedDuration::ZERO };
    if grant.expires_at.is_some_and(|at| at.duration_since(now) <= early) {
        return Standing::Expired;
    }
    if grant.refresh_at.is_some_and(|at| at <= now) { Standing::Ageing } else { Standing::Lasting }
}
