//! URLs of the schemes `http` and `https`.

use std::borrow::Cow;

use url::{Host, Position, Url};

use super::characters::Characters;
use super::finding::Findings;
use super::raw::Raw;
use super::registrable::Parts;
use super::{Reason, Verdict, address, international, lists, lookalike, name, path, query};

/// A URL, as it was sent and as it was parsed.
pub(super) struct Page<'a> {
    pub(super) url: &'a Url,
    pub(super) raw: Raw<'a>,
    pub(super) characters: Characters,
    /// Where the host is a name.
    pub(super) parts: Option<&'a Parts>,
    /// The host in Unicode, where it has letters outside ASCII.
    pub(super) unicode: Option<&'a str>,
}

/// Reviews the URL from its begin to its end.
pub(super) fn review(page: &Page<'_>, findings: &mut Findings<'_>) {
    let characters = page.characters;
    findings.add_if(characters.control, Reason::ControlOrWhitespaceInRaw);
    findings.add_if(characters.bidi_control, Reason::BidiControlInRaw);
    findings.add_if(characters.invisible, Reason::InvisibleCharInRaw);
    findings.add_if(page.raw.backslash, Reason::Backslash);
    findings.add_if(page.raw.slashes != "//", Reason::NonCanonicalSlashes);
    if page.raw.userinfo {
        // Whatever the host is, it is not what a person takes for it.
        return findings.add(Reason::Userinfo);
    }
    findings.add_if(page.raw.host.contains('%'), Reason::PercentEncodedHost);
    let loopback = review_host(page, findings);
    if page.url.scheme() == "http" {
        if !loopback {
            findings.add(Reason::InsecureScheme);
        } else if !findings.blocks() {
            findings.add(Reason::InsecureSchemeLoopback);
        }
    }
    review_port(page, loopback, findings);
    path::review(page.url, findings);
    path::review_raw(page.raw.tail, findings);
    query::review(page.url, page.parts, findings);
    // The characters above explain a difference by themselves.
    let as_sent = path::is_as_sent(page.raw.tail, &page.url[Position::BeforePath..]);
    findings.add_if(!as_sent && !characters.any() && !page.raw.backslash, Reason::RawDiffersFromSerialized);
}

/// Whether the host is this computer.
fn review_host(page: &Page<'_>, findings: &mut Findings<'_>) -> bool {
    if page.url.host_str().is_some_and(|host| findings.profile().trusts(host)) {
        findings.trust();
    }
    match page.url.host() {
        Some(Host::Ipv4(address)) => {
            address::review_ipv4(address, &percent_decoded(page.raw.host), findings);
            address.is_loopback()
        }
        Some(Host::Ipv6(address)) => {
            address::review_ipv6(address, findings);
            address::is_loopback_ipv6(address)
        }
        Some(Host::Domain(host)) => {
            review_name(host, page, findings);
            name::is_loopback(host)
        }
        None => false,
    }
}

fn review_name(host: &str, page: &Page<'_>, findings: &mut Findings<'_>) {
    if !name::review_length(host, findings) {
        return;
    }
    let Some(parts) = page.parts else {
        return;
    };
    if let Some(unicode) = page.unicode {
        findings.add(Reason::Punycode);
        let suffix = host.get(parts.suffix.clone()).unwrap_or_default();
        international::review_scripts(unicode.trim_end_matches('.'), suffix.split('.').count(), findings);
    }
    international::review_mapping(page.raw.host, host, findings);
    name::review(host, parts, findings);
    lookalike::review(host, page.unicode, parts, findings);
    if let Some(unicode) = page.unicode.filter(|_| !findings.disguises()) {
        international::review_letters(unicode, findings);
    }
}

fn review_port(page: &Page<'_>, loopback: bool, findings: &mut Findings<'_>) {
    if let Some(port) = page.url.port() {
        let at_home = loopback && findings.profile().is_development();
        let verdict = if at_home { Verdict::Ok } else { Verdict::Warn };
        findings.add_as(verdict, Reason::NonDefaultPort);
        findings.add_if(lists::is_service_port(port), Reason::SuspiciousPort);
    }
    if let Some(written) = page.raw.port {
        findings.add_if(written.is_empty(), Reason::EmptyPort);
        findings.add_if(written.len() > 1 && written.starts_with('0'), Reason::RawDiffersFromSerialized);
    }
}

fn percent_decoded(host: &str) -> Cow<'_, str> {
    if !host.contains('%') {
        return Cow::Borrowed(host);
    }
    // As the value of a parameter; `+` is not valid in a host.
    let decoded = url::form_urlencoded::parse(host.as_bytes()).next();
    decoded.map_or(Cow::Borrowed(host), |(text, _)| Cow::Owned(text.into_owned()))
}
