//! What the parameters of a URL carry: other addresses, and secrets.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use url::{Host, Url, form_urlencoded};

use super::finding::Findings;
use super::parameter::{Name, is_secret};
use super::raw::{self, Raw};
use super::registrable;
use super::{Reason, address, name};

/// Reviews query and fragment.
pub(super) fn review(url: &Url, findings: &mut Findings<'_>) {
    if let Some(query) = url.query() {
        review_query(url, query, findings);
    }
    if let Some(fragment) = url.fragment() {
        for (name, value) in parameters(fragment) {
            findings.add_if(is_credential(&name, value), Reason::CredentialInUrl);
        }
    }
}

fn review_query(url: &Url, query: &str, findings: &mut Findings<'_>) {
    // Only in an authorization request is `redirect_uri` no redirect: the authorization server
    // checks it (RFC 6749, section 3.1.2.3).
    let (mut oauth, mut redirect_uri_leaves) = (false, false);
    for (name, value) in parameters(query) {
        oauth |= name.is_oauth();
        findings.add_if(is_credential(&name, value), Reason::CredentialInUrl);
        if !name.is_redirect() || value.is_empty() {
            continue;
        }
        let value = decoded(value);
        if !name.is_redirect_uri() {
            findings.add_if(leaves(&value, url), Reason::OpenRedirectParam);
        } else if is_loopback(&value) {
            findings.add(Reason::OauthRedirectUriLoopback);
        } else {
            redirect_uri_leaves |= !oauth && leaves(&value, url);
        }
    }
    findings.add_if(redirect_uri_leaves && !oauth, Reason::OpenRedirectParam);
}

/// Names, and values as they are encoded: most are not looked at.
fn parameters(text: &str) -> impl Iterator<Item = (Name, &str)> {
    text.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((Name::of(&decoded(name)), value))
    })
}

fn decoded(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        // `&` and `=` are encoded in it, or it would have ended there.
        let value = text.replace('=', "%3D");
        form_urlencoded::parse(value.as_bytes())
            .next()
            .map_or(Cow::Borrowed(""), |(text, _)| Cow::Owned(text.into_owned()))
    } else {
        Cow::Borrowed(text)
    }
}

fn is_credential(name: &Name, value: &str) -> bool {
    !value.is_empty() && (name.is_credential() || is_secret(value))
}

/// Whether the value is an address on this computer.
fn is_loopback(value: &str) -> bool {
    let Some((_, rest)) = raw::scheme(value).filter(|(scheme, _)| raw::is_web(scheme)) else {
        return false;
    };
    let host = Raw::of(rest).host;
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(address::is_loopback_ipv6),
        None => name::is_loopback(host) || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback()),
    }
}

/// Whether the value is an address on another site than the one it stands at, or a script.
fn leaves(value: &str, from: &Url) -> bool {
    let mut value = Cow::Borrowed(value.trim_start());
    // Encoded twice: `https%253A%252F%252F`.
    if value.contains("%3A%2F") || value.contains("%3a%2f") || value.starts_with("%2F") || value.starts_with("%2f") {
        value = Cow::Owned(decoded(&value).into_owned());
    }
    let starts_with = |scheme: &str| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if starts_with("javascript:") || starts_with("data:") {
        return true;
    }
    let mut characters = value.chars();
    let slash = |character| matches!(character, Some('/' | '\\'));
    let without_scheme = slash(characters.next()) && slash(characters.next());
    let absolute = without_scheme || starts_with("http:") || starts_with("https:");
    absolute && from.join(&value).is_ok_and(|target| site(&target) != site(from))
}

/// The registrable domain, or the host where there is none.
fn site(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(host) => registrable::parts(host).registrable.and_then(|range| host.get(range)).or(Some(host)),
        Host::Ipv4(_) | Host::Ipv6(_) => url.host_str(),
    }
}
