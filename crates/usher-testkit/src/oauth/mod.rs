//! A fake OAuth provider as third parties run them, and a fake authorization server for MCP (RFC 6749, 7009, 7591, 7636, 7662,
//! 8414, 8707, 9207). It is strict about what it receives, keeps what it objects to, and differs from the standards in
//! every way that [`Settings`] can say; a single endpoint can be in [`Trouble`].

mod account;
mod at_once;
mod authorize;
mod client;
mod counts;
mod document;
mod endpoints;
mod error;
mod exchange;
mod grant;
mod metadata;
mod page;
mod people;
mod provider;
mod refresh;
mod registration;
mod reply;
mod revoke;
pub mod settings;
mod token;
mod trouble;

pub use crate::idp::{ReplyIssuer, Who};
pub use counts::Counts;
pub use endpoints::Endpoint;
pub use people::{Account, Client};
pub use provider::Provider;
pub use settings::Settings;
pub use token::{Token, TokenBook};
pub use trouble::Trouble;

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::record::{Log, lock};
use grant::Vault;

/// The id of a client that every provider knows.
pub const CLIENT: &str = "usher-at-provider";
/// Its secret.
pub const CLIENT_SECRET: &str = "secret-of-usher-at-a-provider-3f90";

#[derive(Debug)]
struct Inner {
    /// The path of the issuer.
    base: String,
    settings: Mutex<Settings>,
    troubles: Mutex<BTreeMap<Endpoint, trouble::Ahead>>,
    accounts: Mutex<Vec<Account>>,
    clients: Mutex<Vec<Client>>,
    vault: Mutex<Vault>,
    counts: Mutex<Counts>,
    at_once: at_once::AtOnce,
    violations: Mutex<Vec<String>>,
    agent: Mutex<reqwest::Client>,
    log: Log,
}

impl Inner {
    /// Seconds since 1970.
    #[allow(clippy::disallowed_methods, reason = "a provider has a clock of its own")]
    fn now(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
        i64::try_from(since.as_secs()).expect("a clock of our time") + lock(&self.settings).ahead
    }

    fn violation(&self, text: impl Into<String>) {
        lock(&self.violations).push(text.into());
        self.log.touch();
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
        self.log.touch();
    }

    fn account(&self, subject: &str) -> Option<Account> {
        lock(&self.accounts).iter().find(|account| account.subject == subject).cloned()
    }

    fn client(&self, id: &str) -> Option<Client> {
        lock(&self.clients).iter().find(|client| client.id == id).cloned()
    }

    /// Adds a client, or replaces the one of this id.
    fn put_client(&self, client: Client) {
        let mut clients = lock(&self.clients);
        clients.retain(|known| known.id != client.id);
        clients.push(client);
    }

    /// The address of an endpoint, of a tenant where there are some.
    fn url(&self, endpoint: Endpoint, tenant: &str) -> String {
        format!("{}{}", self.origin(), endpoint.path(&self.base, tenant))
    }

    /// What its addresses begin with.
    fn origin(&self) -> String {
        let issuer = lock(&self.settings).issuer.clone();
        issuer.strip_suffix(&self.base).unwrap_or(&issuer).to_owned()
    }
}
