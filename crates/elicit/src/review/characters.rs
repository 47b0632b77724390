//! Characters that have no place in a URL as it was sent.

/// What stands in a raw URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Characters {
    /// Control characters and white space, ASCII or not.
    pub(super) control: bool,
    /// Characters that set the direction of text.
    pub(super) bidi_control: bool,
    /// Characters without a glyph.
    pub(super) invisible: bool,
}

impl Characters {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        for byte in text.bytes() {
            found.control |= byte <= b' ' || byte == 0x7f;
        }
        if !text.is_ascii() {
            for character in text.chars().filter(|character| !character.is_ascii()) {
                found.control |= character.is_control() || character.is_whitespace();
                found.bidi_control |= is_bidi_control(character);
                found.invisible |= is_invisible(character);
            }
        }
        found
    }

    pub(super) fn any(self) -> bool {
        self.control || self.bidi_control || self.invisible
    }
}

/// Unicode's property `Bidi_Control`.
pub(crate) fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Unicode's property `Default_Ignorable_Code_Point` but for the bidi controls, the other format
/// characters without a glyph, and the blank Braille pattern.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a person can see every character, but for the `allowed` ones, and read them in order.
pub(super) fn is_legible(text: &str, allowed: &[char]) -> bool {
    let illegible = |character: char| {
        character.is_control()
            || character.is_whitespace()
            || is_bidi_control(character)
            || is_invisible(character)
            || character == char::REPLACEMENT_CHARACTER
    };
    text.chars().all(|character| !illegible(character) || allowed.contains(&character))
}

/// Whether letters are written from the right: the blocks of Unicode's bidi classes R and AL.
pub(super) fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}
