use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{LessSafeKey, Nonce};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk};
use zeroize::{Zeroize, Zeroizing};

use super::cipher::Cipher;
use super::{KEY, MAX_SEALED_BYTES, NONCE, OVERHEAD};
use crate::Random;

/// For the key of the cipher, so that the secret serves two purposes and neither knows the other's output.
const CIPHER_LABEL: &[u8] = b"elicit state 3 cipher";
/// For what tells one key from another in a sealed state.
const MARK_LABEL: &[u8] = b"elicit state 3 key mark";

/// One secret of the ring, with a name for the people who look after it.
///
/// The name stays here: a sealed state shows 8 bytes derived from the secret instead, so it tells nothing of the
/// deployment, and a name that comes back for another secret confuses nobody.
#[derive(Clone)]
pub struct StateKey {
    id: String,
    mark: [u8; KEY],
    // Wiped when the last clone is dropped. Shared, since each move of the bytes themselves would leave some behind. 32
    // bytes always make a cipher; where they did not, nothing would be sealed or opened.
    cipher: Arc<Result<Cipher, Unspecified>>,
}

impl StateKey {
    /// A key from 32 secret random bytes, the same on every replica (R-MRTR-06). This copy of them is wiped; wipe yours.
    pub fn new(id: impl Into<String>, mut secret: [u8; 32]) -> Self {
        let prk = Prk::new_less_safe(HKDF_SHA256, &secret);
        secret.zeroize();
        let (mut mark, mut key) = ([0; KEY], Zeroizing::new([0; 32]));
        let cipher = expand(&prk, MARK_LABEL, &mut mark)
            .and_then(|()| expand(&prk, CIPHER_LABEL, &mut *key))
            .and_then(|()| Cipher::new(&key));
        Self { id: id.into(), mark, cipher: Arc::new(cipher) }
    }

    /// A new key that is kept nowhere: for a server of one process that may forget its open questions when it ends. Any
    /// other reads its ring from its configuration: [`StateKeys::parse`].
    pub fn generate(id: impl Into<String>, random: &dyn Random) -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        random.fill(&mut *secret);
        Self::new(id, *secret)
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn mark(&self) -> [u8; KEY] {
        self.mark
    }

    /// The key of the one message with this nonce, and the nonce to use with it.
    pub(super) fn message(&self, nonce: &[u8; NONCE]) -> Result<(LessSafeKey, Nonce), Unspecified> {
        self.cipher.as_ref().as_ref().map_err(|error| *error)?.message(nonce)
    }
}

/// HKDF-Expand (RFC 5869).
fn expand(prk: &Prk, label: &[u8], key: &mut [u8]) -> Result<(), Unspecified> {
    prk.expand(&[label], Length(key.len()))?.fill(key)
}

/// How many bytes are derived.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The key ring: one key seals, all of them open.
///
/// # Rotation
///
/// With several replicas a new key becomes known everywhere before it seals anywhere, and the old one stays until the
/// last state that it sealed has expired:
///
/// ```
/// use elicit::{StateKey, StateKeys};
///
/// # let (old, new) = ([1; 32], [2; 32]);
/// let key = |id, secret| StateKey::new(id, secret);
/// let today = StateKeys::new(key("2026-05", old));
/// // 1. On every replica: it opens what others may seal soon.
/// let known = StateKeys::new(key("2026-05", old)).with(key("2026-11", new));
/// // 2. Then on every replica: it seals.
/// let active = StateKeys::new(key("2026-11", new)).with(key("2026-05", old));
/// // 3. When the longest life of a state has passed.
/// let rotated = StateKeys::new(key("2026-11", new));
/// # assert_eq!(active.ids().collect::<Vec<_>>(), ["2026-11", "2026-05"]);
/// ```
///
/// A key that has leaked goes at once, from all replicas: questions under way are asked again.
#[derive(Clone, Debug)]
pub struct StateKeys {
    active: StateKey,
    older: Vec<StateKey>,
}

impl StateKeys {
    /// The longest payload that can be sealed, in bytes.
    pub const MAX_PAYLOAD_BYTES: usize = MAX_SEALED_BYTES / 4 * 3 - OVERHEAD;

    /// How far ahead the expiry of a state may lie when it is opened, in seconds: seven days.
    ///
    /// So no state lives for ever where a clock was far ahead or has gone back since, and an expiry in milliseconds is
    /// found out by the first state that comes back. What has to wait for longer belongs in a store.
    pub const MAX_LIFETIME_SECONDS: u64 = 7 * 24 * 60 * 60;

    /// A ring whose only key is `active`.
    pub fn new(active: StateKey) -> Self {
        Self { active, older: Vec::new() }
    }

    /// The same ring, which also opens what `older` sealed. A key that is in the ring already changes nothing.
    pub fn with(mut self, older: StateKey) -> Self {
        if self.marked(older.mark()).is_none() {
            self.older.push(older);
        }
        self
    }

    /// The names of the keys, the active one first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.keys().map(StateKey::id)
    }

    pub(super) fn active(&self) -> &StateKey {
        &self.active
    }

    /// The key that a state names. What is compared is no secret: it stands in the state.
    pub(super) fn marked(&self, mark: [u8; KEY]) -> Option<&StateKey> {
        self.keys().find(|key| key.mark() == mark)
    }

    fn keys(&self) -> impl Iterator<Item = &StateKey> {
        std::iter::once(&self.active).chain(&self.older)
    }
}
