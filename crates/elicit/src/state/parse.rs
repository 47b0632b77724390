use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

use super::{StateKey, StateKeys};
use crate::Random;

/// Why a text is no key ring. Lines count from 1; nothing of a secret is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateKeysError {
    /// There is no line with a key.
    #[error("there is no key; a line has to be id:secret")]
    Empty,
    /// A line is not `id:secret`.
    #[error("line {line}: it has to be id:secret")]
    Shape {
        /// Which line.
        line: usize,
    },
    /// An id is not made of 1 to 64 of `a`–`z`, `0`–`9`, `-` and `_`.
    #[error("line {line}: the id has to be 1 to 64 of a-z 0-9 - _")]
    Id {
        /// Which line.
        line: usize,
    },
    /// A secret is not 32 bytes in base64.
    #[error("line {line}: the secret has to be 32 random bytes in base64")]
    Secret {
        /// Which line.
        line: usize,
    },
    /// An id or a secret stands on two lines, so that a key would be retired and yet remain.
    #[error("line {line}: the id or the secret stands on a line before")]
    Repeated {
        /// The second of the two lines.
        line: usize,
    },
}

impl StateKeys {
    /// The ring of a configuration: a line `id:secret` for each key, of which the first seals. The id is 1 to 64 of `a`–`z`,
    /// `0`–`9`, `-` and `_`; the secret is 32 random bytes in base64 or base64url, with or without padding, as
    /// [`StateKeys::new_secret`] or `openssl rand -base64 32` writes them. Empty lines and text after `#` are ignored.
    ///
    /// The text holds secrets: read it into something that is wiped.
    ///
    /// ```
    /// # let secret = || elicit::StateKeys::new_secret(&elicit::SystemRandom);
    /// let text = format!("2026-11:{}\n2026-05:{} # until December\n", *secret(), *secret());
    /// let keys = elicit::StateKeys::parse(&text)?;
    /// assert_eq!(keys.ids().collect::<Vec<_>>(), ["2026-11", "2026-05"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, StateKeysError> {
        let mut ring: Option<Self> = None;
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let line = index + 1;
            let (id, secret) = content.split_once(':').ok_or(StateKeysError::Shape { line })?;
            let (id, secret) = (id.trim_end(), secret.trim_start());
            if !is_id(id) {
                return Err(StateKeysError::Id { line });
            }
            let key = StateKey::new(id, *decode(secret).ok_or(StateKeysError::Secret { line })?);
            ring = Some(match ring {
                None => Self::new(key),
                Some(ring) if ring.marked(key.mark()).is_some() || ring.ids().any(|known| known == id) => {
                    return Err(StateKeysError::Repeated { line });
                }
                Some(ring) => ring.with(key),
            });
        }
        ring.ok_or(StateKeysError::Empty)
    }

    /// A new secret for a line of a configuration: 32 random bytes in base64url, 43 characters.
    pub fn new_secret(random: &dyn Random) -> Zeroizing<String> {
        let mut secret = Zeroizing::new([0; 32]);
        random.fill(&mut *secret);
        Zeroizing::new(URL_SAFE_NO_PAD.encode(*secret))
    }
}

fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

fn decode(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const EITHER: [GeneralPurpose; 2] =
        [GeneralPurpose::new(&STANDARD, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)];
    // A longer text does not fit, and is an error like any other.
    let mut bytes = Zeroizing::new([0; 48]);
    let length = EITHER.iter().find_map(|engine| engine.decode_slice(text, &mut *bytes).ok())?;
    let mut secret = Zeroizing::new([0; 32]);
    secret.copy_from_slice(bytes.get(..length).filter(|bytes| bytes.len() == 32)?);
    Some(secret)
}
