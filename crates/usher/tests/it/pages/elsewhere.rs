//! A browser that comes by another name for this host.

use crate::{
    harness::Stage,
    raw::{address, exchange, request},
};

/// R-SEC-08: a browser at another name is told the right address as text, by a page without scripts, links and forms; the
/// endpoints for apps and whoever wants no page get what they can read.
#[tokio::test]
async fn a_browser_at_another_name_is_told_the_right_address() {
    let stage = Stage::new().await;
    let port = stage.origin.rsplit(':').next().unwrap();
    let other = format!("localhost:{port}");
    let ask = |line: &'static str, accept: &'static str| {
        exchange(&stage.origin, request(line, &[("Host", &other), ("Accept", accept)], ""))
    };
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for line in ["GET /", "GET /login", "GET /connect/x?y=%3Cscript%3E", "GET /nothing"] {
        let answer = ask(line, browser).await;
        assert_eq!(answer.status, 421, "{line}: {}", answer.text);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{line}");
        assert!(answer.header("content-security-policy").unwrap().contains("default-src 'none'"), "{line}");
        assert!(answer.body().contains(&format!("<strong>{}</strong>", stage.origin)), "{line}: {}", answer.text);
        for never in ["<script", "href=", "<form", "src=", "localhost"] {
            assert!(!answer.body().contains(never), "{line}: {never}: {}", answer.text);
        }
    }
    for (line, accept) in [("GET /mcp/weather", browser), ("GET /", "application/json"), ("GET /", "*/*")] {
        let answer = ask(line, accept).await;
        assert_eq!((answer.status, answer.header("content-type")), (421, Some("application/json")), "{line} {accept}");
    }
    // Whoever has the address right and comes through a proxy has no wrong address to correct.
    let host = address(&stage.origin);
    let headers = [("Host", host.as_str()), ("Accept", browser), ("X-Forwarded-For", "10.0.0.1")];
    assert_eq!(exchange(&stage.origin, request("GET /", &headers, "")).await.status, 403);
}
