//! Durations: `"40s"`, `"2m"`, `"1h"`.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::reader::Node;

/// A duration in a range of seconds.
pub(super) fn read(node: &Node<'_>, seconds: RangeInclusive<u64>) -> Option<Duration> {
    let text = node.string("\"40s\"")?;
    let Some(value) = parse(text) else {
        node.fault(format!("{text:?} is no duration"), "write a whole number and s, m or h: \"40s\", \"2m\", \"1h\"");
        return None;
    };
    if seconds.contains(&value.as_secs()) {
        return Some(value);
    }
    let (least, most) = (show(*seconds.start()), show(*seconds.end()));
    node.fault(format!("{text} is out of range"), format!("choose between {least} and {most}"));
    None
}

fn parse(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    Some(Duration::from_secs(number.checked_mul(unit)?))
}

/// A duration of a command, which may be in days as well: `"90d"`.
pub(crate) fn parse_long(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').map(|days| parse(&format!("{days}h")).and_then(|hours| hours.checked_mul(24)));
    days.unwrap_or_else(|| parse(text))
        .ok_or_else(|| format!("{text:?} is no duration: write a whole number and s, m, h or d, such as 24h or 90d"))
}

fn show(seconds: u64) -> String {
    match seconds {
        0 => "0s".to_owned(),
        _ if seconds.is_multiple_of(3600) => format!("{}h", seconds / 3600),
        _ if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_whole_number_and_one_unit() {
        assert_eq!(parse("0s"), Some(Duration::ZERO));
        assert_eq!(parse("40s"), Some(Duration::from_secs(40)));
        assert_eq!(parse("2m"), Some(Duration::from_mins(2)));
        assert_eq!(parse("1h"), Some(Duration::from_hours(1)));
        assert_eq!(parse_long("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(parse_long("0s"), Ok(Duration::ZERO));
        assert!(parse_long("d").is_err() && parse_long("1w").is_err() && parse_long("9999999999999999d").is_err());
        for wrong in [
            "",
            "s",
            "40",
            "1.5s",
            "-1s",
            "+1s",
            "1 s",
            "1d",
            "1m30s",
            "40ß",
            "99999999999999999999s",
            "9999999999999999999h",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
