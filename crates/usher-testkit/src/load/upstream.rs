use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::routing::post;
use http::{HeaderMap, StatusCode, header};
use tokio::net::TcpListener;

use super::usher::OF_A_CLIENT;

/// The key that the upstream's second endpoint wants.
pub const KEY: &str = "key-for-the-weather-5f1d";

/// An upstream of both eras that answers at once and records nothing: `/mcp` for everybody, `/keyed` with [`KEY`], `/granted`
/// with a token that no client of the service has.
pub async fn echo(listener: TcpListener) {
    let keyed = |headers: HeaderMap, body: Bytes| async move {
        let good = headers.get("x-api-key").is_some_and(|key| key == KEY);
        if good { answer(&body) } else { plain(StatusCode::UNAUTHORIZED, String::new()) }
    };
    let granted = |headers: HeaderMap, body: Bytes| async move {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let good = sent.is_some_and(|token| !token.is_empty() && !token.starts_with(OF_A_CLIENT));
        if good { answer(&body) } else { plain(StatusCode::UNAUTHORIZED, String::new()) }
    };
    let router = Router::new()
        .route("/mcp", post(|body: Bytes| async move { answer(&body) }))
        .route("/keyed", post(keyed))
        .route("/granted", post(granted));
    super::proxy::serve(listener, router).await;
}

fn answer(body: &Bytes) -> Response {
    let text = String::from_utf8_lossy(body);
    // The load and the service write messages without blanks, and ids without commas.
    let Some((_, after)) = text.split_once("\"id\":") else { return plain(StatusCode::ACCEPTED, String::new()) };
    let id = after.split([',', '}']).next().unwrap_or_default();
    if text.contains("\"initialize\"") {
        let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#;
        let mut response = plain(StatusCode::OK, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        response.headers_mut().insert("mcp-session-id", http::HeaderValue::from_static("the-one-session"));
        return response;
    }
    let forecast = "Sunny, with some clouds in the afternoon. ".repeat(10);
    let result = format!(r#"{{"content":[{{"type":"text","text":"{forecast}"}}],"resultType":"complete"}}"#);
    plain(StatusCode::OK, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn plain(status: StatusCode, body: String) -> Response {
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    response.body(Body::from(body)).expect("fixed headers")
}
