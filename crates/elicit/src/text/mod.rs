//! Text of a server, made fit to be shown to a person (R-SEC-02, R-FORM-09).
//!
//! Every string that a server sends (a message, a title, a description, the values and titles of an enum, a default,
//! a name) goes through [`clean`] or [`line()`] before anything draws it. What comes out is plain text in NFC with no
//! control, format, private-use or otherwise invisible character, but where a script or an emoji needs one:
//!
//! | in | out |
//! |---|---|
//! | CRLF, CR | newline |
//! | tab | spaces up to the next multiple of 4 characters |
//! | no-break, ideographic and other wide spaces, the Braille blank | one plain space |
//! | other controls (C0, DEL, C1), line and paragraph separators, bidi controls, zero-width characters, tags, fillers, soft hyphens, variation selectors, private-use characters, noncharacters | `‹U+001B›`: the code point, four to six hexadecimal digits |
//! | more than 4 nonspacing marks on a base (UTS #39, 5.4) | four, then `‹+7›` for seven dropped |
//! | a mark with no base | `◌` and the mark, so that it cannot sit on what was drawn before it |
//! | a line, or a text, that is too long | its beginning, then `…‹+7›` for seven characters left out |
//!
//! Kept where they do what they are for: joiners (U+200C, U+200D) inside words of scripts that join, U+200D between
//! emoji, variation selectors after emoji and in keycaps, one of the first 16 of the supplement (U+E0100 to U+E010F)
//! after an ideograph, Mongolian selectors after Mongolian letters, and the tags of the three subdivision flags in use. Left-to-right and right-to-left marks are shown everywhere.
//!
//! Cleaning is idempotent, so a text that holds `‹U+001B›` or `…‹+7›` literally stays what it is and nothing in the
//! string tells it from ours. That does no harm: a notice only ever says that a character is not shown; none says that
//! something is safe, or who is speaking.
//!
//! What is left to whoever draws: frames (box-drawing characters pass, so a frame must not depend on them alone: indent
//! or prefix every line), isolating the text (letters of right-to-left scripts pass, and reorder their neighbours on the
//! same line), columns (limits count characters), and escaping for HTML. Nothing in the text is markup.

mod character;
mod cleaning;
mod draft;
mod invisible;
mod limits;
mod links;
mod pictographs;
mod source;
mod spacing_marks;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use limits::Limits;
pub use links::{Links, links};

/// A text of a server that may have several lines, such as a message or a description, within the default [`Limits`]
/// (R-SEC-02). Borrowed where nothing had to change.
pub fn clean(text: &str) -> Cow<'_, str> {
    clean_with(text, &Limits::default())
}

/// [`clean`] within other limits. At most four times `limits.characters` of the input are read as text; the rest is
/// only counted.
pub fn clean_with<'a>(text: &'a str, limits: &Limits) -> Cow<'a, str> {
    let limits = limits.usable();
    if is_plain(text) && limits.hold(text) {
        return Cow::Borrowed(text);
    }
    unless_same(text, cleaning::lines(text, &limits))
}

/// One line of a server, such as a name or a title (R-SEC-02): as [`clean`], and newlines, tabs and runs of white space
/// become one space, none at either end. At most `longest` characters, at least one; of a longer text the last of them
/// is `…`. Borrowed where nothing had to change.
pub fn line(text: &str, longest: usize) -> Cow<'_, str> {
    let longest = longest.max(1);
    if text.len() <= longest && is_plain(text) && is_one_trimmed_line(text) {
        return Cow::Borrowed(text);
    }
    unless_same(text, cleaning::line(text, longest))
}

fn unless_same(text: &str, cleaned: String) -> Cow<'_, str> {
    if cleaned == text { Cow::Borrowed(text) } else { Cow::Owned(cleaned) }
}

/// Whether `text` is printable ASCII and newlines, which is in NFC and needs no look at its characters. The folds have
/// no early exit, so that they compile to vector instructions.
fn is_plain(text: &str) -> bool {
    text.as_bytes()
        .chunks(64)
        .all(|chunk| chunk.iter().fold(true, |plain, byte| plain & matches!(byte, b'\n' | b' '..=b'~')))
}

/// Whether a plain text has no newline, no two spaces together and none at either end.
fn is_one_trimmed_line(text: &str) -> bool {
    let mut after_space = true;
    for byte in text.bytes() {
        let space = byte == b' ';
        if byte == b'\n' || (space && after_space) {
            return false;
        }
        after_space = space;
    }
    text.is_empty() || !after_space
}
