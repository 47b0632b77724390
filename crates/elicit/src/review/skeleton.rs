//! Skeletons of UTS #39, section 4, with two changes: folded to lower case, since prototypes are
//! capitals now and then (`0` has `O`), and without marks, since `paypál` passes for `paypal` too.

use unicode_normalization::char::is_combining_mark;

/// Adds the skeleton of `text`, which is in lower case and normalised. Without marks, each character
/// has its own, but for those of [`EAST_ASIAN`].
pub(super) fn push(skeleton: &mut String, text: &str) {
    for label in text.split_inclusive('.') {
        let latin = !label.is_ascii() && label.bytes().any(|byte| byte.is_ascii_alphabetic());
        for character in label.chars() {
            match character {
                '0' => skeleton.push('o'),
                '1' => skeleton.push('l'),
                'm' => skeleton.push_str("rn"),
                '\0'..='\x7f' => skeleton.push(character),
                _ => push_prototype(skeleton, character, latin),
            }
        }
    }
}

fn push_prototype(skeleton: &mut String, character: char, among_latin: bool) {
    let mut buffer = [0; 4];
    let prototype = unicode_security::skeleton(character.encode_utf8(&mut buffer));
    let letters = prototype.filter(|character| !is_combining_mark(*character));
    for letter in letters.flat_map(char::to_lowercase) {
        let letter = if among_latin && !letter.is_ascii() { latin_for(letter) } else { letter };
        if letter == 'm' {
            skeleton.push_str("rn");
        } else {
            skeleton.push(letter);
        }
    }
}

/// Prototypes of Chinese, Japanese and Korean characters of few strokes, and the ASCII ones that they
/// pass for between Latin letters. Unicode's confusables keep them apart, since nobody mistakes them
/// in a text of their own.
const EAST_ASIAN: &[(char, char)] = &[
    ('〇', 'o'),
    ('〡', 'l'),
    ('ー', '-'),
    ('ㄇ', 'n'),
    ('ㄈ', 'c'),
    ('ㄥ', 'l'),
    ('ㄧ', '-'),
    ('ㄨ', 'x'),
    ('ㄩ', 'u'),
    ('一', '-'),
    ('丁', 't'),
    ('丅', 't'),
    ('丨', 'l'),
    ('丫', 'y'),
    ('乂', 'x'),
    ('乙', 'z'),
    ('乚', 'l'),
    ('亅', 'j'),
    ('冂', 'n'),
    ('几', 'n'),
    ('凵', 'u'),
    ('匚', 'c'),
    ('匸', 'c'),
    ('卜', 't'),
    ('卩', 'p'),
    ('口', 'o'),
    ('尸', 'p'),
    ('山', 'w'),
    ('工', 'i'),
];

fn latin_for(prototype: char) -> char {
    let index = EAST_ASIAN.binary_search_by_key(&prototype, |(character, _)| *character);
    index.ok().and_then(|index| EAST_ASIAN.get(index)).map_or(prototype, |(_, latin)| *latin)
}

/// The skeleton of `text`, which is in lower case.
pub(super) fn of(text: &str) -> String {
    let mut skeleton = String::with_capacity(text.len() + 4);
    push(&mut skeleton, text);
    skeleton
}

/// Whether the skeleton of `text`, which has no Latin letters, is ASCII.
pub(super) fn is_ascii(text: &str) -> bool {
    text.chars().all(|character| {
        let mut buffer = [0; 4];
        character.is_ascii()
            || unicode_security::skeleton(character.encode_utf8(&mut buffer))
                .all(|letter| letter.is_ascii() || is_combining_mark(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn east_asian_characters_are_sorted_prototypes() {
        assert!(EAST_ASIAN.is_sorted_by(|(a, _), (b, _)| a < b));
        for (character, latin) in EAST_ASIAN {
            assert_eq!(of(&format!("a{character}")), format!("a{latin}"), "{character}");
        }
    }

    /// R-URL-08: without Latin letters, a word is what it is.
    #[test]
    fn east_asian_words_stay_what_they_are() {
        assert_eq!(of("工口"), "工口");
        assert_eq!(of("a.工口.b"), "a.工口.b");
    }

    /// R-URL-08: the short way for ASCII gives what the Unicode tables give.
    #[test]
    fn ascii_skeletons_are_those_of_unicode() {
        for byte in (b'a'..=b'z').chain(b'0'..=b'9').chain(*b"-._") {
            let text = char::from(byte).to_string();
            let expected = unicode_security::skeleton(&text).collect::<String>().to_lowercase();
            assert_eq!(of(&text), expected);
        }
    }
}
