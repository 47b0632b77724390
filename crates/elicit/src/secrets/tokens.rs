//! Names and titles as lists of words.

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

/// A word of a text, in the form in which words are compared.
pub(super) type Word = String;

/// A run of words that belong together: `password_reset_url` is one, and
/// `Password (at most 64 characters)` two.
pub(super) struct Run {
    /// Split at case changes and digits, too: `maxTokens2` is `max`, `tokens`.
    pub(super) words: Vec<Word>,
    /// Split at separators alone, with look-alike digits and signs read as letters: `p@ssWord` is
    /// `password`, and `2fa` stays.
    pub(super) chunks: Vec<Word>,
    /// Whether its last word names a thing: "token for GitHub" does, "pin to top" does not.
    pub(super) names: bool,
}

impl Run {
    fn empty() -> Self {
        Self { words: Vec::new(), chunks: Vec::new(), names: true }
    }
}

/// Words that a person reads over.
const FILLERS: [&str; 14] =
    ["your", "my", "the", "a", "an", "enter", "please", "new", "old", "current", "our", "their", "this", "user"];

/// Words after which another thing begins: "Password for the file server" asks for no file.
const BREAKS: [&str; 14] =
    ["for", "of", "to", "in", "on", "with", "and", "or", "from", "by", "at", "is", "used", "that"];

/// Those after which it says whose or what for.
const NAMING: [&str; 3] = ["for", "of", "from"];

/// The runs of a name, a title or a sentence.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let text: String = text.nfkc().filter(|character| !ignorable(*character)).collect();
    let mut runs = Vec::new();
    let mut run = Run::empty();
    let parts = text.split_inclusive(|character| ends_chunk(character));
    for part in parts {
        let end = part.chars().next_back().filter(|end| ends_chunk(*end));
        let chunk = end.map_or(part, |end| part.strip_suffix(end).unwrap_or(part));
        if !chunk.is_empty() {
            let plain = compared(chunk);
            if BREAKS.contains(&plain.as_str()) {
                run.names = NAMING.contains(&plain.as_str());
                runs.push(std::mem::replace(&mut run, Run::empty()));
            } else if !FILLERS.contains(&plain.as_str()) {
                split_words(chunk, &mut run.words);
                run.chunks.push(letters_of(chunk));
            }
        }
        if end.is_some_and(ends_run) {
            runs.push(std::mem::replace(&mut run, Run::empty()));
        }
    }
    runs.push(run);
    runs.retain(|run| !run.chunks.is_empty());
    runs
}

/// The form in which words are compared: lower case, accents kept apart, look-alikes made one.
pub(super) fn compared(word: &str) -> Word {
    skeleton(&word.to_lowercase()).collect::<String>().to_lowercase()
}

/// A chunk with look-alike digits and signs read as letters, where it has letters at all.
fn letters_of(chunk: &str) -> Word {
    let chunk = chunk.trim_end_matches(|character: char| character.is_ascii_digit());
    let first_digit = chunk.starts_with(|character: char| character.is_ascii_digit());
    let read = chunk.chars().map(|character| match character {
        '@' | '4' if !first_digit => 'a',
        '$' | '5' if !first_digit => 's',
        '0' if !first_digit => 'o',
        '3' if !first_digit => 'e',
        '1' | '!' if !first_digit => 'l',
        '7' if !first_digit => 't',
        other => other,
    });
    compared(&read.collect::<String>())
}

fn split_words(chunk: &str, words: &mut Vec<Word>) {
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
        if (new_word || character.is_numeric()) && !word.is_empty() {
            words.push(compared(&std::mem::take(&mut word)));
        }
        if !character.is_numeric() {
            word.push(character);
        }
        before = Some(character);
    }
    if !word.is_empty() {
        words.push(compared(&word));
    }
}

fn ends_chunk(character: char) -> bool {
    matches!(character, '_' | '-' | '.' | '/' | '\'' | '\u{2019}' | '\u{2010}'..='\u{2015}')
        || character.is_whitespace()
        || ends_run(character)
}

/// Punctuation that is no part of a compound.
fn ends_run(character: char) -> bool {
    matches!(
        character,
        '(' | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | ','
            | ';'
            | ':'
            | '?'
            | '"'
            | '='
            | '|'
            | '\n'
            | '\u{201c}'
            | '\u{201d}'
            | '\u{ab}'
            | '\u{bb}'
            | '\u{3001}'
            | '\u{3002}'
            | '\u{300c}'
            | '\u{300d}'
            | '\u{2026}'
    )
}

/// Characters that show nothing, and so hide in the middle of a word.
fn ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}
