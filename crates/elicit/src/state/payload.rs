use std::io::{self, ErrorKind, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::{Binding, Rejected, SealError, StateKeys};
use crate::Random;

impl StateKeys {
    /// Seals a value as JSON, as [`StateKeys::seal`] seals bytes. No copy of the JSON is left in memory; what `value` itself
    /// holds is the caller's.
    pub fn seal_json<T: Serialize + ?Sized>(
        &self,
        binding: &Binding,
        value: &T,
        expires_at: u64,
        random: &dyn Random,
    ) -> Result<String, SealError> {
        let mut payload = Payload::default();
        serde_json::to_writer(&mut payload, value).map_err(|error| match error.io_error_kind() {
            Some(_) => SealError::TooLarge,
            None => SealError::Payload,
        })?;
        self.seal(binding, &payload.bytes, expires_at, random)
    }

    /// Opens what [`StateKeys::seal_json`] sealed, as [`StateKeys::open`] opens bytes. While replicas of two builds run, each
    /// gets states of the other: a field that is new wants `#[serde(default)]`.
    pub fn open_json<T: DeserializeOwned>(&self, sealed: &str, binding: &Binding, now: u64) -> Result<T, Rejected> {
        let payload = self.open(sealed, binding, now)?;
        serde_json::from_slice(&payload).map_err(|_| Rejected::Payload)
    }
}

/// Bytes that are wiped, also where they were before there was room for more.
#[derive(Default)]
struct Payload {
    bytes: Zeroizing<Vec<u8>>,
}

impl Write for Payload {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let length = self.bytes.len() + piece.len();
        if length > StateKeys::MAX_PAYLOAD_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if length > self.bytes.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity((length * 2).max(1024)));
            larger.extend_from_slice(&self.bytes);
            self.bytes = larger;
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
