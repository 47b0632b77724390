//! Labels of known domains within other hosts. All texts are skeletons.

use super::known::{KnownDomain, KnownDomains, SHORTEST_EMBEDDED};

/// Words that promise what a person is looking for, sorted. None holds a letter or digit that its
/// skeleton changes.
const PROMISES: &[&str] = &[
    "account",
    "accounts",
    "auth",
    "login",
    "pay",
    "secure",
    "security",
    "service",
    "services",
    "signin",
    "support",
    "update",
    "verification",
    "verify",
];

/// As many promises are taken off a word, and as many digits.
const MOST_TAKEN_OFF: usize = 3;

/// The shortest promise and the shortest label that counts.
const SHORTEST_GLUED: usize = 3 + SHORTEST_EMBEDDED;

/// A known label that is a part of one of the labels of `owned`: between hyphens, or glued to a
/// promise (`paypalsecure`). The whole of a label does not count: `github.example.com` may be the
/// GitHub of example.com. Nor do other words: `githubusercontent.com` is GitHub's.
pub(super) fn within<'k>(owned: &str, known: &'k KnownDomains) -> Option<&'k KnownDomain> {
    owned.split('.').find_map(|label| {
        let hyphenated = label.contains(['-', '_']);
        label.split(['-', '_']).find_map(|word| {
            let named = if hyphenated { numbered(word, known) } else { None };
            named.or_else(|| glued(word, known, MOST_TAKEN_OFF))
        })
    })
}

/// A known label that is the whole of one of the labels of `owned`, beside a promise:
/// `accounts.google.evil.example`, `paypal.support`. `national` says that the public suffix,
/// `suffix`, is a country's, and what is registered under it may well belong to the known one.
pub(super) fn beside<'k>(
    owned: &str,
    suffix: &str,
    national: bool,
    known: &'k KnownDomains,
) -> Option<&'k KnownDomain> {
    let mut before = false;
    let mut labels = owned.split('.').peekable();
    while let Some(label) = labels.next() {
        let registrable = labels.peek().is_none();
        let after = match labels.peek() {
            Some(next) => promises(next),
            None => promises(suffix),
        };
        let promised = (before || after) && !(registrable && national);
        if let Some(known) = known.with_label(label).filter(|_| promised) {
            return Some(known);
        }
        before = promises(label);
    }
    None
}

fn promises(label: &str) -> bool {
    label.split(['-', '_']).any(|word| PROMISES.binary_search(&word).is_ok())
}

/// The known label that the word is without promises at either end; at least one is there.
fn glued<'k>(word: &str, known: &'k KnownDomains, most: usize) -> Option<&'k KnownDomain> {
    let most = most.checked_sub(1).filter(|_| word.len() >= SHORTEST_GLUED)?;
    let ends = PROMISES.iter().flat_map(|promise| [word.strip_prefix(promise), word.strip_suffix(promise)]);
    ends.flatten().find_map(|rest| numbered(rest, known).or_else(|| glued(rest, known, most)))
}

/// The known label that the word is without digits at its end, whose skeletons may be letters.
fn numbered<'k>(word: &str, known: &'k KnownDomains) -> Option<&'k KnownDomain> {
    let mut rest = Some(word);
    let words = std::iter::from_fn(|| {
        let word = rest?;
        rest = word.strip_suffix(|last: char| last.is_ascii_digit() || matches!(last, 'l' | 'o'));
        Some(word)
    });
    words.take(MOST_TAKEN_OFF + 1).find_map(|word| known.with_label(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_sorted_skeletons() {
        assert!(PROMISES.is_sorted_by(|a, b| a < b));
        for promise in PROMISES {
            assert_eq!(crate::review::skeleton::of(promise), *promise);
            assert!(promise.len() + SHORTEST_EMBEDDED >= SHORTEST_GLUED);
        }
    }
}
