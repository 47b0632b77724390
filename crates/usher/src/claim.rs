//! Names that somebody gives to themselves, made harmless to look at. The one rule for all of them.

/// How many characters of such a name are kept.
pub(crate) const LONGEST: usize = 80;

/// A name as its bearer claims it: one line of visible characters, at most [`LONGEST`] of them and then `…`. Control
/// characters, and what is invisible or changes the direction of writing, are dropped. `None` where nothing is left.
pub(crate) fn clean(text: &str) -> Option<String> {
    let visible =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control() && !invisible(*c));
    let spaced = visible.collect::<String>();
    let one_line = spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut rest = one_line.chars().skip(LONGEST);
    // What was cut before stays as it is.
    let short = match (rest.next(), rest.next()) {
        (None, _) | (Some('…'), None) => one_line,
        _ => one_line.chars().take(LONGEST).chain(['…']).collect(),
    };
    (!short.is_empty()).then_some(short)
}

/// Characters that show nothing, or change how their neighbours are shown (Unicode category Cf, and fillers).
fn invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-ID-02, R-SEC-02: what somebody says of themselves cannot hide, turn around or flood what stands beside it.
    #[test]
    fn a_claim_is_one_short_line_of_visible_characters() {
        assert_eq!(clean("Claude\u{202e}\u{200b}\n\t Desktop\u{0}\u{7}").as_deref(), Some("Claude Desktop"));
        assert_eq!(clean("one\u{2028}two\u{2029}three\u{85}four").as_deref(), Some("one two three four"));
        assert_eq!(clean(" \u{2066}\u{feff}\n"), None);
        let long = clean(&"字".repeat(200)).unwrap();
        assert_eq!((long.chars().count(), long.chars().last()), (LONGEST + 1, Some('…')));
        assert_eq!(clean(&long), Some(long), "cleaned twice it is the same");
        assert_eq!(clean(&"字".repeat(LONGEST)), Some("字".repeat(LONGEST)));
    }
}
