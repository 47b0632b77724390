//! Looks for the words of a secret in a text.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Strength;
use super::tokens::{Run, Word, compared, runs};
use super::words::{CANCELS_AFTER, CANCELS_BEFORE, ENDINGS, HEADS, PHRASES, UNSPACED, UNSPACED_CANCELS, WHOLE};

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

/// The word lists in the form in which words are compared.
struct Lists {
    /// By first word; the longer phrases first.
    phrases: HashMap<Word, Vec<(Vec<Word>, Phrase)>>,
    unspaced: Vec<(Word, Phrase)>,
    unspaced_cancels: Vec<Word>,
    whole: HashMap<Word, Phrase>,
    heads: HashMap<Word, Phrase>,
    endings: Vec<(Word, Phrase)>,
    after: Vec<Word>,
    before: Vec<Word>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(Lists::new);

impl Lists {
    fn new() -> Self {
        let mut phrases: HashMap<Word, Vec<(Vec<Word>, Phrase)>> = HashMap::new();
        for (what, strength, sort) in PHRASES {
            let phrase = Phrase { what, strength: *strength, sort: *sort };
            let words: Vec<Word> = what.split(' ').map(compared).collect();
            // Written as one word it is the same: `apikey`, `accessToken` without its capital.
            let joined = vec![compared(&what.replace(' ', ""))];
            for words in [words, joined] {
                if let Some((first, rest)) = words.split_first() {
                    phrases.entry(first.clone()).or_default().push((rest.to_vec(), phrase));
                }
            }
        }
        for list in phrases.values_mut() {
            list.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        let word = |(what, strength, sort): &(&'static str, Strength, Sort)| {
            (compared(what), Phrase { what, strength: *strength, sort: *sort })
        };
        let weak = |(what, sort): &(&'static str, Sort)| {
            (compared(what), Phrase { what, strength: Strength::Weak, sort: *sort })
        };
        let strong =
            |what: &&'static str| (compared(what), Phrase { what, strength: Strength::Strong, sort: Sort::Text });
        let plain = |list: &[&str]| list.iter().map(|word| compared(word)).collect();
        Self {
            phrases,
            unspaced: UNSPACED.iter().map(word).collect(),
            unspaced_cancels: plain(UNSPACED_CANCELS),
            whole: WHOLE.iter().map(word).collect(),
            heads: HEADS.iter().map(weak).collect(),
            endings: ENDINGS.iter().map(strong).collect(),
            after: plain(CANCELS_AFTER),
            before: plain(CANCELS_BEFORE),
        }
    }

    /// The longest phrase that begins at `start`, and where it ends.
    fn at(&self, words: &[Word], start: usize) -> Option<(usize, Phrase)> {
        let first = words.get(start)?;
        let listed = self.phrases.get(first).and_then(|list| {
            list.iter().find_map(|(rest, phrase)| {
                let end = start + 1 + rest.len();
                (words.get(start + 1..end) == Some(rest)).then_some((end, *phrase))
            })
        });
        listed.or_else(|| {
            let (_, phrase) = self.endings.iter().find(|(ending, _)| first.ends_with(ending.as_str()))?;
            Some((start + 1, *phrase))
        })
    }

    fn cancelled(&self, words: &[Word], start: usize, end: usize) -> bool {
        let before = start.checked_sub(1).and_then(|place| words.get(place));
        before.is_some_and(|word| self.before.contains(word))
            || words.iter().skip(end).any(|word| self.after.contains(word))
    }

    fn in_words(&self, words: &[Word], names: bool, found: &mut Option<Phrase>) {
        let mut start = 0;
        while start < words.len() {
            let (end, phrase) = match self.at(words, start) {
                Some((end, phrase)) => (end, Some(phrase)),
                // What ends a compound is what the compound is.
                None if names && start + 1 == words.len() => (start + 1, self.heads.get(&words[start]).copied()),
                None => (start + 1, None),
            };
            if let Some(phrase) = phrase.filter(|_| !self.cancelled(words, start, end)) {
                keep(found, phrase);
            }
            start = end;
        }
    }

    fn in_unspaced(&self, chunk: &str, rest: &[Word], found: &mut Option<Phrase>) {
        for (word, phrase) in &self.unspaced {
            let Some(start) = chunk.find(word.as_str()) else { continue };
            let after = chunk.get(start + word.len()..).unwrap_or_default();
            let about = |text: &str| self.unspaced_cancels.iter().any(|cancel| text.starts_with(cancel.as_str()));
            let next = rest.first().is_some_and(|next| after.is_empty() && about(next));
            if !about(after) && !next {
                keep(found, *phrase);
            }
        }
    }

    fn in_run(&self, run: &Run, found: &mut Option<Phrase>) {
        self.in_words(&run.words, run.names, found);
        self.in_words(&run.chunks, run.names, found);
        for (index, chunk) in run.chunks.iter().enumerate() {
            if !chunk.is_ascii() {
                self.in_unspaced(chunk, run.chunks.get(index + 1..).unwrap_or_default(), found);
            }
        }
    }
}

/// The first of the strongest.
fn keep(found: &mut Option<Phrase>, phrase: Phrase) {
    if found.is_none_or(|found| found.strength < phrase.strength) {
        *found = Some(phrase);
    }
}

/// The strongest phrase in a name, a title or a sentence.
pub(super) fn best(text: &str) -> Option<Phrase> {
    let runs = runs(text);
    let mut found = None;
    if let [run] = runs.as_slice()
        && let [only] = run.words.as_slice()
        && run.names
        && let Some(phrase) = LISTS.whole.get(only)
    {
        keep(&mut found, *phrase);
    }
    for run in &runs {
        LISTS.in_run(run, &mut found);
    }
    found
}

/// Whether a text is "PIN code", however it is written.
pub(super) fn is_pin_code(text: &str) -> bool {
    let runs = runs(text);
    let [run] = runs.as_slice() else { return false };
    let pin_code = ["pin", "code"].map(compared);
    run.words == pin_code || run.chunks == [compared("pincode")]
}

/// Whether a pattern asks for four to eight digits and nothing else.
pub(super) fn is_pin_pattern(pattern: &str) -> bool {
    let digits = pattern.trim_start_matches('^').trim_end_matches('$');
    let Some(count) = digits.strip_prefix("\\d").or_else(|| digits.strip_prefix("[0-9]")) else { return false };
    let Some(count) = count.strip_prefix('{').and_then(|count| count.strip_suffix('}')) else { return false };
    let (least, most) = count.split_once(',').unwrap_or((count, count));
    let in_range = |text: &str| text.trim().parse::<u32>().is_ok_and(|count| (4..=8).contains(&count));
    in_range(least) && in_range(most)
}
