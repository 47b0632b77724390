//! What each character is to a cleaned text. The ranges are those of Unicode 16.

use unicode_normalization::char::is_combining_mark;

use super::spacing_marks::SPACING_MARKS;

/// What is done with a character where its neighbours do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// CR or LF.
    Newline,
    Tab,
    /// Drawn as nothing but room.
    Space,
    /// Drawn on or under its base: general categories Mn and Me. These pile up.
    Nonspacing,
    /// Drawn beside its base: general category Mc.
    Spacing,
    /// Not drawn, or drawn as the terminal or font pleases; shown as its code point where [`invisible`](super::invisible)
    /// does not keep it.
    Hidden,
    /// Stays.
    Plain,
}

/// Inclusive ranges of [`Kind::Hidden`], ascending: general categories Cc, Cf, Zl, Zp and Co, the properties
/// `Default_Ignorable_Code_Point` and `Bidi_Control`, and a few that fonts draw as nothing. Left out are the
/// `Prepended_Concatenation_Mark`s (such as U+0600), which are Cf and have a glyph. Noncharacters: [`kind`].
const HIDDEN: [(u32, u32); 25] = [
    (0x0000, 0x001F),     // C0 controls
    (0x007F, 0x009F),     // DEL, C1 controls
    (0x00AD, 0x00AD),     // soft hyphen
    (0x034F, 0x034F),     // combining grapheme joiner
    (0x061C, 0x061C),     // Arabic letter mark
    (0x115F, 0x1160),     // Hangul fillers
    (0x17B4, 0x17B5),     // Khmer inherent vowels
    (0x180B, 0x180F),     // Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),     // zero-width space and joiners, directional marks
    (0x2028, 0x202E),     // line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206F),     // word joiner, invisible operators, bidi isolates, deprecated format characters
    (0x3164, 0x3164),     // Hangul filler
    (0xE000, 0xF8FF),     // private use
    (0xFDD0, 0xFDEF),     // noncharacters
    (0xFE00, 0xFE0F),     // variation selectors
    (0xFEFF, 0xFEFF),     // byte order mark
    (0xFFA0, 0xFFA0),     // halfwidth Hangul filler
    (0xFFF0, 0xFFFC),     // default ignorable, interlinear annotation, object replacement character
    (0x13430, 0x1343F),   // Egyptian hieroglyph format controls
    (0x16FE4, 0x16FE4),   // Khitan small script filler
    (0x1BCA0, 0x1BCA3),   // shorthand format controls
    (0x1D159, 0x1D159),   // musical symbol null notehead
    (0x1D173, 0x1D17A),   // musical format controls
    (0xE0000, 0xE0FFF),   // tags, variation selectors supplement
    (0xF0000, 0x10_FFFF), // private use planes
];

/// The kind of `character`.
pub(super) fn kind(character: char) -> Kind {
    match character {
        '\n' | '\r' => Kind::Newline,
        '\t' => Kind::Tab,
        ' '..='~' => Kind::Plain,
        // General category Zs, and the Braille pattern without dots.
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{2800}' | '\u{3000}' => {
            Kind::Space
        }
        _ if is_hidden(character) => Kind::Hidden,
        '\0'..'\u{300}' => Kind::Plain,
        _ if !is_combining_mark(character) => Kind::Plain,
        _ if is_in_inversion_list(&SPACING_MARKS, character) => Kind::Spacing,
        _ => Kind::Nonspacing,
    }
}

/// Whether `character` is one that no glyph stands for.
pub(super) fn is_hidden(character: char) -> bool {
    // The last two of every plane are noncharacters.
    u32::from(character) & 0xFFFE == 0xFFFE || is_in_ranges(&HIDDEN, character)
}

/// Whether `character` lies in one of the ascending inclusive `ranges`.
pub(super) fn is_in_ranges(ranges: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    let at = ranges.partition_point(|(_, last)| *last < code);
    ranges.get(at).is_some_and(|(first, _)| *first <= code)
}

/// Whether `character` lies in a set that is written as the ascending code points where it begins and ends.
pub(super) fn is_in_inversion_list(bounds: &[u32], character: char) -> bool {
    bounds.partition_point(|bound| *bound <= u32::from(character)) % 2 == 1
}
