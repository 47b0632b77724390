//! Signing out, and switching accounts.

use std::sync::Arc;

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;
use http::StatusCode;
use secrecy::SecretString;

use super::{
    login,
    onward::onward,
    page::{Message, Page, Tone},
    visitor::{Visitor, go, set_cookies},
};
use crate::identity::{
    browser::{Cookie, Form, Place},
    oidc::{OpenIdProvider, sign_out},
};

/// Heading and words of the page from which a browser goes on to sign out at the issuer.
const OUT: [&str; 2] = ["common.sign_out", "sign_out.there"];

/// The same, to choose another account there.
const SWITCH: [&str; 2] = ["other.switch", "sign_out.switch"];

/// `GET /logout`: what somebody sees who has just signed out. The issuer sends browsers back here.
pub(crate) async fn signed_out(visitor: Visitor) -> Response {
    let Some(issuer) = visitor.issuer() else { return go("/login?signed-out", []) };
    match visitor.signed_in().await {
        Ok(Some(_)) => go("/", []),
        Ok(None) => visitor.show(StatusCode::OK, &login::wait(visitor.page(None), &issuer.host(), true)),
        Err(response) => response,
    }
}

/// `POST /logout`: ends the session. With `return`, a page of ours, the next sign-in leads there: switching accounts.
pub(crate) async fn sign_out(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    let (person, mut posted) = match visitor.posted(Form::SignOut, &Place::Portal, body).await {
        Ok(posted) => posted,
        Err(response) => return response,
    };
    let ended = match visitor.app.store.delete_browser_session(person.token(), visitor.app.clock.now()).await {
        Ok(ended) => ended,
        Err(error) => return visitor.trouble(&error),
    };
    let place = Place::parse(&posted.take("return"));
    let back = place.as_ref().and_then(|place| visitor.cookies.set(Cookie::Place, &place.path()));
    let cookies = [visitor.cookies.clear(Cookie::Session), back];
    let Some(issuer) = visitor.issuer() else { return go("/login?signed-out", cookies) };
    let mut response = match place {
        Some(_) => {
            let [heading, body] = SWITCH;
            let message = leaving(visitor.page_at("/login?wait", None), heading, body, &issuer.host());
            onward(&visitor, message, "/login?switch", "common.go_on")
        }
        None => at_the_issuer(&visitor, issuer, ended.and_then(|ended| ended.kept)).await,
    };
    set_cookies(&mut response, cookies);
    response
}

/// Here the person is signed out, whatever becomes of it there.
async fn at_the_issuer(visitor: &Visitor, issuer: &Arc<OpenIdProvider>, id_token: Option<SecretString>) -> Response {
    let language = visitor.words.language().code();
    match sign_out::address(&visitor.app, issuer, id_token.as_ref(), language).await {
        Some(url) => {
            let [heading, body] = OUT;
            let message = leaving(visitor.page_at("/logout", None), heading, body, &issuer.host());
            onward(visitor, message, url.as_str(), "common.go_on")
        }
        None => go("/logout", []),
    }
}

fn leaving(page: Page, heading: &'static str, body: &'static str, host: &str) -> Message {
    let heading = page.words().text(heading);
    Message::new(page, Tone::Plain, heading).saying(body, &[("issuer", host)])
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let html = |[heading, body]: [&'static str; 2], to: &str| {
            let message = leaving(gallery::stranger(language, "/logout"), heading, body, "id.example");
            message.go(to, "common.go_on").render().unwrap()
        };
        vec![
            ("sign-out-there", html(OUT, "https://id.example/end-session?client_id=usher")),
            ("switch-account", html(SWITCH, "/login?switch")),
        ]
    }
}
