//! The sealed part of a registration, as JSON.

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::OAuthClient;
use crate::time::micros;

/// How a registration is written and read.
pub(super) struct Content;

#[derive(Serialize)]
struct Written<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    method: &'a str,
    /// In microseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    id: String,
    #[serde(default)]
    secret: Option<String>,
    method: String,
    #[serde(default)]
    expires_at: Option<i64>,
    #[serde(default)]
    registration: Option<String>,
    #[serde(default)]
    token: Option<String>,
}

impl<'a> From<&'a OAuthClient> for Written<'a> {
    fn from(client: &'a OAuthClient) -> Self {
        Self {
            id: &client.id,
            secret: client.secret.as_ref().map(ExposeSecret::expose_secret),
            method: &client.method,
            expires_at: client.expires_at.map(micros),
            registration: client.registration.as_deref(),
            token: client.token.as_ref().map(ExposeSecret::expose_secret),
        }
    }
}

impl Content {
    pub(super) fn to_bytes(client: &OAuthClient) -> Result<Zeroizing<Vec<u8>>, serde_json::Error> {
        let written = Written::from(client);
        // Room for the longest escapes at once: growing would leave copies of the secrets behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(most_bytes(&written)));
        serde_json::to_writer(&mut *bytes, &written)?;
        Ok(bytes)
    }

    pub(super) fn parse(bytes: &[u8], issuer: &str, redirect_uri: &str) -> Result<OAuthClient, serde_json::Error> {
        let Read { id, secret, method, expires_at, registration, token } = serde_json::from_slice(bytes)?;
        Ok(OAuthClient {
            issuer: issuer.to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            id,
            secret: secret.map(SecretString::from),
            method,
            expires_at: expires_at.and_then(|micros| Timestamp::from_microsecond(micros).ok()),
            registration,
            token: token.map(SecretString::from),
        })
    }
}

fn most_bytes(written: &Written<'_>) -> usize {
    let Written { id, secret, method, expires_at: _, registration, token } = written;
    let texts = [Some(*id), *secret, Some(*method), *registration, *token];
    // A byte becomes at most six (`\u0001`).
    256 + texts.into_iter().flatten().map(|text| 6 * text.len()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_comes_back_whole_and_never_grows_its_buffer() {
        let client = OAuthClient {
            issuer: "https://issuer.example".into(),
            redirect_uri: "https://usher.example/callback/x".into(),
            id: "\u{1}\"id".into(),
            secret: Some("\u{2}\u{2}🔑".into()),
            method: "client_secret_basic".into(),
            expires_at: Some(Timestamp::from_microsecond(1_800_000_000_000_001).unwrap()),
            registration: Some("https://issuer.example/register/1".into()),
            token: Some("t".into()),
        };
        let bytes = Content::to_bytes(&client).unwrap();
        assert!(bytes.capacity() == most_bytes(&Written::from(&client)), "it grew");
        let read = Content::parse(&bytes, &client.issuer, &client.redirect_uri).unwrap();
        assert_eq!((&read.id, &read.method, read.expires_at), (&client.id, &client.method, client.expires_at));
        assert_eq!(read.secret.unwrap().expose_secret(), "\u{2}\u{2}🔑");
        assert_eq!(read.token.unwrap().expose_secret(), "t");

        let bare = OAuthClient { secret: None, expires_at: None, registration: None, token: None, ..client };
        let bytes = Content::to_bytes(&bare).unwrap();
        assert_eq!(*bytes, br#"{"id":"\u0001\"id","method":"client_secret_basic"}"#);
        assert!(Content::parse(&bytes, "i", "r").unwrap().secret.is_none());
    }
}
