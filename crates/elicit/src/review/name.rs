//! Hosts that are names: their labels, what their end stands for, and whose they are.

use psl::Type;

use super::finding::Findings;
use super::registrable::Parts;
use super::{Reason, lists};

/// RFC 1035, section 2.3.4, in characters.
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;
/// Longer labels push the end of the host out of sight.
const READABLE_LABEL: usize = 50;
/// As many labels do so too.
const READABLE_LABELS: usize = 7;

/// Whether the name stands for this computer (RFC 6761, section 6.3).
pub(super) fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether the host is short enough for a name. Of one that is not, nothing else is said.
pub(super) fn review_length(host: &str, findings: &mut Findings<'_>) -> bool {
    let fits = host.strip_suffix('.').unwrap_or(host).len() <= LONGEST_NAME;
    findings.add_if(!fits, Reason::HostTooLong);
    fits
}

/// Reviews a name of at most 253 characters, in the serialised ASCII form.
pub(super) fn review(host: &str, parts: &Parts, findings: &mut Findings<'_>) {
    let name = match host.strip_suffix('.') {
        Some(name) => {
            findings.add(Reason::TrailingDot);
            name
        }
        None => host,
    };
    review_labels(name, findings);
    let last = name.rsplit('.').next().unwrap_or_default();
    let metadata = lists::is_metadata_name(name);
    findings.add_if(metadata, Reason::MetadataEndpoint);
    if is_loopback(name) {
        findings.add(Reason::Loopback);
    } else if is_internal(name, last) {
        findings.add(Reason::InternalName);
    } else if is_special_use(last) {
        findings.add(Reason::SpecialUseTld);
    } else if !metadata {
        review_owner(name, last, parts, findings);
    }
    findings.add_if(embeds_address(name), Reason::IpEmbeddedInHost);
}

fn review_labels(name: &str, findings: &mut Findings<'_>) {
    let (mut count, mut longest) = (0, 0);
    for label in name.split('.') {
        findings.add_if(label.is_empty(), Reason::EmptyLabel);
        count += 1;
        longest = longest.max(label.len());
    }
    if longest > LONGEST_LABEL {
        findings.add(Reason::LabelTooLong);
    } else if longest > READABLE_LABEL {
        findings.add(Reason::LongLabel);
    }
    findings.add_if(count > READABLE_LABELS, Reason::ManyLabels);
    findings.add_if(name.contains('_'), Reason::UnderscoreInHost);
}

/// RFC 6762, RFC 8375, and ICANN's reservation of `internal`.
fn is_internal(name: &str, last: &str) -> bool {
    matches!(last, "local" | "internal") || name == "home.arpa" || name.ends_with(".home.arpa")
}

/// RFC 6761, RFC 7686, RFC 9476, and the infrastructure of the DNS. `example` is left out: it is
/// reserved for documentation, where it is used as if it were an ordinary domain.
fn is_special_use(last: &str) -> bool {
    matches!(last, "alt" | "arpa" | "invalid" | "onion" | "test")
}

fn review_owner(name: &str, last: &str, parts: &Parts, findings: &mut Findings<'_>) {
    let single = !name.is_empty() && !name.contains('.');
    findings.add_if(single, Reason::SingleLabelHost);
    match &parts.registrable {
        None => findings.add_if(parts.kind.is_some() && parts.suffix.start == 0, Reason::HostIsPublicSuffix),
        Some(range) => {
            findings.add_if(parts.kind == Some(Type::Private), Reason::PrivateSuffixRegistrable);
            findings.add_if(name.get(range.clone()).is_some_and(lists::is_shortener), Reason::UrlShortener);
        }
    }
    findings.add_if(name.contains('.') && parts.kind.is_none() && last != "example", Reason::NoKnownPublicSuffix);
}

/// Whether `end` is a top-level domain of the internet, or the one of documentation.
pub(super) fn is_known_end(end: &str) -> bool {
    end.eq_ignore_ascii_case("example")
        || psl::suffix(end.to_ascii_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known())
}

/// Whether four numbers from 0 to 255 follow each other, between dots or between hyphens: wildcard
/// DNS leads such a name to that address, and clouds name their machines so.
fn embeds_address(name: &str) -> bool {
    let mut dotted = 0;
    for label in name.split('.') {
        dotted = if is_octet(label) { dotted + 1 } else { 0 };
        let mut hyphenated = 0;
        for part in label.split('-') {
            hyphenated = if is_octet(part) { hyphenated + 1 } else { 0 };
            if hyphenated == 4 {
                return true;
            }
        }
        if dotted == 4 {
            return true;
        }
    }
    false
}

fn is_octet(text: &str) -> bool {
    let canonical = text.len() == 1 || !text.starts_with('0');
    canonical && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u8>().is_ok()
}
