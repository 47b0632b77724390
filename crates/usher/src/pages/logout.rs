//! Signing out.

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;

use super::visitor::{Visitor, go};
use crate::identity::browser::{Cookie, Form, Place};

/// `POST /logout`: ends the session. With `return`, a page of ours, the next sign-in leads there: switching accounts.
pub(crate) async fn sign_out(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    let (person, mut posted) = match visitor.posted(Form::SignOut, &Place::Portal, body).await {
        Ok(posted) => posted,
        Err(response) => return response,
    };
    if let Err(error) = visitor.app.store.delete_browser_session(person.token(), visitor.app.clock.now()).await {
        return visitor.trouble(&error);
    }
    let place = Place::parse(&posted.take("return")).map(|place| place.path());
    let place = place.and_then(|path| visitor.cookies.set(Cookie::Place, &path));
    go("/login?signed-out", [visitor.cookies.clear(Cookie::Session), place])
}
