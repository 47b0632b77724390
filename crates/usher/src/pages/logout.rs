//! Signing out.

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;

use super::{
    form::{Posted, from_our_page},
    visitor::Visitor,
};
use crate::identity::browser::{Cookie, Form, Place};

/// `POST /logout`: ends the session. With `return`, a page of ours, the next sign-in leads there: switching accounts.
pub(crate) async fn sign_out(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    if !from_our_page(&visitor.headers, visitor.app.config.public_url.origin()) {
        return visitor.refused(None);
    }
    let person = match visitor.signed_in().await {
        Ok(Some(person)) => person,
        Ok(None) => return visitor.go("/login", []),
        Err(response) => return response,
    };
    let Some(mut posted) = Posted::read(&visitor.headers, body) else {
        return visitor.refused(Some(&person));
    };
    if !person.csrf_holds(Form::SignOut, &posted.take("csrf")) {
        return visitor.refused(Some(&person));
    }
    if let Err(error) = visitor.app.store.delete_browser_session(person.token(), visitor.app.clock.now()).await {
        return visitor.trouble(&error);
    }
    let place = Place::parse(&posted.take("return")).map(|place| place.path());
    let place = place.and_then(|path| visitor.cookies.set(Cookie::Place, &path));
    visitor.go("/login", [visitor.cookies.clear(Cookie::Session), place])
}
