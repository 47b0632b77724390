//! Hosts that look like a domain which the profile knows.

use psl::Type;

use super::finding::Findings;
use super::international::is_international;
use super::known::{KnownDomain, KnownDomains};
use super::registrable::Parts;
use super::{Reason, Verdict, label, skeleton};

/// Shorter labels have too many neighbours that are words of their own.
const SHORTEST_MISSPELLED: usize = 5;

/// Reviews a host in ASCII, and in Unicode where that is not the same, against the known domains. A
/// known domain itself is never a lookalike.
pub(super) fn review(host: &str, unicode: Option<&str>, parts: &Parts, findings: &mut Findings<'_>) {
    let known = findings.profile().known();
    let Some(range) = &parts.registrable else {
        return;
    };
    let registrable = host.get(range.clone()).unwrap_or_default();
    if known.contains(registrable) {
        return;
    }
    let mut text = String::with_capacity(host.len() + 16);
    let mut ends = [0; 3];
    let mut shown = unicode.unwrap_or(host).trim_end_matches('.');
    let mut rest = shown;
    let mut at = 0;
    for (end, cut) in ends.iter_mut().zip([range.start, parts.suffix.start, parts.suffix.end]) {
        // Both forms have the same labels.
        let dots = host.get(at..cut).unwrap_or_default().matches('.').count();
        let length = match dots.checked_sub(1).filter(|_| cut < parts.suffix.end) {
            Some(last) => rest.match_indices('.').nth(last).map_or(rest.len(), |(dot, _)| dot + 1),
            None if cut < parts.suffix.end => 0,
            None => rest.len(),
        };
        let (part, after) = rest.split_at_checked(length).unwrap_or_default();
        skeleton::push(&mut text, part);
        *end = text.len();
        if cut == range.start {
            shown = after;
        }
        (rest, at) = (after, cut);
    }
    let [start, label_end, _] = ends;
    let whole = Skeleton { text: &text, registrable: start, suffix: label_end };
    review_registrable(registrable, shown, &whole, findings);
    // A country has a domain of its own of many a brand.
    let national =
        parts.kind == Some(Type::Icann) && host.trim_end_matches('.').rsplit('.').next().is_some_and(is_country);
    review_embedded(&whole, national, findings);
}

/// The skeleton of a host, and where its registrable domain and its public suffix begin.
struct Skeleton<'a> {
    text: &'a str,
    registrable: usize,
    suffix: usize,
}

impl<'a> Skeleton<'a> {
    fn registrable(&self) -> &'a str {
        self.text.get(self.registrable..).unwrap_or_default()
    }

    /// The labels that are no public suffix.
    fn owned(&self) -> &'a str {
        self.text.get(..self.suffix).unwrap_or_default().trim_end_matches('.')
    }

    fn suffix(&self) -> &'a str {
        self.text.get(self.suffix..).unwrap_or_default()
    }
}

fn is_country(end: &str) -> bool {
    end.len() == 2
}

/// The strongest resemblance of the registrable domain; `shown` is its Unicode form.
fn review_registrable(registrable: &str, shown: &str, skeleton: &Skeleton<'_>, findings: &mut Findings<'_>) {
    let known = findings.profile().known();
    let skeleton = skeleton.registrable();
    if let Some(known) = known.with_skeleton(skeleton) {
        let verdict = if is_international(registrable) { Verdict::Block } else { Verdict::Warn };
        findings.add_as(verdict, Reason::SkeletonMatch(known.domain.clone()));
    } else if let Some(known) = known.iter().find(|known| has_digits_for_letters(registrable, &known.domain)) {
        findings.add(Reason::DigitLookalikeOf(known.domain.clone()));
    } else if let Some(known) = known.iter().find(|known| is_misspelled(shown, skeleton, known)) {
        findings.add(Reason::EditDistance1(known.domain.clone()));
    }
}

/// Known domains and labels within the host.
fn review_embedded(skeleton: &Skeleton<'_>, national: bool, findings: &mut Findings<'_>) {
    let known = findings.profile().known();
    if let Some(known) = embedded_domain(skeleton.text, skeleton.registrable, known) {
        findings.add(Reason::KnownDomainInSubdomain(known.domain.clone()));
    } else if let Some(known) = label::within(skeleton.owned(), known)
        .or_else(|| label::beside(skeleton.owned(), skeleton.suffix(), national, known))
    {
        findings.add(Reason::KnownLabelEmbedded(known.label.clone()));
    }
}

/// A known domain that begins before the registrable one does, at the begin of a label or after a
/// hyphen, and ends likewise.
fn embedded_domain<'k>(text: &str, start: usize, known: &'k KnownDomains) -> Option<&'k KnownDomain> {
    let begins = text.match_indices(['.', '-']).map(|(index, _)| index + 1);
    let mut begins = std::iter::once(0).chain(begins).take_while(|begin| *begin < start);
    begins.find_map(|begin| {
        let rest = text.get(begin..)?;
        known.iter().find(|known| {
            rest.strip_prefix(known.skeleton.as_str())
                .is_some_and(|after| after.is_empty() || after.starts_with(['.', '-']))
        })
    })
}

/// Whether the text is the domain but for digits that stand for letters.
fn has_digits_for_letters(text: &str, domain: &str) -> bool {
    let mut digits = false;
    text.len() == domain.len()
        && text.bytes().zip(domain.bytes()).all(|(byte, letter)| {
            let stands_for: &[u8] = match byte {
                _ if byte == letter => return true,
                b'0' => b"o",
                b'1' => b"il",
                b'2' => b"z",
                b'3' => b"e",
                b'4' => b"a",
                b'5' => b"s",
                b'6' => b"bg",
                b'7' => b"t",
                b'8' => b"b",
                b'9' => b"gq",
                _ => return false,
            };
            digits = true;
            stands_for.contains(&letter)
        })
        && digits
}

fn is_misspelled(shown: &str, skeleton: &str, known: &KnownDomain) -> bool {
    known.label.len() >= SHORTEST_MISSPELLED
        && (is_one_edit(shown, &known.domain) || is_one_edit(skeleton, &known.skeleton))
}

/// Whether one character is added, left out, replaced, or swapped with the next.
fn is_one_edit(one: &str, other: &str) -> bool {
    // A character has four bytes at most.
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let prefix = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let prefix = (0..=prefix).rev().find(|end| one.is_char_boundary(*end)).unwrap_or(0);
    let (Some(one), Some(other)) = (one.get(prefix..), other.get(prefix..)) else {
        return false;
    };
    let after = |text: &'_ str| text.chars().next().map_or(0, char::len_utf8);
    let (rest, other_rest) = (one.get(after(one)..).unwrap_or_default(), other.get(after(other)..).unwrap_or_default());
    let swapped = || {
        let (mut a, mut b) = (one.chars(), other.chars());
        let firsts = [a.next(), a.next(), b.next(), b.next()];
        matches!(firsts, [Some(a), Some(b), Some(c), Some(d)] if (a, b) == (d, c)) && a.as_str() == b.as_str()
    };
    one != other && (rest == other || one == other_rest || rest == other_rest || swapped())
}
