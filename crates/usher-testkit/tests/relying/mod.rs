//! A client of a provider that does everything right, step by step, so that a test can change a step.

#![allow(dead_code, clippy::unwrap_used, reason = "tests; each uses a part of it")]

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use reqwest::{RequestBuilder, Url};
use serde_json::Value;
use usher_testkit::agent;
use usher_testkit::oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider, Settings, Who};
use usher_testkit::person::Person;

pub(crate) const BACK: &str = "http://127.0.0.1:9/callback/fake";
pub(crate) const VERIFIER: &str = "verifier-0123456789-0123456789-0123456789-0123456789";
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// An answer of an endpoint.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        Self::maybe(request).await.unwrap()
    }

    /// `None` where the connection was cut.
    pub(crate) async fn maybe(request: RequestBuilder) -> Option<Self> {
        let response = request.send().await.ok()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Some(Self { status, headers, text: response.text().await.ok()? })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|fault| panic!("{fault}: {}", self.text))
    }

    pub(crate) fn string(&self, member: &str) -> String {
        self.json()[member].as_str().unwrap_or_else(|| panic!("no {member}: {}", self.text)).to_owned()
    }

    pub(crate) fn error(&self) -> (u16, String) {
        (self.status, self.json()["error"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn kind(&self) -> &str {
        self.headers.get("content-type").map(|kind| kind.to_str().unwrap()).unwrap_or_default()
    }
}

/// Fields as a form or in a query.
pub(crate) fn encode(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://form.example/").unwrap();
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

pub(crate) fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()))
}

/// Where a client sends the browser; what `change` names twice, or with no value, is changed or left out.
pub(crate) fn asking_at(url: &str, change: &[(&str, &str)]) -> String {
    let challenge = challenge();
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("redirect_uri", BACK),
        ("scope", "read write"),
        ("state", "s&1"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    fields.retain(|(name, _)| change.iter().all(|(changed, _)| changed != name));
    fields.extend(change.iter().filter(|(_, value)| !value.is_empty()));
    format!("{url}?{}", encode(&fields))
}

pub(crate) fn asking(provider: &Provider, change: &[(&str, &str)]) -> String {
    asking_at(&provider.url(Endpoint::Authorization), change)
}

/// A field of the address that the browser was sent to.
pub(crate) fn field(location: &str, name: &str) -> Option<String> {
    let url = Url::parse(location).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Where `user-1`, who always agrees, is sent back to.
pub(crate) async fn consent_at(provider: &Provider, address: &str) -> String {
    provider.set(|settings| settings.who = Who::Always("user-1".to_owned()));
    let page = Person::new(provider.issuer()).get(address).await;
    page.location().unwrap_or_else(|| panic!("{}", page.describe())).to_owned()
}

pub(crate) async fn consent(provider: &Provider, change: &[(&str, &str)]) -> String {
    consent_at(provider, &asking(provider, change)).await
}

pub(crate) async fn code(provider: &Provider, change: &[(&str, &str)]) -> String {
    let location = consent(provider, change).await;
    field(&location, "code").unwrap_or_else(|| panic!("no code: {location}"))
}

/// A token request with the client's proof in the header, where it says nothing of a client itself.
pub(crate) fn request(url: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    let request = agent().post(url).header("content-type", FORM).header("accept", "application/json");
    let itself = fields.iter().any(|(name, _)| *name == "client_id");
    let request = if itself { request } else { request.basic_auth(CLIENT, Some(CLIENT_SECRET)) };
    request.body(encode(fields))
}

pub(crate) fn code_fields(code: &str) -> Vec<(&str, &str)> {
    vec![("grant_type", "authorization_code"), ("code", code), ("redirect_uri", BACK), ("code_verifier", VERIFIER)]
}

pub(crate) async fn exchange(provider: &Provider, code: &str) -> Answer {
    Answer::of(request(&provider.url(Endpoint::Token), &code_fields(code))).await
}

/// From consent to tokens.
pub(crate) async fn connect(provider: &Provider, change: &[(&str, &str)]) -> Answer {
    let answer = exchange(provider, &code(provider, change).await).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

pub(crate) fn refreshing(provider: &Provider, token: &str) -> RequestBuilder {
    request(&provider.url(Endpoint::Token), &[("grant_type", "refresh_token"), ("refresh_token", token)])
}

pub(crate) async fn refresh(provider: &Provider, token: &str) -> Answer {
    Answer::of(refreshing(provider, token)).await
}

pub(crate) async fn account(provider: &Provider, token: &str) -> Answer {
    Answer::of(agent().get(provider.url(Endpoint::Account)).bearer_auth(token)).await
}

pub(crate) async fn revoke(provider: &Provider, token: &str) -> Answer {
    Answer::of(request(&provider.url(Endpoint::Revocation), &[("token", token)])).await
}

/// A provider with these settings.
pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Provider {
    let provider = Provider::start().await;
    provider.set(change);
    provider
}

/// The error that consent leads to.
pub(crate) async fn error_of(provider: &Provider, change: &[(&str, &str)]) -> Option<String> {
    field(&consent(provider, change).await, "error")
}

/// A token request with these fields beside the usual ones.
pub(crate) async fn exchange_with(provider: &Provider, code: &str, more: &[(&str, &str)]) -> Answer {
    let fields = [code_fields(code), more.to_vec()].concat();
    Answer::of(request(&provider.url(Endpoint::Token), &fields)).await
}

/// JSON as the body.
pub(crate) fn json_body(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}
