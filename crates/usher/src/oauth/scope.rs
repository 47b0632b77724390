//! Lists of scopes that somebody else wrote (RFC 6749, section 3.3).

use std::collections::BTreeSet;

/// The most scopes of one list that are read.
const AT_MOST: usize = 64;

/// The longest scope that is read, in bytes.
const LONGEST: usize = 255;

/// The scopes of a list with spaces between them. What is no scope is left out.
pub(crate) fn read(list: &str) -> BTreeSet<String> {
    of(list.split(' '))
}

/// Those of several texts that are scopes.
pub(crate) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
    texts.into_iter().filter(|text| is_scope(text)).take(AT_MOST).map(str::to_owned).collect()
}

fn is_scope(text: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_scope_is_left_out() {
        let found: Vec<String> = read("b  a b:c/d \"q\" e\\f ü g").into_iter().collect();
        assert_eq!(found, ["a", "b", "b:c/d", "g"]);
        assert!(read("").is_empty() && read(&"x".repeat(LONGEST + 1)).is_empty());
        let many: Vec<String> = (0..2 * AT_MOST).map(|number| number.to_string()).collect();
        assert_eq!(read(&many.join(" ")).len(), AT_MOST);
    }
}
