//! What cannot be parsed, and what explains it.

use std::borrow::Cow;

use idna::AsciiDenyList;
use idna::punycode;
use idna::uts46::{Hyphens, Uts46};
use url::ParseError;

use super::Reason;
use super::characters::{Characters, is_bidi_control, is_invisible, is_right_to_left};
use super::finding::Findings;
use super::raw::{self, Raw};

/// Of longer hosts the fault is not looked for, in bytes.
const LONGEST_EXAMINED: usize = 1024;

/// Reviews what the URL parser refused.
pub(super) fn review(cleaned: &str, characters: Characters, error: ParseError, findings: &mut Findings<'_>) {
    let Some((scheme, rest)) = raw::scheme(cleaned) else {
        findings.add(if cleaned.is_empty() { Reason::Unparseable } else { Reason::RelativeUrl });
        return add_unseen(characters, findings);
    };
    if !raw::is_web(scheme) {
        return findings.add(Reason::ForbiddenScheme);
    }
    let host = Raw::of(rest).host;
    if error == ParseError::EmptyHost {
        findings.add(Reason::EmptyHost);
    } else if host.contains(|character| is_bidi_control(character) || is_invisible(character)) {
        // They are the fault, and are named below.
    } else if host.len() > LONGEST_EXAMINED {
        findings.add(Reason::Unparseable);
    } else {
        review_host(host, findings);
    }
    add_unseen(characters, findings);
}

fn add_unseen(characters: Characters, findings: &mut Findings<'_>) {
    findings.add_if(characters.bidi_control, Reason::BidiControlInRaw);
    findings.add_if(characters.invisible, Reason::InvisibleCharInRaw);
}

fn review_host(host: &str, findings: &mut Findings<'_>) {
    let decoded = host.split('.').map(decode).collect::<Option<Vec<_>>>();
    if decoded.as_ref().is_some_and(|labels| breaks_bidi_rule(&labels.join("."))) {
        return findings.add(Reason::BidiRuleViolation);
    }
    findings.add(Reason::Unparseable);
    findings.add_if(host.contains('%'), Reason::PercentEncodedHost);
    findings.add_if(decoded.is_none() || host.split('.').any(is_invalid_punycode), Reason::InvalidPunycode);
}

/// The Unicode form of a label, unchecked; `None` where its Punycode cannot be read.
fn decode(label: &str) -> Option<Cow<'_, str>> {
    match encoded(label) {
        Some(encoded) => punycode::decode_to_string(&encoded.to_ascii_lowercase()).map(Cow::Owned),
        None => Some(Cow::Borrowed(label)),
    }
}

fn encoded(label: &str) -> Option<&str> {
    let (prefix, encoded) = label.split_at_checked(4)?;
    prefix.eq_ignore_ascii_case("xn--").then_some(encoded)
}

fn is_invalid_punycode(label: &str) -> bool {
    encoded(label).is_some() && !is_valid(label)
}

/// Whether the direction of letters is all that is wrong (RFC 5893, section 2): the host is valid
/// with a Latin letter in the place of each that is written from the right, and each of those is
/// valid by itself.
fn breaks_bidi_rule(host: &str) -> bool {
    host.contains(is_right_to_left)
        && is_valid(&host.replace(is_right_to_left, "a"))
        && host.chars().filter(|character| is_right_to_left(*character)).all(|character| {
            // After a Hebrew letter, so that marks have something to stand on.
            is_valid(&format!("\u{5d0}{character}")) || is_valid(&format!("\u{627}{character}"))
        })
}

fn is_valid(host: &str) -> bool {
    Uts46::new().to_unicode(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow).1.is_ok()
}
