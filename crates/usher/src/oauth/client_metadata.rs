//! The document that says who we are (OAuth Client ID Metadata Document): its URL is our client id where an authorization
//! server reads such documents, so that nobody registers anything.
//!
//! There is one for each redirect URI, which is to say for each authorization server: so it is known before any of them is,
//! names the one redirect URI that the server may use, and nobody's client id tells another server's redirect URI.

use serde::Serialize;
use url::Url;

use crate::config::PublicUrl;

/// What people see at an authorization server.
pub const CLIENT_NAME: &str = "Usher";

/// Where the documents are.
pub const PATH: &str = "/.well-known/usher-client";

/// What the name of a document ends with.
pub const SUFFIX: &str = ".json";

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientMetadata {
    client_id: String,
    client_name: &'static str,
    client_uri: String,
    redirect_uris: [String; 1],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
}

/// The client id that stands for the redirect URI of a provider, and of the key of an issuer where it has several: the URL of its
/// document. `None` where it cannot be one, since it must be https.
pub fn address(public_url: &PublicUrl, provider: &str, issuer_key: Option<&str>) -> Option<String> {
    let of = issuer_key.map_or_else(|| provider.to_owned(), |key| format!("{provider}/{key}"));
    public_url.is_https().then(|| public_url.join(&format!("{PATH}/{of}{SUFFIX}")))
}

/// The same where others can read it, too: not on this machine, nor on a private network.
pub fn client_id(public_url: &PublicUrl, provider: &str, issuer_key: Option<&str>) -> Option<String> {
    let id = address(public_url, provider, issuer_key)?;
    let is_public = Url::parse(&id).is_ok_and(|url| !crate::config::is_private(&url));
    is_public.then_some(id)
}

impl ClientMetadata {
    /// The document of a client id, for its one redirect URI. It proves itself by nothing but PKCE and that URI: a secret
    /// cannot stand in what everybody reads.
    pub fn new(public_url: &PublicUrl, client_id: String, redirect_uri: String) -> Self {
        Self {
            client_id,
            client_name: CLIENT_NAME,
            client_uri: public_url.origin().to_owned(),
            redirect_uris: [redirect_uri],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: "web",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> PublicUrl {
        PublicUrl::parse(text).unwrap()
    }

    #[test]
    fn a_document_names_itself_and_one_redirect_uri() {
        let url = public("https://usher.example");
        let id = client_id(&url, "notes", Some("k")).unwrap();
        assert_eq!(id, "https://usher.example/.well-known/usher-client/notes/k.json");
        let document = ClientMetadata::new(&url, id, url.join("/callback/notes/k"));
        insta::assert_snapshot!(serde_json::to_string(&document).unwrap(), @r#"{"client_id":"https://usher.example/.well-known/usher-client/notes/k.json","client_name":"Usher","client_uri":"https://usher.example","redirect_uris":["https://usher.example/callback/notes/k"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","application_type":"web"}"#);
    }

    #[test]
    fn what_nobody_else_can_read_is_no_client_id() {
        for url in [
            "http://127.0.0.1:8420",
            "https://127.0.0.1",
            "https://10.1.2.3",
            "https://usher",
            "https://usher.internal",
        ] {
            assert_eq!(client_id(&public(url), "notes", Some("k")), None, "{url}");
        }
    }
}
