//! The consent page: a button for each account, and one that says no.

use std::fmt::Write as _;

use axum::response::Response;
use http::Method;

use super::authorize::Asking;
use crate::Recorded;
use crate::fields::Fields;
use crate::provider::html;
use crate::record::lock;

/// What a person did on the page.
pub(super) enum Choice {
    /// They have not seen it yet.
    None,
    /// The button `deny`.
    Deny,
    /// The button of this account.
    Allow(String),
}

pub(super) fn choice(request: &Recorded) -> Choice {
    let form = Fields::of_body(request);
    match form.one("account") {
        _ if request.http_method != Method::POST => Choice::None,
        _ if form.has("deny") => Choice::Deny,
        Some(subject) => Choice::Allow(subject),
        None => Choice::None,
    }
}

pub(super) fn consent(asking: &Asking<'_>, scopes: &[String]) -> Response {
    let action = escaped(&asking.request.path);
    let (client, tenant) = (escaped(&asking.client.name), escaped(asking.tenant));
    let mut buttons = String::new();
    for account in lock(&asking.inner.accounts).iter() {
        // Writing into a string cannot fail.
        let _ = write!(buttons, "<button name=\"account\" value=\"{0}\">{0}</button>", escaped(&account.subject));
    }
    let scopes: Vec<String> = scopes.iter().map(|scope| format!("<li>{}</li>", escaped(scope))).collect();
    let scopes = scopes.concat();
    html(
        200,
        &format!(
            "<h1>Allow {client}?</h1><p>{tenant}</p><ul>{scopes}</ul><form method=\"post\" action=\"{action}\">{buttons}\
             <button name=\"deny\" value=\"deny\">deny</button></form>"
        ),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
