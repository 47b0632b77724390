//! What stands after the host, as text.

use url::Url;

use super::Reason;
use super::finding::Findings;

/// Longer URLs cannot be taken in by eye, in characters.
const READABLE: usize = 2000;

/// Reviews the serialised URL behind its host.
pub(super) fn review(url: &Url, findings: &mut Findings<'_>) {
    findings.add_if(url.as_str().len() > READABLE, Reason::VeryLongUrl);
    findings.add_if(has_url(url.path()), Reason::UrlInPath);
    let misleads = has_host_after_at(url.path()) || url.query().is_some_and(query_has_host_after_at);
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

/// Whether what follows an `@` reads like a host. `/@alice` and `/package@1.2.3` do not.
fn has_host_after_at(text: &str) -> bool {
    text.split('@').skip(1).any(|after| {
        let host = after.split(['/', ':', '?', '#', '&', '=']).next().unwrap_or_default();
        is_like_host(host)
    })
}

/// The same in a query, where the value of a parameter may well be a mail address.
fn query_has_host_after_at(query: &str) -> bool {
    query.contains('@') && query.split('&').any(|pair| has_host_after_at(pair.split('=').next().unwrap_or_default()))
}

fn is_like_host(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(name, end)| {
        name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '%')
            && end.len() > 1
            && end.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a shell would run a part of the URL, or end it there. `&` and `;` are usual in a query,
/// and `;name=` is in a path; parentheses, `$` and quotes alone are harmless.
fn is_for_shells(path: &str, tail: &str) -> bool {
    let bytes = tail.as_bytes();
    let substitutes = |index: usize| matches!(bytes.get(index + 1), Some(b'(' | b'{'));
    let runs = bytes.iter().enumerate().any(|(index, byte)| match byte {
        b'`' | b'"' | b'|' | b'<' | b'>' | b'^' => true,
        b'$' => substitutes(index),
        _ => false,
    });
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
