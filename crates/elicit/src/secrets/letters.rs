//! Letters in the form in which they are compared: lower case, without marks, look-alikes made one.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

use crate::review::characters::{is_bidi_control, is_invisible};

/// A word of a text, in the form in which words are compared.
pub(super) type Word = String;

/// The characters of a text that show: compatibility forms and accented letters taken apart, without
/// the marks. Capitals stay.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.nfkd().filter(|character| !is_combining_mark(*character) && !ignorable(*character)).collect()
}

/// A word of a [`plain`] text in the form in which words are compared.
pub(super) fn folded(word: &str) -> Word {
    let mut folded = Word::with_capacity(word.len() + 4);
    for character in word.chars() {
        if character.is_ascii() {
            fold(character.to_ascii_lowercase(), &mut folded);
        } else {
            character.to_lowercase().for_each(|character| fold(character, &mut folded));
        }
    }
    folded
}

fn fold(character: char, folded: &mut Word) {
    match character {
        // As in the tables of UTS #39, section 4, in lower case.
        '0' => folded.push('o'),
        '1' => folded.push('l'),
        'm' => folded.push_str("rn"),
        'ß' => folded.push_str("ss"),
        '\0'..='\x7f' => folded.push(character),
        _ => {
            let mut buffer = [0; 4];
            let prototype = skeleton(character.encode_utf8(&mut buffer));
            let letters = prototype.filter(|character| !is_combining_mark(*character));
            folded.extend(letters.flat_map(char::to_lowercase));
        }
    }
}

/// A word in the form in which words are compared.
pub(super) fn compared(word: &str) -> Word {
    folded(&plain(word))
}

/// The ways to write a word of the lists: `schlüssel` is `schlussel` or `schluessel`.
pub(super) fn spellings(word: &str) -> Vec<Word> {
    let spelt_out = word.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
    let mut spellings = vec![compared(word)];
    if spelt_out != word {
        spellings.push(compared(&spelt_out));
    }
    spellings
}

/// Characters that show nothing, and so hide in the middle of a word.
fn ignorable(character: char) -> bool {
    is_bidi_control(character) || is_invisible(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-FORM-07: the short way for ASCII gives what the Unicode tables give.
    #[test]
    fn ascii_letters_are_folded_as_unicode_has_it() {
        for byte in (b'a'..=b'z').chain(b'0'..=b'9') {
            let text = char::from(byte).to_string();
            assert_eq!(folded(&text), skeleton(&text).collect::<String>().to_lowercase());
        }
    }

    /// R-FORM-07
    #[test]
    fn accents_and_umlauts_may_be_left_out_or_spelt_out() {
        assert_eq!(compared("CONTRASEÑA"), compared("contrasena"));
        assert_eq!(compared("n\u{303}"), compared("ñ"));
        assert!(spellings("schlüssel").contains(&compared("Schluessel")));
        assert!(spellings("schlüssel").contains(&compared("SCHLÜSSEL")));
        assert_eq!(compared("GROẞ"), compared("gross"));
        assert_eq!(spellings("key").len(), 1);
    }
}
