//! The chunks of letters and digits that a text is made of, and what stands between them.

/// Letters and digits in a row, with signs that can stand for letters between them: `p@ssword`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) chunk: &'a str,
    /// From the end of the chunk to the next one, or to the end of the text.
    pub(super) gap: &'a str,
}

pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text.get(gap_length(text)..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at_checked(chunk_length(rest)).filter(|(chunk, _)| !chunk.is_empty())?;
        let (gap, next) = after.split_at_checked(gap_length(after))?;
        rest = next;
        Some(Piece { chunk, gap })
    })
}

fn gap_length(text: &str) -> usize {
    text.find(char::is_alphanumeric).unwrap_or(text.len())
}

fn chunk_length(text: &str) -> usize {
    let mut length = 0;
    for (place, character) in text.char_indices() {
        if character.is_alphanumeric() {
            length = place + character.len_utf8();
        } else if !stands_for_a_letter(character) {
            break;
        }
    }
    length
}

pub(super) fn stands_for_a_letter(sign: char) -> bool {
    matches!(sign, '@' | '$' | '!')
}

/// Whether what stands in a gap is no part of a compound, as in "Password - min. 8": all punctuation
/// but the few signs that join words, and those, too, beside white space.
pub(super) fn ends_run(gap: &str) -> bool {
    let spaced = is_spaced(gap);
    gap.chars().any(|character| match character {
        '\n' => true,
        '_' | '\'' | '\u{2018}' | '\u{2019}' => false,
        '-' | '.' | '/' | '\u{2010}'..='\u{2013}' => spaced,
        other => !other.is_whitespace(),
    })
}

pub(super) fn is_spaced(gap: &str) -> bool {
    gap.chars().any(char::is_whitespace)
}

/// Whether a gap is no more than the marks around a quoted or emphasised word.
pub(super) fn only_quotes(gap: &str) -> bool {
    gap.chars().all(|character| {
        character.is_whitespace()
            || matches!(character, '"' | '\'' | '`' | '*' | '_' | '<' | '\u{ab}' | '\u{300c}' | '\u{300e}')
            || matches!(character, '\u{2018}'..='\u{201f}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-FORM-07
    #[test]
    fn signs_belong_to_a_chunk_between_letters_only() {
        let chunks: Vec<_> = pieces("!p@$$word! a+b $ 2fa_x🔑").map(|piece| (piece.chunk, piece.gap)).collect();
        assert_eq!(chunks, [("p@$$word", "! "), ("a", "+"), ("b", " $ "), ("2fa", "_"), ("x", "🔑")]);
    }

    /// R-FORM-07
    #[test]
    fn joined_words_are_one_run() {
        for gap in [" ", "_", "-", ".", "/", "'", "\u{2010}", "  "] {
            assert!(!ends_run(gap), "{gap:?}");
        }
        for gap in
            [". ", "! ", " - ", " \u{2014} ", "\u{2014}", " / ", "+", "#", "*", "(", "\n", ", ", "🔑", "\u{ff1a}"]
        {
            assert!(ends_run(gap), "{gap:?}");
        }
    }
}
