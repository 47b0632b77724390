//! The access token of one request on the MCP side: verified, or remembered as verified (RFC 6750, 9068, 7662).

use std::{sync::Arc, time::Duration};

use aws_lc_rs::digest;
use elicit::Principal;
use jiff::{SignedDuration, Timestamp};
use moka::sync::Cache;

use super::{
    Claims, OpenIdProvider, VerifyError,
    admit::{self, Refused},
    introspect::AskError,
    jwt::{Expected, Invalid, Kind, LONGEST, SKEW},
    resource,
};
use crate::{
    config::{AccessTokens, PublicUrl, Upstream},
    identity::{Admitted, Denied},
};

/// How long a verdict is remembered: a token that is revoked, or whose key is withdrawn, opens so long at most.
const REMEMBERED: SignedDuration = SignedDuration::from_secs(60);

/// How long a token without `exp` opens what stays open, such as a stream, before it has to be presented anew.
const UNDATED: SignedDuration = SignedDuration::from_hours(1);

/// How long it is remembered that the issuer knows no such token.
const REFUSED: SignedDuration = SignedDuration::from_secs(10);

/// The most verdicts that are remembered.
const MOST: u64 = 10_000;

/// What is known of tokens, by a hash of the token and of whom it was shown to.
pub(super) type Verdicts = Cache<[u8; 32], Arc<Verdict>>;

/// What became of a token.
pub(super) struct Verdict {
    found: Result<Admitted, Denied>,
    until: Timestamp,
}

/// None is remembered yet.
pub(super) fn verdicts() -> Verdicts {
    let lives = Duration::from_secs(REMEMBERED.as_secs().unsigned_abs());
    Cache::builder().max_capacity(MOST).time_to_live(lives).build()
}

impl OpenIdProvider {
    /// Who presents this token to this server (R-ID-02, R-ID-04).
    pub async fn authenticate(
        self: &Arc<Self>,
        token: &str,
        upstream: &Upstream,
        public_url: &PublicUrl,
    ) -> Result<Admitted, Denied> {
        if token.len() > LONGEST {
            return Err(Denied::BadToken(Invalid::TooLong.reason()));
        }
        let key = hash(&upstream.name, token);
        let now = self.clock.now();
        if let Some(verdict) = self.verdicts.get(&key).filter(|verdict| now < verdict.until) {
            return verdict.found.clone();
        }
        let resource = resource::uri(public_url, &upstream.name);
        let expected = Expected {
            issuer: self.config.issuer.as_str(),
            audience: self.config.audience.as_deref().unwrap_or(&resource),
            kind: Kind::Access,
        };
        let (found, until) = match self.claims(key, token, &expected).await {
            Ok(claims) => {
                let admitted = |principal| Admitted { principal, until: Some(valid_until(&claims, now)) };
                (self.admit(&claims, upstream).map(admitted), remembered(&claims, now))
            }
            Err(denied @ Denied::Inactive) => (Err(denied), now.saturating_add(REFUSED).unwrap_or(now)),
            Err(denied) => return Err(denied),
        };
        self.verdicts.insert(key, Arc::new(Verdict { found: found.clone(), until }));
        found
    }

    /// What the token says, once it is known to be the issuer's, and for us.
    async fn claims(self: &Arc<Self>, key: [u8; 32], token: &str, expected: &Expected<'_>) -> Result<Claims, Denied> {
        match &self.config.tokens {
            AccessTokens::Jwt => self.verify(token, expected).await.map_err(|error| match error {
                VerifyError::Invalid(invalid) => Denied::BadToken(invalid.reason()),
                VerifyError::Unavailable(_) => Denied::Unavailable,
            }),
            AccessTokens::Introspection(_) => {
                self.introspect(key, token, expected).await.map_err(|error| match error {
                    AskError::Inactive => Denied::Inactive,
                    AskError::Invalid(invalid) => Denied::BadToken(invalid.reason()),
                    AskError::Unavailable => Denied::Unavailable,
                })
            }
        }
    }

    fn admit(&self, claims: &Claims, upstream: &Upstream) -> Result<Principal, Denied> {
        if let Some(allow) = &upstream.allow
            && claims.is_left_out(&allow.claim)
            && self.may_tell()
        {
            let (upstream, claim) = (&upstream.name, &allow.claim);
            tracing::warn!(
                upstream,
                claim,
                "a token leaves this claim out since it has too many values (Microsoft Entra ID does so beyond 200 groups), so \
                 its user is not let in: have the issuer write only the groups that are assigned to the application, or roles"
            );
        }
        admit::admit(claims, &self.config, upstream.allow.as_ref()).map_err(|refused| match refused {
            Refused::Incomplete(why) => Denied::BadToken(why),
            Refused::Machine => Denied::Machine,
            Refused::Scope => Denied::Scope,
            Refused::NotAllowed(principal) => Denied::NotAllowed(principal),
        })
    }
}

/// Until when these claims are believed without looking again.
fn remembered(claims: &Claims, now: Timestamp) -> Timestamp {
    let until = now.saturating_add(REMEMBERED).unwrap_or(now);
    expires(claims).map_or(until, |expires| expires.min(until))
}

/// Until when what these claims opened may stay open: as long as the token itself would be taken.
fn valid_until(claims: &Claims, now: Timestamp) -> Timestamp {
    let skew = SignedDuration::from_secs(SKEW);
    let until = expires(claims).map_or_else(|| now.saturating_add(UNDATED), |expires| expires.saturating_add(skew));
    until.unwrap_or(Timestamp::MAX)
}

fn expires(claims: &Claims) -> Option<Timestamp> {
    claims.time("exp").and_then(|seconds| Timestamp::from_second(seconds).ok())
}

/// The name of a server has no NUL in it, so that none of the two can run into the other.
fn hash(upstream: &str, token: &str) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in [upstream, "\0", token] {
        context.update(part.as_bytes());
    }
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.finish().as_ref());
    bytes
}
