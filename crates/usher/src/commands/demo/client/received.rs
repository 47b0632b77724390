//! Every byte that the client receives, kept to look through it.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{HeaderMap, StatusCode};
use memchr::memmem;

/// All responses, each with its status line, its headers and its body. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(in crate::commands::demo) struct Received(Arc<Mutex<Vec<Vec<u8>>>>);

/// One response that is being received.
pub(super) struct Recording {
    received: Received,
    index: usize,
}

impl Received {
    /// A response begins. Each is kept by itself, so that streams which arrive at the same time do not mix.
    pub(super) fn begin(&self, status: StatusCode, headers: &HeaderMap) -> Recording {
        let mut head = String::new();
        // Writing into a string cannot fail.
        let _ = writeln!(head, "{status}");
        let mut head = head.into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.push(b'\n');
        }
        let mut responses = self.responses();
        responses.push(head);
        Recording { received: self.clone(), index: responses.len() - 1 }
    }

    /// How many bytes came.
    pub(in crate::commands::demo) fn len(&self) -> usize {
        self.responses().iter().map(Vec::len).sum()
    }

    /// Whether `text` stands in any of them.
    pub(in crate::commands::demo) fn holds(&self, text: &str) -> bool {
        self.responses().iter().any(|response| memmem::find(response, text.as_bytes()).is_some())
    }

    /// A panic while the lock is held leaves lists that are still whole.
    fn responses(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// More of the body came.
    pub(super) fn push(&self, bytes: &[u8]) {
        if let Some(response) = self.received.responses().get_mut(self.index) {
            response.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-OAUTH-01: a search that missed a key would say that all is well.
    #[test]
    fn a_text_is_found_in_headers_and_across_chunks_of_responses_that_mix() {
        let received = Received::default();
        let mut headers = HeaderMap::new();
        headers.insert("x-trace", "one-secret".parse().unwrap());
        let first = received.begin(StatusCode::OK, &HeaderMap::new());
        let second = received.begin(StatusCode::OK, &headers);
        first.push(b"data: another-");
        second.push(b"...");
        first.push(b"secret\n\n");
        assert!(received.holds("one-secret"));
        assert!(received.holds("another-secret"));
        assert!(!received.holds("no-secret"));
        assert_eq!(received.len(), "200 OK\n".len() * 2 + "x-trace: one-secret\n".len() + 25);
    }
}
