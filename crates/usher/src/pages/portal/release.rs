//! `POST /declined/{interaction}/release`: what the person declined may be asked again.

use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use usher_store::InteractionId;

use crate::{
    identity::browser::{Form, Place},
    pages::visitor::{Visitor, go},
};

/// Ends the rest. Where nothing of theirs rests any more, the portal says what there is.
pub(crate) async fn release(visitor: Visitor, Path(id): Path<String>, body: Result<Bytes, BytesRejection>) -> Response {
    let Ok(id) = InteractionId::parse(&id) else { return visitor.missing(None) };
    let person = match visitor.posted(Form::Release(&id), &Place::Portal, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    match visitor.app.broker.release(&person.user, &id).await {
        Ok(_) => go("/", []),
        Err(error) => visitor.trouble(&error),
    }
}
