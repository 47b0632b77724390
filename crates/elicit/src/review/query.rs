//! What the parameters of a URL carry: other addresses, and secrets.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use url::{Host, Url, form_urlencoded};

use super::finding::Findings;
use super::parameter::{Name, Role, Roles};
use super::raw::{self, Raw};
use super::registrable::{self, Parts};
use super::{Reason, address, name, secret};
use crate::secrets::is_json_web_token;

/// Reviews query and fragment; `parts` are those of a host that is a name.
pub(super) fn review(url: &Url, parts: Option<&Parts>, findings: &mut Findings<'_>) {
    if let Some(query) = url.query() {
        review_query(url, parts, query, findings);
    }
    if let Some(fragment) = url.fragment() {
        let mut parameters = parameters(fragment);
        findings.add_if(parameters.any(|(role, value)| is_credential(role, value)), Reason::CredentialInUrl);
    }
}

fn review_query(url: &Url, parts: Option<&Parts>, query: &str, findings: &mut Findings<'_>) {
    let mut request = Request::to(url, parts);
    for (role, value) in parameters(query).filter(|(_, value)| !value.is_empty()) {
        request.read(role, value);
    }
    findings.add_if(request.carries_credential(), Reason::CredentialInUrl);
    findings.add_if(request.loopback, Reason::OauthRedirectUriLoopback);
    findings.add_if(request.redirects(), Reason::OpenRedirectParam);
}

/// What is known of a request from its parameters, which come in any order.
struct Request<'a> {
    url: &'a Url,
    /// The site that it is sent to.
    site: Option<&'a str>,
    /// Whether the path is one where authorization is asked for.
    authorizes: bool,
    /// What its parameters are; [`Role::Credential`] also where only a value says so.
    seen: Roles,
    /// Which of them name another site.
    leaving: Roles,
    /// A redirect URI on this computer (RFC 8252, section 7.3).
    loopback: bool,
    random_signature: bool,
}

impl<'a> Request<'a> {
    fn to(url: &'a Url, parts: Option<&Parts>) -> Self {
        let host = url.host_str();
        let registrable = parts.and_then(|parts| parts.registrable.clone());
        Self {
            url,
            site: registrable.and_then(|range| host?.get(range)).or(host),
            authorizes: url.path().split('/').any(is_authorization_segment),
            seen: Roles::default(),
            leaving: Roles::default(),
            loopback: false,
            random_signature: false,
        }
    }

    fn read(&mut self, role: Option<Role>, value: &str) {
        if !self.seen.have(Role::Credential) && is_credential(role, value) {
            self.seen.add(Role::Credential);
        }
        let Some(role) = role else {
            return;
        };
        self.seen.add(role);
        match role {
            Role::RedirectUri if is_loopback(&decoded(value)) => self.loopback = true,
            Role::RedirectUri if self.is_authorization() => (),
            Role::Redirect | Role::RedirectUri | Role::Return | Role::Service | Role::RelayState
                if !self.leaving.have(role) && self.leaves(value) =>
            {
                self.leaving.add(role);
            }
            Role::Signature => self.random_signature = self.random_signature || secret::is_random(&decoded(value)),
            _ => (),
        }
    }

    /// An authorization request: the server checks its redirect URI (RFC 6749, section 3.1.2.3).
    fn is_authorization(&self) -> bool {
        let asks = [self.seen.have(Role::ClientId), self.seen.have(Role::Authorization), self.authorizes];
        asks.into_iter().filter(|asks| *asks).count() > 1
    }

    /// Whether the page may send its visitor to another site, without a rule that says which.
    fn redirects(&self) -> bool {
        let authorization = self.is_authorization();
        self.leaving.have(Role::Redirect)
            || (self.leaving.have(Role::RedirectUri) && !authorization)
            || (self.leaving.have(Role::Return) && (!authorization || self.seen.have(Role::RedirectUri)))
            || (self.leaving.have(Role::Service) && !is_central_login(self.url.path()))
            || (self.leaving.have(Role::RelayState) && !self.seen.have(Role::SignOn))
    }

    fn carries_credential(&self) -> bool {
        let opens = self.random_signature || (self.seen.have(Role::Signature) && self.seen.have(Role::Signed));
        self.seen.have(Role::Credential) || (opens && !self.seen.have(Role::SignOn))
    }

    /// Whether the value is an address on another site than the URL's own, or a script.
    fn leaves(&self, value: &str) -> bool {
        let mut value = decoded(value);
        // Encoded twice: `https%253A%252F%252F`.
        let starts = value.trim_start();
        if ["%2F", "%2f", "%5C", "%5c"].iter().any(|slash| starts.starts_with(slash))
            || value.contains("%3A%2F")
            || value.contains("%3a%2f")
        {
            value = Cow::Owned(decoded(&value).into_owned());
        }
        // A browser that is sent there drops tabs and newlines.
        let value = raw::cleaned(value.trim_start());
        let Some((scheme, rest)) = raw::scheme(&value) else {
            let scheme = self.url.scheme();
            return is_two_slashes(&value) && self.is_elsewhere(&format!("{scheme}:{value}"));
        };
        if !raw::is_web(scheme) {
            return ["javascript", "vbscript", "data"].iter().any(|script| scheme.eq_ignore_ascii_case(script));
        }
        // With the scheme that it is read at, and without slashes, it is a path.
        (is_two_slashes(rest) || !scheme.eq_ignore_ascii_case(self.url.scheme())) && self.is_elsewhere(&value)
    }

    fn is_elsewhere(&self, target: &str) -> bool {
        Url::parse(target).is_ok_and(|target| site(&target) != self.site)
    }
}

/// The role by its name, and the value as it is encoded: most are not looked at.
fn parameters(text: &str) -> impl Iterator<Item = (Option<Role>, &str)> {
    text.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((Name::of(&decoded(name)).role(), value))
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

fn is_credential(role: Option<Role>, value: &str) -> bool {
    let may_be_token = !matches!(role, Some(Role::Authorization | Role::Opaque | Role::RelayState));
    match role {
        _ if value.is_empty() => false,
        Some(Role::Credential) => true,
        Some(Role::Token) if secret::is_random(&decoded(value)) => true,
        _ => secret::is_well_known(value) || (may_be_token && is_json_web_token(value)),
    }
}

fn is_authorization_segment(segment: &str) -> bool {
    let begins = |word: &str| segment.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    begins("oauth") || begins("authoriz")
}

/// Where a Central Authentication Service takes requests; it checks whose they are.
fn is_central_login(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.eq_ignore_ascii_case("login") || last.eq_ignore_ascii_case("logout")
}

fn is_two_slashes(text: &str) -> bool {
    let mut bytes = text.bytes();
    let slash = |byte| matches!(byte, Some(b'/' | b'\\'));
    slash(bytes.next()) && slash(bytes.next())
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

/// The registrable domain, or the host where there is none.
fn site(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(host) => registrable::parts(host).registrable.and_then(|range| host.get(range)).or(Some(host)),
        Host::Ipv4(_) | Host::Ipv6(_) => url.host_str(),
    }
}
