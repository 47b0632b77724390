//! The issuer of identity mode oidc: whether it is there, is the one, and does what is needed of it.

use super::{
    clock::Sample,
    finding::Finding,
    probe::{DEADLINE, date},
};
use crate::{
    clock::Clock,
    config::{AccessTokens, Oidc},
    egress::{Egress, place},
    identity::oidc::{self, Algorithm, keys::KeySet, metadata::Metadata},
};

const NAME: &str = "issuer";

/// What was found, and what its clock said.
pub(super) async fn examine(config: &Oidc, egress: &Egress, clock: &dyn Clock) -> (Vec<Finding>, Option<Sample>) {
    let before = clock.now();
    let answer = match oidc::fetch_document(egress, &config.issuer).await {
        Ok(answer) => answer,
        Err(error) => return (vec![away(config, &error)], None),
    };
    let sample = date(&answer.headers).map(|theirs| Sample::new(NAME, theirs, before, clock.now()));
    let metadata = match Metadata::parse(&answer.body, &config.issuer) {
        Ok(metadata) => metadata,
        Err(error) => {
            let found = format!("{} answers, and {error}", oidc::metadata::location(&config.issuer));
            let todo =
                "write identity.issuer as the issuer writes itself, or mend the issuer; nobody can come in until then";
            return (vec![Finding::fault(NAME, found, todo)], sample);
        }
    };
    let mut findings = vec![Finding::ok(NAME, format!("{} is there, and says so of itself", config.issuer.as_str()))];
    findings.push(match oidc::fetch_keys(egress, &config.issuer, &metadata).await {
        Ok(keys) => of_keys(&keys, &metadata),
        Err(error) => Finding::fault(
            "issuer keys",
            format!("{}: {error}", place(&metadata.jwks_uri)),
            "without them no token is verified; see what jwks_uri of its metadata leads to",
        ),
    });
    findings.extend([pkce(&metadata), subject(config, &metadata)]);
    findings.extend(introspection(config, &metadata));
    findings.extend(config.audience_warning().map(|warning| {
        Finding::warning("issuer audience", warning, "have the issuer give access tokens an audience of their own")
    }));
    (findings, sample)
}

fn away(config: &Oidc, error: &oidc::FetchError) -> Finding {
    let found = format!("{}: {error}", oidc::metadata::location(&config.issuer));
    let todo = format!(
        "see that it runs and that identity.issuer is right; it was given {} s; nobody can come in until then",
        DEADLINE.as_secs()
    );
    Finding::fault(NAME, found, todo)
}

fn of_keys(keys: &KeySet, metadata: &Metadata) -> Finding {
    const SUBJECT: &str = "issuer keys";
    let named =
        metadata.id_token_algorithms.iter().filter_map(|name| Algorithm::parse(name).map(|known| (name, known)));
    let usable: Vec<&str> =
        named.filter(|(_, algorithm)| keys.fits(*algorithm)).map(|(name, _)| name.as_str()).collect();
    if keys.is_empty() {
        let todo = "have it sign by RS256, PS256, ES256, ES384 or EdDSA, with a public key in its key set";
        return Finding::fault(SUBJECT, "none can verify a token here", todo);
    }
    if usable.is_empty() {
        let found = format!("{} that fit none of the algorithms that it names for ID tokens", keys.len());
        return Finding::warning(SUBJECT, found, "look at id_token_signing_alg_values_supported of its metadata");
    }
    Finding::ok(SUBJECT, format!("{} to verify tokens with, for {}", keys.len(), usable.join(", ")))
}

fn pkce(metadata: &Metadata) -> Finding {
    const SUBJECT: &str = "issuer PKCE";
    if metadata.code_challenge_methods.iter().any(|method| method == "S256") {
        return Finding::ok(SUBJECT, "S256 is advertised");
    }
    Finding::warning(
        SUBJECT,
        "its metadata does not name S256 in code_challenge_methods_supported",
        "most issuers take it all the same; MCP hosts may refuse to sign in without the word of it",
    )
}

/// Whether both sides are told the same name of a user (R-ID-01).
fn subject(config: &Oidc, metadata: &Metadata) -> Finding {
    const SUBJECT: &str = "issuer users";
    let claim = &config.user_claim;
    let pairwise = metadata.subject_types.iter().any(|known| known == "pairwise");
    if claim != "sub" || !pairwise {
        let found =
            format!("a user is the claim {claim}, which has to be the same text in ID tokens and access tokens");
        return Finding::ok(SUBJECT, found);
    }
    let only = metadata.subject_types.len() == 1;
    let found = if only {
        "its sub is another for each application (pairwise): what a person connects would not be found for their host"
    } else {
        "its sub may be another for each application (public and pairwise)"
    };
    Finding::warning(
        SUBJECT,
        found,
        "set user_claim to a claim that is the same for all, oid at Microsoft Entra ID for example, or have all clients use public",
    )
}

fn introspection(config: &Oidc, metadata: &Metadata) -> Option<Finding> {
    let AccessTokens::Introspection(asked) = &config.tokens else { return None };
    let endpoint = asked.endpoint.as_ref().or(metadata.introspection_endpoint.as_ref());
    Some(match endpoint {
        Some(endpoint) => Finding::ok(
            "issuer introspection",
            format!("{} is asked about tokens as {}", place(endpoint), asked.client_id),
        ),
        None => Finding::fault(
            "issuer introspection",
            "its metadata names no introspection_endpoint",
            "name one as identity.introspection.url, or use tokens = \"jwt\"",
        ),
    })
}
