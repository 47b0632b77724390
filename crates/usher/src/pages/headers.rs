//! The headers of every page: nothing foreign is loaded, nothing is framed, nothing is kept.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// No style or script but ours, no inline ones, no frame around us (R-OAUTH-03), no form that leads elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// What every answer carries. `Referrer-Policy` is not `no-referrer`: our own forms would then send `Origin: null`.
const ALWAYS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), publickey-credentials-get=()",
    ),
];

/// Adds them to an answer. `Cache-Control` stays where an asset has set its own.
pub(crate) fn protect(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// The layer around the pages' router.
pub(crate) async fn protected(mut response: Response) -> Response {
    protect(response.headers_mut());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-OAUTH-03: the page cannot be framed, and runs no code but ours.
    #[test]
    fn every_answer_is_protected() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src *"));
        protect(&mut headers);
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(part), "{part}");
        }
        assert!(!policy.contains("unsafe"));
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
        assert_eq!(headers[header::X_FRAME_OPTIONS], "DENY");
        assert_eq!(headers[header::REFERRER_POLICY], "same-origin");
    }

    #[test]
    fn an_asset_keeps_its_own_caching() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        protect(&mut headers);
        assert_eq!(headers[header::CACHE_CONTROL], "public");
    }
}
