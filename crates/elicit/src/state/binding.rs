use aws_lc_rs::digest::{SHA256, digest};

use crate::{Digest, Principal};

/// The request that a state continues. On a retry it is made anew from what was verified then, and
/// has to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The verified user and client.
    pub principal: Principal,
    /// The name of the upstream server; a server that asks for itself uses its own name.
    pub upstream: String,
    /// The method of the request.
    pub method: String,
    /// The digest of what it asks for: [`request_digest`](crate::request_digest).
    pub digest: Digest,
}

/// Bytes of one part as it is sealed.
const PART: usize = 32;
/// Bytes of a whole binding as it is sealed.
pub(super) const BINDING: usize = 4 * PART;

/// The four parts of a binding at fixed length, so that comparing them takes one time whatever they
/// say, and none makes the state longer.
pub(super) struct Parts {
    pub(super) principal: [u8; PART],
    pub(super) upstream: [u8; PART],
    pub(super) method: [u8; PART],
    pub(super) digest: [u8; PART],
}

impl Parts {
    pub(super) fn of(binding: &Binding) -> Self {
        let user = &binding.principal.user;
        Self {
            principal: hash(&[user.issuer(), user.subject(), binding.principal.client.as_str()]),
            upstream: hash(&[&binding.upstream]),
            method: hash(&[&binding.method]),
            digest: *binding.digest.as_bytes(),
        }
    }

    pub(super) fn read(sealed: &[u8; BINDING]) -> Self {
        let mut parts = [[0; PART]; 4];
        for (part, sealed) in parts.iter_mut().zip(sealed.as_chunks().0) {
            *part = *sealed;
        }
        let [principal, upstream, method, digest] = parts;
        Self { principal, upstream, method, digest }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for part in [&self.principal, &self.upstream, &self.method, &self.digest] {
            bytes.extend_from_slice(part);
        }
    }
}

/// Each text goes in with its length, so that no two lists of texts hash alike.
fn hash(texts: &[&str]) -> [u8; PART] {
    // One call of the hash: each costs about as much as hashing the texts.
    let length = texts.iter().map(|text| size_of::<u64>() + text.len()).sum();
    let mut bytes = Vec::with_capacity(length);
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    let mut value = [0; PART];
    value.copy_from_slice(digest(&SHA256, &bytes).as_ref());
    value
}
