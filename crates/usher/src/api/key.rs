//! Who calls: a key of the API, and the server that it speaks for.

use axum::{
    body::Body,
    extract::{Path, rejection::PathRejection},
};
use elicit::{ClientId, Principal};
use http::{HeaderMap, header};
use usher_store::{ApiKey, ApiKeyText, ApiScope, AuditAction, InteractionId};

use super::{
    fields::nothing,
    problem::{Problem, ProblemKind},
};
use crate::{app::App, broker::Followed, config::Upstream, identity::bearer};

/// A caller that was verified.
pub(super) struct Caller<'a> {
    /// Its key.
    pub(super) key: ApiKey,
    /// The server that it speaks for.
    pub(super) upstream: &'a Upstream,
}

impl<'a> Caller<'a> {
    /// Verifies the key of a request, which must allow `scope`, and counts the request.
    ///
    /// The store is read each time, so that a key that was revoked ends at once, on every replica.
    pub(super) async fn of(app: &'a App, headers: &HeaderMap, scope: ApiScope) -> Result<Self, Problem> {
        let Some(presented) = bearer(headers) else {
            return Err(unauthenticated(app, headers.contains_key(header::AUTHORIZATION)));
        };
        let Ok(presented) = ApiKeyText::parse(presented) else { return Err(unauthenticated(app, true)) };
        let Some(key) = app.store.api_key(&presented, app.clock.now()).await? else {
            return Err(unauthenticated(app, true));
        };
        if let Err(refused) = app.broker.limits.count_api_request(&key.id) {
            turned_away(app, AuditAction::ApiLimited, &key);
            let detail = "this key was used too often within a minute (limits.api_requests_per_minute)";
            return Err(Problem::new(ProblemKind::TooManyRequests, detail).retry_after(refused.retry_after));
        }
        if !key.scopes.allow(scope) {
            turned_away(app, AuditAction::ApiKeyRefused, &key);
            let detail = format!("this key lacks the scope {scope}; usher api-keys create makes one that has it");
            let challenge = format!("Bearer realm=\"usher-api\", error=\"insufficient_scope\", scope=\"{scope}\"");
            return Err(Problem::new(ProblemKind::InsufficientScope, detail).challenge(challenge));
        }
        let Some(upstream) = app.config.upstream(&key.server) else {
            turned_away(app, AuditAction::ApiKeyRefused, &key);
            let detail = format!("this key speaks for the server {}, which is not configured any more", key.server);
            return Err(Problem::new(ProblemKind::NoServer, detail));
        };
        Ok(Self { key, upstream })
    }

    /// Whoever changes one interaction, with a request that says nothing more.
    pub(super) async fn changing(
        app: &'a App,
        id: Result<Path<InteractionId>, PathRejection>,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Self, InteractionId), Problem> {
        let caller = Self::of(app, headers, ApiScope::InteractionsWrite).await?;
        nothing(headers, body).await?;
        let Ok(Path(id)) = id else { return Err(Problem::no_interaction()) };
        Ok((caller, id))
    }

    /// There is no such interaction for this server. That it asked for another's is audited.
    pub(super) fn found_none(&self, app: &App, followed: &Followed) -> Problem {
        if matches!(followed, Followed::Foreign) {
            turned_away(app, AuditAction::ApiKeyRefused, &self.key);
        }
        Problem::no_interaction()
    }
}

fn unauthenticated(app: &App, presented: bool) -> Problem {
    app.broker.turned_away(AuditAction::ApiKeyRefused, None, None);
    let error = if presented { ", error=\"invalid_token\"" } else { "" };
    Problem::new(
        ProblemKind::Unauthenticated,
        "a key of the API is needed, as Authorization: Bearer usher_…; this is none that is valid. \
         usher api-keys create makes one",
    )
    .challenge(format!("Bearer realm=\"usher-api\"{error}"))
}

/// Audited once a minute for each key and kind.
pub(super) fn turned_away(app: &App, action: AuditAction, key: &ApiKey) {
    let who = key.actor().zip(ClientId::new(key.server.as_str()).ok());
    let principal = who.map(|(user, client)| Principal { user, client });
    app.broker.turned_away(action, principal.as_ref(), Some(&key.server));
}
