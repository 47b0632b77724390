//! The words that give a secret away, and those that take it back.

mod cancels;
mod english;
mod grammar;
mod languages;
mod unspaced;

pub(super) use cancels::{
    ABOUT, CANCELS_AFTER, CANCELS_BEFORE_KEY, COMPOUND_CANCELS, FOLLOWS_ONLY, GENITIVE_CANCELS, QUANTITIES,
};
pub(super) use english::{ENGLISH, HEADS, WHOLE};
pub(super) use grammar::{ABBREVIATED, ARTICLES, BREAKS, FILLERS, GENITIVES, LEADING, MEASURES, NAMING};
pub(super) use languages::{ENDINGS, FRENCH, GERMAN, OTHER_LANGUAGES, RUSSIAN, SPANISH, STEMS};
pub(super) use unspaced::{UNSPACED, UNSPACED_CANCELS, UNSPACED_ENDS, UNSPACED_OTHERS};

use super::Strength;
use super::phrases::Sort;

/// Words of a list, how sure they make it, and what the secret is made of.
pub(super) type Listed = (&'static str, Strength, Sort);
