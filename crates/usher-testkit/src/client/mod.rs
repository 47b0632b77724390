//! MCP clients that send exactly what a test tells them, right or wrong.

mod legacy;
mod modern;
mod reply;
mod stream;

pub use legacy::Legacy;
pub use modern::{Modern, Request};
pub use reply::Reply;
pub use stream::Stream;

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// Headers of a request that a test may override or leave out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers(HeaderMap);

impl Headers {
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let name: HeaderName = name.parse().unwrap_or_else(|_| panic!("no header name: {name}"));
        // Bytes, so that a test may send what a correct client would encode.
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap_or_else(|_| panic!("no header value: {value:?}"));
        self.0.insert(name, value);
    }

    pub(crate) fn omit(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(crate) fn into_map(self) -> HeaderMap {
        self.0
    }
}
