//! The text that is being read.

use std::borrow::Cow;
use std::ops::Range;
use std::str::Chars;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The most characters of which NFC makes one (U+1F82, say).
const MOST_COMPOSED: usize = 4;

/// As much of a text as can be of use, in NFC.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// The characters after it, which nobody looks at.
    pub(super) beyond: usize,
}

impl<'a> Source<'a> {
    /// The beginning of `text` for an output of at most `characters`.
    pub(super) fn read(text: &'a str, characters: usize) -> Self {
        let most = characters.saturating_mul(MOST_COMPOSED);
        let end = if text.len() <= most { None } else { text.char_indices().nth(most) };
        let (text, rest) = end.and_then(|(end, _)| text.split_at_checked(end)).unwrap_or((text, ""));
        let text = match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => Cow::Borrowed(text),
            IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
        };
        Self { text, beyond: rest.chars().count() }
    }

    /// The bytes before what is `left`, an iterator over the end of this text.
    pub(super) fn before(&self, left: &Chars<'_>) -> usize {
        self.text.len() - left.as_str().len()
    }

    /// How many characters there are in `bytes`.
    pub(super) fn characters(&self, bytes: Range<usize>) -> usize {
        self.text.get(bytes).map_or(0, |part| part.chars().count())
    }
}
