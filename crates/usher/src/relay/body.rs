//! Bodies of requests and answers, whose bytes are counted while they are in memory.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};

use super::places::Place;
use crate::body;

/// An answer of this size or less is not counted: it fits into what the connection buffers anyway.
const SMALL: u64 = 64 * 1024;

/// The most of an answer that is handed to the connection at a time. What is handed over counts no longer.
const PIECE: usize = 64 * 1024;

/// Why a message was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is over the limit.
    TooLarge,
    /// There is no room for it at the moment.
    Full,
    /// It broke off.
    Broken,
    /// It did not come in time.
    Slow,
}

/// Reads a whole message of at most so many bytes, each of which counts from when it comes. Where there is no room the rest is
/// read and dropped: a client that is cut off while it sends would not hear when to come back.
pub(super) async fn read(body: Body, place: &Place, at_most: usize) -> Result<Bytes, Unread> {
    let reading = async {
        let mut body = Limited::new(body, at_most);
        let (mut first, mut all, mut full) = (Bytes::new(), BytesMut::new(), false);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| body::Unread::of(&*error))?.into_data() else { continue };
            if full {
                continue;
            }
            if place.keep(data.len()).is_err() {
                full = true;
                (first, all) = (Bytes::new(), BytesMut::new());
                place.give_back();
            } else if first.is_empty() {
                // Most messages come in one piece, which is not copied.
                first = data;
            } else {
                if all.is_empty() {
                    all.extend_from_slice(&first);
                }
                all.extend_from_slice(&data);
            }
        }
        if full {
            return Err(Unread::Full);
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    };
    tokio::time::timeout(body::DEADLINE, reading).await.unwrap_or(Err(Unread::Slow))
}

impl From<body::Unread> for Unread {
    fn from(unread: body::Unread) -> Self {
        match unread {
            body::Unread::TooLarge => Self::TooLarge,
            body::Unread::Broken => Self::Broken,
            body::Unread::Slow => Self::Slow,
        }
    }
}

/// Has a large answer count until its reader has taken it.
pub(super) fn counted(response: Response, place: &Arc<Place>) -> Response {
    match response.body().size_hint().exact() {
        Some(size) if size > SMALL => {
            place.owe(size);
            let place = Arc::clone(place);
            response.map(|body| Body::new(Counted { body, rest: Bytes::new(), _place: place }))
        }
        _ => response,
    }
}

/// Has a stream keep something until it ends. What is no stream is on its way already, and keeps nothing.
pub(super) fn keeping<T: Send + Unpin + 'static>(response: Response, kept: T) -> Response {
    match response.body().size_hint().exact() {
        Some(_) => response,
        None => response.map(|body| Body::new(Keeping { body, _kept: kept })),
    }
}

/// A body with something that lives as long.
struct Keeping<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> http_body::Body for Keeping<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that goes in pieces, and keeps its place until the last one.
struct Counted {
    body: Body,
    rest: Bytes,
    _place: Arc<Place>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return Poll::Ready(other),
            }
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let body = self.body.size_hint();
        match body.exact() {
            Some(exact) => SizeHint::with_exact(exact.saturating_add(rest)),
            None => body,
        }
    }
}

#[cfg(test)]
mod tests {
    use elicit::{ClientId, Principal, UserId};
    use futures_util::stream;

    use super::super::places::{Full, Kind, Places};
    use super::*;
    use crate::config::Limits;

    fn principal() -> Principal {
        Principal { user: UserId::new("issuer", "alice").unwrap(), client: ClientId::new("one").unwrap() }
    }

    fn place(memory: u64) -> (Places, Place) {
        let places = Places::new(Limits { client_memory: memory, memory, ..Limits::default() });
        let place = places.take(&principal(), Kind::Request).unwrap();
        (places, place)
    }

    fn pieces(pieces: &[&'static str]) -> Body {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok::<_, std::io::Error>(Bytes::from(*piece))).collect();
        Body::from_stream(stream::iter(pieces))
    }

    #[tokio::test]
    async fn a_message_is_read_whole_however_it_comes() {
        let (_places, place) = place(100);
        assert_eq!(read(Body::empty(), &place, 10).await.unwrap(), "");
        assert_eq!(read(Body::from("whole"), &place, 10).await.unwrap(), "whole");
        assert_eq!(read(pieces(&["in ", "", "pie", "ces"]), &place, 10).await.unwrap(), "in pieces");
    }

    /// R-SEC-01: what is in memory counts from the first byte, and a message over its own limit is told apart.
    #[tokio::test]
    async fn each_piece_counts() {
        let (_places, place) = place(8);
        assert_eq!(read(pieces(&["12345", "678901"]), &place, 10).await, Err(Unread::TooLarge));
        let (_places, place) = self::place(8);
        assert_eq!(read(pieces(&["12345", "6789", "0"]), &place, 10).await, Err(Unread::Full));
        let broken = Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]));
        assert_eq!(read(broken, &place, 10).await, Err(Unread::Broken));
    }

    /// A client that is told to come back has nothing more in memory, however much it still sends.
    #[tokio::test]
    async fn a_refused_message_counts_no_longer() {
        let (places, place) = place(8);
        let other = places.take(&principal(), Kind::Request).unwrap();
        assert_eq!(read(pieces(&["12345", "6789", "0"]), &place, 10).await, Err(Unread::Full));
        other.keep(8).unwrap();
    }

    /// R-SEC-04: a body that never ends is given up.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let (_places, place) = place(8);
        let endless = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
        assert_eq!(read(endless, &place, 10).await, Err(Unread::Slow));
    }

    /// R-SEC-01: a large answer counts until its reader has taken the last of it.
    #[tokio::test]
    async fn a_large_answer_counts_until_it_is_taken() {
        let (_places, place) = place(200_000);
        let place = Arc::new(place);
        let text = vec![b'x'; 150_000];
        let response = counted(Response::new(Body::from(text.clone())), &place);
        assert_eq!(response.body().size_hint().exact(), Some(150_000));
        let mut body = response.into_body();
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            assert_eq!(place.keep(100_000), Err(Full::Memory));
            let data = frame.unwrap().into_data().unwrap();
            assert!(data.len() <= PIECE);
            read.extend_from_slice(&data);
        }
        assert_eq!(read, text);
        drop(body);
        assert_eq!(Arc::strong_count(&place), 1, "its place is given up");
    }

    #[tokio::test]
    async fn small_answers_and_streams_pass_as_they_are() {
        let (_places, place) = place(10);
        let place = Arc::new(place);
        for body in [Body::from("small"), pieces(&["a", "b"])] {
            let _response = counted(Response::new(body), &place);
            assert_eq!(Arc::strong_count(&place), 1);
        }
        place.keep(10).unwrap();
    }
}
