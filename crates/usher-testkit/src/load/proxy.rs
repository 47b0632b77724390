use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use http::{HeaderMap, HeaderName, StatusCode, header};
use tokio::net::TcpListener;

/// What concerns one connection alone.
const HOP_BY_HOP: [HeaderName; 6] =
    [header::CONNECTION, header::CONTENT_LENGTH, header::HOST, header::TRANSFER_ENCODING, header::UPGRADE, header::TE];

/// A plain reverse proxy: the body of a request is read, sent to the same path at `origin`, and what comes back is passed on;
/// an event stream as it comes. It is what a gateway costs that knows nothing.
pub async fn proxy(listener: TcpListener, origin: String) {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().expect("an HTTP client");
    serve(listener, Router::new().fallback(pass).with_state((client, origin))).await;
}

/// Serves with small answers sent at once.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await.expect("a listener");
}

async fn pass(State((client, origin)): State<(reqwest::Client, String)>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let failed = |status| Response::builder().status(status).body(Body::empty()).expect("fixed headers");
    let Ok(body) = to_bytes(body, 4 * 1024 * 1024).await else { return failed(StatusCode::PAYLOAD_TOO_LARGE) };
    let url = format!("{origin}{}", head.uri);
    let sent = client.request(head.method, url).headers(passed(&head.headers)).body(body).send().await;
    let Ok(answer) = sent else { return failed(StatusCode::BAD_GATEWAY) };
    let (status, headers) = (answer.status(), passed(answer.headers()));
    let streamed = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    let body = if streamed {
        Body::from_stream(answer.bytes_stream())
    } else {
        match answer.bytes().await {
            Ok(bytes) => Body::from(bytes),
            Err(_) => return failed(StatusCode::BAD_GATEWAY),
        }
    };
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

fn passed(headers: &HeaderMap) -> HeaderMap {
    let passes = |(name, _): &(&HeaderName, &http::HeaderValue)| !HOP_BY_HOP.contains(name);
    headers.iter().filter(passes).map(|(name, value)| (name.clone(), value.clone())).collect()
}
