//! Values that look like a credential, whatever the parameter is called.

/// How well-known secrets begin, and how long they are at least.
const PREFIXES: &[(&str, usize)] = &[
    ("AIza", 35),
    ("AKIA", 20),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("sk-", 24),
    ("sk_live_", 20),
    ("xoxa-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
];

/// Shorter ones name a payment, an order or a page; in characters.
const SHORTEST_RANDOM: usize = 24;

/// Whether the value begins as secrets of well-known services do.
pub(super) fn is_well_known(value: &str) -> bool {
    // Most values end here.
    value.len() >= 20
        && value.starts_with(['A', 'g', 's', 'x'])
        && PREFIXES.iter().any(|(prefix, length)| value.len() >= *length && value.starts_with(prefix))
}

/// Whether the value looks as if it was drawn at random: long, of the letters of an encoding, with
/// digits, and going from capitals to small letters to digits far more often than words and numbers
/// do.
pub(super) fn is_random(value: &str) -> bool {
    let in_encoding =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=');
    if value.len() < SHORTEST_RANDOM || !value.bytes().all(in_encoding) {
        return false;
    }
    let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let mut kinds = value.bytes().filter(u8::is_ascii_alphanumeric).map(kind);
    let (mut length, mut changes) = (1, 0);
    let mut last = kinds.next();
    for next in kinds {
        length += 1;
        changes += usize::from(last != Some(next));
        last = Some(next);
    }
    length >= SHORTEST_RANDOM && changes * 6 >= length && value.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_looked_for() {
        for (prefix, length) in PREFIXES {
            assert!(is_well_known(&format!("{prefix}{}", "a".repeat(length - prefix.len()))), "{prefix}");
        }
    }

    /// R-URL-03
    #[test]
    fn random_values_are_told_from_words_and_numbers() {
        for random in [
            "0f8fad5b-d9cd-469f-a165-70867728950e",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "dGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IQ==",
            "K7GNU3SDO2OL0WHWHKYQ4ZXC",
        ] {
            assert!(is_random(random), "{random}");
        }
        for word in [
            "",
            "EC-8XX12345AB678901C",
            "my-favourite-page-number-2025",
            "1234567890123456789012345678",
            "application-form-for-residents",
            "ThisIsTheNameOfSomeOrdinaryPageInTheManual",
            "https://example.com/a1b2c3d4e5f6a7b8",
        ] {
            assert!(!is_random(word), "{word}");
        }
    }
}
