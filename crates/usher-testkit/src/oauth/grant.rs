//! What was granted, and the codes and tokens that came of it.

use std::collections::HashMap;

use super::settings::{Reuse, Rotation};
use crate::idp::random;

/// What somebody allowed a client.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) tenant: String,
    pub(super) scopes: Vec<String>,
    pub(super) resource: Option<String>,
    /// Whether there are refresh tokens.
    pub(super) offline: bool,
    pub(super) ended: bool,
}

/// How a code is proved (RFC 7636).
#[derive(Clone, Debug)]
pub(super) enum Challenge {
    S256(String),
    Plain(String),
}

#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) grant: usize,
    pub(super) redirect_uri: String,
    pub(super) challenge: Option<Challenge>,
    pub(super) expires_at: i64,
    pub(super) used: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) grant: usize,
    pub(super) scopes: Vec<String>,
    pub(super) expires_at: Option<i64>,
    pub(super) ended: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Refresh {
    pub(super) grant: usize,
    pub(super) expires_at: Option<i64>,
    pub(super) replaced_at: Option<i64>,
    pub(super) ended: bool,
}

/// Everything that is worth something, or was.
#[derive(Debug, Default)]
pub(super) struct Vault {
    pub(super) grants: Vec<Grant>,
    pub(super) codes: HashMap<String, Code>,
    pub(super) access: HashMap<String, Access>,
    pub(super) refresh: HashMap<String, Refresh>,
    /// Every code and token, in the order of their making.
    pub(super) secrets: Vec<String>,
}

/// What became of a refresh token that was presented.
pub(super) enum Presented {
    Good(usize),
    /// It was replaced before; now its grant may have ended.
    Again,
    Dead,
}

impl Vault {
    fn make(&mut self, kind: &str) -> String {
        let text = format!("{kind}-{}", random());
        self.secrets.push(text.clone());
        text
    }

    pub(super) fn code(&mut self, grant: Grant, redirect_uri: &str, challenge: Option<Challenge>, now: i64) -> String {
        /// RFC 6749, section 4.1.2: ten minutes at most.
        const LASTS: i64 = 600;
        let text = self.make("code");
        self.grants.push(grant);
        let grant = self.grants.len() - 1;
        let code =
            Code { grant, redirect_uri: redirect_uri.to_owned(), challenge, expires_at: now + LASTS, used: false };
        self.codes.insert(text.clone(), code);
        text
    }

    pub(super) fn access_token(&mut self, grant: usize, scopes: &[String], expires_at: Option<i64>) -> String {
        let text = self.make("access");
        self.access.insert(text.clone(), Access { grant, scopes: scopes.to_vec(), expires_at, ended: false });
        text
    }

    pub(super) fn refresh_token(&mut self, grant: usize, expires_at: Option<i64>) -> String {
        let text = self.make("refresh");
        self.refresh.insert(text.clone(), Refresh { grant, expires_at, replaced_at: None, ended: false });
        text
    }

    /// The grant of an access token that is good now.
    pub(super) fn good_access(&self, text: &str, now: i64) -> Option<(&Access, &Grant)> {
        let access = self.access.get(text).filter(|access| !access.ended)?;
        let grant = &self.grants[access.grant];
        (!grant.ended && access.expires_at.is_none_or(|at| at > now)).then_some((access, grant))
    }

    /// Takes a refresh token of this client.
    pub(super) fn present(&mut self, text: &str, client: &str, rules: (Rotation, Reuse), now: i64) -> Presented {
        let Some(refresh) = self.refresh.get_mut(text) else { return Presented::Dead };
        let grant = refresh.grant;
        let expired = refresh.expires_at.is_some_and(|at| at <= now);
        if refresh.ended || expired || self.grants[grant].ended || self.grants[grant].client != client {
            return Presented::Dead;
        }
        let (rotation, reuse) = rules;
        let grace = if let Rotation::Grace(seconds) = rotation { seconds } else { 0 };
        match refresh.replaced_at {
            Some(at) if at + grace <= now => {
                self.grants[grant].ended |= reuse == Reuse::EndsGrant;
                Presented::Again
            }
            Some(_) => Presented::Good(grant),
            None => {
                if matches!(rotation, Rotation::AtOnce | Rotation::Grace(_)) {
                    refresh.replaced_at = Some(now);
                }
                Presented::Good(grant)
            }
        }
    }

    /// Ends what came of a grant before: its access tokens.
    pub(super) fn end_access_of(&mut self, grant: usize) {
        for access in self.access.values_mut().filter(|access| access.grant == grant) {
            access.ended = true;
        }
    }
}
