//! What a refresh brought, put to what was there before.

use std::collections::BTreeMap;

use elicit::Random;
use jiff::Timestamp;
use secrecy::SecretString;
use usher_store::{Credential, Grant};

use super::refresh_at;
use crate::oauth::Tokens;

/// The secrets and the grant after a refresh: what the reply does not name stays, the refresh token above all (RFC 6749,
/// section 6). The client and the authorization server stay those that it was granted by (R-OAUTH-05).
pub(super) fn merged(
    before: &Credential,
    granted: &Grant,
    tokens: Tokens,
    now: Timestamp,
    random: &dyn Random,
) -> (BTreeMap<String, SecretString>, Grant) {
    let mut secrets = before.secrets.clone();
    secrets.extend(tokens.fields);
    let mut grant = granted.clone();
    grant.refresh_token = tokens.refresh_token.or(grant.refresh_token);
    grant.expires_at = tokens.expires_at;
    grant.refresh_at = refresh_at(now, tokens.expires_at, random);
    grant.scopes = tokens.scopes.unwrap_or(grant.scopes);
    grant.values.extend(tokens.values);
    (secrets, grant)
}
