//! URLs that a document of somebody else names as the endpoints of a service.

use url::Url;

/// An endpoint, as far as its text tells: an absolute URL without a user, password or fragment, over https, or over http where
/// `http_at` says so. Of its address is decided when it is requested; a browser is sent to nothing else but http and https
/// (R-SEC-05).
pub(crate) fn endpoint(text: &str, http_at: impl FnOnce(&Url) -> bool) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let right = match url.scheme() {
        "https" => true,
        "http" => http_at(&url),
        _ => false,
    };
    (bare && right).then_some(url)
}
