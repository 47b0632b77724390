//! What a form of ours sends back, and whether it was a form of ours.

use std::{collections::BTreeMap, io};

use axum::{
    body::Body,
    extract::{Request, rejection::BytesRejection},
};
use bytes::Bytes;
use http::{HeaderMap, header};
use secrecy::{ExposeSecret as _, SecretString};
use url::form_urlencoded;

use crate::body;

/// The largest form that is read, in bytes: many fields of 8 KiB, each byte percent-encoded.
const FORM_AT_MOST: usize = 256 * 1024;

/// Why a request is refused: it comes from a page of somebody else, or from no page.
pub(crate) const FOREIGN: &str = "not from a page of ours";

/// Why a request is refused: it is not what our forms send.
pub(crate) const NO_FORM: &str = "not a form of ours";

/// Why a request is refused: its token is not the one of this session and form.
pub(crate) const WRONG_TOKEN: &str = "wrong form token";

/// Whether a browser sent this from a page of ours: `Sec-Fetch-Site` first, then `Origin`. Without both, nobody can tell,
/// so it is refused (R-OAUTH-03, R-SEC-08).
pub(crate) fn from_our_page(headers: &HeaderMap, origin: &str) -> bool {
    let mut told = false;
    for (name, ours) in [("sec-fetch-site", "same-origin"), (header::ORIGIN.as_str(), origin)] {
        for value in headers.get_all(name) {
            if value.as_bytes() != ours.as_bytes() {
                return false;
            }
            told = true;
        }
    }
    told
}

/// Reads the body of a request before its page is asked. One that is too large, broken off or not here in time has the page
/// read an error, so it is [`NO_FORM`] there.
pub(crate) async fn whole(request: Request) -> Request {
    let (parts, body) = request.into_parts();
    let body = match body::whole(body, FORM_AT_MOST).await {
        Ok(whole) => Body::from(whole),
        Err(unread) => Body::from_stream(futures_util::stream::iter([Err::<Bytes, _>(io::Error::other(unread))])),
    };
    Request::from_parts(parts, body)
}

/// The fields of a form, each once. Any of them may be a secret.
pub(crate) struct Posted(BTreeMap<String, SecretString>);

impl Posted {
    /// Reads the body. `None` where it is no form, is too large, or names a field twice.
    pub(crate) fn read(headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Option<Self> {
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return None;
        }
        let body = body.ok()?;
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(&body) {
            if fields.insert(name.into_owned(), SecretString::from(value.into_owned())).is_some() {
                return None;
            }
        }
        Some(Self(fields))
    }

    /// Takes out a field that is no secret; empty where it is not there.
    pub(crate) fn take(&mut self, name: &str) -> String {
        self.0.remove(name).map(|value| value.expose_secret().to_owned()).unwrap_or_default()
    }

    /// Takes out a field that is one.
    pub(crate) fn take_secret(&mut self, name: &str) -> SecretString {
        self.0.remove(name).unwrap_or_default()
    }

    /// What is left.
    pub(crate) fn rest(self) -> BTreeMap<String, SecretString> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};
    use http::HeaderValue;

    use super::*;

    const ORIGIN: &str = "http://127.0.0.1:8420";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    /// R-OAUTH-03: forms that other pages send are refused.
    #[test]
    fn only_a_form_of_our_own_page_is_taken() {
        for (pairs, ours) in [
            (&[("sec-fetch-site", "same-origin"), ("origin", ORIGIN)][..], true),
            (&[("origin", ORIGIN)], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", ORIGIN)], false),
            (&[("sec-fetch-site", "same-site"), ("origin", ORIGIN)], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], false),
            (&[("origin", "http://localhost:8420")], false),
            (&[("origin", "http://127.0.0.1:8421")], false),
            (&[("origin", "http://127.0.0.1:8420.evil.example")], false),
        ] {
            assert_eq!(from_our_page(&headers(pairs), ORIGIN), ours, "{pairs:?}");
        }
        let mut twice = headers(&[("origin", ORIGIN)]);
        twice.append("origin", HeaderValue::from_static("https://evil.example"));
        assert!(!from_our_page(&twice, ORIGIN));
    }

    /// R-SEC-04: a form has a deadline and a size, also of somebody who shows nothing.
    #[tokio::test(start_paused = true)]
    async fn a_form_that_never_ends_is_given_up() {
        let read = |body| async { axum::body::to_bytes(whole(Request::new(body)).await.into_body(), usize::MAX).await };
        assert_eq!(read(Body::from("a=1")).await.unwrap(), "a=1");
        assert!(read(Body::from("x".repeat(FORM_AT_MOST + 1))).await.is_err());
        let started = tokio::time::Instant::now();
        let first = stream::iter([Ok::<_, io::Error>(Bytes::from("a=1"))]);
        assert!(read(Body::from_stream(first.chain(stream::pending()))).await.is_err(), "half a form is no form");
        assert_eq!(started.elapsed().as_secs(), body::DEADLINE.as_secs());
    }

    #[test]
    fn a_form_names_each_field_once() {
        let form = headers(&[("content-type", "application/x-www-form-urlencoded; charset=UTF-8")]);
        let read = |body: &'static str| Posted::read(&form, Ok(Bytes::from_static(body.as_bytes())));
        let mut posted = read("csrf=a&api_key=k%20%2B&action=connect").unwrap();
        assert_eq!(posted.take("action"), "connect");
        assert_eq!(posted.take("csrf"), "a");
        assert_eq!(posted.take("csrf"), "");
        assert_eq!(posted.rest()["api_key"].expose_secret(), "k +");
        assert!(read("action=decline&action=connect").is_none());
        let json = headers(&[("content-type", "application/json")]);
        assert!(Posted::read(&json, Ok(Bytes::new())).is_none());
    }
}
