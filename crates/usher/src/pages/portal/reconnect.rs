//! `POST /connections/{provider}/reconnect`: asks for what was refused anew, and leads to that question's page.

use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;

use crate::{
    broker::VisitError,
    identity::browser::{Form, Place},
    pages::{
        connect::view::BEGUN,
        visitor::{Visitor, go},
    },
};

/// Begins the question. Where there is nothing to connect again, the portal says what there is.
pub(crate) async fn reconnect(
    visitor: Visitor,
    Path(provider): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let person = match visitor.posted(Form::Reconnect(&provider), &Place::Portal, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    match visitor.app.broker.reconnect(&person.user, &provider).await {
        // The page of a question that an app asked accuses that app; this one says that it was the person.
        Ok(id) => go(&format!("/connect/{id}?{BEGUN}={}", person.csrf(Form::Begun(&id))), []),
        Err(VisitError::Busy) => visitor.unavailable(),
        Err(VisitError::Store(error)) => visitor.trouble(&error),
        Err(_) => go("/", []),
    }
}
