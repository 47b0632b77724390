//! HTTP headers of the MCP endpoint: which pass upstream, and the check that the modern era's mirrored headers say what the body says.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// `MCP-Protocol-Version`.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Session-Id`, legacy only.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// `Mcp-Method`, modern only.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`, modern only.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// `Last-Event-ID`, legacy resumption.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a mirrored header got wrong. The text goes to the client, as -32020.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Header mismatch: {0}")]
pub struct Mismatch(String);

/// Checks that the version header says what the body says (streamable HTTP 2026-07-28, "Protocol Version Header").
pub fn check_version(headers: &HeaderMap, version: &str) -> Result<(), Mismatch> {
    require(headers, &PROTOCOL_VERSION, "MCP-Protocol-Version", version)
}

/// Checks the other headers that mirror the body (streamable HTTP 2026-07-28, "Server Validation").
pub fn check_mirrored(headers: &HeaderMap, method: &str, subject: Option<&str>) -> Result<(), Mismatch> {
    require(headers, &METHOD, "Mcp-Method", method)?;
    if let Some(subject) = subject {
        require(headers, &NAME, "Mcp-Name", subject)?;
    }
    Ok(())
}

fn require(headers: &HeaderMap, name: &HeaderName, shown: &str, body: &str) -> Result<(), Mismatch> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Mismatch(format!("the request needs exactly one {shown} header")));
    };
    let text = value.to_str().map_err(|_| Mismatch(format!("the {shown} header has characters outside of ASCII")))?;
    let decoded = if name == NAME {
        decode(text).ok_or_else(|| Mismatch(format!("the {shown} header is no valid Base64")))?
    } else {
        Cow::Borrowed(text)
    };
    if decoded == body {
        return Ok(());
    }
    Err(Mismatch(format!("the {shown} header does not match the body")))
}

/// Undoes the `=?base64?…?=` form of a value that is not plain ASCII. `None` where it claims to be that and is not.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(text)),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

/// The headers of a client's request that go upstream. The rest stays here: above all `Authorization` and cookies, which are
/// meant for us (R-ID-04), and anything that could pass for an injected credential.
pub fn forwarded(inbound: &HeaderMap) -> HeaderMap {
    let mut outbound = HeaderMap::with_capacity(inbound.len());
    for (name, value) in inbound {
        if passes(name) {
            outbound.append(name.clone(), value.clone());
        }
    }
    outbound
}

fn passes(name: &HeaderName) -> bool {
    match *name {
        header::ACCEPT | header::CONTENT_TYPE | header::ACCEPT_LANGUAGE => true,
        ref name if *name == SESSION_ID => false,
        ref name => {
            name.as_str().starts_with("mcp-")
                || *name == LAST_EVENT_ID
                || matches!(name.as_str(), "traceparent" | "tracestate" | "baggage")
        }
    }
}

/// The same headers with values of their own: those of a request are parts of its connection's buffer, and keep all of it.
pub fn copied(headers: &HeaderMap) -> HeaderMap {
    let mut copied = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        // What was a value is one.
        copied.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap_or_else(|_| value.clone()));
    }
    copied
}

/// The headers of an upstream's response that go to the client: what describes the body, and nothing that sets state.
pub fn returned(upstream: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
        if let Some(value) = upstream.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    headers
}

/// Whether a response's or request's content type is `expected`, parameters aside.
pub fn is_type(value: Option<&HeaderValue>, expected: &str) -> bool {
    value
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

/// Whether the request's `Accept` allows an event stream.
pub fn accepts_events(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).any(
        |range| {
            let kind = range.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("text/event-stream") || kind == "*/*" || kind.eq_ignore_ascii_case("text/*")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn check(headers: &HeaderMap, subject: &str) -> Result<(), Mismatch> {
        check_version(headers, "2026-07-28").and_then(|()| check_mirrored(headers, "tools/call", Some(subject)))
    }

    #[test]
    fn headers_that_say_what_the_body_says_pass() {
        for (name, body) in [
            ("get_weather", "get_weather"),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        ] {
            let headers =
                headers(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)]);
            assert_eq!(check(&headers, body), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_missing_doubled_or_different_header_is_a_mismatch() {
        let good = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "a")];
        for index in 0..3 {
            let mut missing = good.to_vec();
            missing.remove(index);
            assert!(check(&headers(&missing), "a").is_err());
            let mut different = good;
            different[index].1 = "other";
            assert!(check(&headers(&different), "a").is_err());
            let mut doubled = headers(&good);
            doubled.append(HeaderName::from_static(good[index].0), HeaderValue::from_str(good[index].1).unwrap());
            assert!(check(&doubled, "a").is_err());
        }
        let broken = headers(&[
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?!?="),
        ]);
        assert!(check(&broken, "a").is_err());
    }

    /// R-ID-04: the client's token and cookies never go upstream, nor does a header that could pass for an injected credential.
    #[test]
    fn only_named_headers_go_upstream() {
        let inbound = headers(&[
            ("authorization", "Bearer secret"),
            ("cookie", "a=b"),
            ("x-api-key", "mine"),
            ("host", "usher"),
            ("mcp-session-id", "ours"),
            ("proxy-authorization", "x"),
            ("mcp-param-region", "eu"),
            ("mcp-method", "tools/call"),
            ("accept", "application/json"),
            ("content-type", "application/json"),
            ("traceparent", "00-1-1-00"),
        ]);
        let mut names: Vec<String> = forwarded(&inbound).keys().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["accept", "content-type", "mcp-method", "mcp-param-region", "traceparent"]);
    }

    #[test]
    fn a_copy_says_the_same_in_memory_of_its_own() {
        let mut headers = headers(&[("mcp-param-a", "1"), ("accept", "x"), ("mcp-method", "tools/call")]);
        headers.append("mcp-param-a", HeaderValue::from_bytes(b"\xff").unwrap());
        let copy = copied(&headers);
        assert_eq!(copy, headers);
        assert_ne!(copy["accept"].as_bytes().as_ptr(), headers["accept"].as_bytes().as_ptr());
    }

    #[test]
    fn an_upstream_sets_no_cookie_and_no_challenge_here() {
        let upstream = headers(&[
            ("content-type", "application/json"),
            ("set-cookie", "a=b"),
            ("www-authenticate", "Bearer"),
            ("mcp-session-id", "theirs"),
        ]);
        assert_eq!(returned(&upstream).len(), 1);
    }

    #[test]
    fn accept_is_read_by_media_range() {
        assert!(accepts_events(&headers(&[("accept", "application/json, text/event-stream")])));
        assert!(accepts_events(&headers(&[("accept", "*/*")])));
        assert!(!accepts_events(&headers(&[("accept", "application/json")])));
    }
}
