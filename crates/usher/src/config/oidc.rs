//! `[identity]` with `mode = "oidc"`: the OpenID provider that says who people and clients are.

use secrecy::SecretString;
use url::Url;

use super::identity;
use super::reader::{Node, Table};
use super::secret::{self, Secret};
use super::target;

/// The OpenID provider, and what it is asked.
#[derive(Clone, Debug)]
pub struct Oidc {
    /// Who signs people in. The operator chose it, so it may be at a private address (R-SEC-05).
    pub issuer: Issuer,
    /// Our own client there, for the sign-in of browsers.
    pub client_id: String,
    /// Its secret; none where it is a public client.
    pub client_secret: Option<SecretString>,
    /// The claim that is the user's identity at the issuer, `sub` by default; the same on both sides (R-ID-01).
    pub user_claim: String,
    /// The audience of access tokens, where the issuer cannot put an endpoint's own URI there (R-ID-04).
    pub audience: Option<String>,
    /// The scopes that an access token must have to be served; none by default (R-ID-05).
    pub scopes: Vec<String>,
}

/// An issuer identifier: a URL, and its exact text, which is what counts (OpenID Connect Core, section 3.1.3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    text: String,
    url: Url,
}

impl Issuer {
    /// The identifier as the operator wrote it; compared byte by byte.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same as a URL.
    pub fn url(&self) -> &Url {
        &self.url
    }
}

/// The keys of this mode alone.
const KEYS: [&str; 8] = [
    "issuer",
    "client_id",
    "client_secret",
    "client_secret_file",
    "client_secret_env",
    "user_claim",
    "audience",
    "scopes",
];

/// Claims that change, or that people choose themselves: whoever gets one later would get another's credentials.
const NO_IDENTITY: [&str; 9] =
    ["email", "preferred_username", "username", "upn", "unique_name", "name", "nickname", "given_name", "family_name"];

/// Leaves a fault for each key of this mode in another one.
pub(super) fn refuse(table: &Table<'_>) {
    identity::refuse(table, &KEYS, "mode = \"oidc\"");
}

/// Reads the keys of this mode.
pub(super) fn read(table: &Table<'_>) -> Option<Oidc> {
    let issuer = table.require("issuer", "issuer = \"https://id.example.com\"").and_then(|node| issuer(&node));
    let client_id =
        table.require("client_id", "client_id = \"usher\"").and_then(|node| word(&node, "client_id = \"usher\""));
    let keys = secret::Keys { value: "client_secret", file: "client_secret_file", env: "client_secret_env" };
    let client_secret = secret::read(table, &keys).ok().map(|secret| match secret {
        Secret::Found((secret, _)) => Some(secret),
        Secret::Absent | Secret::Spared => None,
    });
    let user_claim = table.take("user_claim").map(|node| user_claim(&node));
    let audience = table.take("audience").map(|node| word(&node, "audience = \"https://usher.example.com\""));
    let scopes = table.take("scopes").map(|node| scopes(&node));
    Some(Oidc {
        issuer: issuer?,
        client_id: client_id?,
        client_secret: client_secret?,
        user_claim: user_claim.unwrap_or_else(|| Some("sub".to_owned()))?,
        audience: audience.map_or(Some(None), |audience| audience.map(Some))?,
        scopes: scopes.unwrap_or_else(|| Some(Vec::new()))?,
    })
}

fn issuer(node: &Node<'_>) -> Option<Issuer> {
    let url = target::read(node)?;
    let text = node.string("\"https://id.example.com\"")?;
    if url.query().is_some() {
        node.fault("contains a query, which no issuer identifier has", "remove the ? and what follows");
        return None;
    }
    Some(Issuer { text: text.to_owned(), url })
}

/// A text of one to 255 printable ASCII characters.
fn word(node: &Node<'_>, example: &str) -> Option<String> {
    let text = node.string(example)?;
    if text.is_empty() || text.len() > 255 || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        node.fault("has to be 1 to 255 printable ASCII characters", format!("for example {example}"));
        return None;
    }
    Some(text.to_owned())
}

fn user_claim(node: &Node<'_>) -> Option<String> {
    let claim = word(node, "user_claim = \"sub\"")?;
    if NO_IDENTITY.contains(&claim.as_str()) {
        node.fault(
            format!("{claim} can change, or pass to somebody else, who would get this person's credentials"),
            "use a claim that stays with one person for ever: sub, or oid at Microsoft Entra ID",
        );
        return None;
    }
    Some(claim)
}

/// Scope tokens (RFC 6749, section 3.3).
fn scopes(node: &Node<'_>) -> Option<Vec<String>> {
    const EXAMPLE: &str = "[\"mcp\"]";
    let nodes = node.array(EXAMPLE)?;
    let is_scope =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
    let mut scopes: Vec<String> = Vec::new();
    for node in &nodes {
        let text = node.string("\"mcp\"")?;
        if !is_scope(text) {
            node.fault(format!("{text:?} is no scope"), format!("one word each, for example {EXAMPLE}"));
            return None;
        }
        scopes.push(text.to_owned());
    }
    Some(scopes)
}
