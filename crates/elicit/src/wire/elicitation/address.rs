use std::sync::LazyLock;

use url::{Host, Url};

use super::QuestionError;
use crate::review::{Finding, Profile, Reason, UrlReview, Verdict};

/// Costly to build, and the same for everyone.
static PROFILE: LazyLock<Profile> = LazyLock::new(Profile::default);

/// Whether we may send a person there. The text is kept as it is, so it must not need any repair by its readers, which may
/// differ; and what a careful host would refuse is not asked for in the first place (R-URL-02, R-URL-03).
pub(super) fn check(text: &str) -> Result<(), QuestionError> {
    let plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{'..=b'}');
    let url = Url::parse(text).ok().filter(|_| text.bytes().all(plain)).ok_or(QuestionError::Url)?;
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        _ => return Err(QuestionError::UrlScheme),
    }
    // `https:host` and `https:///host` are read as `https://host`, by some.
    if !text.get(url.scheme().len()..).is_some_and(|rest| rest.starts_with("://") && !rest.starts_with(":///")) {
        return Err(QuestionError::Url);
    }
    // An empty user (`https://@host`) is parsed away, so the text decides.
    let authority = text.split(['/', '?', '#']).nth(2).unwrap_or_default();
    if authority.contains('@') {
        return Err(QuestionError::UrlUser);
    }
    review(text)
}

fn review(text: &str) -> Result<(), QuestionError> {
    let review = UrlReview::of(text, &PROFILE);
    let blocking = |finding: &&Finding| finding.verdict() == Verdict::Block && !is_private(finding.reason());
    let names: Vec<&str> = review.findings().iter().filter(blocking).map(Finding::name).collect();
    if !names.is_empty() {
        return Err(QuestionError::UrlBlocked(names.join(", ")));
    }
    if review.findings().iter().any(|finding| *finding.reason() == Reason::CredentialInUrl) {
        return Err(QuestionError::UrlCredential);
    }
    Ok(())
}

/// The page may live in the asker's own network, which the asker knows and a reviewing host does not.
fn is_private(reason: &Reason) -> bool {
    matches!(reason, Reason::PrivateIp | Reason::UniqueLocal | Reason::SharedAddressSpace | Reason::InternalName)
}
