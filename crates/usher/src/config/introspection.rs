//! `tokens` and `[identity.introspection]`: how the access tokens of clients are verified in mode oidc.

use secrecy::SecretString;
use url::Url;

use super::reader::{Node, Table};
use super::secret::{self, Secret};
use super::{oidc, target};

/// How access tokens are verified.
#[derive(Clone, Debug)]
pub enum AccessTokens {
    /// They are JWTs, which the issuer's public keys verify (RFC 9068).
    Jwt,
    /// The issuer is asked about each (RFC 7662).
    Introspection(Introspection),
}

/// Where the issuer is asked about a token, and as whom.
#[derive(Clone, Debug)]
pub struct Introspection {
    /// The endpoint; the one of the issuer's metadata where none is named.
    pub endpoint: Option<Url>,
    /// The client that asks; that of the sign-in by default.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
}

/// The client of the sign-in.
pub(super) struct Client<'c> {
    pub(super) id: Option<&'c str>,
    pub(super) secret: Option<&'c SecretString>,
}

/// Reads both; the section alone says that tokens are asked about.
pub(super) fn read(table: &Table<'_>, client: &Client<'_>) -> Option<AccessTokens> {
    let word = table.take("tokens").map(|node| (tokens(&node), node));
    let section = table.take("introspection");
    match (word, section) {
        (None | Some((Some(Tokens::Jwt), _)), None) => Some(AccessTokens::Jwt),
        (Some((Some(Tokens::Jwt), node)), Some(_)) => {
            node.fault(
                "the issuer is asked about tokens or it is not",
                "write tokens = \"introspection\", or remove the section",
            );
            None
        }
        (Some((Some(Tokens::Introspection), node)), None) => introspection(client, None, &node),
        (_, Some(section)) => {
            let inner = section.table("[identity.introspection]")?;
            let read = introspection(client, Some(&inner), &section);
            inner.close();
            read
        }
        (Some((None, _)), None) => None,
    }
}

enum Tokens {
    Jwt,
    Introspection,
}

fn tokens(node: &Node<'_>) -> Option<Tokens> {
    match node.string("\"jwt\"")? {
        "jwt" => Some(Tokens::Jwt),
        "introspection" => Some(Tokens::Introspection),
        other => {
            node.fault(format!("there is no way {other:?}"), "use tokens = \"jwt\" or tokens = \"introspection\"");
            None
        }
    }
}

fn introspection(client: &Client<'_>, section: Option<&Table<'_>>, at: &Node<'_>) -> Option<AccessTokens> {
    let url = section.and_then(|table| table.take("url")).map(|node| target::read(&node));
    let id = section.and_then(|table| table.take("client_id")).map(|node| oidc::word(&node, "client_id = \"usher\""));
    let own = match section {
        Some(table) => secret::read(table, &secret::CLIENT).ok()?,
        None => Secret::Absent,
    };
    let (url, id) = (url.map_or(Some(None), |url| url.map(Some))?, id.map_or(Some(None), |id| id.map(Some))?);
    let client_secret = match (own, client.secret) {
        (Secret::Found((secret, _)), _) => secret,
        (Secret::Spared(_), _) => SecretString::default(),
        // The secret of another client would be sent with the name of this one.
        (Secret::Absent, Some(secret)) if id.is_none() => secret.clone(),
        (Secret::Absent, _) if at.reader().spares_secrets() => SecretString::default(),
        (Secret::Absent, _) => {
            let fix =
                "add client_secret_file to [identity], or client_id and client_secret_file to [identity.introspection]";
            at.fault("the issuer tells about tokens only to a client with a secret", fix);
            return None;
        }
    };
    let client_id = id.or_else(|| client.id.map(str::to_owned))?;
    Some(AccessTokens::Introspection(Introspection { endpoint: url, client_id, client_secret }))
}
