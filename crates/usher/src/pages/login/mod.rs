//! Signing in: by a link that works once (identity mode local), or at the issuer (mode oidc).

mod failed;
mod issuer;
mod local;

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;

pub(crate) use self::issuer::{callback, wait};
pub use self::local::{LINK_LIVES, link, link_to};
use super::visitor::Visitor;

/// `GET /login`.
pub(crate) async fn ask(visitor: Visitor) -> Response {
    match visitor.issuer() {
        None => local::ask(visitor).await,
        Some(_) => issuer::ask(visitor).await,
    }
}

/// `POST /login`: for links alone.
pub(crate) async fn sign_in(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    match visitor.issuer() {
        None => local::sign_in(visitor, body).await,
        Some(_) => visitor.missing(None),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{failed, issuer, local};
    use crate::pages::language::Language;

    /// The pages of this folder, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        [local::tests::pages(language), issuer::tests::pages(language), failed::tests::pages(language)].concat()
    }
}
