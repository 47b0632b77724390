//! What commands of this machine may have the running service do, once they have shown the token of its control file
//! (R-SEC-07, R-SEC-08).

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::{
    app::App,
    identity::{bearer, tokens::local_user},
    pages,
};

/// `POST /login/links`: makes a sign-in link for the owner of this machine. There is no such person in mode oidc.
pub(crate) async fn login_link(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if !is_command(&app, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if app.identity.tokens().is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    match pages::login::link(&app, &local_user()).await {
        Ok(url) => {
            let body = json!({ "url": url, "expires_in": pages::login::LINK_LIVES.as_secs() }).to_string();
            let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (StatusCode::CREATED, headers, body).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a sign-in link cannot be stored");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// `POST /control/reread`: a command has changed the store. What is kept in memory is dropped, and what is waited for is
/// read again, before the answer.
pub(crate) async fn reread(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if !is_command(&app, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    app.reread().await;
    StatusCode::NO_CONTENT.into_response()
}

fn is_command(app: &App, headers: &HeaderMap) -> bool {
    bearer(headers).is_some_and(|token| app.control.verify(token))
}
