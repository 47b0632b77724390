//! When a token ends (kinds 9 and 11).

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::config::definition::{Expires, TokenReply};

/// Nothing lives longer, as far as we keep it: ten years.
const LONGEST: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);

/// When the access token of a reply ends, as far as that is said or known.
///
/// A lifetime that is over already, zero or negative says nothing: some write 0 for "never", and a token that we took for
/// dead at birth would be refreshed without end. Whether it is good is found out by its use.
pub(super) fn expires_at(reply: &TokenReply, document: &Value, now: Timestamp) -> Option<Timestamp> {
    said(reply, document, now).or_else(|| {
        let lifetime = SignedDuration::try_from(reply.lifetime?).ok()?;
        now.saturating_add(lifetime).ok()
    })
}

fn said(reply: &TokenReply, document: &Value, now: Timestamp) -> Option<Timestamp> {
    at(reply.expires.of(document)?, reply.expires_as, now)
}

/// The time that a value means; `None` where it means none that is to come.
pub(super) fn at(value: &Value, meaning: Expires, now: Timestamp) -> Option<Timestamp> {
    let latest = now.saturating_add(LONGEST).unwrap_or(Timestamp::MAX);
    let at = match meaning {
        Expires::Seconds => now.saturating_add(seconds(value, 1.0)?).ok()?,
        Expires::Milliseconds => now.saturating_add(seconds(value, 1000.0)?).ok()?,
        Expires::Unix => Timestamp::UNIX_EPOCH.saturating_add(seconds(value, 1.0)?).ok()?,
        Expires::UnixMilliseconds => Timestamp::UNIX_EPOCH.saturating_add(seconds(value, 1000.0)?).ok()?,
        Expires::Time => value.as_str()?.trim().parse().ok()?,
    };
    (at > now).then(|| at.min(latest))
}

/// Whole seconds of a number, or of a number in quotes, whose unit is so many of a second.
fn seconds(value: &Value, of_a_second: f64) -> Option<SignedDuration> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse::<f64>().ok()?,
        _ => return None,
    };
    // NaN and what is not positive are no lifetime. What is huge is cut where it still is a time.
    let seconds = number / of_a_second;
    if !(seconds >= 1.0) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "between 1 and 10^12")]
    let whole = seconds.min(1e12) as i64;
    Some(SignedDuration::from_secs(whole))
}
