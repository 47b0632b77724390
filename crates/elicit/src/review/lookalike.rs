//! Hosts that look like a domain which the profile knows.

use super::finding::Findings;
use super::international::is_international;
use super::known::{KnownDomain, KnownDomains};
use super::registrable::Parts;
use super::{Reason, Verdict, skeleton};

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
    let mut rest = unicode.unwrap_or(host).trim_end_matches('.');
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
        (rest, at) = (after, cut);
    }
    let [start, label_end, _] = ends;
    review_registrable(registrable, text.get(start..).unwrap_or_default(), findings);
    review_embedded(&text, start, label_end, findings);
}

/// The strongest resemblance of the registrable domain.
fn review_registrable(registrable: &str, skeleton: &str, findings: &mut Findings<'_>) {
    let known = findings.profile().known();
    if let Some(known) = known.with_skeleton(skeleton) {
        let verdict = if is_international(registrable) { Verdict::Block } else { Verdict::Warn };
        findings.add_as(verdict, Reason::SkeletonMatch(known.domain.clone()));
    } else if let Some(known) = known.iter().find(|known| has_digits_for_letters(registrable, &known.domain)) {
        findings.add(Reason::DigitLookalikeOf(known.domain.clone()));
    } else if let Some(known) = known.iter().find(|known| is_misspelled(registrable, known)) {
        findings.add(Reason::EditDistance1(known.domain.clone()));
    }
}

/// Known domains and labels within `text`, the skeleton of the host, whose registrable domain begins
/// at `start` and whose public suffix begins at `label_end`.
fn review_embedded(text: &str, start: usize, label_end: usize, findings: &mut Findings<'_>) {
    let known = findings.profile().known();
    if let Some(known) = embedded_domain(text, start, known) {
        findings.add(Reason::KnownDomainInSubdomain(known.domain.clone()));
    } else if let Some(known) = embedded_label(text.get(..label_end).unwrap_or_default(), known) {
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

/// A known label between hyphens. The whole of a label does not count: `github.example.com` may be
/// the GitHub of example.com.
fn embedded_label<'k>(text: &str, known: &'k KnownDomains) -> Option<&'k KnownDomain> {
    let labels = text.split('.').filter(|label| label.contains(['-', '_']));
    labels.flat_map(|label| label.split(['-', '_'])).find_map(|word| known.with_label(word))
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

fn is_misspelled(text: &str, known: &KnownDomain) -> bool {
    known.label.len() >= SHORTEST_MISSPELLED
        && !is_international(text)
        && is_one_edit(text.as_bytes(), known.domain.as_bytes())
}

/// Whether one character is added, left out, replaced, or swapped with the next.
fn is_one_edit(one: &[u8], other: &[u8]) -> bool {
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let prefix = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.get(prefix..).unwrap_or_default(), other.get(prefix..).unwrap_or_default());
    match (one, other) {
        ([_, rest @ ..], _) if rest == other => true,
        (_, [_, rest @ ..]) if rest == one => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && one == other => true,
        ([_, one @ ..], [_, other @ ..]) => one == other,
        _ => false,
    }
}
