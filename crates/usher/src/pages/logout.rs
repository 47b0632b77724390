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
            let message = leaving(visitor.page_at("/login?wait", None), "sign_out.switch", issuer);
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
            let message = leaving(visitor.page_at("/logout", None), "sign_out.there", issuer);
            onward(visitor, message, url.as_str(), "common.go_on")
        }
        None => go("/logout", []),
    }
}

fn leaving(page: Page, body: &'static str, issuer: &Arc<OpenIdProvider>) -> Message {
    let heading = page.words().text("sign_out.heading");
    Message::new(page, Tone::Plain, heading).saying(body, &[("issuer", issuer.host().as_str())])
}
