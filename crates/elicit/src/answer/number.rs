use std::cmp::Ordering;
use std::fmt;

/// A number in the exact text of its JSON (R-FORM-11): `9007199254740993` and `0.10` stay
/// themselves, and no float stands in between.
///
/// Two numbers are equal when their texts are; [`compare`](Self::compare) says which value is larger.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number {
    text: Box<str>,
    /// Mantissa and decimal exponent, where eighteen digits are enough for the value.
    short: Option<(i64, i32)>,
}

/// Why a text is no [`Number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a JSON number (RFC 8259, section 6).
    #[error("not a number")]
    Syntax,
    /// Farther from zero than an IEEE 754 double reaches, as `1e999` is: most readers would make
    /// infinity of it, or `null` (R-FORM-11).
    #[error("a number too large to be exchanged")]
    TooLarge,
    /// Infinite, or no number at all (NaN): JSON has neither.
    #[error("not a finite number")]
    NotFinite,
}

/// Digits that surely fit an `i64`.
const SHORT: usize = 18;
/// Decimal digits before the point of the largest double, 1.797…e308.
const LARGEST: i64 = 309;

impl Number {
    /// Reads a JSON number.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let parts = Parts::of(text).ok_or(NumberError::Syntax)?;
        let too_large =
            parts.point > LARGEST || parts.point == LARGEST && !text.parse::<f64>().is_ok_and(f64::is_finite);
        if too_large && !parts.is_zero() {
            return Err(NumberError::TooLarge);
        }
        Ok(Self { text: text.into(), short: parts.short() })
    }

    /// The exact text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the value has no fraction: `5`, `5.0` and `5e1` have none (R-FORM-11).
    pub fn is_integer(&self) -> bool {
        match self.short {
            Some((_, exponent)) => exponent >= 0,
            None => self.parts().is_integer(),
        }
    }

    /// The order of the values: exact, whatever the length of the texts.
    pub fn compare(&self, other: &Self) -> Ordering {
        if let (Some((left, left_exponent)), Some((right, right_exponent))) = (self.short, other.short) {
            if left_exponent == right_exponent {
                return left.cmp(&right);
            }
            let scaled =
                |mantissa: i64, by: i32| Some(i128::from(mantissa) * 10_i128.checked_pow(u32::try_from(by).ok()?)?);
            let lowest = left_exponent.min(right_exponent);
            let (left_zeros, right_zeros) =
                (left_exponent.saturating_sub(lowest), right_exponent.saturating_sub(lowest));
            // Up to eighteen zeros more, which 128 bits hold; farther apart the digits decide.
            if left_zeros.max(right_zeros) <= 18
                && let (Some(left), Some(right)) = (scaled(left, left_zeros), scaled(right, right_zeros))
            {
                return left.cmp(&right);
            }
        }
        self.parts().compare(&other.parts())
    }

    /// The value, where it is an integer of this size.
    pub fn to_i64(&self) -> Option<i64> {
        self.integer_text()?.parse().ok()
    }

    /// The value, where it is an integer of this size.
    pub fn to_u64(&self) -> Option<u64> {
        self.integer_text()?.parse().ok()
    }

    /// The nearest double; never infinite.
    pub fn to_f64(&self) -> f64 {
        // JSON's numbers are a part of what Rust reads, and the constructors refuse what is too large.
        self.text.parse().unwrap_or_default()
    }

    /// An integral value in plain digits, without point and exponent: `5.0` as `5`, `-2e3` as
    /// `-2000`. At most 310 characters; `None` where there is a fraction.
    pub fn integer_text(&self) -> Option<String> {
        if !self.is_integer() {
            return None;
        }
        let parts = self.parts();
        if parts.is_zero() {
            return Some("0".to_owned());
        }
        let digits = usize::try_from(parts.point).ok()?;
        let sign = if parts.negative { "-" } else { "" };
        Some(sign.chars().chain(parts.digits().chain(std::iter::repeat(b'0')).take(digits).map(char::from)).collect())
    }

    fn parts(&self) -> Parts<'_> {
        // The text was a number before; zero is never what comes of it.
        Parts::of(&self.text).unwrap_or(Parts { negative: false, digits: "", point: 0 })
    }
}

impl std::str::FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        Self::parse(text)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Only its kind: a number may be part of an answer.
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Number(…)")
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                let text = value.to_string();
                let short = Parts::of(&text).and_then(|parts| parts.short());
                Self { text: text.into(), short }
            }
        }
    )*};
}

from_integer!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);

/// The shortest text that reads back as this double; infinities and NaN are no numbers of JSON.
impl TryFrom<f64> for Number {
    type Error = NumberError;

    fn try_from(value: f64) -> Result<Self, NumberError> {
        if value.is_finite() { Self::parse(&format!("{value:?}")) } else { Err(NumberError::NotFinite) }
    }
}

/// A decimal number as its digits and the place of its point: `0.` digits times ten to the power of `point`.
struct Parts<'a> {
    negative: bool,
    /// From the first digit that is not zero to the last one, with at most one point among them.
    digits: &'a str,
    point: i64,
}

impl<'a> Parts<'a> {
    /// `None` for what is no number of JSON.
    fn of(text: &'a str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, fraction),
            None => (mantissa, ""),
        };
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leading_zero || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        // A whole part has no leading zero, but for the one of `0.…`.
        let (digits, point) = if whole == "0" {
            let significant = fraction.trim_start_matches('0');
            let zeros = fraction.len() - significant.len();
            (significant, 0_i64.saturating_sub_unsigned(zeros as u64))
        } else {
            (mantissa, 0_i64.saturating_add_unsigned(whole.len() as u64))
        };
        // Zeros at the end count only before a point, and there they are in `point` already.
        let digits = digits.trim_end_matches(['0', '.']);
        Some(Self { negative: negative && !digits.is_empty(), digits, point: point.saturating_add(exponent) })
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn is_integer(&self) -> bool {
        self.is_zero() || i64::try_from(self.count()).is_ok_and(|count| self.point >= count)
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.digits.bytes().filter(|byte| *byte != b'.')
    }

    fn count(&self) -> usize {
        self.digits.len() - usize::from(self.digits.contains('.'))
    }

    fn short(&self) -> Option<(i64, i32)> {
        let count = self.count();
        if count > SHORT {
            return None;
        }
        let exponent = if count == 0 { 0 } else { i32::try_from(self.point - i64::try_from(count).ok()?).ok()? };
        let value = self.digits().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        Some((if self.negative { -value } else { value }, exponent))
    }

    fn compare(&self, other: &Self) -> Ordering {
        let sign = |parts: &Self| i8::from(!parts.is_zero()) * if parts.negative { -1 } else { 1 };
        let magnitude = || self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => magnitude(),
            _ => magnitude().reverse(),
        })
    }
}

/// What is too large for an `i64` ends at its bounds, far beyond what decides anything.
fn read_exponent(text: &str) -> Option<i64> {
    const BOUND: i64 = i64::MAX / 4;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value =
        digits.bytes().fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    let value = value.min(BOUND);
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests;
