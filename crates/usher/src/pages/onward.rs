//! The page between a form of ours and another site.
//!
//! A form may lead to ourselves alone (`form-action 'self'`), and browsers hold redirects to that as well, those of the other
//! site among them. So the answer to such a form is a page, from which the browser goes on by itself.

use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode};

use super::{page::Message, visitor::Visitor};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Shows `message` and goes on to `address` at once: another site's, or a path of ours that leads there. `label` is the link
/// for browsers that do not.
pub(crate) fn onward(visitor: &Visitor, message: Message, address: &str, label: &'static str) -> Response {
    let mut response = visitor.show(StatusCode::OK, &message.go(address, label));
    if let Ok(mut value) = HeaderValue::from_str(&format!("0; url={address}")) {
        // The address of a sign-out names the account.
        value.set_sensitive(true);
        response.headers_mut().insert(REFRESH, value);
    }
    response
}
