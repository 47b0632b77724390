//! The lists of what is no word between spaces: whole texts, parts of compounds, and scripts without
//! spaces.

use std::sync::LazyLock;

use super::dictionary::{Token, phrase_words};
use super::letters::{Word, compared, spellings};
use super::phrases::Phrase;
use super::words::{
    CANCELS_AFTER, COMPOUND_CANCELS, ENDINGS, Listed, STEMS, UNSPACED, UNSPACED_CANCELS, UNSPACED_ENDS,
    UNSPACED_OTHERS, WHOLE,
};

pub(super) struct Lists {
    whole: Vec<(Vec<Word>, Phrase)>,
    endings: Vec<(Word, Phrase)>,
    stems: Vec<(Word, Phrase)>,
    compound_cancels: Vec<Word>,
    pub(super) unspaced: Unspaced,
}

/// The words of scripts without spaces.
pub(super) struct Unspaced {
    pub(super) words: Vec<(Word, Phrase)>,
    /// Words that only look like one.
    pub(super) others: Vec<Word>,
    /// What follows and cancels.
    pub(super) cancels: Vec<Word>,
    /// The same, where nothing comes after it.
    pub(super) ends: Vec<Word>,
}

pub(super) static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    whole: WHOLE.iter().map(|listed| (phrase_words(listed.0), phrase(listed))).collect(),
    endings: ENDINGS.iter().flat_map(spelt).collect(),
    stems: STEMS.iter().flat_map(spelt).collect(),
    compound_cancels: [COMPOUND_CANCELS, CANCELS_AFTER]
        .into_iter()
        .flatten()
        .flat_map(|word| spellings(word))
        .collect(),
    unspaced: Unspaced {
        words: UNSPACED.iter().flat_map(spelt).collect(),
        others: plain(UNSPACED_OTHERS),
        cancels: plain(UNSPACED_CANCELS),
        ends: plain(UNSPACED_ENDS),
    },
});

fn phrase((what, strength, sort): &Listed) -> Phrase {
    Phrase { what, strength: *strength, sort: *sort }
}

fn spelt(listed: &Listed) -> impl Iterator<Item = (Word, Phrase)> + use<> {
    let phrase = phrase(listed);
    spellings(listed.0).into_iter().map(move |word| (word, phrase))
}

fn plain(list: &[&str]) -> Vec<Word> {
    list.iter().map(|word| compared(word)).collect()
}

impl Lists {
    /// What the words are, if they are a text of their own.
    pub(super) fn whole(&self, words: &[Token]) -> Option<Phrase> {
        let is_it = |whole: &[Word]| words.iter().map(|token| &token.word).eq(whole);
        self.whole.iter().find(|(whole, _)| is_it(whole)).map(|(_, phrase)| *phrase)
    }

    /// The phrase that a compound in one word is about: `Benutzerpasswort`, `Passwortbestätigung`.
    pub(super) fn in_compound(&self, word: &str) -> Option<Phrase> {
        let ended = self.endings.iter().find(|(ending, _)| word.ends_with(ending.as_str()));
        let begun = || {
            self.stems.iter().find(|(stem, _)| {
                word.strip_prefix(stem.as_str())
                    .is_some_and(|rest| !self.compound_cancels.iter().any(|cancel| rest.starts_with(cancel.as_str())))
            })
        };
        ended.or_else(begun).map(|(_, phrase)| *phrase)
    }
}
