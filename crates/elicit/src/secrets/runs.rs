//! Names, titles and sentences as runs of words.

use super::dictionary::{Role, Token};
use super::letters::{Word, folded};
use super::pieces::{ends_run, is_spaced, only_quotes, pieces, stands_for_a_letter};

/// A run of words that belong together: `password_reset_url` is one, and
/// `Password (at most 64 characters)` two.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) words: Vec<Token>,
    /// Whether its last word names a thing: "token for GitHub" does, "pin to top" does not.
    pub(super) names: bool,
    /// Whether it only says what something belongs to: "your API key" in "Name of your API key".
    pub(super) owns: bool,
}

/// How a chunk of letters is read. A text is read both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Split at case changes, digits and signs: `maxTokens2` is `max`, `tokens`.
    Split,
    /// As one word, with digits and signs between letters read as letters: `p@ssWord` is `password`,
    /// and `2fa` stays.
    Whole,
}

/// The runs of a [`plain`](super::letters::plain) text.
pub(super) fn runs(text: &str, reading: Reading) -> Vec<Run> {
    let mut reader = Reader { runs: Vec::new(), words: Vec::new(), owns: false };
    let mut spaced = false;
    for piece in pieces(text) {
        if spaced && piece.chunk.starts_with(|first: char| first.is_ascii_digit()) {
            // "Password min 8 characters" is about the answer, not about something else.
            reader.drop_last(Role::MEASURE);
        }
        match reading {
            Reading::Split => split_words(piece.chunk, |word| reader.read(word)),
            Reading::Whole => reader.read(letters_of(piece.chunk)),
        }
        spaced = is_spaced(piece.gap);
        if ends_run(piece.gap) {
            if piece.gap.starts_with('.') {
                reader.drop_last(Role::ABBREVIATED);
            }
            let owns = reader.owns && reader.words.is_empty() && only_quotes(piece.gap);
            reader.end(true);
            reader.owns = owns;
        }
    }
    reader.end(true);
    reader.runs
}

struct Reader {
    runs: Vec<Run>,
    words: Vec<Token>,
    owns: bool,
}

impl Reader {
    fn read(&mut self, word: Word) {
        if word.is_empty() {
            return;
        }
        let token = Token::new(word);
        if token.is(Role::FILLER) {
            // Read over.
        } else if token.is(Role::GENITIVE) {
            if self.after_topic() {
                self.end(true);
                self.owns = true;
            }
        } else if token.is(Role::BREAK) {
            let owns = token.is(Role::LEADING) && self.after_topic();
            self.end(token.is(Role::NAMING));
            self.owns = owns;
        } else {
            self.words.push(token);
        }
    }

    fn after_topic(&self) -> bool {
        self.words.last().is_some_and(|last| last.is(Role::TOPIC))
    }

    fn drop_last(&mut self, role: Role) {
        while self.words.pop_if(|word| word.is(role)).is_some() {}
    }

    fn end(&mut self, names: bool) {
        let words = std::mem::take(&mut self.words);
        let owns = std::mem::take(&mut self.owns);
        if !words.is_empty() {
            self.runs.push(Run { words, names, owns });
        }
    }
}

/// A chunk with look-alike digits and signs read as letters.
fn letters_of(chunk: &str) -> Word {
    let chunk = chunk.trim_end_matches(|character: char| character.is_ascii_digit() || stands_for_a_letter(character));
    let read = |(place, character)| match character {
        digit if place == 0 => digit,
        '@' | '4' => 'a',
        '$' | '5' => 's',
        '0' => 'o',
        '3' => 'e',
        '1' | '!' => 'l',
        '7' => 't',
        other => other,
    };
    folded(&chunk.char_indices().map(read).collect::<String>())
}

fn split_words(chunk: &str, mut found: impl FnMut(Word)) {
    let mut word = String::new();
    let mut characters = chunk.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        let next_lower = characters.peek().is_some_and(|next| next.is_lowercase());
        let new_word = match before {
            // `apiKey`, and the end of `API` in `APIKey`.
            Some(before) if char::is_lowercase(before) => character.is_uppercase(),
            Some(before) if char::is_uppercase(before) => character.is_uppercase() && next_lower,
            _ => false,
        };
        let is_letter = !character.is_numeric() && !stands_for_a_letter(character);
        if (new_word || !is_letter) && !word.is_empty() {
            found(folded(&word));
            word.clear();
        }
        if is_letter {
            word.push(character);
        }
        before = Some(character);
    }
    if !word.is_empty() {
        found(folded(&word));
    }
}
