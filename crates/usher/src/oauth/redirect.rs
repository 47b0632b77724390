//! Where a third party sends the browser back to: derived here, and nowhere else.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::config::PublicUrl;

/// The redirect URI of a provider: one for each authorization server, so that a reply of one cannot be taken for another's
/// (RFC 9700, section 4.4.2.2; R-OAUTH-02). `issuer` is that of kind `mcp`, whose provider may come to have another one.
pub fn redirect_uri(public_url: &PublicUrl, provider: &str, issuer: Option<&str>) -> String {
    redirect_uri_of_key(public_url, provider, issuer.map(issuer_key).as_deref())
}

/// The same by the key of an issuer.
pub fn redirect_uri_of_key(public_url: &PublicUrl, provider: &str, issuer_key: Option<&str>) -> String {
    public_url.join(&match issuer_key {
        None => format!("/callback/{provider}"),
        Some(key) => format!("/callback/{provider}/{key}"),
    })
}

/// What stands for an issuer in a path: 128 bits of its SHA-256, base64url.
pub fn issuer_key(issuer: &str) -> String {
    URL_SAFE_NO_PAD.encode(&digest(&SHA256, issuer.as_bytes()).as_ref()[..16])
}

/// Whether a text may be the key of an issuer.
pub fn is_issuer_key(text: &str) -> bool {
    text.len() == 22 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-OAUTH-02
    #[test]
    fn each_authorization_server_has_a_redirect_uri_of_its_own() {
        let public_url = PublicUrl::parse("https://usher.example").unwrap();
        let uri = |provider, issuer| redirect_uri(&public_url, provider, issuer);
        assert_eq!(uri("github", None), "https://usher.example/callback/github");
        let one = uri("wiki", Some("https://id.example"));
        assert!(one.starts_with("https://usher.example/callback/wiki/"), "{one}");
        assert_ne!(one, uri("wiki", Some("https://id.example/")), "an issuer is its exact text");
        let key = issuer_key("https://id.example");
        assert!(is_issuer_key(&key) && !is_issuer_key(&key[1..]) && !is_issuer_key(&key.replace(&key[..1], "/")));
        assert_eq!(redirect_uri_of_key(&public_url, "wiki", Some(&key)), one);
    }
}
