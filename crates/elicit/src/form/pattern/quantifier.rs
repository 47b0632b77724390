use std::fmt::Write;

use super::cursor::Cursor;
use super::{PatternError, PatternFault};

/// How often a term is repeated.
pub(super) struct Quantifier {
    minimum: u64,
    maximum: Option<u64>,
}

/// Reads a quantifier with the `?` that makes it lazy; `None` where none stands. A `{` that begins
/// none stands for itself (ECMA-262, annex B.1.2).
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Quantifier>, PatternError> {
    let start = cursor.position();
    let quantifier = if cursor.eat("*") {
        Quantifier { minimum: 0, maximum: None }
    } else if cursor.eat("+") {
        Quantifier { minimum: 1, maximum: None }
    } else if cursor.eat("?") {
        Quantifier { minimum: 0, maximum: Some(1) }
    } else {
        let mut ahead = cursor.clone();
        let Some(quantifier) = bounds(&mut ahead) else {
            return Ok(None);
        };
        *cursor = ahead;
        quantifier
    };
    if quantifier.maximum.is_some_and(|maximum| maximum < quantifier.minimum) {
        return Err(cursor.error(start, PatternFault::RepeatRange));
    }
    cursor.eat("?");
    Ok(Some(quantifier))
}

/// `{2}`, `{2,}` or `{2,4}`.
fn bounds(cursor: &mut Cursor<'_>) -> Option<Quantifier> {
    if !cursor.eat("{") {
        return None;
    }
    let minimum = number(cursor)?;
    let maximum = if cursor.eat(",") { number(cursor) } else { Some(minimum) };
    cursor.eat("}").then_some(Quantifier { minimum, maximum })
}

/// A decimal number; all that are too large for a `u64` are the same.
fn number(cursor: &mut Cursor<'_>) -> Option<u64> {
    let digits = cursor.eat_while(|character| character.is_ascii_digit());
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
}

impl Quantifier {
    /// How many copies of the term a program holds.
    pub(super) fn copies(&self) -> u64 {
        self.maximum.unwrap_or(self.minimum.saturating_add(1)).max(1)
    }

    /// Appends the quantifier; `None` where the engine has no such number.
    pub(super) fn write(&self, expression: &mut String) -> Option<()> {
        let minimum = u32::try_from(self.minimum).ok()?;
        match self.maximum {
            None => write!(expression, "{{{minimum},}}").ok(),
            Some(maximum) => write!(expression, "{{{minimum},{}}}", u32::try_from(maximum).ok()?).ok(),
        }
    }
}
