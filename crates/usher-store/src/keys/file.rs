//! The key file: master keys as lines of text.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::hkdf::{self, HKDF_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use elicit::{Random, StateKey, StateKeys};
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::line::{KeyRole, Line};
use super::wrap::{KeyError, KeyWrap, WrappedKey};
use crate::private_file::create_private_file;
use crate::vault::aead;

/// Ends the derivation of the keys that wrap, so that no secret serves two purposes.
const WRAP_LABEL: &[u8] = b"usher key wrap 1";
/// Likewise for the keys that seal request state (R-MRTR-02).
const STATE_LABEL: &[u8] = b"usher request state 1";

/// Master keys from a file of mode 0600.
///
/// One line a key: `id`, 32 bytes in base64url, and `active`, `older` or `next`, with
/// spaces between; then, where known, `made=TIME` and `until=TIME`, the end of its time as the active one. Exactly one
/// key is active: it wraps, all of them unwrap. What an older one wrapped is to be wrapped anew; what a next one
/// wrapped was so by a replica that is ahead. Text after `#` is a comment.
///
/// The same file gives the key ring of sealed request state, derived with a label
/// of its own ([`KeyFile::state_keys`]).
pub struct KeyFile {
    active: MasterKey,
    others: Vec<MasterKey>,
}

/// A master key, as the keys that are derived from it: the key of the file itself is not kept.
struct MasterKey {
    entry: KeyEntry,
    wrap: Zeroizing<[u8; 32]>,
    state: Zeroizing<[u8; 32]>,
}

/// What is known of a key of the file, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub role: KeyRole,
    /// When it was made; `None` where that was by hand.
    pub made: Option<Timestamp>,
    /// Until when it was the active one; `None` where it never was, or the change was made by hand.
    pub until: Option<Timestamp>,
}

/// Why a key file cannot be used. Says nothing of the keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The operating system refused.
    #[error("the key file {}: {source}; check that its folder is there and who may read it", path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// [`KeyFile::create`] found a file. It may be what stored credentials need.
    #[error("the key file {} exists already and was left alone; where it is to be another one, move it away first", path.display())]
    Exists {
        /// The file's path.
        path: PathBuf,
    },
    /// Others than the owner and group may read the file, or the group may write it (R-SEC-07).
    #[error("the key file {} has mode {mode:03o}: {}; run chmod 600 on it", path.display(), exposure(*mode))]
    Exposed {
        /// The file's path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A line is not `id key active|older|next`.
    #[error("line {line} of the key file: {what}; put it right, or put the file back from its backup")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The keys that are used cannot be derived. This is a fault of the cryptographic library.
    #[error("keys cannot be derived from the key {id}")]
    Derivation {
        /// Id of the master key.
        id: String,
    },
    /// No key is active, or several are.
    #[error("the key file must have exactly one active key, and has {0}; put it back from its backup")]
    Active(usize),
    /// Another command changes the file at this moment.
    #[error("another command is changing the key file {}; run this one again when that is done", path.display())]
    Busy {
        /// The file's path.
        path: PathBuf,
    },
    /// No key of the file has this id.
    #[error("the key file has no key {id}; it has: {}", known.join(", "))]
    NoSuchKey {
        /// What was asked for.
        id: String,
        /// Ids of the file.
        known: Vec<String>,
    },
    /// A key that was active before does not become active again: replicas would wrap credentials to and fro.
    #[error("the key {id} was active before and does not come back; add a new one with usher keys rotate")]
    WasActive {
        /// Its id.
        id: String,
    },
    /// The active key cannot be taken out.
    #[error("the key {id} is the active one; make another active first, with usher keys rotate")]
    IsActive {
        /// Its id.
        id: String,
    },
}

impl KeyFile {
    /// Reads a key file.
    pub fn load(path: &Path) -> Result<Self, KeyFileError> {
        Self::parse(&read_text(path)?)
    }

    /// Makes a new file with one new key. Never writes over a file that exists ([`KeyFileError::Exists`]).
    /// The file has mode 0600 and is on the disk when this returns; a crash before that leaves none.
    pub fn create(path: &Path, random: &dyn Random, now: Timestamp) -> Result<Self, KeyFileError> {
        let key = NewKey::make(random);
        let text = Zeroizing::new(format!(
            "# Master keys of Usher. Whoever has this file and the database has the credentials.\n\
             # Keep a backup apart from the database's: without it the credentials are lost.\n\
             {}\n",
            *key.line(KeyRole::Active, now)
        ));
        create_private_file(path, text.as_bytes()).map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.to_owned() },
            _ => KeyFileError::File { path: path.to_owned(), source },
        })?;
        Self::parse(&text)
    }

    /// Reads the text of a key file.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut active = Vec::new();
        let mut others: Vec<MasterKey> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_fault = |what| KeyFileError::Line { line: index + 1, what };
            let Some(line) = Line::parse(line).map_err(line_fault)? else { continue };
            if active.iter().chain(&others).any(|known: &MasterKey| known.entry.id == line.id) {
                return Err(line_fault("the id stands in the file twice"));
            }
            let secret = decode(line.secret).ok_or(line_fault("the key must be 32 bytes in base64url"))?;
            let entry = KeyEntry { id: line.id.to_owned(), role: line.role, made: line.made, until: line.until };
            let keys = if line.role == KeyRole::Active { &mut active } else { &mut others };
            keys.push(MasterKey::new(entry, &secret)?);
        }
        match (active.pop(), active.len()) {
            (Some(active), 0) => Ok(Self { active, others }),
            (None, _) => Err(KeyFileError::Active(0)),
            (Some(_), more) => Err(KeyFileError::Active(more + 1)),
        }
    }

    /// The ids of all keys, the active one first.
    pub fn key_ids(&self) -> Vec<String> {
        self.entries().map(|entry| entry.id.clone()).collect()
    }

    /// What is known of all keys, the active one first.
    pub fn entries(&self) -> impl Iterator<Item = &KeyEntry> {
        self.keys().map(|key| &key.entry)
    }

    /// The key of this id.
    pub fn entry(&self, id: &str) -> Option<&KeyEntry> {
        self.entries().find(|entry| entry.id == id)
    }

    /// The key ring of sealed request state, under the same ids.
    pub fn state_keys(&self) -> StateKeys {
        let ring = StateKeys::new(self.active.state_key());
        self.others.iter().fold(ring, |ring, key| ring.with(key.state_key()))
    }

    fn keys(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.active).chain(&self.others)
    }
}

impl KeyWrap for KeyFile {
    fn active_id(&self) -> String {
        self.active.entry.id.clone()
    }

    fn older_ids(&self) -> Vec<String> {
        self.entries().filter(|entry| entry.role == KeyRole::Older).map(|entry| entry.id.clone()).collect()
    }

    fn has(&self, id: &str) -> bool {
        self.entry(id).is_some()
    }

    fn wrap(&self, data_key: &[u8; 32], context: &[u8], random: &dyn Random) -> Result<WrappedKey, KeyError> {
        Ok(WrappedKey { key_id: self.active_id(), bytes: aead::seal(&self.active.wrap, context, data_key, random)? })
    }

    fn unwrap(&self, wrapped: &WrappedKey, context: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let master = self
            .keys()
            .find(|key| key.entry.id == wrapped.key_id)
            .ok_or_else(|| KeyError::UnknownKey(wrapped.key_id.clone()))?;
        let opened = aead::open(&master.wrap, context, &wrapped.bytes)?;
        let data_key = <[u8; 32]>::try_from(opened.as_slice()).map_err(|_| KeyError::Malformed)?;
        Ok(Zeroizing::new(data_key))
    }
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile").field("key_ids", &self.key_ids()).finish_non_exhaustive()
    }
}

impl MasterKey {
    fn new(entry: KeyEntry, secret: &[u8; 32]) -> Result<Self, KeyFileError> {
        let derived = (derive(secret, WRAP_LABEL), derive(secret, STATE_LABEL));
        match derived {
            (Some(wrap), Some(state)) => Ok(Self { entry, wrap, state }),
            _ => Err(KeyFileError::Derivation { id: entry.id }),
        }
    }

    fn state_key(&self) -> StateKey {
        StateKey::new(self.entry.id.clone(), *self.state)
    }
}

/// A key that is made and stands in no file yet.
pub(super) struct NewKey {
    pub(super) id: String,
    secret: Zeroizing<String>,
}

impl NewKey {
    pub(super) fn make(random: &dyn Random) -> Self {
        let mut secret = Zeroizing::new([0_u8; 32]);
        random.fill(secret.as_mut());
        let mut tail = [0_u8; 4];
        random.fill(&mut tail);
        let secret = Zeroizing::new(URL_SAFE_NO_PAD.encode(*secret));
        Self { id: format!("k{:08x}", u32::from_be_bytes(tail)), secret }
    }

    /// Its line, without the break.
    pub(super) fn line(&self, role: KeyRole, now: Timestamp) -> Zeroizing<String> {
        let line = Line { id: &self.id, secret: &self.secret, role, made: Some(now), until: None, comment: None };
        Zeroizing::new(line.to_string())
    }
}

/// The text of a key file that nobody else may read.
pub(super) fn read_text(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let fault = |source| KeyFileError::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(fault)?;
    check_mode(path, &file)?;
    // Room at once: a growing string would leave copies of the keys behind.
    let length = file.metadata().map_err(fault)?.len();
    let room = usize::try_from(length).unwrap_or(0).saturating_add(1);
    let mut text = Zeroizing::new(String::with_capacity(room));
    file.read_to_string(&mut text).map_err(fault)?;
    Ok(text)
}

fn derive(secret: &[u8; 32], label: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0_u8; 32]);
    hkdf::Salt::new(HKDF_SHA256, &[])
        .extract(secret)
        .expand(&[label], HKDF_SHA256)
        .and_then(|output| output.fill(key.as_mut()))
        .ok()?;
    Some(key)
}

fn decode(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).ok()?);
    <[u8; 32]>::try_from(bytes.as_slice()).ok().map(Zeroizing::new)
}

#[cfg(unix)]
fn check_mode(path: &Path, file: &File) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = file.metadata().map_err(|source| KeyFileError::File { path: path.to_owned(), source })?;
    let mode = metadata.permissions().mode() & 0o777;
    // The group may read: that is how container platforms hand a secret to a service.
    if mode & 0o027 == 0 { Ok(()) } else { Err(KeyFileError::Exposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &File) -> Result<(), KeyFileError> {
    Ok(())
}

/// Who may do what with a file of this mode.
fn exposure(mode: u32) -> String {
    let all = [(0o020, "its group may write it"), (0o004, "others may read it"), (0o003, "others may use it")];
    let found: Vec<_> = all.into_iter().filter(|(bits, _)| mode & bits != 0).map(|(_, what)| what).collect();
    found.join(", ")
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
