/// `full-date` of RFC 3339, section 5.6.
pub(super) fn is_full_date(bytes: &[u8]) -> bool {
    Date::read(bytes).is_some()
}

/// `date-time` of RFC 3339, section 5.6. Its `T` and `Z` may be lower case; a space for the `T` is
/// only a suggestion there, and no part of the grammar.
pub(super) fn is_date_time(bytes: &[u8]) -> bool {
    let Some((date, [b'T' | b't', rest @ ..])) = bytes.split_at_checked(10) else {
        return false;
    };
    let Some(date) = Date::read(date) else {
        return false;
    };
    let &[h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = rest else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(&[h1, h2]), number(&[m1, m2]), number(&[s1, s2])) else {
        return false;
    };
    let Some(offset) = after_fraction(rest).and_then(offset_minutes) else {
        return false;
    };
    if hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    second < 60 || date.ends_month_of_utc(hour * 60 + minute - offset)
}

struct Date {
    day: i32,
    days_of_month: i32,
}

impl Date {
    fn read(bytes: &[u8]) -> Option<Self> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = bytes else {
            return None;
        };
        let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
        let days_of_month = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            // Appendix C
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            _ => return None,
        };
        (1..=days_of_month).contains(&day).then_some(Self { day, days_of_month })
    }

    /// Whether a minute, counted from the begin of this day at UTC, is the last one of a month: the
    /// only one that may have a second 60 (section 5.7). With an offset it may lie on the day before
    /// or after.
    fn ends_month_of_utc(&self, minute: i32) -> bool {
        const DAY: i32 = 24 * 60;
        match minute {
            -1 => self.day == 1,
            1439 => self.day == self.days_of_month,
            // The next day: the last one of its month where this is the last but one.
            2879 => self.day + 1 == self.days_of_month,
            _ => {
                debug_assert!((-DAY..2 * DAY).contains(&minute), "an offset is less than a day");
                false
            }
        }
    }
}

/// What follows the digits of a second.
fn after_fraction(bytes: &[u8]) -> Option<&[u8]> {
    let Some((b'.', fraction)) = bytes.split_first() else {
        return Some(bytes);
    };
    let digits = fraction.iter().position(|byte| !byte.is_ascii_digit())?;
    fraction.get(digits..).filter(|_| digits > 0)
}

/// `time-offset`, in minutes to the east.
fn offset_minutes(bytes: &[u8]) -> Option<i32> {
    match *bytes {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
            let offset = hours * 60 + minutes;
            (hours <= 23 && minutes <= 59).then_some(if sign == b'+' { offset } else { -offset })
        }
        _ => None,
    }
}

/// A number of a few decimal digits.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0')))
}
