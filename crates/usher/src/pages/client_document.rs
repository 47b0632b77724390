//! The documents that say who we are, for authorization servers that read them (`oauth/client_metadata.rs`). Made from their
//! address alone: whoever serves it has to know nothing of any flow.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, header};

use crate::{
    app::App,
    config::{ProviderKind, PublicUrl},
    oauth::{
        client_metadata::{ClientMetadata, SUFFIX, address},
        is_issuer_key, redirect_uri_of_key,
    },
};

/// How long whoever read it may keep it, in seconds: it changes with our address alone.
const KEPT: &str = "public, max-age=3600";

/// `GET /.well-known/usher-client/{provider}/{key}.json`: a provider of kind `mcp` at one authorization server.
pub(crate) async fn of_issuer(State(app): State<Arc<App>>, Path((provider, name)): Path<(String, String)>) -> Response {
    let is_mcp = |kind: &ProviderKind| matches!(kind, ProviderKind::Mcp(_));
    let key = name.strip_suffix(SUFFIX).filter(|key| is_issuer_key(key));
    match key.filter(|_| app.config.provider(&provider).is_some_and(|provider| is_mcp(&provider.kind))) {
        Some(key) => document(&app.config.public_url, &provider, Some(key)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `GET /.well-known/usher-client/{provider}.json`: a provider of kind `oauth`.
pub(crate) async fn of_provider(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    let is_oauth = |kind: &ProviderKind| matches!(kind, ProviderKind::OAuth(_));
    let provider = name.strip_suffix(SUFFIX);
    match provider.filter(|name| app.config.provider(name).is_some_and(|provider| is_oauth(&provider.kind))) {
        Some(provider) => document(&app.config.public_url, provider, None),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn document(public_url: &PublicUrl, provider: &str, key: Option<&str>) -> Response {
    let Some(id) = address(public_url, provider, key) else { return StatusCode::NOT_FOUND.into_response() };
    let document = ClientMetadata::new(public_url, id, redirect_uri_of_key(public_url, provider, key));
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, KEPT)];
    match serde_json::to_vec(&document) {
        Ok(body) => (headers, body).into_response(),
        // Which texts cannot bring about.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
