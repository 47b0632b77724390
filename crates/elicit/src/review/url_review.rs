use std::fmt;
use std::ops::Range;

use url::{Position, Url};

use super::characters::Characters;
use super::finding::Findings;
use super::raw::{self, Raw};
use super::{Finding, Profile, Reason, Verdict, international, registrable, unparseable, web};

/// The longest URL that is looked into, in bytes, as it was sent and as it is serialised: 64 KiB.
pub const MAX_URL_BYTES: usize = 64 * 1024;

/// What a URL is, before anyone opens it (R-URL-06, R-URL-07, R-URL-08, R-URL-09).
///
/// Its `Debug` form leaves path, query and fragment out: they may carry a token.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlReview {
    verdict: Verdict,
    findings: Vec<Finding>,
    address: Option<Address>,
}

/// A URL that could be parsed.
#[derive(Clone, PartialEq, Eq)]
struct Address {
    serialized: String,
    host: Option<HostText>,
}

/// A host, within the serialised URL and in Unicode.
#[derive(Clone, PartialEq, Eq)]
struct HostText {
    range: Range<usize>,
    /// Within the host.
    registrable: Option<Range<usize>>,
    /// Where it is not the same as in ASCII.
    unicode: Option<String>,
}

impl UrlReview {
    /// Reviews a URL as it came, without any change to it. Takes time in the length of the URL, and
    /// looks nothing up (R-URL-04).
    pub fn of(url: &str, profile: &Profile) -> Self {
        let mut findings = Findings::new(profile);
        if url.len() > MAX_URL_BYTES {
            findings.add(Reason::UrlTooLong);
            return Self::from(findings, None);
        }
        let cleaned = raw::cleaned(url);
        let characters = Characters::of(url);
        let url = match Url::parse(url) {
            Ok(url) if url.as_str().len() > MAX_URL_BYTES => {
                findings.add(Reason::UrlTooLong);
                return Self::from(findings, None);
            }
            Ok(url) => url,
            Err(error) => {
                unparseable::review(&cleaned, characters, error, &mut findings);
                return Self::from(findings, None);
            }
        };
        let parts = url.domain().map(registrable::parts);
        let unicode = url.domain().filter(|host| raw::is_web(url.scheme()) && international::is_international(host));
        let unicode = unicode.map(international::to_unicode);
        if raw::is_web(url.scheme()) {
            let raw = raw::scheme(&cleaned).map(|(_, rest)| Raw::of(rest)).unwrap_or_default();
            web::review(
                &web::Page { url: &url, raw, characters, parts: parts.as_ref(), unicode: unicode.as_deref() },
                &mut findings,
            );
        } else {
            findings.add(Reason::ForbiddenScheme);
        }
        let host = url.host_str().map(|host| HostText {
            range: host_range(&url),
            registrable: parts.and_then(|parts| parts.registrable),
            unicode: unicode.map(|unicode| international::legible(&unicode, host)).filter(|unicode| unicode != host),
        });
        Self::from(findings, Some(Address { host, serialized: url.into() }))
    }

    fn from(findings: Findings<'_>, address: Option<Address>) -> Self {
        let (verdict, findings) = findings.finish();
        Self { verdict, findings, address }
    }

    /// The worst of the findings.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// What was found: what blocks first, then what warns, then what informs.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The URL that is shown, in printable ASCII: the very text that is opened, if one is
    /// (R-URL-06). `None` where the URL could not be parsed.
    pub fn serialized(&self) -> Option<&str> {
        self.address.as_ref().map(|address| address.serialized.as_str())
    }

    /// The URL that may be opened after consent: the serialised one, unless the verdict is
    /// [`Verdict::Block`] (R-URL-08, R-URL-09). Give it to the browser as one argument, never to a
    /// shell.
    pub fn openable(&self) -> Option<&str> {
        self.serialized().filter(|_| self.verdict < Verdict::Block)
    }

    /// The host as it stands in the serialised URL; IPv6 addresses in brackets.
    pub fn host_ascii(&self) -> Option<&str> {
        self.serialized()?.get(self.host_range()?)
    }

    /// The host in Unicode (UTS #46). To be shown beside the ASCII form, not in its place. It holds
    /// neither control nor bidi control characters, and of those without a glyph only joiners, where
    /// the script needs them; labels with others stay ASCII.
    pub fn host_unicode(&self) -> Option<&str> {
        let unicode = self.host()?.unicode.as_deref();
        unicode.or_else(|| self.host_ascii())
    }

    /// The registrable domain in ASCII, without a dot at the end; `None` for addresses, public
    /// suffixes and names of one label.
    pub fn registrable_domain(&self) -> Option<&str> {
        self.serialized()?.get(self.registrable_range()?)
    }

    /// Where the host stands in the serialised URL.
    pub fn host_range(&self) -> Option<Range<usize>> {
        self.host().map(|host| host.range.clone())
    }

    /// Where the registrable domain stands in the serialised URL, to be emphasised there
    /// (R-URL-07).
    pub fn registrable_range(&self) -> Option<Range<usize>> {
        let host = self.host()?;
        let range = host.registrable.clone()?;
        Some(host.range.start + range.start..host.range.start + range.end)
    }

    /// Where the registrable domain stands in the host in Unicode (R-URL-07).
    pub fn registrable_range_unicode(&self) -> Option<Range<usize>> {
        let host = self.host()?;
        let range = host.registrable.clone()?;
        let Some(unicode) = &host.unicode else {
            return Some(range);
        };
        // Both forms have the same labels.
        let before = self.host_ascii()?.get(..range.start)?.matches('.').count();
        let start = unicode.match_indices('.').map(|(dot, _)| dot + 1).nth(before.wrapping_sub(1)).unwrap_or(0);
        Some(start..unicode.trim_end_matches('.').len())
    }

    fn host(&self) -> Option<&HostText> {
        self.address.as_ref()?.host.as_ref()
    }
}

impl fmt::Debug for UrlReview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlReview")
            .field("verdict", &self.verdict)
            .field("host", &self.host_ascii())
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

fn host_range(url: &Url) -> Range<usize> {
    let start = url[..Position::BeforeHost].len();
    start..start + url[Position::BeforeHost..Position::AfterHost].len()
}
