//! Our client at an authorization server.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use url::form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

use crate::config::{ClientAuthentication, OAuth};

/// Our client at one authorization server. It is kept with a grant, and refreshes it later.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its secret. One that a registration gave with the method `none` is kept, and never used (kind 3).
    pub secret: Option<SecretString>,
    /// How it proves who it is.
    pub method: ClientAuthentication,
    /// Where the browser comes back to, exactly as it is registered.
    pub redirect_uri: String,
}

impl Client {
    /// The client that the operator registered. `None` where it registers itself.
    pub fn of(oauth: &OAuth, redirect_uri: String) -> Option<Self> {
        Some(Self {
            id: oauth.client_id.clone()?,
            secret: oauth.client_secret.clone(),
            method: oauth.definition.client_authentication,
            redirect_uri,
        })
    }

    /// The secret, where it is used.
    pub(super) fn proof(&self) -> Option<&SecretString> {
        self.secret.as_ref().filter(|_| self.method != ClientAuthentication::None)
    }

    /// The value of `Authorization`, where the client proves itself so (RFC 6749, section 2.3.1).
    pub(super) fn basic(&self) -> Option<HeaderValue> {
        let encode = |text: &str| Zeroizing::new(byte_serialize(text.as_bytes()).collect::<String>());
        let secret = self.proof()?.expose_secret();
        match self.method {
            ClientAuthentication::Basic => basic(&encode(&self.id), &encode(secret)),
            ClientAuthentication::BasicPlain => basic(&self.id, secret),
            ClientAuthentication::None | ClientAuthentication::Post => None,
        }
    }

    /// The same in any case, for endpoints that take nothing else.
    pub(super) fn basic_anyway(&self) -> Option<HeaderValue> {
        let method = match self.method {
            ClientAuthentication::BasicPlain => ClientAuthentication::BasicPlain,
            _ => ClientAuthentication::Basic,
        };
        Self { method, ..self.clone() }.basic()
    }

    /// What says in the body who it is: everything that does not stand in a header. `id` is what its id is called.
    pub(super) fn parameters(&self, id: &str) -> Vec<(String, String)> {
        let mut parameters = Vec::new();
        if self.basic().is_none() {
            parameters.push((id.to_owned(), self.id.clone()));
            if let Some(secret) = self.proof() {
                parameters.push(("client_secret".to_owned(), secret.expose_secret().to_owned()));
            }
        }
        parameters
    }
}

fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let pair = Zeroizing::new(format!("{id}:{secret}"));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair.as_bytes()))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(method: ClientAuthentication, secret: Option<&str>) -> Client {
        Client {
            id: "a:b".to_owned(),
            secret: secret.map(SecretString::from),
            method,
            redirect_uri: "https://usher.example/callback/p".to_owned(),
        }
    }

    fn decoded(client: &Client) -> Option<String> {
        let value = client.basic()?;
        assert!(value.is_sensitive());
        let text = value.to_str().unwrap().strip_prefix("Basic ").unwrap().to_owned();
        Some(String::from_utf8(STANDARD.decode(text).unwrap()).unwrap())
    }

    /// Kind 3
    #[test]
    fn kind_03_a_client_proves_itself_in_one_way() {
        use ClientAuthentication::{Basic, BasicPlain, None as Public, Post};
        let names =
            |client: &Client| client.parameters("client_id").into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        for (method, secret, header, body) in [
            (Basic, Some("s/ecret"), Some("a%3Ab:s%2Fecret"), &[][..]),
            (BasicPlain, Some("s/ecret"), Some("a:b:s/ecret"), &[]),
            (Post, Some("s/ecret"), None, &["client_id", "client_secret"]),
            (Public, None, None, &["client_id"]),
            (Basic, None, None, &["client_id"]),
        ] {
            let client = client(method, secret);
            assert_eq!(decoded(&client).as_deref(), header, "{method:?}");
            assert_eq!(names(&client), body, "{method:?}");
        }
    }

    /// Kind 3: some give a secret to a client that then must not use it.
    #[test]
    fn kind_03_a_secret_that_must_not_be_used_is_not() {
        let client = client(ClientAuthentication::None, Some("unused"));
        assert!(client.basic().is_none() && client.proof().is_none());
        assert_eq!(client.parameters("client_key"), [("client_key".to_owned(), "a:b".to_owned())]);
    }
}
