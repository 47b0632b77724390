//! Each word of the lists does what its list is for: none is written in a form that no text has, and
//! none is cancelled by another.

use super::super::words::{
    ABOUT, ARTICLES, BREAKS, CANCELS_AFTER, CANCELS_BEFORE_KEY, COMPOUND_CANCELS, ENDINGS, ENGLISH, FILLERS,
    FOLLOWS_ONLY, FRENCH, GENITIVE_CANCELS, GENITIVES, GERMAN, HEADS, LEADING, MEASURES, NAMING, OTHER_LANGUAGES,
    QUANTITIES, RUSSIAN, SPANISH, STEMS, UNSPACED, UNSPACED_CANCELS, UNSPACED_ENDS, UNSPACED_OTHERS, WHOLE,
};
use super::*;

fn strength(text: &str) -> Option<Strength> {
    best(text, |_| true).map(|phrase| phrase.strength)
}

const STRONG: Option<Strength> = Some(Strength::Strong);
const WEAK: Option<Strength> = Some(Strength::Weak);

/// R-FORM-07
#[test]
fn each_phrase_is_found() {
    let lists = [ENGLISH, WHOLE, GERMAN, FRENCH, SPANISH, RUSSIAN, OTHER_LANGUAGES, ENDINGS, STEMS, UNSPACED];
    for (what, expected, sort) in lists.into_iter().flatten() {
        for text in [(*what).to_owned(), what.replace(' ', "_"), what.to_uppercase(), format!("my {what}")] {
            let found = best(&text, |wanted| wanted == *sort);
            assert_eq!(found.map(|found| found.strength), Some(*expected), "{text}");
        }
    }
    for (what, _, _) in ENGLISH {
        assert!(strength(&format!("{what}s")).is_some(), "{what}s");
    }
    for (what, _) in HEADS {
        assert!(strength(&format!("card {what}")).is_some(), "{what}");
    }
}

/// R-FORM-07
#[test]
fn each_cancelling_word_cancels() {
    for word in [CANCELS_AFTER, FOLLOWS_ONLY].into_iter().flatten() {
        for text in
            [format!("password_{word}"), format!("Password {}", word.to_uppercase()), format!("password_x_{word}s")]
        {
            assert_eq!(strength(&text), None, "{text}");
        }
    }
    for word in [CANCELS_AFTER, ABOUT].into_iter().flatten() {
        for leading in [LEADING, GENITIVES].into_iter().flatten() {
            assert_eq!(strength(&format!("{word} {leading} password")), None, "{word} {leading} password");
        }
    }
    for word in FOLLOWS_ONLY {
        assert_eq!(strength(&format!("{word} of your password")), STRONG, "{word}");
    }
    for word in [QUANTITIES, GENITIVE_CANCELS].into_iter().flatten() {
        assert_eq!(strength(&format!("{word}_passwords")), None, "{word}");
        assert_eq!(strength(&format!("{word} tokens")), None, "{word}");
    }
    for word in CANCELS_BEFORE_KEY {
        assert_eq!(strength(&format!("{word}_key")), None, "{word}");
        assert_eq!(strength(&format!("{word}_tokens")), None, "{word}");
        assert_eq!(strength(&format!("{word}_api_key")), STRONG, "{word}");
    }
    for word in [COMPOUND_CANCELS, &["länge", "richtlinie", "stärke", "hinweis"]].into_iter().flatten() {
        assert_eq!(strength(&format!("Passwort{word}")), None, "{word}");
    }
    for word in UNSPACED_CANCELS {
        for text in [format!("密码{word}"), format!("密码的{word}"), format!("密码 {word}"), format!("密码{word}x")]
        {
            assert_eq!(strength(&text), None, "{text}");
        }
    }
    for word in UNSPACED_ENDS {
        assert_eq!(strength(&format!("密码{word}")), None, "{word}");
    }
    for word in UNSPACED_OTHERS {
        assert_eq!(strength(word), None, "{word}");
    }
}

/// R-FORM-07
#[test]
fn each_word_between_words_is_known() {
    for word in [FILLERS, ARTICLES, GENITIVES].into_iter().flatten() {
        assert_eq!(strength(&format!("{word} PIN")), STRONG, "{word}");
        assert_eq!(strength(&format!("mot {word} passe")), STRONG, "{word}");
    }
    for word in [BREAKS, NAMING, LEADING].into_iter().flatten() {
        assert_eq!(strength(&format!("Password {word} length")), STRONG, "{word}");
    }
    for word in NAMING {
        assert_eq!(strength(&format!("token_{word}_github")), WEAK, "{word}");
    }
    for word in BREAKS {
        assert_eq!(strength(&format!("token_{word}_github")), None, "{word}");
    }
    for word in MEASURES {
        assert_eq!(strength(&format!("Password {word} 8")), STRONG, "{word}");
        assert_eq!(strength(&format!("Password {word} {word} 8 letters")), STRONG, "{word}");
    }
}
