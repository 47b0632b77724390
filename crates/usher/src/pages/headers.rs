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

/// Marks a page whose form leads, by our redirect, to another origin: browsers hold its policy against that too.
#[derive(Clone)]
struct LeadsTo(HeaderValue);

/// Lets the form of this one page lead to `origin`, beside us.
pub(crate) fn lead_to(response: &mut Response, origin: &str) {
    // An origin in ASCII is a header value.
    if let Ok(policy) =
        HeaderValue::from_str(&POLICY.replace("form-action 'self'", &format!("form-action 'self' {origin}")))
    {
        response.extensions_mut().insert(LeadsTo(policy));
    }
}

/// The layer around the pages' router.
pub(crate) async fn protected(mut response: Response) -> Response {
    protect(response.headers_mut());
    if let Some(LeadsTo(policy)) = response.extensions_mut().remove() {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
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

    /// A form of one page leads to one origin more, and nothing else changes.
    #[tokio::test]
    async fn one_page_may_lead_elsewhere() {
        let mut response = Response::default();
        lead_to(&mut response, "https://pay.example");
        let led = protected(response).await;
        let policy = led.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert_eq!(policy.replace(" https://pay.example", ""), POLICY);
        assert!(policy.contains("form-action 'self' https://pay.example;"), "{policy}");
        let plain = protected(Response::default()).await;
        assert_eq!(plain.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
    }

    #[test]
    fn an_asset_keeps_its_own_caching() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
        protect(&mut headers);
        assert_eq!(headers[header::CACHE_CONTROL], "public");
    }
}
