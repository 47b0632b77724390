//! What a person sees in the browser. The paths here are the table of contents; each file holds one page.

mod assets;
pub(crate) mod client_document;
mod connect;
pub(crate) mod elsewhere;
mod form;
#[cfg(test)]
mod gallery;
mod headers;
mod language;
pub mod login;
mod logout;
mod onward;
mod page;
mod portal;
mod visitor;
mod words;

use std::sync::Arc;

use axum::{Router, middleware, response::Response, routing::get, routing::post};

use self::visitor::Visitor;
use crate::app::App;

/// The routes of all pages.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(portal::connections::show))
        .route("/connect/{interaction}", get(connect::show::show).post(connect::submit::submit))
        .route("/return/{provider}", get(connect::returned::returned))
        .route("/callback/{provider}", get(connect::callback::callback))
        .route("/callback/{provider}/{issuer}", get(connect::callback::callback_of))
        .route("/connections/{provider}/disconnect", get(portal::disconnect::ask).post(portal::disconnect::disconnect))
        .route("/connections/{provider}/reconnect", post(portal::reconnect::reconnect))
        .route("/declined/{interaction}/release", post(portal::release::release))
        .route("/clients", get(portal::clients::show))
        .route("/clients/revoke", get(portal::revoke::ask).post(portal::revoke::revoke))
        .route("/clients/decline", post(portal::decline_all::decline_all))
        .route("/activity", get(portal::activity::show))
        .route("/sessions", get(portal::sessions::show))
        .route("/sessions/others/end", post(portal::sessions::end_others))
        .route("/sessions/{browser}/end", post(portal::sessions::end))
        .route("/login", get(login::ask).post(login::sign_in))
        .route("/login/callback", get(login::callback))
        .route("/logout", get(logout::signed_out).post(logout::sign_out))
        .route("/assets/{name}", get(assets::get))
        .layer(middleware::map_request(form::whole))
        .layer(middleware::map_response(headers::protected))
}

/// The page for an address that leads nowhere: the router's fallback.
pub(crate) async fn not_found(visitor: Visitor) -> Response {
    visitor.missing(None)
}
