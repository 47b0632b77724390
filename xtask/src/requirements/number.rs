//! Requirement numbers: `R-URL-04`.

use std::fmt;

/// A number such as `R-URL-04`, in that spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number(String);

impl Number {
    /// `text` as a whole.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match find(text).as_slice() {
            [number] if number.0 == text => Some(number.clone()),
            _ => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Every number in `text`, in both spellings: `R-URL-04`, and `r_url_04` in the name of a test.
pub(crate) fn find(text: &str) -> Vec<Number> {
    let normal = text.to_ascii_uppercase().replace('_', "-");
    let mut numbers = Vec::new();
    for (start, _) in normal.match_indices("R-") {
        let before = normal.get(..start).and_then(|head| head.chars().next_back());
        if before.is_some_and(|before| before.is_ascii_alphanumeric()) {
            continue;
        }
        let rest = normal.get(start + 2..).unwrap_or_default();
        let letters = rest.chars().take_while(char::is_ascii_uppercase).count();
        let tail = rest.get(letters..).unwrap_or_default();
        let Some(digits) = tail.strip_prefix('-') else { continue };
        let count = digits.chars().take_while(char::is_ascii_digit).count();
        if letters >= 2 && count == 2 {
            numbers.push(Number(normal.get(start..start + 2 + letters + 1 + count).unwrap_or_default().to_owned()));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        find(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_are_found_in_prose_and_in_names() {
        assert_eq!(found("R-URL-01, R-MRTR-08: state"), ["R-URL-01", "R-MRTR-08"]);
        assert_eq!(found("r_url_01_is_absolute"), ["R-URL-01"]);
    }

    #[test]
    fn other_words_are_no_numbers() {
        assert_eq!(found("R-1-22 for_url_01 R-URL-1 R-URL-123 R-U-01"), Vec::<String>::new());
    }

    #[test]
    fn a_number_is_parsed_as_a_whole() {
        assert!(Number::parse("R-URL-01").is_some());
        assert!(Number::parse("R-URL-01 ").is_none());
        assert!(Number::parse("r_url_01").is_none());
    }
}
