//! Names that somebody gives to themselves, made harmless to look at. The one rule for all of them.

use elicit::text;

/// How many characters of such a name are shown, the mark of a cut among them.
pub(crate) const LONGEST: usize = 80;

/// A name as its bearer claims it: one line, in which nothing is hidden (`text::line`). `None` where nothing is left.
pub(crate) fn clean(claimed: &str) -> Option<String> {
    let line = text::line(claimed, LONGEST);
    (!line.is_empty()).then(|| line.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-ID-02, R-SEC-02: what somebody says of themselves cannot hide, turn around or flood what stands beside it.
    #[test]
    fn a_claim_is_one_short_line_that_hides_nothing() {
        insta::assert_snapshot!(clean("Claude\u{202e}\u{200b}\n\t Desktop\u{0}\u{7}").unwrap(), @"Claude‹U+202E›‹U+200B› Desktop‹U+0000›‹U+0007›");
        insta::assert_snapshot!(clean("one\u{2028}two\u{85}three").unwrap(), @"one‹U+2028›two‹U+0085›three");
        assert_eq!(clean(" \n\t"), None);
        let long = clean(&"字".repeat(200)).unwrap();
        assert_eq!(long.chars().count(), LONGEST);
        assert_eq!(clean(&long), Some(long), "cleaned twice it is the same");
        assert_eq!(clean(&"字".repeat(LONGEST)), Some("字".repeat(LONGEST)));
    }
}
