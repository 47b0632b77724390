//! Looks for the words of a secret in a text.

use super::Strength;
use super::dictionary::{Role, Token};
use super::letters::plain;
use super::lists::{LISTS, Lists, Unspaced};
use super::runs::{Reading, Run, runs};

/// What a secret is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Any characters: no number field asks for it.
    Text,
    /// Digits.
    Digits,
}

/// A phrase that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) what: &'static str,
    pub(super) strength: Strength,
    pub(super) sort: Sort,
}

/// The strongest phrase in a name, a title or a sentence whose sort is `wanted`; the first of these.
pub(super) fn best(text: &str, wanted: impl Fn(Sort) -> bool) -> Option<Phrase> {
    let text = plain(text);
    let mut best = Best { wanted, found: None };
    for reading in readings(&text) {
        let runs = runs(&text, reading);
        if let [only] = runs.as_slice()
            && let Some(phrase) = LISTS.whole(&only.words).filter(|_| only.names)
        {
            best.keep(phrase);
        }
        for run in runs.iter().filter(|run| !run.owns) {
            best.read(&LISTS, run, reading);
            if best.is_final() {
                return best.found;
            }
        }
    }
    best.found
}

/// The ways to read a text that differ: of words in small letters, there is one.
fn readings(text: &str) -> impl Iterator<Item = Reading> {
    let differ = !text.bytes().all(|byte| {
        byte.is_ascii() && !byte.is_ascii_uppercase() && !byte.is_ascii_digit() && !matches!(byte, b'@' | b'$' | b'!')
    });
    std::iter::once(Reading::Split).chain(differ.then_some(Reading::Whole))
}

/// The best so far.
struct Best<F> {
    wanted: F,
    found: Option<Phrase>,
}

impl<F: Fn(Sort) -> bool> Best<F> {
    fn keep(&mut self, phrase: Phrase) {
        if (self.wanted)(phrase.sort) && self.found.is_none_or(|found| found.strength < phrase.strength) {
            self.found = Some(phrase);
        }
    }

    /// Nothing is stronger.
    fn is_final(&self) -> bool {
        self.found.is_some_and(|found| found.strength == Strength::Strong)
    }

    fn read(&mut self, lists: &Lists, run: &Run, reading: Reading) {
        self.in_words(lists, run, reading);
        if reading == Reading::Whole {
            let mut words = run.words.iter().peekable();
            while let Some(token) = words.next().filter(|_| !self.is_final()) {
                if !token.word.is_ascii() {
                    self.in_unspaced(&lists.unspaced, &token.word, words.peek().copied());
                }
            }
        }
    }

    fn in_words(&mut self, lists: &Lists, run: &Run, reading: Reading) {
        // Whatever stands before it is about something else.
        let last_cancel = run.words.iter().rposition(|word| word.is(Role::CANCELS));
        let mut before: Option<&Token> = None;
        let mut start = 0;
        while let Some((first, rest)) = run.words.get(start..).and_then(<[Token]>::split_first) {
            if self.is_final() {
                return;
            }
            let compound = || lists.in_compound(&first.word).filter(|_| reading == Reading::Split);
            let found = first.begins(rest).or_else(|| compound().map(|phrase| (1, phrase)));
            let (length, phrase) = match found {
                Some((length, phrase)) => (length, Some(phrase)),
                None if run.names && rest.is_empty() && !before.is_some_and(|word| word.is(Role::BEFORE_KEY)) => {
                    (1, first.entry.and_then(|entry| entry.head))
                }
                None => (1, None),
            };
            let counted = before.is_some_and(|word| word.is(Role::QUANTITY));
            start += length;
            if let Some(phrase) = phrase.filter(|_| !counted && last_cancel.is_none_or(|place| place < start)) {
                self.keep(phrase);
            }
            before = start.checked_sub(1).and_then(|last| run.words.get(last));
        }
    }

    /// Looks for all words of scripts without spaces in a chunk, which the chunk `next` follows.
    fn in_unspaced(&mut self, lists: &Unspaced, chunk: &str, next: Option<&Token>) {
        let chunk = lists.others.iter().fold(chunk.to_owned(), |chunk, other| {
            // A space is in no chunk, and so in no word.
            if chunk.contains(other.as_str()) { chunk.replace(other.as_str(), " ") } else { chunk }
        });
        for (word, phrase) in &lists.words {
            let cancelled = |(place, _): (usize, &str)| {
                let after = chunk.get(place + word.len()..).unwrap_or_default();
                // "of", as in "the length of the password".
                let after = after.strip_prefix(['的', 'の']).unwrap_or(after);
                let begins = || lists.cancels.iter().any(|cancel| after.starts_with(cancel.as_str()));
                match next {
                    Some(next) if after.is_empty() => {
                        next.is(Role::CANCELS)
                            || [&lists.cancels, &lists.ends].into_iter().any(|list| list.contains(&next.word))
                    }
                    _ => begins() || lists.ends.iter().any(|end| after == end),
                }
            };
            if !chunk.match_indices(word.as_str()).all(cancelled) {
                self.keep(*phrase);
            }
        }
    }
}
