//! What a refresh brought, put to what was there before.

use elicit::Random;
use jiff::Timestamp;
use usher_store::Grant;

use super::refresh_at;
use crate::oauth::Tokens;

/// The grant after a refresh: what the reply does not say is as before, and the client and the authorization server stay those
/// that it was granted by (R-OAUTH-05).
pub(super) fn merged(before: &Grant, tokens: &Tokens, now: Timestamp, random: &dyn Random) -> Grant {
    let mut grant = before.clone();
    grant.refresh_token.clone_from(&tokens.refresh_token);
    grant.expires_at = tokens.expires_at;
    grant.refresh_at = refresh_at(now, tokens.expires_at, random);
    if let Some(scopes) = &tokens.scopes {
        grant.scopes.clone_from(scopes);
    }
    grant.values.extend(tokens.values.clone());
    grant
}
