//! `at_hash` (OpenID Connect Core, section 3.1.3.6): the access token beside an ID token is its own.

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{Algorithm, SHA256, SHA384, SHA512, digest},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::fault::{Fault, Unproven};
use crate::identity::oidc::Claims;

/// Checks the claim `at_hash` of an ID token, where there is one. The token was verified, so its header is the issuer's.
pub(super) fn check(token: &str, claims: &Claims, access_token: &SecretString) -> Result<(), Fault> {
    if !claims.has("at_hash") {
        return Ok(());
    }
    let right = algorithm(token).zip(claims.string("at_hash"));
    if right.is_some_and(|(algorithm, claim)| is_of(claim, &algorithm, access_token)) {
        Ok(())
    } else {
        Err(Fault::Unproven(Unproven::AccessToken))
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
}

fn algorithm(token: &str) -> Option<String> {
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next()?).ok()?;
    serde_json::from_slice(&header).ok().map(|header: Header| header.alg)
}

fn is_of(claim: &str, algorithm: &str, access_token: &SecretString) -> bool {
    let hash = digest(hash_of(algorithm), access_token.expose_secret().as_bytes());
    let (half, _) = hash.as_ref().split_at(hash.as_ref().len() / 2);
    URL_SAFE_NO_PAD.decode(claim).is_ok_and(|claim| verify_slices_are_equal(&claim, half).is_ok())
}

/// The hash in the name of an algorithm; that of Ed25519 has SHA-512.
fn hash_of(alg: &str) -> &'static Algorithm {
    if alg.ends_with("256") {
        &SHA256
    } else if alg.ends_with("384") {
        &SHA384
    } else {
        &SHA512
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of OpenID Connect Core, appendix A.3: the hash of an access token for RS256.
    #[test]
    fn the_hash_is_that_of_the_specification() {
        const CLAIM: &str = "77QmUPtjPfzWtF2AnpK9RQ";
        let token = SecretString::from("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y");
        assert!(is_of(CLAIM, "RS256", &token) && is_of(CLAIM, "ES256", &token));
        for (claim, algorithm) in
            [(CLAIM, "ES384"), (CLAIM, "EdDSA"), ("77QmUPtjPfzWtF2AnpK9RA", "RS256"), ("", "RS256")]
        {
            assert!(!is_of(claim, algorithm, &token), "{claim} {algorithm}");
        }
    }

    #[test]
    fn the_algorithm_stands_in_the_header() {
        assert_eq!(algorithm("eyJhbGciOiJSUzI1NiJ9.e30.AA").as_deref(), Some("RS256"));
        assert_eq!(algorithm("AA.e30.AA"), None);
    }
}
