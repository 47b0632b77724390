//! Signing out.

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;

use super::{
    form::{FOREIGN, NO_FORM, Posted, WRONG_TOKEN, from_our_page},
    visitor::{Visitor, go},
};
use crate::identity::browser::{Cookie, Form, Place};

/// `POST /logout`: ends the session. With `return`, a page of ours, the next sign-in leads there: switching accounts.
pub(crate) async fn sign_out(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    if !from_our_page(&visitor.headers, visitor.app.config.public_url.origin()) {
        return visitor.refuse(None, FOREIGN).await;
    }
    let person = match visitor.signed_in().await {
        Ok(Some(person)) => person,
        Ok(None) => return go("/login", []),
        Err(response) => return response,
    };
    let Some(mut posted) = Posted::read(&visitor.headers, body) else {
        return visitor.refuse(Some(&person), NO_FORM).await;
    };
    if !person.csrf_holds(Form::SignOut, &posted.take("csrf")) {
        return visitor.refuse(Some(&person), WRONG_TOKEN).await;
    }
    if let Err(error) = visitor.app.store.delete_browser_session(person.token(), visitor.app.clock.now()).await {
        return visitor.trouble(&error);
    }
    let place = Place::parse(&posted.take("return")).map(|place| place.path());
    let place = place.and_then(|path| visitor.cookies.set(Cookie::Place, &path));
    go("/login", [visitor.cookies.clear(Cookie::Session), place])
}
