//! The words of the lists, in the form in which words are compared, and what each does.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::Strength;
use super::letters::{Word, compared, spellings};
use super::phrases::Phrase;
use super::words::{
    ABBREVIATED, ABOUT, ARTICLES, BREAKS, CANCELS_AFTER, CANCELS_BEFORE_KEY, ENGLISH, FILLERS, FOLLOWS_ONLY, FRENCH,
    GENITIVE_CANCELS, GENITIVES, GERMAN, HEADS, LEADING, Listed, MEASURES, NAMING, OTHER_LANGUAGES, QUANTITIES,
    RUSSIAN, SPANISH,
};

/// What a word does to its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Role(u16);

impl Role {
    /// It is read over.
    pub(super) const FILLER: Self = Self(1);
    /// It is read over, but makes a topic of what stands before it.
    pub(super) const GENITIVE: Self = Self(1 << 1);
    /// Another thing begins after it.
    pub(super) const BREAK: Self = Self(1 << 2);
    /// A break after which it says whose or what for.
    pub(super) const NAMING: Self = Self(1 << 3);
    /// A break that makes a topic of what stands before it.
    pub(super) const LEADING: Self = Self(1 << 4);
    /// It can be a topic: a "name" of a key.
    pub(super) const TOPIC: Self = Self(1 << 5);
    /// Before a number, it says how long the answer is.
    pub(super) const MEASURE: Self = Self(1 << 6);
    /// It is written with a full stop.
    pub(super) const ABBREVIATED: Self = Self(1 << 7);
    /// It cancels what stands before it.
    pub(super) const CANCELS: Self = Self(1 << 8);
    /// It cancels what stands directly after it.
    pub(super) const QUANTITY: Self = Self(1 << 9);
    /// It cancels a bare key or token directly after it.
    pub(super) const BEFORE_KEY: Self = Self(1 << 10);
}

/// The end of a phrase, from its second word on.
#[derive(Debug)]
struct Tail {
    words: Vec<Word>,
    phrase: Phrase,
}

/// What a word of the lists does.
#[derive(Debug, Default)]
pub(super) struct Entry {
    roles: u16,
    /// The phrases that it begins, the longer ones first.
    begins: Vec<Tail>,
    /// What it gives away at the end of a compound.
    pub(super) head: Option<Phrase>,
}

/// A word of a text.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) entry: Option<&'static Entry>,
}

impl Token {
    pub(super) fn new(word: Word) -> Self {
        let entry = DICTIONARY.get(word.as_str());
        Self { word, entry }
    }

    pub(super) fn is(&self, role: Role) -> bool {
        self.entry.is_some_and(|entry| entry.roles & role.0 != 0)
    }

    /// The longest phrase that begins with this word and goes on with `rest`, and its length.
    pub(super) fn begins(&self, rest: &[Token]) -> Option<(usize, Phrase)> {
        let tail = self.entry?.begins.iter().find(|tail| {
            let words = rest.iter().take(tail.words.len()).map(|token| &token.word);
            words.eq(tail.words.iter())
        })?;
        Some((1 + tail.words.len(), tail.phrase))
    }
}

/// The words of a phrase of the lists, without those that are read over.
pub(super) fn phrase_words(phrase: &str) -> Vec<Word> {
    let read_over =
        |word: &Word| [FILLERS, ARTICLES, GENITIVES].into_iter().flatten().any(|filler| compared(filler) == *word);
    phrase.split(' ').map(compared).filter(|word| !read_over(word)).collect()
}

type Dictionary = HashMap<Word, Entry, BuildHasherDefault<Fnv>>;

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| {
    let mut dictionary = Dictionary::default();
    roles(&mut dictionary);
    for listed @ (what, _, _) in ENGLISH {
        phrase(&mut dictionary, what, listed);
        phrase(&mut dictionary, &format!("{what}s"), listed);
    }
    for listed @ (what, _, _) in [GERMAN, FRENCH, SPANISH, RUSSIAN, OTHER_LANGUAGES].into_iter().flatten() {
        phrase(&mut dictionary, what, listed);
        phrase(&mut dictionary, &what.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue"), listed);
    }
    for (what, sort) in HEADS {
        for word in spellings(what) {
            dictionary.entry(word).or_default().head = Some(Phrase { what, strength: Strength::Weak, sort: *sort });
        }
    }
    for entry in dictionary.values_mut() {
        entry.begins.sort_by_key(|tail| std::cmp::Reverse(tail.words.len()));
    }
    dictionary
});

fn roles(dictionary: &mut Dictionary) {
    let lists = [
        (FILLERS, Role::FILLER),
        (ARTICLES, Role::FILLER),
        (GENITIVES, Role::GENITIVE),
        (BREAKS, Role::BREAK),
        (NAMING, Role::BREAK),
        (NAMING, Role::NAMING),
        (LEADING, Role::BREAK),
        (LEADING, Role::LEADING),
        (ABOUT, Role::TOPIC),
        (CANCELS_AFTER, Role::TOPIC),
        (CANCELS_AFTER, Role::CANCELS),
        (FOLLOWS_ONLY, Role::CANCELS),
        (MEASURES, Role::MEASURE),
        (ABBREVIATED, Role::ABBREVIATED),
        (QUANTITIES, Role::QUANTITY),
        (GENITIVE_CANCELS, Role::QUANTITY),
        (CANCELS_BEFORE_KEY, Role::BEFORE_KEY),
    ];
    for (list, role) in lists {
        let has_plural = role == Role::TOPIC || role == Role::CANCELS;
        for word in list.iter().flat_map(|word| spellings(word)) {
            if has_plural {
                dictionary.entry(format!("{word}s")).or_default().roles |= role.0;
            }
            dictionary.entry(word).or_default().roles |= role.0;
        }
    }
}

/// Written as one word a phrase is the same: `apikey`, `accessToken` without its capital.
fn phrase(dictionary: &mut Dictionary, written: &str, (what, strength, sort): &Listed) {
    let phrase = Phrase { what, strength: *strength, sort: *sort };
    let words = phrase_words(written);
    for words in [vec![compared(&written.replace(' ', ""))], vec![words.concat()], words] {
        let mut words = words.into_iter();
        if let Some(first) = words.next() {
            dictionary.entry(first).or_default().begins.push(Tail { words: words.collect(), phrase });
        }
    }
}

/// Fowler, Noll and Vo's hash FNV-1a: short words are looked up fast, and none is added whose choice
/// were a stranger's.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
