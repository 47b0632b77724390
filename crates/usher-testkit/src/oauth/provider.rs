use std::sync::{Arc, Mutex};

use super::trouble::Ahead;
use super::{Account, CLIENT, CLIENT_SECRET, Client, Counts, Endpoint, Inner, Settings, TokenBook, Trouble};
use super::{at_once, endpoints};
use crate::Recorded;
use crate::door::Door;
use crate::record::{Log, lock};

/// The fake provider. Dropping it closes every connection.
#[derive(Debug)]
pub struct Provider {
    inner: Arc<Inner>,
    door: Door,
}

impl Provider {
    /// A provider at a free port of 127.0.0.1, with the accounts `user-1` and `user-2` and the client
    /// [`CLIENT`](super::CLIENT), which is answered at every address until [`answer_at`](Self::answer_at) names some.
    pub async fn start() -> Self {
        Self::start_at("").await
    }

    /// The same with a path in its name: `/realms/one`.
    pub async fn start_at(base: &str) -> Self {
        let inner = Arc::new(Inner {
            base: base.to_owned(),
            settings: Mutex::new(Settings::new()),
            troubles: Mutex::default(),
            accounts: Mutex::new(vec![Account::usual("user-1"), Account::usual("user-2")]),
            clients: Mutex::new(vec![Client::new(CLIENT, CLIENT_SECRET)]),
            vault: Mutex::default(),
            counts: Mutex::default(),
            at_once: at_once::AtOnce::default(),
            violations: Mutex::default(),
            agent: Mutex::new(crate::agent()),
            log: Log::new(),
        });
        let door = Door::open("127.0.0.1:0", endpoints::router(&inner)).await;
        lock(&inner.settings).issuer = format!("http://{}{base}", door.address);
        Self { inner, door }
    }

    /// Where it listens, whatever it is called.
    pub fn address(&self) -> std::net::SocketAddr {
        self.door.address
    }

    /// Its name.
    pub fn issuer(&self) -> String {
        lock(&self.inner.settings).issuer.clone()
    }

    /// The address of an endpoint, where all customers share it.
    pub fn url(&self, endpoint: Endpoint) -> String {
        self.inner.url(endpoint, "")
    }

    /// The address of an endpoint of one tenant; `{host}` makes a template.
    pub fn url_of(&self, tenant: &str, endpoint: Endpoint) -> String {
        self.inner.url(endpoint, tenant)
    }

    /// Changes what it does.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.inner.settings));
    }

    /// An endpoint is in trouble from now on. What [`trouble_next`](Self::trouble_next) said comes first.
    pub fn trouble(&self, endpoint: Endpoint, trouble: Trouble) {
        lock(&self.inner.troubles).entry(endpoint).or_default().always = Some(trouble);
    }

    /// The next request at an endpoint meets this trouble, after those that were said before.
    pub fn trouble_next(&self, endpoint: Endpoint, trouble: Trouble) {
        lock(&self.inner.troubles).entry(endpoint).or_default().next.push_back(Some(trouble));
    }

    /// An endpoint is well again.
    pub fn well(&self, endpoint: Endpoint) {
        lock(&self.inner.troubles).insert(endpoint, Ahead::default());
    }

    /// Adds an account, or replaces the one of this name.
    pub fn put_account(&self, account: Account) {
        let mut accounts = lock(&self.inner.accounts);
        accounts.retain(|known| known.subject != account.subject);
        accounts.push(account);
    }

    /// Adds a client, or replaces the one of this id.
    pub fn put_client(&self, client: Client) {
        self.inner.put_client(client);
    }

    /// The client [`CLIENT`](super::CLIENT) is answered at this address too, and at no other that was not named.
    pub fn answer_at(&self, redirect_uri: &str) {
        let client = self.inner.client(CLIENT).expect("the client that every provider knows");
        self.inner.put_client(client.redirect_uri(redirect_uri));
    }

    /// Forgets a client: it gets `invalid_client` from now on. The tokens that it has stay good.
    pub fn forget_client(&self, id: &str) {
        lock(&self.inner.clients).retain(|client| client.id != id);
    }

    /// The ids of all clients, the oldest first.
    pub fn clients(&self) -> Vec<String> {
        lock(&self.inner.clients).iter().map(|client| client.id.clone()).collect()
    }

    /// Fetches client id metadata documents by this client, such as one that trusts a [`Front`](crate::tls::Front).
    pub fn fetch_by(&self, agent: reqwest::Client) {
        *lock(&self.inner.agent) = agent;
    }

    /// The access tokens, for a resource server.
    pub fn token_book(&self) -> TokenBook {
        TokenBook(Arc::clone(&self.inner))
    }

    /// Somebody took back at the provider what they had granted: access tokens and refresh tokens are worth nothing.
    pub fn revoke_grants_of(&self, subject: &str) {
        for grant in lock(&self.inner.vault).grants.iter_mut().filter(|grant| grant.subject == subject) {
            grant.ended = true;
        }
    }

    /// The refresh tokens of somebody are dead; access tokens stay good.
    pub fn end_refresh_tokens_of(&self, subject: &str) {
        let mut vault = lock(&self.inner.vault);
        let grants = vault.grants.clone();
        for refresh in vault.refresh.values_mut().filter(|refresh| grants[refresh.grant].subject == subject) {
            refresh.ended = true;
        }
    }

    /// The access tokens of somebody are refused from now on; refresh tokens stay good.
    pub fn end_access_tokens_of(&self, subject: &str) {
        let mut vault = lock(&self.inner.vault);
        let grants = vault.grants.clone();
        for access in vault.access.values_mut().filter(|access| grants[access.grant].subject == subject) {
            access.ended = true;
        }
    }

    /// How many grants of somebody are alive: consented, and neither revoked nor ended by a code or token that came again.
    pub fn grants_of(&self, subject: &str) -> usize {
        let vault = lock(&self.inner.vault);
        vault.grants.iter().filter(|grant| grant.subject == subject && !grant.ended).count()
    }

    /// Whose access token or refresh token this is, be it good or not.
    pub fn subject_of(&self, token: &str) -> Option<String> {
        let vault = lock(&self.inner.vault);
        let of_access = vault.access.get(token).map(|access| access.grant);
        let grant = of_access.or_else(|| vault.refresh.get(token).map(|refresh| refresh.grant))?;
        Some(vault.grants[grant].subject.clone())
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        *lock(&self.inner.counts)
    }

    /// Every code and token that it ever gave out, and the secrets of its clients: what must stand in no log and no page.
    pub fn secrets(&self) -> Vec<String> {
        let clients = lock(&self.inner.clients);
        let mut secrets: Vec<String> = clients.iter().filter_map(|client| client.secret.clone()).collect();
        secrets.extend_from_slice(&lock(&self.inner.vault).secrets);
        secrets
    }

    /// What clients did wrong so far.
    pub fn violations(&self) -> Vec<String> {
        lock(&self.inner.violations).clone()
    }

    /// Forgets the violations, and returns them.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.inner.violations))
    }

    /// Panics when a client did anything wrong.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "the provider objects:\n- {}", violations.join("\n- "));
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.inner.log.all()
    }

    /// The requests of one endpoint. [`Endpoint::Refresh`] has all refreshes, wherever they came.
    pub fn requests_to(&self, endpoint: Endpoint) -> Vec<Recorded> {
        self.requests().into_iter().filter(|entry| entry.method == endpoint.name()).collect()
    }

    /// How many they are.
    pub fn count(&self, endpoint: Endpoint) -> usize {
        self.requests_to(endpoint).len()
    }

    /// The most requests that this endpoint ever had to answer at one time.
    pub fn most_at_once(&self, endpoint: Endpoint) -> usize {
        self.inner.at_once.most(endpoint)
    }

    /// Waits until there were so many; returns them.
    pub async fn wait_for(&self, endpoint: Endpoint, count: usize) -> Vec<Recorded> {
        let look = || {
            let found = self.requests_to(endpoint);
            (found.len() >= count).then_some(found)
        };
        self.inner.log.until(&format!("{count} requests at {endpoint:?}"), look).await
    }

    /// Waits until `condition` holds; it is looked at after each request and each thing done.
    pub async fn wait_until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        self.inner.log.until(what, || condition(self).then_some(())).await;
    }

    /// Cuts every open connection; new ones are welcome.
    pub fn cut_connections(&self) {
        self.door.cut_all();
    }
}
