//! A URL as it was sent, cut where the WHATWG URL parser cuts it. The parser maps, decodes and
//! repairs without a word; only the raw text shows that.

use std::borrow::Cow;

/// What the parser drops before it reads: C0 controls and spaces at both ends, tabs and newlines
/// everywhere.
pub(super) fn cleaned(url: &str) -> Cow<'_, str> {
    let trimmed = url.trim_matches(|character| character <= ' ');
    // Without an early exit, which compiles to vector instructions: hardly any URL has one.
    if trimmed.bytes().fold(false, |found, byte| found | matches!(byte, b'\t' | b'\n' | b'\r')) {
        Cow::Owned(trimmed.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(trimmed)
    }
}

/// The parts of a cleaned `http` or `https` URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Raw<'a> {
    /// Slashes and backslashes after the colon.
    pub(super) slashes: &'a str,
    /// Whether there is a backslash anywhere.
    pub(super) backslash: bool,
    /// Whether an `@` ends a user name, were it an empty one.
    pub(super) userinfo: bool,
    /// With brackets, where there are some.
    pub(super) host: &'a str,
    /// What follows the host's colon.
    pub(super) port: Option<&'a str>,
    /// Path, query and fragment.
    pub(super) tail: &'a str,
}

/// The scheme, and what follows its colon.
pub(super) fn scheme(cleaned: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = cleaned.split_once(':')?;
    let named = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let valid = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    (named && valid).then_some((scheme, rest))
}

/// Whether a page may be behind the scheme.
pub(super) fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
}

impl<'a> Raw<'a> {
    /// The parts of what follows the scheme's colon.
    pub(super) fn of(rest: &'a str) -> Self {
        let after = rest.trim_start_matches(['/', '\\']);
        let (slashes, _) = rest.split_at_checked(rest.len() - after.len()).unwrap_or_default();
        let end = after.find(['/', '\\', '?', '#']).unwrap_or(after.len());
        let (authority, tail) = after.split_at_checked(end).unwrap_or_default();
        let (userinfo, place) = match authority.rsplit_once('@') {
            Some((_, place)) => (true, place),
            None => (false, authority),
        };
        // A colon inside brackets belongs to an IPv6 address.
        let colon = place.rfind(':').filter(|colon| place.rfind(']').is_none_or(|bracket| bracket < *colon));
        let (host, port) = match colon.and_then(|colon| place.split_at_checked(colon)) {
            Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or(port))),
            None => (place, None),
        };
        Self { slashes, backslash: rest.contains('\\'), userinfo, host, port, tail }
    }
}
