//! What stands after the host, as text.

use url::Url;

use super::finding::Findings;
use super::{Reason, name};

/// Longer URLs cannot be taken in by eye, in characters.
const READABLE: usize = 2000;

/// Reviews the serialised URL behind its host.
pub(super) fn review(url: &Url, findings: &mut Findings<'_>) {
    findings.add_if(url.as_str().len() > READABLE, Reason::VeryLongUrl);
    findings.add_if(has_url(url.path()), Reason::UrlInPath);
    let misleads = path_has_host_after_at(url.path()) || url.query().is_some_and(query_has_host_after_at);
    findings.add_if(misleads, Reason::AtSignOutsideAuthority);
}

/// Reviews path, query and fragment as they were sent: escaping hides what they held.
pub(super) fn review_raw(tail: &str, findings: &mut Findings<'_>) {
    let path = tail.split(['?', '#']).next().unwrap_or_default();
    findings.add_if(is_for_shells(path, tail), Reason::ShellMetacharacters);
    findings.add_if(has_malformed_percent(tail), Reason::MalformedPercentEncoding);
}

/// Whether the serialised tail is the raw one, but for the slash that an empty path gets.
pub(super) fn is_as_sent(raw: &str, serialized: &str) -> bool {
    raw == serialized || (!raw.starts_with('/') && serialized.strip_prefix('/') == Some(raw))
}

/// Whether a scheme and a slash follow each other, plain or with the colon encoded.
fn has_url(path: &str) -> bool {
    let ends_in_scheme = |end: usize| {
        let before = path.get(..end).unwrap_or_default();
        let ends = |scheme: &str| {
            let start = before.len().checked_sub(scheme.len());
            start.and_then(|start| before.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(scheme))
        };
        ends("https") || ends("http")
    };
    let slash = |rest: &str| rest.starts_with('/') || rest.get(..3).is_some_and(|s| s.eq_ignore_ascii_case("%2f"));
    path.match_indices([':', '%']).any(|(index, sign)| {
        let rest = path.get(index..).unwrap_or_default();
        let colon = if sign == ":" { 1 } else { 3 };
        let is_colon = sign == ":" || rest.get(..3).is_some_and(|colon| colon.eq_ignore_ascii_case("%3a"));
        is_colon && rest.get(colon..).is_some_and(slash) && ends_in_scheme(index)
    })
}

/// Whether what follows an `@`, plain or encoded, reads like a host. `/@alice`, `/@john.doe` and
/// `/package@1.2.3` do not, and `/@alice@example.org` is a name on a server of the Fediverse.
fn path_has_host_after_at(path: &str) -> bool {
    has_at(path) && path.split('/').any(|segment| !is_fediverse_name(segment) && has_host_after_at(segment))
}

/// The same in a query, where the value of a parameter may well be a mail address.
fn query_has_host_after_at(query: &str) -> bool {
    has_at(query) && query.split('&').any(|pair| has_host_after_at(pair.split('=').next().unwrap_or_default()))
}

fn has_at(text: &str) -> bool {
    text.contains('@') || text.contains("%40")
}

fn has_host_after_at(text: &str) -> bool {
    after_ats(text).any(|after| {
        let host = after.split(['/', ':', '?', '#', '&', '=']).next().unwrap_or_default();
        is_like_host(host)
    })
}

/// What stands after each `@` of the text, until the next.
fn after_ats(text: &str) -> impl Iterator<Item = &str> {
    text.split('@').flat_map(|part| part.split("%40")).skip(1)
}

/// Whether the segment is `@name@host` and nothing else.
fn is_fediverse_name(segment: &str) -> bool {
    let mut parts = after_ats(segment);
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (segment.starts_with('@') || segment.starts_with("%40"))
        && parts.next().is_some_and(is_name)
        && parts.next().is_some_and(is_like_host)
        && parts.next().is_none()
}

fn is_like_host(text: &str) -> bool {
    text.trim_end_matches('.').rsplit_once('.').is_some_and(|(name, end)| {
        name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '%') && name::is_known_end(end)
    })
}

/// Whether a shell would run a part of the URL, or end it there. `&` and `;` are usual in a query,
/// and `;name=` is in a path; parentheses, `$` and quotes alone are harmless.
fn is_for_shells(path: &str, tail: &str) -> bool {
    // Without an early exit, which compiles to vector instructions.
    let runs = tail.bytes().fold(false, |found, byte| found | matches!(byte, b'`' | b'"' | b'|' | b'<' | b'>' | b'^'))
        || (tail.contains('$') && (tail.contains("$(") || tail.contains("${")));
    runs || path.contains('&') || path.split(';').skip(1).any(|after| !is_parameter(after))
}

/// Whether the text begins as the parameter of a path segment does: `jsessionid=…`.
fn is_parameter(text: &str) -> bool {
    let name =
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')).count();
    name > 0 && text.as_bytes().get(name) == Some(&b'=')
}

fn has_malformed_percent(text: &str) -> bool {
    text.match_indices('%').any(|(index, _)| {
        let digits = text.as_bytes().get(index + 1..index + 3);
        digits.is_none_or(|digits| !digits.iter().all(u8::is_ascii_hexdigit))
    })
}
