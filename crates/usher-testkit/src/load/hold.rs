use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use futures_util::stream;
use http::header;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::record::lock;
use crate::sse::event;

type Open = Arc<Mutex<Vec<mpsc::Sender<Bytes>>>>;

/// Holds every call: its stream begins with one event and stays open. It is what an open stream costs by itself.
pub async fn hold(listener: TcpListener) {
    let router = Router::new().fallback(post(open)).with_state(Open::default());
    super::proxy::serve(listener, router).await;
}

async fn open(State(streams): State<Open>, body: Bytes) -> Response {
    assert!(!body.is_empty(), "a call");
    let (sender, receiver) = mpsc::channel(8);
    let first = event(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"held"}}"#);
    sender.try_send(first.into()).expect("an empty queue");
    lock(&streams).push(sender);
    let body = stream::unfold(receiver, |mut receiver| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(bytes), receiver))
    });
    let response = Response::builder().header(header::CONTENT_TYPE, "text/event-stream");
    response.body(Body::from_stream(body)).expect("fixed headers")
}
