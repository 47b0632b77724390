//! Hosts with letters outside ASCII: UTS #46 for what they map to, UTS #39 for how they look.

use std::borrow::Cow;

use idna::AsciiDenyList;
use idna::uts46::{Hyphens, Uts46};
use unicode_security::GeneralSecurityProfile as _;
use unicode_security::general_security_profile::IdentifierType;
use unicode_security::mixed_script::AugmentedScriptSet;

use super::characters::{is_invisible, is_legible};
use super::finding::Findings;
use super::{Reason, skeleton};

/// Whether a label of an ASCII host stands for Unicode letters.
pub(super) fn is_international(host: &str) -> bool {
    host.split('.').any(|label| label.starts_with("xn--"))
}

/// The Unicode form of an ASCII host. The host comes from the URL parser, which has validated it;
/// what cannot be decoded all the same stays ASCII.
pub(super) fn to_unicode(host: &str) -> Cow<'_, str> {
    match Uts46::new().to_unicode(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow) {
        (unicode, Ok(())) => unicode,
        (_, Err(_)) => Cow::Borrowed(host),
    }
}

/// The Unicode form, but in ASCII where a label holds what cannot be seen. Joiners stay: UTS #46 lets
/// them into a name only where they change how its letters are drawn.
pub(super) fn legible(unicode: &str, ascii: &str) -> String {
    let labels = unicode.split('.').zip(ascii.split('.'));
    let labels =
        labels.map(|(unicode, ascii)| if is_legible(unicode, &['\u{200c}', '\u{200d}']) { unicode } else { ascii });
    labels.collect::<Vec<_>>().join(".")
}

/// Reviews how the raw host became the ASCII one. A host with percent signs is disguised anyway.
pub(super) fn review_mapping(raw: &str, ascii: &str, findings: &mut Findings<'_>) {
    if raw.is_ascii() {
        return;
    }
    findings.add_if(!is_international(ascii), Reason::HostMappedToAscii);
    if !raw.contains('%') {
        let dots = |text: &str| text.matches('.').count();
        findings.add_if(dots(ascii) > dots(raw), Reason::DotLookalike);
    }
    let deviates = |character| matches!(character, 'ß' | 'ẞ' | 'ς' | '\u{200c}' | '\u{200d}');
    findings.add_if(is_international(ascii) && raw.contains(deviates), Reason::DeviationCharacter);
}

/// Reviews the Unicode form of a host, whose public suffix has `suffix_labels` labels, for what does
/// not depend on any known domain. What makes the whole host a disguise hides the remarks on single
/// letters, which [`review_letters`] makes.
pub(super) fn review_scripts(unicode: &str, suffix_labels: usize, findings: &mut Findings<'_>) {
    let owned = unicode.split('.').count().saturating_sub(suffix_labels);
    for (index, label) in unicode.split('.').enumerate().filter(|(_, label)| !label.is_ascii()) {
        review_separators(label, findings);
        let scripts = Scripts::of(label);
        if scripts.are_mixed() {
            findings.add(Reason::MixedScript);
        } else if index < owned && scripts.are_foreign() && is_confusable(label) {
            let end = Scripts::of(unicode.rsplit('.').next().unwrap_or_default());
            findings.add_if(!scripts.are_at_home(&end), Reason::WholeScriptConfusable);
        }
    }
}

/// Reviews single letters of the Unicode form.
pub(super) fn review_letters(unicode: &str, findings: &mut Findings<'_>) {
    for label in unicode.split('.').filter(|label| !label.is_ascii()) {
        for character in label.chars().filter(|character| !character.is_ascii()) {
            let reason = match character.identifier_type() {
                _ if is_invisible(character) => Reason::NotIdentifierAllowed,
                Some(IdentifierType::Exclusion | IdentifierType::Limited_Use) => Reason::RestrictedScript,
                Some(IdentifierType::Uncommon_Use | IdentifierType::Technical | IdentifierType::Obsolete) => {
                    Reason::UncommonLetter
                }
                _ if !character.identifier_allowed() => Reason::NotIdentifierAllowed,
                _ => continue,
            };
            findings.add(reason);
        }
        findings.add_if(is_digits(label), Reason::DigitLookalike);
    }
}

/// The scripts of a label (UTS #39, section 5.1).
struct Scripts {
    /// Which each of the characters is in.
    all: AugmentedScriptSet,
    /// The same, of those that are not Latin.
    others: AugmentedScriptSet,
    latin: bool,
}

impl Scripts {
    fn of(label: &str) -> Self {
        let letter = AugmentedScriptSet::for_char('a');
        let mut scripts =
            Self { all: AugmentedScriptSet::default(), others: AugmentedScriptSet::default(), latin: false };
        for character in label.chars().filter(|character| !character.is_ascii()) {
            let set = AugmentedScriptSet::for_char(character);
            scripts.all.intersect_with(set);
            if overlap(set, letter) {
                scripts.latin |= !set.is_all();
            } else {
                scripts.others.intersect_with(set);
            }
        }
        if label.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            scripts.all.intersect_with(letter);
            scripts.latin = true;
        }
        scripts
    }

    /// More scripts than the level "highly restrictive" takes (UTS #39, section 5.2), which is one,
    /// or Latin with those of Chinese, Japanese or Korean. The crate's own level says "unrestricted"
    /// of every character that is not allowed in identifiers, so it does not answer this.
    fn are_mixed(&self) -> bool {
        self.all.is_empty() && !(self.others.hanb || self.others.jpan || self.others.kore)
    }

    fn are_foreign(&self) -> bool {
        !self.latin && !self.all.is_all()
    }

    /// In a domain whose end is of the same script, a word is among its like.
    fn are_at_home(&self, end: &Self) -> bool {
        !end.latin && !end.all.is_all() && overlap(self.all, end.all)
    }
}

fn overlap(mut scripts: AugmentedScriptSet, other: AugmentedScriptSet) -> bool {
    scripts.intersect_with(other);
    !scripts.is_empty()
}

/// UTS #39, section 4.2: whether the label looks like an ASCII one.
fn is_confusable(label: &str) -> bool {
    skeleton::is_ascii(label) && !is_digits(label)
}

/// Characters that look like what ends a host or stands within it: `/ \\ ? # : @`, a stroke through the
/// letter before, a dot. Some are letters, or marks within words: between their own kind they are that
/// (RFC 5892, appendices A.3 and A.7).
fn review_separators(label: &str, findings: &mut Findings<'_>) {
    let mut before = None;
    let mut characters = label.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied();
        let seems = if character.is_ascii() { None } else { separator(character).or_else(|| prototype(character)) };
        let reason = match seems {
            Some('/' | '\\' | '?' | '#' | ':' | '@' | '\u{337}' | '\u{338}') => Some(Reason::SlashLookalike),
            Some('.' | '·') => Some(Reason::DotLookalike),
            _ => None,
        };
        if let Some(reason) = reason.filter(|_| !is_at_home(character, before, after)) {
            findings.add(reason);
        }
        before = Some(character);
    }
}

/// What Unicode's confusables do not name: the small form of a question mark's lookalike, other
/// question marks, and number signs.
fn separator(character: char) -> Option<char> {
    match character {
        '\u{242}' | '\u{61f}' | '\u{1367}' | '\u{2753}' | '\u{2754}' | '\u{2e2e}' | '\u{a60f}' => Some('?'),
        '\u{22d5}' | '\u{2317}' | '\u{266f}' => Some('#'),
        _ => None,
    }
}

/// The one character that this one looks like (UTS #39, section 4); `None` where it is several.
fn prototype(character: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut prototype = unicode_security::skeleton(character.encode_utf8(&mut buffer));
    prototype.next().filter(|_| prototype.next().is_none())
}

fn is_at_home(character: char, before: Option<char>, after: Option<char>) -> bool {
    match character {
        '\u{b7}' => before == Some('l') && after == Some('l'),
        // The middle dot of Katakana, which Korean uses, too.
        '\u{30fb}' => [before, after].into_iter().flatten().any(|neighbour| {
            let scripts = AugmentedScriptSet::for_char(neighbour);
            scripts.jpan && !scripts.is_all()
        }),
        // A digit among its like.
        '\u{660}' | '\u{6f0}' => true,
        _ => {
            let scripts = AugmentedScriptSet::for_char(character);
            let foreign = !scripts.is_all() && !overlap(scripts, AugmentedScriptSet::for_char('a'));
            foreign
                && [before, after].into_iter().flatten().any(|neighbour| {
                    let neighbours = AugmentedScriptSet::for_char(neighbour);
                    !neighbours.is_all() && overlap(scripts, neighbours)
                })
        }
    }
}

/// Letters and digits of other scripts that pass for an ASCII digit, beside those that Unicode's
/// confusables name: 3 (Cyrillic, Georgian, Latin, Gurmukhi), 4, 5, 6, 9.
const LIKE_DIGITS: &str = "зҙӟӡвკვპʒ੩чӵƽб੧୧";

/// Whether the label consists of digits and what looks like them.
fn is_digits(label: &str) -> bool {
    let digit = |character| matches!(prototype(character), Some('2'..='9'));
    !label.is_ascii()
        && label.chars().all(|character| match character {
            '0'..='9' | '-' => true,
            _ => !character.is_ascii() && (LIKE_DIGITS.contains(character) || digit(character)),
        })
}
