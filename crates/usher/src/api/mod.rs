//! The REST API for servers that stand beside Usher and speak another language (design.md, section 1): they ask a person
//! for a credential, wait for what becomes of it, or take it back, each with a key of its own.
//!
//! It reaches the broker, never the relay; it returns no credential; and a person is verified on the page, whatever is asked
//! here.

mod answer;
mod ask;
mod cancel;
mod complete;
mod fields;
mod key;
mod openapi;
mod problem;
mod show;

use std::sync::Arc;

use axum::{
    Router,
    middleware::map_response,
    response::Response,
    routing::{any, get, post},
};
use http::{HeaderName, HeaderValue, header};

pub(crate) use self::problem::at_the_door;
pub use self::{openapi::text as description, problem::ProblemKind};
use crate::app::App;

/// All routes of the API.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/interactions", post(ask::ask))
        .route("/api/v1/interactions/{id}", get(show::show))
        .route("/api/v1/interactions/{id}/cancel", post(cancel::cancel))
        .route("/api/v1/interactions/{id}/complete", post(complete::complete))
        .route("/api/openapi.json", get(openapi::document))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .route("/api", any(problem::not_found))
        .route("/api/", any(problem::not_found))
        .route("/api/{*rest}", any(problem::not_found))
        .layer(map_response(unkept))
}

/// What stands in every answer: it is for its caller alone, and is what it says that it is.
async fn unkept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
