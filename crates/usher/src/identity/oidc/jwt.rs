//! Whether a token is what it is taken for: its signature, then who made it, for whom, and until when (RFC 7515, 7519, 8725,
//! 9068; OpenID Connect Core, section 3.1.3.7). Pure: keys and time come in.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    algorithm::Algorithm,
    claims::Claims,
    keys::{Checked, KeySet},
};

/// The longest token that is looked at, in bytes.
pub const LONGEST: usize = 16 * 1024;

/// How far the issuer's clock and ours may be apart, in seconds.
pub const SKEW: i64 = 60;

/// What a token has to be.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'e> {
    /// Who must have made it; compared as text.
    pub issuer: &'e str,
    /// Who must be among those that it is for (R-ID-04).
    pub audience: &'e str,
    /// What kind of token it must be.
    pub kind: Kind<'e>,
}

/// The two kinds of token of an issuer, none of which passes for the other.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'e> {
    /// What a client presents (RFC 9068).
    Access,
    /// What tells us who signed in: it answers the request with this nonce.
    Id {
        /// The nonce that we sent.
        nonce: &'e str,
    },
}

/// Why a token is not accepted. For the log: no variant holds anything of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.reason())]
pub enum Invalid {
    /// Over [`LONGEST`].
    TooLong,
    /// Not three parts of base64url with JSON in them.
    NotJwt,
    /// Five parts (RFC 7516).
    Encrypted,
    /// `none`, a shared secret, or one that is not known.
    Algorithm,
    /// `crit` names something, and we know nothing that it could name.
    Critical,
    /// No key of the issuer has its key id and fits its algorithm.
    UnknownKey,
    /// The signature is wrong.
    Signature,
    /// `typ`, or a claim that only another kind has.
    Kind,
    /// `iss` is another, or none.
    Issuer,
    /// The same, and it is of the older version of Microsoft Entra ID, whose issuer is another.
    Version,
    /// `aud` does not name us.
    Audience,
    /// `azp` names another client.
    AuthorizedParty,
    /// `exp` has passed.
    Expired,
    /// `exp`, or the ID token's `iat`, is not there.
    Undated,
    /// `nbf` or `iat` is still to come.
    NotYet,
    /// `nonce` is another, or none.
    Nonce,
    /// It is bound to a key of the client (`cnf`), which nobody proves here.
    Bound,
}

impl Invalid {
    /// What is wrong, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooLong => "it is over 16 KiB",
            Self::NotJwt => "it is no signed JWT; a token of another form needs tokens = \"introspection\"",
            Self::Encrypted => "it is encrypted, which is not supported; have the issuer sign tokens and no more",
            Self::Algorithm => "its algorithm is not accepted",
            Self::Critical => "its header has critical members",
            Self::UnknownKey => "no key of the issuer is the one that it names",
            Self::Signature => "its signature is wrong",
            Self::Kind => "it is a token of another kind",
            Self::Issuer => "it is of another issuer",
            Self::Version => {
                "it is of another issuer, and of version 1.0: at Microsoft Entra ID set requestedAccessTokenVersion to 2 in \
                 the API's manifest"
            }
            Self::Audience => {
                "it is for somebody else: its audience is neither the endpoint's URI nor identity.audience"
            }
            Self::AuthorizedParty => "it was issued to another client",
            Self::Expired => "it has expired",
            Self::Undated => "it does not say until when it is valid, or since when",
            Self::NotYet => "it is not yet valid; compare the clocks",
            Self::Nonce => "it does not answer our request: its nonce is another",
            Self::Bound => "it is bound to a key of the client (DPoP or mutual TLS), which is not supported",
        }
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<serde::de::IgnoredAny>,
}

/// Verifies a token by these keys, at this time.
pub fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>, now: Timestamp) -> Result<Claims, Invalid> {
    if token.len() > LONGEST {
        return Err(Invalid::TooLong);
    }
    if token.split('.').count() == 5 {
        return Err(Invalid::Encrypted);
    }
    let (message, signature) = token.rsplit_once('.').ok_or(Invalid::NotJwt)?;
    let (header, payload) = message.split_once('.').ok_or(Invalid::NotJwt)?;
    let header: Header = serde_json::from_slice(&part(header)?).map_err(|_| Invalid::NotJwt)?;
    let algorithm = Algorithm::parse(&header.alg).ok_or(Invalid::Algorithm)?;
    if header.crit.is_some() {
        return Err(Invalid::Critical);
    }
    match keys.check(message.as_bytes(), signature, algorithm, header.kid.as_deref()) {
        Checked::Right => {}
        Checked::Wrong => return Err(Invalid::Signature),
        Checked::NoKey => return Err(Invalid::UnknownKey),
    }
    let claims = Claims::parse(&part(payload)?).ok_or(Invalid::NotJwt)?;
    check_kind(header.typ.as_deref(), &claims, expected)?;
    check(&claims, expected, now)?;
    Ok(claims)
}

fn part(text: &str) -> Result<Vec<u8>, Invalid> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Invalid::NotJwt)
}

/// When a token says that it was made, in seconds since 1970. Nothing of it is verified.
pub(super) fn unverified_iat(token: &str) -> Option<i64> {
    Claims::parse(&part(token.split('.').nth(1)?).ok()?)?.time("iat")
}

/// That a token of one kind is not taken for the other (RFC 8725, section 3.12).
fn check_kind(typ: Option<&str>, claims: &Claims, expected: &Expected<'_>) -> Result<(), Invalid> {
    let typ = typ.map(str::to_ascii_lowercase);
    let typ = typ.as_deref().map(|typ| typ.strip_prefix("application/").unwrap_or(typ));
    let right = match expected.kind {
        // Some issuers repeat the client's nonce in an access token that says in its header that it is one.
        Kind::Access if typ == Some("at+jwt") => says_access(claims),
        Kind::Access => matches!(typ, None | Some("jwt")) && !claims.has("nonce") && says_access(claims),
        Kind::Id { .. } => matches!(typ, None | Some("jwt")),
    };
    if right { Ok(()) } else { Err(Invalid::Kind) }
}

/// Some issuers write all kinds of token alike, and the kind as a claim; or it has claims that only another kind has.
fn says_access(claims: &Claims) -> bool {
    !["at_hash", "c_hash", "events"].iter().any(|name| claims.has(name))
        && !matches!(claims.string("typ"), Some("ID" | "Refresh" | "Offline" | "Logout" | "Serialized-ID"))
        && (!claims.has("token_use") || matches!(claims.string("token_use"), Some("access" | "access_token")))
}

/// Checks what the issuer said of an access token (RFC 7662, section 2.2): what it leaves out, it vouches for, but for whom
/// the token is made.
pub(super) fn introspected(claims: &Claims, expected: &Expected<'_>, now: Timestamp) -> Result<(), Invalid> {
    if claims.has("iss") && claims.string("iss") != Some(expected.issuer) {
        return Err(Invalid::Issuer);
    }
    if !claims.strings("aud").contains(&expected.audience) {
        return Err(Invalid::Audience);
    }
    if claims.has("nonce") || !says_access(claims) {
        return Err(Invalid::Kind);
    }
    in_time(claims, now)?;
    if claims.has("cnf") { Err(Invalid::Bound) } else { Ok(()) }
}

/// Everything that is not the signature.
fn check(claims: &Claims, expected: &Expected<'_>, now: Timestamp) -> Result<(), Invalid> {
    if claims.string("iss") != Some(expected.issuer) {
        return Err(if claims.string("ver") == Some("1.0") { Invalid::Version } else { Invalid::Issuer });
    }
    let audience = claims.strings("aud");
    if !audience.contains(&expected.audience) {
        return Err(Invalid::Audience);
    }
    if !claims.has("exp") {
        return Err(Invalid::Undated);
    }
    in_time(claims, now)?;
    match expected.kind {
        Kind::Access if claims.has("cnf") => Err(Invalid::Bound),
        Kind::Access => Ok(()),
        Kind::Id { nonce } => {
            // Steps 4 and 5 of section 3.1.3.7: whoever else it is for, it was made for us.
            let party = claims.string("azp");
            if party.is_some_and(|party| party != expected.audience) || (party.is_none() && audience.len() > 1) {
                return Err(Invalid::AuthorizedParty);
            }
            if claims.time("iat").is_none() {
                return Err(Invalid::Undated);
            }
            if claims.string("nonce") == Some(nonce) { Ok(()) } else { Err(Invalid::Nonce) }
        }
    }
}

/// That a token is valid by the dates that it has. One that is no number is none of them.
fn in_time(claims: &Claims, now: Timestamp) -> Result<(), Invalid> {
    let now = now.as_second();
    if claims.has("exp") && claims.time("exp").ok_or(Invalid::Undated)? <= now - SKEW {
        return Err(Invalid::Expired);
    }
    let to_come = |name| claims.has(name) && claims.time(name).is_none_or(|time| time > now + SKEW);
    if to_come("nbf") || to_come("iat") {
        return Err(Invalid::NotYet);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
