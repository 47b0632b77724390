//! "PIN code": a secret in some countries, and a postal code in others.

use super::letters::{Word, compared, plain};
use super::runs::{Reading, runs};
use crate::form::{Field, Kind};

/// The ways to write it, without what stands between the words.
const WRITTEN: [&str; 4] = ["pincode", "codepin", "пинкод", "pinкод"];

/// Whether a field is called "PIN code", however it is written.
fn is_pin_code(text: &str) -> bool {
    let text = plain(text);
    [Reading::Split, Reading::Whole].into_iter().any(|reading| {
        let runs = runs(&text, reading);
        let [run] = runs.as_slice() else { return false };
        let written: Word = run.words.iter().map(|token| token.word.as_str()).collect();
        run.names && WRITTEN.iter().any(|pin_code| compared(pin_code) == written)
    })
}

/// Whether a field is called "PIN code", by its name or its title.
pub(super) fn is_called_pin_code(text: Option<&str>) -> bool {
    text.is_some_and(is_pin_code)
}

/// Whether a field takes four to eight digits, as the secret has them.
pub(super) fn has_its_length(field: &Field) -> bool {
    match &field.kind {
        Kind::Text(text) => {
            let least = text.min_length.unwrap_or(4);
            text.max_length.is_some_and(|most| (4..=8).contains(&most) && (4..=most).contains(&least))
                || text.pattern.as_ref().is_some_and(|pattern| is_pin_pattern(pattern.as_str()))
        }
        Kind::Number(numeric) | Kind::Integer(numeric) => {
            let most = numeric.maximum.as_ref().and_then(crate::Number::to_u64);
            most.is_some_and(|most| (1_000..=99_999_999).contains(&most))
        }
        _ => false,
    }
}

/// Whether a pattern asks for four to eight digits and nothing else.
fn is_pin_pattern(pattern: &str) -> bool {
    let digits = pattern.trim_start_matches('^').trim_end_matches('$');
    let Some(count) = digits.strip_prefix("\\d").or_else(|| digits.strip_prefix("[0-9]")) else { return false };
    let Some(count) = count.strip_prefix('{').and_then(|count| count.strip_suffix('}')) else { return false };
    let (least, most) = count.split_once(',').unwrap_or((count, count));
    let in_range = |text: &str| text.trim().parse::<u32>().is_ok_and(|count| (4..=8).contains(&count));
    in_range(least) && in_range(most)
}
