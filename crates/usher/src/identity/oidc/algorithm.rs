//! The algorithms that a token may be signed by: public keys only, so that nobody else but the issuer can make one.

use super::keys::Kind;

/// An algorithm of RFC 7518 or RFC 8037. There is no `none` here, and nothing with a shared secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5.
    Rs256,
    /// RSASSA-PKCS1-v1_5.
    Rs384,
    /// RSASSA-PKCS1-v1_5.
    Rs512,
    /// RSASSA-PSS.
    Ps256,
    /// RSASSA-PSS.
    Ps384,
    /// RSASSA-PSS.
    Ps512,
    /// ECDSA on P-256.
    Es256,
    /// ECDSA on P-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Reads a name; `None` for every other.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            // The second is its name since RFC 9864.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// The kind of key that it needs.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => Kind::Rsa,
            Self::Es256 => Kind::P256,
            Self::Es384 => Kind::P384,
            Self::EdDsa => Kind::Ed25519,
        }
    }

    /// The same for the library.
    pub(super) fn library(self) -> jsonwebtoken::Algorithm {
        use jsonwebtoken::Algorithm as Library;
        match self {
            Self::Rs256 => Library::RS256,
            Self::Rs384 => Library::RS384,
            Self::Rs512 => Library::RS512,
            Self::Ps256 => Library::PS256,
            Self::Ps384 => Library::PS384,
            Self::Ps512 => Library::PS512,
            Self::Es256 => Library::ES256,
            Self::Es384 => Library::ES384,
            Self::EdDsa => Library::EdDSA,
        }
    }
}
