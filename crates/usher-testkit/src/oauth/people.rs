use serde_json::{Value, json};

use super::settings::ClientAuth;

/// Somebody with an account at the provider.
#[derive(Clone, Debug)]
pub struct Account {
    pub(super) subject: String,
    pub(super) document: Value,
}

impl Account {
    /// An account that the consent page names so; the account call answers with this document.
    pub fn new(subject: &str, document: Value) -> Self {
        Self { subject: subject.to_owned(), document }
    }

    /// What an account call answers where nobody said otherwise: nested, with what a page must not show as it is.
    pub(super) fn usual(subject: &str) -> Self {
        let document = json!({
            "ok": true,
            "data": { "user": {
                "id": format!("id-of-{subject}"),
                "login": subject,
                "name": format!("Person <b>{subject}</b>\u{202e}"),
                "email": format!("{subject}@example.com"),
            } },
        });
        Self::new(subject, document)
    }
}

/// A client that the provider knows.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) redirect_uris: Vec<String>,
    /// The only way in which it may prove itself. `None`: any that the server takes.
    pub(super) way: Option<ClientAuth>,
    pub(super) expires_at: Option<i64>,
    /// Whether it may have refresh tokens.
    pub(super) refreshes: bool,
    /// What the consent page calls it.
    pub(super) name: String,
}

impl Client {
    /// A client with a secret.
    pub fn new(id: &str, secret: &str) -> Self {
        Self { secret: Some(secret.to_owned()), ..Self::public(id) }
    }

    /// A client without one.
    pub fn public(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            secret: None,
            redirect_uris: Vec::new(),
            way: None,
            expires_at: None,
            refreshes: true,
            name: id.to_owned(),
        }
    }

    /// Only to this address, and others that are named, is it answered; compared letter by letter. Without any, to every
    /// address.
    pub fn redirect_uri(mut self, uri: &str) -> Self {
        self.redirect_uris.push(uri.to_owned());
        self
    }

    /// It may prove itself in this way only.
    pub fn auth(mut self, way: ClientAuth) -> Self {
        self.way = Some(way);
        self
    }

    pub(super) fn may_be_answered_at(&self, uri: &str) -> bool {
        self.redirect_uris.is_empty() || self.redirect_uris.iter().any(|known| known == uri)
    }
}
