//! The protocol against a provider that is strict, and that differs as real ones do. A test of a deviation carries its number.

mod account;
mod authorizing;
mod errors;
mod refreshing;
mod replying;
mod revoking;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_testkit::oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider, Settings, Who};
use usher_testkit::person::Person;

use super::*;
use crate::clock::{Clock as _, SystemClock};
use crate::commands::install_crypto_provider;
use crate::config::{Config, OAuth, ProviderKind};
use crate::egress::{Allowed, Egress};

const STATE: &str = "interaction.0123456789012345678901234567890123456789012";
const VERIFIER: &str = "verifier-0123456789-0123456789-0123456789-0123456789";
const BACK: &str = "http://127.0.0.1:9/callback/fake";

/// A provider, and our configuration of it.
struct Scene {
    provider: Provider,
    oauth: OAuth,
    server: Server,
    client: Client,
    egress: Egress,
}

impl Scene {
    /// A provider that differs by `settings`, and a definition that says so by `lines`: keys first, then tables.
    async fn new(settings: impl FnOnce(&mut Settings), lines: &str) -> Self {
        install_crypto_provider();
        let provider = Provider::start().await;
        provider.set(settings);
        provider.set(|settings| settings.who = Who::Always("user-1".to_owned()));
        provider.answer_at(BACK);
        let oauth = oauth(&provider, lines);
        let server = Server::of(&oauth, &BTreeMap::new()).unwrap();
        let client = Client::of(&oauth, BACK.to_owned()).unwrap();
        Self { provider, oauth, server, client, egress: Egress::allowing(Allowed::default()).unwrap() }
    }

    /// One that conforms.
    async fn standard() -> Self {
        Self::new(|_| {}, "").await
    }

    fn url(&self) -> Url {
        let request = Request {
            state: &SecretString::from(STATE),
            verifier: &SecretString::from(VERIFIER),
            scopes: &self.oauth.scopes,
            language: "en",
        };
        authorize(&self.server, &self.client, &request).unwrap()
    }

    /// What the provider sends the browser back with, after the person's consent.
    async fn reply(&self) -> Vec<(String, String)> {
        let page = Person::new(self.provider.issuer()).get(self.url().as_str()).await;
        let location = page.location().unwrap_or_else(|| panic!("{}", page.describe()));
        assert!(location.starts_with(BACK), "{location}");
        Url::parse(location)
            .unwrap()
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect()
    }

    async fn code(&self) -> Result<Code, ReplyFault> {
        let query = self.reply().await;
        let reply = Reply::of(&query);
        if let Some(state) = reply.state(self.server.definition()) {
            assert_eq!(state, STATE);
        }
        reply.read(&self.server)
    }

    async fn exchange(&self, code: &Code) -> Result<Tokens, TokenError> {
        let verifier = SecretString::from(VERIFIER);
        let (egress, server, client) = (&self.egress, &self.server, &self.client);
        let mut tokens = exchange(egress, server, client, code, &verifier, SystemClock.now()).await?;
        complete(egress, server, client, &mut tokens, SystemClock.now()).await.map(|()| tokens)
    }

    /// From the consent to tokens.
    async fn connect(&self) -> Result<Tokens, TokenError> {
        let code = self.code().await.unwrap();
        self.exchange(&code).await
    }

    async fn connected(&self) -> Tokens {
        let tokens = self.connect().await.unwrap();
        assert!(self.is_good(&tokens), "the token is good");
        tokens
    }

    async fn refresh(&self, tokens: &Tokens) -> Result<Tokens, TokenError> {
        let scopes = self.scopes(tokens);
        let held = held(tokens, &scopes);
        refresh(&self.egress, &self.server, &self.client, &held, SystemClock.now()).await
    }

    async fn revoke(&self, tokens: &Tokens) -> Result<(), RevokeError> {
        let scopes = self.scopes(tokens);
        let held = held(tokens, &scopes);
        revoke(&self.egress, &self.server, &self.client, &held, tokens.expires_at, SystemClock.now()).await
    }

    fn scopes(&self, tokens: &Tokens) -> BTreeSet<String> {
        tokens.scopes.clone().unwrap_or_else(|| self.oauth.scopes.iter().cloned().collect())
    }

    fn is_good(&self, tokens: &Tokens) -> bool {
        self.provider.token_book().look_up(access_token(tokens)).is_some()
    }

    /// Nothing that the provider gave or knows stands in a text.
    fn assert_silent(&self, text: &str) {
        for secret in self.provider.secrets() {
            assert!(!text.contains(&secret), "{text}");
        }
    }
}

fn held<'t>(tokens: &'t Tokens, scopes: &'t BTreeSet<String>) -> Held<'t> {
    Held { fields: &tokens.fields, refresh_token: tokens.refresh_token.as_ref(), scopes, values: &tokens.values }
}

fn access_token(tokens: &Tokens) -> &str {
    field(tokens, "access_token")
}

fn field<'t>(tokens: &'t Tokens, name: &str) -> &'t str {
    tokens.fields[name].expose_secret()
}

fn refresh_token(tokens: &Tokens) -> &str {
    tokens.refresh_token.as_ref().unwrap().expose_secret()
}

/// How many seconds from now the access token ends.
fn lives(tokens: &Tokens) -> Option<i64> {
    Some(tokens.expires_at?.duration_since(SystemClock.now()).as_secs())
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Our configuration of a provider. `@token`, `@refresh` and so on in `lines` are its endpoints.
fn oauth(provider: &Provider, lines: &str) -> OAuth {
    let mut text = format!("[[provider]]\nname = \"fake\"\nkind = \"oauth\"\nclient_id = {CLIENT:?}\n");
    let endpoints = [
        ("@authorize", Endpoint::Authorization),
        ("@token", Endpoint::Token),
        ("@refresh", Endpoint::Refresh),
        ("@revoke", Endpoint::Revocation),
        ("@introspect", Endpoint::Introspection),
        ("@me", Endpoint::Account),
        ("@resources", Endpoint::Resources),
    ];
    for (key, line) in [
        ("client_secret", format!("client_secret = {CLIENT_SECRET:?}")),
        ("client_authentication = \"none\"", String::new()),
        ("scopes", "scopes = [\"read\", \"write\"]".to_owned()),
        ("authorization_endpoint", "authorization_endpoint = \"@authorize\"".to_owned()),
        ("token_endpoint", "token_endpoint = \"@token\"".to_owned()),
    ] {
        let public = key == "client_secret" && lines.contains("client_authentication = \"none\"");
        if !lines.contains(&format!("{key} =")) && !public {
            text += &line;
            text += "\n";
        }
    }
    text += lines;
    for (name, endpoint) in endpoints {
        text = text.replace(name, &provider.url(endpoint));
    }
    text = text.replace("@issuer", &provider.issuer());
    text += "\n[[upstream]]\nname = \"u\"\nurl = \"http://127.0.0.1:9/mcp\"\n";
    let config = Config::parse(&text, Path::new("/etc/usher/usher.toml"), &|_| None);
    let config = config.unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    match &config.provider("fake").unwrap().kind {
        ProviderKind::OAuth(oauth) => (**oauth).clone(),
        other => panic!("{other:?}"),
    }
}
