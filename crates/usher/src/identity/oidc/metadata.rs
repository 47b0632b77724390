//! What the issuer says of itself: OpenID Connect Discovery 1.0, section 3; RFC 8414, section 2.

use serde::Deserialize;
use url::Url;

use crate::{
    config::{Issuer, is_loopback},
    egress,
};

/// The most bytes of a document that are read.
pub(super) const LIMIT: usize = 256 * 1024;

/// What we use of the document. Every endpoint in it may be requested as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Where a browser is sent to sign in.
    pub authorization_endpoint: Url,
    /// Where a code is exchanged.
    pub token_endpoint: Url,
    /// The public keys.
    pub jwks_uri: Url,
    /// Where tokens are asked about (RFC 7662).
    pub introspection_endpoint: Option<Url>,
    /// Where a browser signs out (OpenID Connect RP-Initiated Logout).
    pub end_session_endpoint: Option<Url>,
    /// How a client may prove itself at the token endpoint; `client_secret_basic` where nothing is said.
    pub token_endpoint_auth_methods: Vec<String>,
    /// The PKCE methods; empty where nothing is said.
    pub code_challenge_methods: Vec<String>,
    /// The algorithms of ID tokens.
    pub id_token_algorithms: Vec<String>,
    /// `public`, where everybody sees the same `sub` of a user, or `pairwise`.
    pub subject_types: Vec<String>,
    /// Whether each reply to the redirect URI carries `iss` (RFC 9207).
    pub reply_has_issuer: bool,
    /// What `prompt` may be; empty where nothing is said (Initiating User Registration via OpenID Connect 1.0, section 4.1).
    pub prompts: Vec<String>,
}

impl Metadata {
    /// Whether a value of `prompt` may be sent: where nothing is said, each of OpenID Connect Core may.
    pub fn takes_prompt(&self, prompt: &str) -> bool {
        self.prompts.is_empty() || self.prompts.iter().any(|known| known == prompt)
    }
}

/// Why a document is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// It is no JSON object with members of the right types.
    #[error("it is no metadata: {0}")]
    NotMetadata(String),
    /// It is another issuer's.
    #[error("it is of the issuer {found:?}; write identity.issuer exactly so, if that is the one")]
    Issuer {
        /// The issuer that it names.
        found: String,
    },
    /// It stands for the issuers of many organizations.
    #[error(
        "its issuer {found:?} stands for those of many organizations, any of which could then sign in; write the issuer of \
         yours, with its own id"
    )]
    Template {
        /// What it names.
        found: String,
    },
    /// A member that is needed is not there.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// An endpoint is not where it may be.
    #[error("its {member} is neither an https URL, nor http on loopback or at the issuer's own origin")]
    Endpoint {
        /// The member's name.
        member: &'static str,
    },
}

#[derive(Deserialize)]
struct Document {
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    jwks_uri: Option<String>,
    introspection_endpoint: Option<String>,
    end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Option<Vec<String>>,
    subject_types_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    prompt_values_supported: Option<Vec<String>>,
}

/// Where an issuer's document is (OpenID Connect Discovery 1.0, section 4.1).
pub fn location(issuer: &Issuer) -> Url {
    let mut url = issuer.url().clone();
    let path = format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

impl Metadata {
    /// Reads a document of this issuer, which is identical as text (section 4.3).
    pub fn parse(document: &[u8], issuer: &Issuer) -> Result<Self, MetadataError> {
        let document: Document =
            serde_json::from_slice(document).map_err(|error| MetadataError::NotMetadata(error.to_string()))?;
        match document.issuer {
            None => return Err(MetadataError::Missing("issuer")),
            Some(found) if found.contains('{') => return Err(MetadataError::Template { found: short(&found) }),
            Some(found) if found != issuer.as_str() => return Err(MetadataError::Issuer { found: short(&found) }),
            Some(_) => {}
        }
        let optional = |member, text: Option<String>| text.map(|text| endpoint(member, &text, issuer)).transpose();
        let required = |member, text| optional(member, text)?.ok_or(MetadataError::Missing(member));
        let basic = || vec!["client_secret_basic".to_owned()];
        Ok(Self {
            authorization_endpoint: required("authorization_endpoint", document.authorization_endpoint)?,
            token_endpoint: required("token_endpoint", document.token_endpoint)?,
            jwks_uri: required("jwks_uri", document.jwks_uri)?,
            introspection_endpoint: optional("introspection_endpoint", document.introspection_endpoint)?,
            end_session_endpoint: optional("end_session_endpoint", document.end_session_endpoint)?,
            token_endpoint_auth_methods: document.token_endpoint_auth_methods_supported.unwrap_or_else(basic),
            code_challenge_methods: document.code_challenge_methods_supported.unwrap_or_default(),
            id_token_algorithms: document.id_token_signing_alg_values_supported.unwrap_or_default(),
            subject_types: document.subject_types_supported.unwrap_or_default(),
            reply_has_issuer: document.authorization_response_iss_parameter_supported.unwrap_or(false),
            prompts: document.prompt_values_supported.unwrap_or_default(),
        })
    }
}

/// An endpoint: https, or http where it stays on this machine or at the origin that the operator chose (R-SEC-05).
fn endpoint(member: &'static str, text: &str, issuer: &Issuer) -> Result<Url, MetadataError> {
    let http_at = |url: &Url| url.origin() == issuer.url().origin() || is_loopback(url);
    egress::endpoint(text, http_at).ok_or(MetadataError::Endpoint { member })
}

/// What somebody else wrote, for a log.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn document() -> Value {
        json!({
            "issuer": "https://id.example/realms/one",
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://keys.example/jwks",
            "unknown": { "kept": "out" },
        })
    }

    fn parse(document: &Value, issuer: &str) -> Result<Metadata, MetadataError> {
        Metadata::parse(document.to_string().as_bytes(), &Issuer::parse(issuer).unwrap())
    }

    const ISSUER: &str = "https://id.example/realms/one";

    #[test]
    fn a_document_says_where_everything_is() {
        let metadata = parse(&document(), ISSUER).unwrap();
        assert_eq!(metadata.jwks_uri.as_str(), "https://keys.example/jwks");
        assert_eq!(metadata.token_endpoint_auth_methods, ["client_secret_basic"]);
        assert!(metadata.introspection_endpoint.is_none() && metadata.code_challenge_methods.is_empty());
        let place = |text: &str| location(&Issuer::parse(text).unwrap()).to_string();
        assert_eq!(place(ISSUER), format!("{ISSUER}/.well-known/openid-configuration"));
        assert_eq!(place("https://id.example/"), "https://id.example/.well-known/openid-configuration");
        assert_eq!(place("https://id.example"), "https://id.example/.well-known/openid-configuration");
    }

    /// R-ID-02
    #[test]
    fn a_document_for_everybody_is_nobody_s() {
        let mut document = document();
        document["issuer"] = "https://id.example/{tenantid}/v2.0".into();
        let error = parse(&document, "https://id.example/common/v2.0").unwrap_err();
        assert!(error.to_string().contains("many organizations"), "{error}");
        assert!(parse(&document, "https://id.example/{tenantid}/v2.0").is_err(), "not even if it is written so");
    }

    /// R-ID-02: a document speaks for one issuer, whose name is compared as text.
    #[test]
    fn a_document_of_another_issuer_is_refused() {
        for other in [
            "https://id.example/realms/one/",
            "https://id.example:443/realms/one",
            "https://ID.example/realms/one",
            "https://id.example/realms/two",
            "http://id.example/realms/one",
            "",
        ] {
            let mut document = document();
            document["issuer"] = other.into();
            assert_eq!(parse(&document, ISSUER), Err(MetadataError::Issuer { found: other.to_owned() }));
        }
    }

    #[test]
    fn what_is_missing_or_no_metadata_is_said() {
        for member in ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"] {
            let mut document = document();
            document.as_object_mut().unwrap().remove(member);
            assert_eq!(parse(&document, ISSUER), Err(MetadataError::Missing(member)));
        }
        for text in ["", "[]", "7", "{\"issuer\":7}", "<html>", "{\"issuer\":\"a\""] {
            let parsed = Metadata::parse(text.as_bytes(), &Issuer::parse(ISSUER).unwrap());
            assert!(matches!(parsed, Err(MetadataError::NotMetadata(_) | MetadataError::Missing(_))), "{text}");
        }
    }

    /// R-SEC-05: nobody is sent, and nothing is requested, where the scheme is not that of a web page.
    #[test]
    fn endpoints_are_https_or_http_where_nobody_listens_in() {
        for (text, issuer, right) in [
            ("https://other.example/x", ISSUER, true),
            ("https://id.example/x?tenant=1", ISSUER, true),
            ("http://127.0.0.1:9000/x", ISSUER, true),
            ("http://[::1]:9000/x", ISSUER, true),
            ("http://keycloak:8080/x", "http://keycloak:8080/realms/one", true),
            ("http://keycloak:8081/x", "http://keycloak:8080/realms/one", false),
            ("http://id.example/x", ISSUER, false),
            ("http://127.0.0.1.example/x", ISSUER, false),
            ("file:///etc/passwd", ISSUER, false),
            ("javascript:alert(1)", ISSUER, false),
            ("data:text/html,x", ISSUER, false),
            ("/relative", ISSUER, false),
            ("https://user:pw@id.example/x", ISSUER, false),
            ("https://id.example/x#f", ISSUER, false),
            ("", ISSUER, false),
        ] {
            for member in [
                "authorization_endpoint",
                "token_endpoint",
                "jwks_uri",
                "introspection_endpoint",
                "end_session_endpoint",
            ] {
                let mut document = document();
                document["issuer"] = issuer.into();
                document[member] = text.into();
                let parsed = parse(&document, issuer);
                if right {
                    assert!(parsed.is_ok(), "{member} {text}: {parsed:?}");
                } else {
                    assert_eq!(parsed, Err(MetadataError::Endpoint { member }), "{text}");
                }
            }
        }
    }
}
