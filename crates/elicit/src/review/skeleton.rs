//! Skeletons of UTS #39, section 4, with two changes: folded to lower case, since prototypes are
//! capitals now and then (`0` has `O`), and without marks, since `paypál` passes for `paypal` too.

use unicode_normalization::char::is_combining_mark;

/// Adds the skeleton of `text`, which is in lower case and normalised. Without marks, each character
/// has its own.
pub(super) fn push(skeleton: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '0' => skeleton.push('o'),
            '1' => skeleton.push('l'),
            'm' => skeleton.push_str("rn"),
            '\0'..='\x7f' => skeleton.push(character),
            _ => {
                let mut buffer = [0; 4];
                let prototype = unicode_security::skeleton(character.encode_utf8(&mut buffer));
                let letters = prototype.filter(|character| !is_combining_mark(*character));
                skeleton.extend(letters.flat_map(char::to_lowercase));
            }
        }
    }
}

/// The skeleton of `text`, which is in lower case.
pub(super) fn of(text: &str) -> String {
    let mut skeleton = String::with_capacity(text.len() + 4);
    push(&mut skeleton, text);
    skeleton
}

#[cfg(test)]
mod tests {
    /// R-URL-08: the short way for ASCII gives what the Unicode tables give.
    #[test]
    fn ascii_skeletons_are_those_of_unicode() {
        for byte in (b'a'..=b'z').chain(b'0'..=b'9').chain(*b"-._") {
            let text = char::from(byte).to_string();
            let expected = unicode_security::skeleton(&text).collect::<String>().to_lowercase();
            assert_eq!(super::of(&text), expected);
        }
    }
}
