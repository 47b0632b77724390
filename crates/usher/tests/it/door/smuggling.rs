//! Requests whose length can be read in two ways.

use usher_testkit::upstream::Upstream;

use crate::{
    harness::Stage,
    raw::{address, exchange},
};

/// What an attacker hides behind the first request.
fn hidden(host: &str, bearer: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hidden","version":"1"}}}"#;
    format!(
        "POST /mcp/weather HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Accept: */*\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// R-SEC-08: where the end of a request could be read in two ways, nothing of what may follow is taken for a request.
#[tokio::test]
async fn what_hides_behind_an_ambiguous_length_never_becomes_a_request() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let bearer = format!("Bearer {}", stage.token);
    let hidden = hidden(&host, &bearer);
    let first = super::INITIALIZE;
    let length = first.len();
    let chunked = format!("{length:x}\r\n{first}\r\n0\r\n\r\n");
    let shorter = length - 1;
    let shapes = [
        ("both, length first", format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), &chunked),
        ("both, chunked first", format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), &chunked),
        ("two lengths", format!("Content-Length: {length}\r\nContent-Length: {shorter}\r\n"), &first.to_owned()),
        ("a list of lengths", format!("Content-Length: {length}, {shorter}\r\n"), &first.to_owned()),
        ("a signed length", format!("Content-Length: +{length}\r\n"), &first.to_owned()),
        ("an unknown coding", format!("Content-Length: {length}\r\nTransfer-Encoding: xchunked\r\n"), &chunked),
        ("chunked not last", format!("Content-Length: {length}\r\nTransfer-Encoding: chunked, identity\r\n"), &chunked),
        ("a space before the colon", format!("Content-Length: {length}\r\nTransfer-Encoding : chunked\r\n"), &chunked),
        ("a tab before the colon", format!("Content-Length: {length}\r\nTransfer-Encoding\t: chunked\r\n"), &chunked),
        ("a folded value", format!("Content-Length: {length}\r\nTransfer-Encoding:\r\n chunked\r\n"), &chunked),
        ("a bare line feed", format!("X: y\nTransfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), &chunked),
        ("a vertical tab", format!("Content-Length: {length}\r\nTransfer-Encoding: \x0bchunked\r\n"), &chunked),
        ("a null", format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\0\r\n"), &chunked),
    ];
    for (shape, lengths, body) in shapes {
        let before = stage.upstream.requests().len();
        let text = format!(
            "POST /mcp/weather HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
             Accept: */*\r\n{lengths}\r\n{body}{hidden}"
        );
        let answer = exchange(&stage.origin, text).await;
        let seen = stage.upstream.requests().split_off(before);
        assert!(answer.count() <= 1, "{shape}: {}", answer.text);
        assert!(!seen.iter().any(|request| request.text().contains("hidden")), "{shape}: {seen:?}");
        assert!(seen.len() <= 1, "{shape}: {seen:?}");
        assert_eq!(seen.len() == 1, answer.status == 200, "{shape}: {}", answer.text);
    }
}

/// R-SEC-08: what would end a header here must not begin one upstream.
#[tokio::test]
async fn a_header_value_cannot_bring_another_header_along() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let bearer = format!("Bearer {}", stage.token);
    for value in ["a\nX-Injected: 1", "a\rX-Injected: 1", "a\0X-Injected: 1"] {
        let text = format!(
            "POST /mcp/weather HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
             Accept: */*\r\nMcp-Param-A: {value}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
            super::INITIALIZE.len(),
            super::INITIALIZE,
        );
        exchange(&stage.origin, text).await;
    }
    assert!(stage.upstream.requests().iter().all(|request| request.header("x-injected").is_none()));
}
