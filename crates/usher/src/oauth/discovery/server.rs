//! What an authorization server says of itself (RFC 8414; OpenID Connect Discovery 1.0; MCP 2026-07-28, Authorization Server
//! Metadata Discovery).

use std::collections::BTreeSet;

use serde::Deserialize;
use url::Url;

use super::{Reach, short};
use crate::{config::Issuer, oauth::scope};

/// What we use of the document. Every endpoint in it may be requested as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Who speaks, identical as text to who was asked (R-OAUTH-05).
    pub issuer: Issuer,
    /// Where a browser is sent.
    pub authorization_endpoint: Url,
    /// Where a code is exchanged.
    pub token_endpoint: Url,
    /// Where a token is revoked (RFC 7009).
    pub revocation_endpoint: Option<Url>,
    /// Where a client registers itself (RFC 7591).
    pub registration_endpoint: Option<Url>,
    /// How a client may prove itself at the token endpoint; `None` where nothing is said, which means `client_secret_basic`.
    pub token_endpoint_auth_methods: Option<Vec<String>>,
    /// The grants that there are; `None` where nothing is said.
    pub grant_types: Option<Vec<String>>,
    /// The scopes that it knows; none where nothing is said.
    pub scopes: BTreeSet<String>,
    /// Whether each reply to the redirect URI carries `iss` (RFC 9207).
    pub reply_has_issuer: bool,
    /// Whether a client id may be the URL of a document about the client.
    pub client_id_metadata_document: bool,
}

/// Why a document is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It is no JSON object with members of the right types.
    #[error("it is no metadata of an authorization server: {0}")]
    NotMetadata(String),
    /// It is another issuer's, or does not say whose.
    #[error("it is of the issuer {found:?}, and {asked:?} was asked for: the two must be identical")]
    Issuer {
        /// The issuer that it names.
        found: String,
        /// The issuer that was asked for.
        asked: String,
    },
    /// A member that is needed is not there.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// An endpoint is not where it may be.
    #[error("its {0} is neither an https URL, nor http where an operator allowed it")]
    Endpoint(&'static str),
    /// It does not promise PKCE with S256.
    #[error("it does not name S256 in code_challenge_methods_supported, so that a stolen code could be used (PKCE)")]
    Pkce,
    /// It has no authorization codes.
    #[error("it does not have response type code")]
    NoCode,
}

impl ServerError {
    /// Whether this document is the issuer's own: then no other one is looked for.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::NotMetadata(_) | Self::Issuer { .. })
    }
}

#[derive(Deserialize)]
struct Document {
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    response_types_supported: Option<Vec<String>>,
    grant_types_supported: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    client_id_metadata_document_supported: Option<bool>,
}

/// Where the document of an issuer may be, in the order in which it is looked for.
pub fn locations(issuer: &Issuer) -> Vec<Url> {
    // A slash at the end is dropped before anything is added (RFC 8414, section 3.1).
    let path = issuer.url().path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    let at = |path: String| {
        let mut url = issuer.url().clone();
        url.set_path(&path);
        url
    };
    paths.into_iter().map(at).collect()
}

impl ServerMetadata {
    /// Reads a document of this issuer.
    pub(crate) fn parse(document: &[u8], issuer: &Issuer, reach: &Reach<'_>) -> Result<Self, ServerError> {
        let document: Document =
            serde_json::from_slice(document).map_err(|error| ServerError::NotMetadata(error.to_string()))?;
        let found = document.issuer.unwrap_or_default();
        if found != issuer.as_str() {
            return Err(ServerError::Issuer { found: short(&found), asked: issuer.as_str().to_owned() });
        }
        let names =
            |list: &Option<Vec<String>>, name: &str| list.as_ref().map(|list| list.iter().any(|one| one == name));
        if names(&document.response_types_supported, "code") == Some(false) {
            return Err(ServerError::NoCode);
        }
        // Where nothing is said, nobody knows whether the challenge is looked at: no flow (R-OAUTH-05).
        if names(&document.code_challenge_methods_supported, "S256") != Some(true) {
            return Err(ServerError::Pkce);
        }
        let optional = |member, text: Option<String>| {
            text.map(|text| reach.endpoint(&text).ok_or(ServerError::Endpoint(member))).transpose()
        };
        let required = |member, text| optional(member, text)?.ok_or(ServerError::Missing(member));
        let scopes = document.scopes_supported.unwrap_or_default();
        Ok(Self {
            issuer: issuer.clone(),
            authorization_endpoint: required("authorization_endpoint", document.authorization_endpoint)?,
            token_endpoint: required("token_endpoint", document.token_endpoint)?,
            revocation_endpoint: optional("revocation_endpoint", document.revocation_endpoint)?,
            registration_endpoint: optional("registration_endpoint", document.registration_endpoint)?,
            token_endpoint_auth_methods: document.token_endpoint_auth_methods_supported,
            grant_types: document.grant_types_supported,
            scopes: scope::of(scopes.iter().map(String::as_str)),
            reply_has_issuer: document.authorization_response_iss_parameter_supported.unwrap_or(false),
            client_id_metadata_document: document.client_id_metadata_document_supported.unwrap_or(false),
        })
    }

    /// Whether a client may prove itself so at the token endpoint.
    pub fn takes_method(&self, method: &str) -> bool {
        match &self.token_endpoint_auth_methods {
            None => method == "client_secret_basic",
            Some(methods) => methods.iter().any(|known| known == method),
        }
    }

    /// Whether there are refresh tokens, as far as it says.
    pub fn refreshes(&self) -> bool {
        self.grant_types.as_ref().is_none_or(|grants| grants.iter().any(|grant| grant == "refresh_token"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::oauth::site;

    const ISSUER: &str = "https://id.example/tenant";

    fn document() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://tokens.example/token",
            "code_challenge_methods_supported": ["plain", "S256"],
            "unknown": { "kept": "out" },
        })
    }

    fn parse(document: &Value, issuer: &str) -> Result<ServerMetadata, ServerError> {
        let egress = site::egress();
        let upstream = Url::parse("http://mcp.internal:8080/mcp").unwrap();
        let reach = Reach::of(&egress, &upstream, None);
        ServerMetadata::parse(document.to_string().as_bytes(), &Issuer::parse(issuer).unwrap(), &reach)
    }

    #[test]
    fn the_document_is_looked_for_in_the_order_of_the_specification() {
        let of = |text: &str| {
            locations(&Issuer::parse(text).unwrap()).iter().map(|url| url.path().to_owned()).collect::<Vec<_>>()
        };
        let with_path = [
            "/.well-known/oauth-authorization-server/tenant1",
            "/.well-known/openid-configuration/tenant1",
            "/tenant1/.well-known/openid-configuration",
        ];
        assert_eq!(of("https://auth.example.com/tenant1"), with_path);
        assert_eq!(of("https://auth.example.com/tenant1/"), with_path);
        let without = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        assert_eq!(of("https://auth.example.com"), without);
        assert_eq!(of("https://auth.example.com/"), without);
    }

    #[test]
    fn a_document_says_where_everything_is_and_what_is_promised() {
        let plain = parse(&document(), ISSUER).unwrap();
        assert_eq!(plain.token_endpoint.as_str(), "https://tokens.example/token");
        assert!(plain.takes_method("client_secret_basic") && !plain.takes_method("none"));
        assert!(plain.refreshes() && !plain.reply_has_issuer && !plain.client_id_metadata_document);

        let mut document = document();
        document["authorization_response_iss_parameter_supported"] = true.into();
        document["client_id_metadata_document_supported"] = true.into();
        document["token_endpoint_auth_methods_supported"] = json!(["none"]);
        document["grant_types_supported"] = json!(["authorization_code"]);
        document["scopes_supported"] = json!(["a", "offline_access", "no scope"]);
        document["revocation_endpoint"] = "https://id.example/revoke".into();
        document["registration_endpoint"] = "https://id.example/register".into();
        let rich = parse(&document, ISSUER).unwrap();
        assert!(rich.reply_has_issuer && rich.client_id_metadata_document && !rich.refreshes());
        assert!(rich.takes_method("none") && !rich.takes_method("client_secret_basic"));
        assert_eq!(rich.scopes.len(), 2);
        assert!(rich.revocation_endpoint.is_some() && rich.registration_endpoint.is_some());
    }

    /// R-OAUTH-05: the metadata's `issuer` is identical to the one asked for.
    #[test]
    fn a_document_of_another_issuer_is_not_used() {
        for other in [
            "https://honest.example",
            "https://id.example/tenant/",
            "https://id.example:443/tenant",
            "https://ID.example/tenant",
            "https://id.example/other",
            "https://id.example",
            "",
        ] {
            let mut document = document();
            document["issuer"] = other.into();
            let error = parse(&document, ISSUER).unwrap_err();
            assert_eq!(error, ServerError::Issuer { found: other.to_owned(), asked: ISSUER.to_owned() });
            assert!(!error.is_final(), "the issuer's own may be at the next place");
        }
    }

    /// R-OAUTH-05: no `code_challenge_methods_supported`, no flow.
    #[test]
    fn without_the_promise_of_s256_there_is_no_flow() {
        for methods in [None, Some(json!([])), Some(json!(["plain"])), Some(json!(["s256"]))] {
            let mut document = document();
            match &methods {
                None => drop(document.as_object_mut().unwrap().remove("code_challenge_methods_supported")),
                Some(methods) => document["code_challenge_methods_supported"] = methods.clone(),
            }
            let error = parse(&document, ISSUER).unwrap_err();
            assert_eq!(error, ServerError::Pkce, "{methods:?}");
            assert!(error.is_final() && error.to_string().contains("code_challenge_methods_supported"));
        }
        let mut document = document();
        document["response_types_supported"] = json!(["token"]);
        assert_eq!(parse(&document, ISSUER), Err(ServerError::NoCode));
    }

    #[test]
    fn what_is_missing_or_no_metadata_is_said() {
        for member in ["authorization_endpoint", "token_endpoint"] {
            let mut document = document();
            document.as_object_mut().unwrap().remove(member);
            assert_eq!(parse(&document, ISSUER), Err(ServerError::Missing(member)));
        }
        for text in ["", "[]", "7", "<html>", r#"{"issuer":7}"#, r#"{"issuer":"a""#] {
            let document: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
            assert!(matches!(parse(&document, ISSUER), Err(ServerError::NotMetadata(_))), "{text}");
        }
    }

    /// R-SEC-05: nobody is sent, and nothing is requested, where the scheme is not that of a web page; http is for what an
    /// operator chose or allowed.
    #[test]
    fn endpoints_are_https_or_http_where_an_operator_allowed_it() {
        for (text, right) in [
            ("https://other.example/x", true),
            ("https://id.example/x?tenant=1", true),
            ("http://127.0.0.1:9000/x", true),
            ("http://mcp.internal:8080/x", true),
            ("http://mcp.internal:8081/x", false),
            ("http://localhost:9000/x", false),
            ("http://[::1]:9000/x", false),
            ("http://id.example/x", false),
            ("http://169.254.169.254/latest", false),
            ("file:///etc/passwd", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("ms-settings:privacy", false),
            ("/relative", false),
            ("https://user:pw@id.example/x", false),
            ("https://id.example/x#f", false),
            ("", false),
        ] {
            for member in ["authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint"] {
                let mut document = document();
                document[member] = text.into();
                let parsed = parse(&document, ISSUER);
                if right {
                    assert!(parsed.is_ok(), "{member} {text}: {parsed:?}");
                } else {
                    assert_eq!(parsed, Err(ServerError::Endpoint(member)), "{text}");
                }
            }
        }
    }
}
