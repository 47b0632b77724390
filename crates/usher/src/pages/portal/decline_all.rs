//! `POST /clients/decline?client=…`: declines all that one app asks.

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;

use super::revoke::client;
use crate::{
    broker::VisitError,
    identity::browser::{Form, Place},
    pages::visitor::{Visitor, go},
};

/// Declines them. What was answered meanwhile stays answered; the portal says what there is.
pub(crate) async fn decline_all(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    let Some(client) = client(&visitor) else { return visitor.missing(None) };
    let person = match visitor.posted(Form::DeclineAll(client.as_str()), &Place::Portal, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    match visitor.app.broker.decline_all(&person.user, &client).await {
        Err(VisitError::Store(error)) => visitor.trouble(&error),
        // One that kept changing is listed still.
        Ok(()) | Err(_) => go("/", []),
    }
}
