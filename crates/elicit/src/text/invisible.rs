//! Invisible characters that stand where a script or an emoji needs them.
//!
//! What is decided here must be decided alike when the cleaned text is cleaned again. So a decision rests on the
//! character before, as it was written out, and on what follows only where that is sure to be written out too.

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use super::character::{is_hidden, is_in_inversion_list, is_in_ranges};
use super::draft::MOST_MARKS;
use super::pictographs::PICTOGRAPHS;

const ZERO_WIDTH_NON_JOINER: char = '\u{200C}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';
const TEXT_STYLE: char = '\u{FE0E}';
const EMOJI_STYLE: char = '\u{FE0F}';
const ENCLOSING_KEYCAP: char = '\u{20E3}';

/// The canonical combining class of viramas.
const VIRAMA: u8 = 9;

/// The black flag, which a sequence of tags makes the flag of a subdivision.
pub(super) const BLACK_FLAG: char = '\u{1F3F4}';

/// The tags after a black flag that are recommended for general interchange (UTS #51, emoji 16): England, Scotland,
/// Wales.
const SUBDIVISIONS: [&str; 3] = [
    "\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Blocks of living scripts whose spelling uses the joiners.
const JOINING: [(u32, u32); 16] = [
    (0x0600, 0x07FF),   // Arabic, Syriac, Thaana, N'Ko
    (0x0840, 0x08FF),   // Mandaic, Syriac and Arabic extensions
    (0x0900, 0x0DFF),   // Devanagari to Sinhala
    (0x1000, 0x109F),   // Myanmar
    (0x1780, 0x17FF),   // Khmer
    (0x1820, 0x18AA),   // Mongolian
    (0x1A20, 0x1AAF),   // Tai Tham
    (0x1B00, 0x1BBF),   // Balinese, Sundanese
    (0x1CD0, 0x1CFF),   // Vedic extensions
    (0xA8E0, 0xA8FF),   // Devanagari extended
    (0xA980, 0xA9DF),   // Javanese
    (0xAAE0, 0xAAFF),   // Meetei Mayek extensions
    (0xABC0, 0xABFF),   // Meetei Mayek
    (0x10D00, 0x10D3F), // Hanifi Rohingya
    (0x11100, 0x1114F), // Chakma
    (0x1E900, 0x1E95F), // Adlam
];

/// CJK unified ideographs, which ideographic variation sequences begin with.
const IDEOGRAPHS: [(u32, u32); 3] = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x3FFFD)];

/// Whether `character`, one of [`Kind::Hidden`](super::character::Kind::Hidden), belongs between `previous` (the last character written out, if it is
/// one of the text) and `after` (the text that follows), with `marks` nonspacing marks on the base so far.
pub(super) fn belongs(character: char, previous: Option<char>, after: &str, marks: usize) -> bool {
    let Some(previous) = previous else {
        return false;
    };
    let next = after.chars().next();
    match character {
        ZERO_WIDTH_JOINER if ends_emoji(previous) => next.is_some_and(is_pictograph),
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => joins(previous, next, marks),
        EMOJI_STYLE if matches!(previous, '0'..='9' | '#' | '*') => next == Some(ENCLOSING_KEYCAP),
        TEXT_STYLE | EMOJI_STYLE => is_pictograph(previous),
        // Of the 240 selectors of ideographic variation sequences, names are written with the first few. All of them,
        // or several in a row, would carry a text that nobody sees.
        '\u{E0100}'..='\u{E010F}' => is_in_ranges(&IDEOGRAPHS, previous),
        '\u{180B}'..='\u{180F}' => ('\u{1820}'..='\u{18AA}').contains(&previous),
        _ => false,
    }
}

/// The tags at the start of `text` that make a black flag before them the flag of a subdivision.
pub(super) fn subdivision(text: &str) -> Option<&'static str> {
    SUBDIVISIONS.into_iter().find(|tags| text.starts_with(tags))
}

/// Whether `character` joins what is before it to what comes after.
pub(super) fn is_joiner(character: char) -> bool {
    matches!(character, ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER)
}

fn joins(previous: char, next: Option<char>, marks: usize) -> bool {
    let written = |character: char| {
        is_in_ranges(&JOINING, character)
            && !is_hidden(character)
            && (character.is_alphabetic() || is_combining_mark(character))
    };
    let followed = next.is_some_and(|next| written(next) && (marks < MOST_MARKS || !is_combining_mark(next)));
    // After a virama a joiner picks the form of the consonant before it, also at the end of a word.
    written(previous) && (followed || canonical_combining_class(previous) == VIRAMA)
}

fn ends_emoji(character: char) -> bool {
    is_pictograph(character) || is_skin_tone(character) || character == EMOJI_STYLE
}

fn is_pictograph(character: char) -> bool {
    is_in_inversion_list(&PICTOGRAPHS, character)
}

/// Whether `character` colours the emoji before it.
pub(super) fn is_skin_tone(character: char) -> bool {
    ('\u{1F3FB}'..='\u{1F3FF}').contains(&character)
}
