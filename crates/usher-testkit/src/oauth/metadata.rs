//! What the server says about itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).

use serde_json::{Value, json};

use super::settings::{Pkce, Registration, Revocation};
use super::{Endpoint, Inner};
use crate::idp::merge;
use crate::record::lock;

pub(super) fn document(inner: &Inner) -> Value {
    let settings = lock(&inner.settings).clone();
    let url = |endpoint| inner.url(endpoint, "");
    let ways: Vec<&str> = settings.tokens.client_auth.iter().map(|way| way.name()).collect();
    let methods = match settings.authorization.pkce {
        Pkce::Demanded | Pkce::Verified => json!(["S256"]),
        Pkce::Plain => json!(["plain"]),
        Pkce::Ignored | Pkce::Refused => Value::Null,
    };
    let (server, registry) = (&settings.server, &settings.registry);
    let revocation = server.revocation == Revocation::Standard;
    let registration = registry.registration != Registration::Missing;
    let mut document = json!({ "issuer": settings.issuer });
    let members = json!({
        "authorization_endpoint": url(Endpoint::Authorization),
        "token_endpoint": url(Endpoint::Token),
        "revocation_endpoint": revocation.then(|| url(Endpoint::Revocation)),
        "introspection_endpoint": server.introspection.then(|| url(Endpoint::Introspection)),
        "registration_endpoint": registration.then(|| url(Endpoint::Registration)),
        "jwks_uri": format!("{}{}/jwks", inner.origin(), inner.base),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "token_endpoint_auth_methods_supported": ways,
        "code_challenge_methods_supported": methods,
        "scopes_supported": settings.authorization.scopes_known,
        "authorization_response_iss_parameter_supported": settings.callback.issuer_promised.then_some(true),
        "client_id_metadata_document_supported": registry.documents.then_some(true),
    });
    // Null leaves a member out.
    merge(&mut document, &members);
    merge(&mut document, &server.metadata);
    document
}
