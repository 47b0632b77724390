//! `[identity]` with `mode = "oidc"`: the OpenID provider that says who people and clients are.

use std::ops::RangeInclusive;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::duration;
use super::identity;
use super::introspection::{self, AccessTokens, Client};
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
    /// The scopes that clients are told to ask for; those of `scopes` by default. At some issuers what is asked for is another
    /// text than what then stands in the token.
    pub scopes_supported: Vec<String>,
    /// The scopes that are asked for when a browser signs in, beside `openid`; none by default. Some issuers put the
    /// `user_claim` only where `profile` is asked for.
    pub sign_in_scopes: Vec<String>,
    /// How long a browser session lasts without being used. Default 8 h.
    pub session_idle: Duration,
    /// How long a browser session lasts at most. Default 24 h: so long somebody who was barred at the issuer may still see
    /// their connections here.
    pub session_lifetime: Duration,
    /// How access tokens are verified; as JWTs by default.
    pub tokens: AccessTokens,
}

impl Oidc {
    /// What is doubtful about the audience, if something is.
    pub fn audience_warning(&self) -> Option<&'static str> {
        let own = self.audience.as_ref() == Some(&self.client_id);
        own.then_some(
            "identity.audience is client_id, which is the audience of our own ID tokens too: only what else stands in a token \
             tells the two kinds apart",
        )
    }
}

#[cfg(test)]
impl Oidc {
    /// What the section means that names nothing but the issuer and the client `usher`.
    pub(crate) fn of(issuer: &str) -> Self {
        Self {
            issuer: Issuer::parse(issuer).unwrap(),
            client_id: "usher".to_owned(),
            client_secret: None,
            user_claim: "sub".to_owned(),
            audience: None,
            scopes: Vec::new(),
            scopes_supported: Vec::new(),
            sign_in_scopes: Vec::new(),
            session_idle: IDLE.0,
            session_lifetime: LIFETIME.0,
            tokens: AccessTokens::Jwt,
        }
    }
}

/// An issuer identifier: a URL, and its exact text, which is what counts (OpenID Connect Core, section 3.1.3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    text: String,
    url: Url,
}

impl Issuer {
    /// An identifier that somebody else wrote, and the URL that it is.
    pub(crate) fn of(text: &str, url: Url) -> Self {
        Self { text: text.to_owned(), url }
    }

    /// An identifier that no configuration has to agree with.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<Self, url::ParseError> {
        Ok(Self::of(text, Url::parse(text)?))
    }

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
const KEYS: [&str; 14] = [
    "issuer",
    "client_id",
    "client_secret",
    "client_secret_file",
    "client_secret_env",
    "user_claim",
    "audience",
    "scopes",
    "scopes_supported",
    "sign_in_scopes",
    "session_idle",
    "session_lifetime",
    "tokens",
    "introspection",
];

/// The defaults of the two keys, and the seconds that may be chosen: not more than the store keeps any session.
const IDLE: (Duration, RangeInclusive<u64>) = (Duration::from_hours(8), 60..=30 * 24 * 3600);
const LIFETIME: (Duration, RangeInclusive<u64>) = (Duration::from_hours(24), 300..=90 * 24 * 3600);

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
    let client_secret = secret::read(table, &secret::CLIENT).ok().map(|secret| match secret {
        Secret::Found((secret, _)) => Some(secret),
        Secret::Absent | Secret::Spared(_) => None,
    });
    let user_claim = table.take("user_claim").map(|node| user_claim(&node));
    let audience = table.take("audience").map(|node| word(&node, "audience = \"https://usher.example.com\""));
    let listed = |key, default: Option<Vec<String>>| table.take(key).map_or(default, |node| scopes(&node));
    let scopes = listed("scopes", Some(Vec::new()));
    let scopes_supported = listed("scopes_supported", scopes.clone());
    let sign_in_scopes = listed("sign_in_scopes", Some(Vec::new()));
    let [session_idle, session_lifetime] = [("session_idle", IDLE), ("session_lifetime", LIFETIME)]
        .map(|(key, (default, range))| table.take(key).map_or(Some(default), |node| duration::read(&node, range)));
    let client = Client { id: client_id.as_deref(), secret: client_secret.as_ref().and_then(Option::as_ref) };
    let tokens = introspection::read(table, &client);
    Some(Oidc {
        issuer: issuer?,
        client_id: client_id?,
        client_secret: client_secret?,
        user_claim: user_claim.unwrap_or_else(|| Some("sub".to_owned()))?,
        audience: audience.map_or(Some(None), |audience| audience.map(Some))?,
        scopes: scopes?,
        scopes_supported: scopes_supported?,
        sign_in_scopes: sign_in_scopes?,
        session_idle: session_idle?,
        session_lifetime: session_lifetime?,
        tokens: tokens?,
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
pub(super) fn word(node: &Node<'_>, example: &str) -> Option<String> {
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
pub(super) fn scopes(node: &Node<'_>) -> Option<Vec<String>> {
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
