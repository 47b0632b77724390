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
    if seconds.is_nan() || seconds < 1.0 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "between 1 and 10^12")]
    let whole = seconds.min(1e12) as i64;
    Some(SignedDuration::from_secs(whole))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_796_083_200, 0);

    fn lives(value: &Value, meaning: Expires) -> Option<i64> {
        Some(at(value, meaning, NOW)?.duration_since(NOW).as_secs())
    }

    #[test]
    fn kind_11_expiry_as_numeric_string() {
        assert_eq!(lives(&json!("3600"), Expires::Seconds), Some(3_600));
        assert_eq!(lives(&json!(" 3600 "), Expires::Seconds), Some(3_600));
        assert_eq!(lives(&json!("3600000"), Expires::Milliseconds), Some(3_600));
        assert_eq!(lives(&json!((1_796_083_200_i64 + 60).to_string()), Expires::Unix), Some(60));
    }

    #[test]
    fn kind_11_expiry_with_a_fraction() {
        assert_eq!(lives(&json!(3600.9), Expires::Seconds), Some(3_600));
        assert_eq!(lives(&json!(3_600_900.5), Expires::Milliseconds), Some(3_600));
    }

    #[test]
    fn kind_11_expiry_as_a_date() {
        assert_eq!(lives(&json!("2026-12-01T00:01:00Z"), Expires::Time), Some(60));
        assert_eq!(lives(&json!("2026-12-01T01:01:00+01:00"), Expires::Time), Some(60));
        for wrong in ["2026-12-01", "tomorrow", ""] {
            assert_eq!(lives(&json!(wrong), Expires::Time), None, "{wrong}");
        }
    }

    /// A lifetime that is none says nothing: a token that were dead at birth would be refreshed without end.
    #[test]
    fn kind_11_absurd_lifetimes_say_nothing() {
        for wrong in [
            json!(0),
            json!(-1),
            json!("-3600"),
            json!(0.5),
            json!("NaN"),
            json!("never"),
            json!(""),
            json!(null),
            json!(true),
            json!([3600]),
            json!({ "seconds": 3600 }),
        ] {
            for meaning in
                [Expires::Seconds, Expires::Milliseconds, Expires::Unix, Expires::UnixMilliseconds, Expires::Time]
            {
                assert_eq!(lives(&wrong, meaning), None, "{wrong} {meaning:?}");
            }
        }
        assert_eq!(lives(&json!(1_796_083_200), Expires::Unix), None, "it is over now");
        assert_eq!(lives(&json!("1969-12-01T00:00:00Z"), Expires::Time), None);
    }

    #[test]
    fn kind_11_huge_lifetimes_are_cut() {
        let most = Some(LONGEST.as_secs());
        for huge in [json!(u64::MAX), json!(1e300), json!("1e300"), json!("Infinity"), json!(i64::MAX)] {
            assert_eq!(lives(&huge, Expires::Seconds), most, "{huge}");
            assert_eq!(lives(&huge, Expires::UnixMilliseconds), most, "{huge}");
        }
        assert_eq!(lives(&json!("9999-12-30T00:00:00Z"), Expires::Time), most);
        let late = Timestamp::MAX;
        assert!(at(&json!(3600), Expires::Seconds, late).is_none(), "there is no later time");
    }
}
