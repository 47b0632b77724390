//! Which request goes where.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use futures_util::future;
use http::{Method, header};

use super::settings::{MetadataPlace, RefreshBy, Revocation};
use super::{Inner, Trouble, account, authorize, document, exchange, metadata, registration, revoke};
use crate::door::Switch;
use crate::fields::Fields;
use crate::provider::{body_of, play};
use crate::record::lock;
use crate::{Era, Outcome, Recorded};

/// What the provider answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The metadata, wherever it is.
    Metadata,
    /// Where the browser goes: the consent page.
    Authorization,
    /// Where codes are exchanged.
    Token,
    /// Where tokens are refreshed: the token endpoint, or one of its own.
    Refresh,
    /// Where tokens are revoked.
    Revocation,
    /// RFC 7662.
    Introspection,
    /// RFC 7591; below it, by id, RFC 7592.
    Registration,
    /// Who the access token's account is.
    Account,
    /// Which APIs the access token is good for.
    Resources,
}

impl Endpoint {
    /// Its path, for an issuer with this path of its own. Of metadata the path of RFC 8414.
    pub(super) fn path(self, base: &str, tenant: &str) -> String {
        let below = if tenant.is_empty() { base.to_owned() } else { format!("{base}/t/{tenant}") };
        match self {
            Self::Metadata => format!("/.well-known/oauth-authorization-server{base}"),
            Self::Authorization => format!("{below}/authorize"),
            Self::Token => format!("{below}/token"),
            Self::Refresh => format!("{below}/refresh"),
            Self::Revocation => format!("{below}/revoke"),
            Self::Introspection => format!("{below}/introspect"),
            Self::Registration => format!("{below}/register"),
            Self::Account => format!("{below}/api/me"),
            Self::Resources => format!("{below}/api/resources"),
        }
    }

    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }
}

const BY_PATH: [Endpoint; 8] = [
    Endpoint::Authorization,
    Endpoint::Token,
    Endpoint::Refresh,
    Endpoint::Revocation,
    Endpoint::Introspection,
    Endpoint::Registration,
    Endpoint::Account,
    Endpoint::Resources,
];

pub(super) fn router(inner: &Arc<Inner>) -> Router {
    Router::new().fallback(answer).with_state(Arc::clone(inner))
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut entry = Recorded::new(head, body, Era::Legacy, String::new());
    let place = find(&inner, &entry);
    entry.method = place.as_ref().map(|place| place.endpoint.name()).unwrap_or_default();
    let entry = inner.log.add(entry);
    let response = match place {
        Some(place) => {
            let _answering = inner.at_once.begin(place.endpoint);
            troubled(&inner, &place, &entry, &switch).await
        }
        None => body_of(404, "{}".to_owned()),
    };
    inner.log.settle(&entry, Outcome::Answered);
    response
}

/// Where a request leads.
pub(super) struct Place {
    pub(super) endpoint: Endpoint,
    pub(super) tenant: String,
    /// What the path says behind the endpoint: a client.
    pub(super) rest: String,
    /// Whether a refresh came to the token endpoint.
    at_token: bool,
}

fn find(inner: &Inner, request: &Recorded) -> Option<Place> {
    let settings = lock(&inner.settings).clone();
    let path = request.path.split('?').next().unwrap_or_default();
    let place = |endpoint, tenant: &str, rest: &str| {
        Some(Place { endpoint, tenant: tenant.to_owned(), rest: rest.to_owned(), at_token: false })
    };
    let base = &inner.base;
    for known in &settings.server.metadata_places {
        let known = match known {
            MetadataPlace::Oauth => format!("/.well-known/oauth-authorization-server{base}"),
            MetadataPlace::OpenIdInserted => format!("/.well-known/openid-configuration{base}"),
            MetadataPlace::OpenIdAppended => format!("{base}/.well-known/openid-configuration"),
            MetadataPlace::OauthAppended => format!("{base}/.well-known/oauth-authorization-server"),
        };
        if path == known {
            return place(Endpoint::Metadata, "", "");
        }
    }
    let below = path.strip_prefix(base.as_str())?;
    let (tenant, below) = match below.strip_prefix("/t/").and_then(|rest| rest.split_once('/')) {
        Some((tenant, rest)) if settings.tenants.iter().any(|known| known == tenant) => (tenant, format!("/{rest}")),
        None if settings.tenants.is_empty() => ("", below.to_owned()),
        _ => return None,
    };
    if let Some(rest) = below.strip_prefix("/applications/") {
        return place(Endpoint::Revocation, tenant, rest.strip_suffix("/grant")?);
    }
    if let Some(rest) = below.strip_prefix("/register/") {
        return place(Endpoint::Registration, tenant, rest);
    }
    let endpoint = BY_PATH.into_iter().find(|endpoint| endpoint.path("", "") == below)?;
    let mut found = place(endpoint, tenant, "")?;
    if endpoint == Endpoint::Token && refreshes(request, settings.refreshing.by) {
        found.endpoint = Endpoint::Refresh;
        found.at_token = true;
    }
    Some(found)
}

fn refreshes(request: &Recorded, by: RefreshBy) -> bool {
    let wanted = match by {
        RefreshBy::RefreshToken => "refresh_token",
        RefreshBy::AccessToken { grant_type, .. } => grant_type,
    };
    let told = [Fields::of_body(request), Fields::of_json(request), Fields::of_query(request)]
        .map(|fields| fields.one("grant_type"));
    told.iter().flatten().any(|grant_type| grant_type == wanted)
}

async fn troubled(inner: &Arc<Inner>, place: &Place, request: &Recorded, switch: &Switch) -> Response {
    let trouble = lock(&inner.troubles).entry(place.endpoint).or_default().take();
    if place.endpoint == Endpoint::Authorization {
        document::learn(inner, request).await;
    }
    let own = || own(inner, place, request);
    match trouble {
        None => own(),
        Some(Trouble::Instead(behaviour)) => play(behaviour, switch, "", own).await,
        Some(Trouble::Limited(after)) => later(429, &after),
        Some(Trouble::Unavailable(after)) => later(503, &after),
        Some(Trouble::ReplyLost) => {
            drop(own());
            inner.log.settle(request, Outcome::Dropped);
            switch.cut();
            future::pending().await
        }
        Some(Trouble::ReplyHeld(gate)) => {
            let response = own();
            gate.pass().await;
            response
        }
        Some(Trouble::ReplyLate(after)) => {
            let response = own();
            tokio::time::sleep(after).await;
            response
        }
    }
}

fn later(status: u16, after: &str) -> Response {
    let mut response = body_of(status, r#"{"error":"temporarily_unavailable"}"#.to_owned());
    if !after.is_empty() {
        response.headers_mut().insert(header::RETRY_AFTER, after.parse().expect("a header value"));
    }
    response
}

fn own(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    let settings = lock(&inner.settings).clone();
    let known = match place.endpoint {
        Endpoint::Introspection => settings.server.introspection,
        Endpoint::Refresh => settings.refreshing.own_url != place.at_token,
        Endpoint::Revocation => settings.server.revocation != Revocation::None,
        _ => true,
    };
    if !known {
        return body_of(404, "{}".to_owned());
    }
    let refresh = [settings.refreshing.method];
    let wanted: &[Method] = match place.endpoint {
        Endpoint::Refresh => &refresh,
        Endpoint::Authorization => &[Method::GET, Method::POST],
        Endpoint::Account if settings.server.account_by_post => &[Method::POST],
        Endpoint::Metadata | Endpoint::Resources | Endpoint::Account => &[Method::GET],
        Endpoint::Revocation if settings.server.revocation == Revocation::Delete => &[Method::DELETE],
        Endpoint::Registration if !place.rest.is_empty() => &[Method::GET, Method::DELETE],
        _ => &[Method::POST],
    };
    if !wanted.contains(&request.http_method) {
        inner.violation(format!("{:?}: {} is not taken", place.endpoint, request.http_method));
        return body_of(405, "{}".to_owned());
    }
    match place.endpoint {
        Endpoint::Metadata => body_of(200, metadata::document(inner).to_string()),
        Endpoint::Authorization => authorize::answer(inner, place, request),
        Endpoint::Token | Endpoint::Refresh => exchange::answer(inner, place, request),
        Endpoint::Revocation => revoke::answer(inner, place, request),
        Endpoint::Introspection => revoke::introspection(inner, request),
        Endpoint::Registration => registration::answer(inner, place, request),
        Endpoint::Account => account::answer(inner, place, request),
        Endpoint::Resources => account::resources(inner, place, request),
    }
}
