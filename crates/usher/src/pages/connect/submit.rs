//! `POST /connect/{interaction}`: the person's answer.

use std::collections::BTreeMap;

use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use http::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{InteractionId, fail_point};

use super::{
    callback,
    ended::instead,
    leaving::leave,
    oauth::SHOWN,
    returned::browser,
    show::page,
    view::{Attempt, LOOKED, address},
};
use crate::{
    broker::{Departed, Leaving, Left, Looked, Submitted, VisitError},
    identity::{
        browser::{Cookie, Form, Place, SignedIn},
        tokens::{is_token, new_token},
    },
    pages::{
        form::{NO_FORM, Posted},
        visitor::{Visitor, go},
    },
};

/// Checks where the form comes from, who sends it and that it is ours; then does what its button says. What is done
/// leads back to the page by a redirect, so that reloading it sends nothing again.
pub(crate) async fn submit(
    visitor: Visitor,
    Path(interaction): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let Ok(id) = InteractionId::parse(&interaction) else {
        return visitor.missing(None);
    };
    let (person, mut posted) = match visitor.posted(Form::Connect(&id), &Place::Connect(id.clone()), body).await {
        Ok(posted) => posted,
        Err(response) => return response,
    };
    fail_point!(FormRead);
    let (broker, user) = (&visitor.app.broker, &person.user);
    let done = match posted.take("action").as_str() {
        "connect" => {
            let fields = posted.rest();
            match broker.submit(&id, user, fields.clone()).await {
                Ok(submitted) => return answer(&visitor, &person, submitted, fields).await,
                Err(error) => Err(error),
            }
        }
        "allow" => match broker.allow(&id, user).await {
            Ok(submitted) => return answer(&visitor, &person, submitted, BTreeMap::new()).await,
            Err(error) => Err(error),
        },
        "approve" => match broker.approve(&id, user).await {
            Ok(submitted) => return answer(&visitor, &person, submitted, BTreeMap::new()).await,
            Err(error) => Err(error),
        },
        "continue" => match depart(&visitor, &person, &id).await {
            Ok(response) => return response,
            Err(error) => Err(error),
        },
        "authorize" => match authorize(&visitor, &person, &id, posted).await {
            Ok(response) => return response,
            Err(error) => Err(error),
        },
        "check" => match broker.look(&id, user).await {
            Ok(found) => return looked(&person, &found),
            Err(error) => Err(error),
        },
        "extend" => match broker.extend(&id, user).await {
            // What was typed is no answer yet; all but the secrets is still there.
            Ok(visit) => {
                posted.take(SHOWN);
                let attempt = Attempt { typed: posted.rest(), ..Attempt::default() };
                return page(&visitor, &person, &visit, StatusCode::OK, &attempt).await;
            }
            Err(error) => Err(error),
        },
        "decline" => broker.decline(&id, user).await.map(|_| ()),
        "restart" => broker.restart(&id, user).await.map(|_| ()),
        _ => return visitor.refuse(Some(&person), NO_FORM).await,
    };
    match done {
        // What became of it, now or in the meantime, is said by the page at its own address.
        Ok(()) | Err(VisitError::Ended(_)) => go(&format!("/connect/{id}"), []),
        Err(error) => instead(&visitor, &person, &id, error).await,
    }
}

/// Sends the browser to the other side's page, after the person agreed (R-SEC-06).
async fn depart(visitor: &Visitor, person: &SignedIn, id: &InteractionId) -> Result<Response, VisitError> {
    let app = &visitor.app;
    let flow = flow(visitor);
    let browser = browser(person, id, flow.expose_secret());
    match app.broker.depart(id, &person.user, &browser).await? {
        Departed::To(url) => Ok(leave(visitor, person, id, &url, &flow)),
        Departed::Again(visit) => {
            let attempt = Attempt { outdated: true, ..Attempt::default() };
            Ok(page(visitor, person, &visit, StatusCode::CONFLICT, &attempt).await)
        }
    }
}

/// Sends the browser to the provider that the page named, after the person agreed (R-SEC-06).
async fn authorize(
    visitor: &Visitor,
    person: &SignedIn,
    id: &InteractionId,
    mut posted: Posted,
) -> Result<Response, VisitError> {
    let shown = posted.take(SHOWN);
    let typed = posted.rest();
    let flow = flow(visitor);
    let leaving = Leaving {
        id,
        user: &person.user,
        typed: &typed,
        shown: &shown,
        // A token of ours is one.
        browser: &callback::browser(person, id, flow.expose_secret()).unwrap_or_default(),
        language: visitor.words.language().code(),
    };
    match visitor.app.broker.leave(leaving).await? {
        Left::To(url) => Ok(leave(visitor, person, id, &url, &flow)),
        Left::Again(visit, faults) => {
            let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
            Ok(page(visitor, person, &visit, status, &Attempt { typed, faults, ..Attempt::default() }).await)
        }
    }
}

/// What tells this browser from others. One that went to another page a moment ago comes back from there as well.
fn flow(visitor: &Visitor) -> SecretString {
    let known = visitor.cookies.read(&visitor.headers, Cookie::Flow).filter(|flow| is_token(flow));
    known.map_or_else(|| new_token(&*visitor.app.random), SecretString::from)
}

/// After a look at what became of a visit to the other side's page: to the page of the question, which says it, so that
/// reloading looks no second time, and uses no way back twice.
pub(super) fn looked(person: &SignedIn, found: &Looked) -> Response {
    match found {
        Looked::Completed(interaction) => go(&address(&interaction.id, None), []),
        Looked::Waiting(visit) => go(&address(&visit.interaction.id, None), []),
        Looked::Open(visit, error) => {
            let id = &visit.interaction.id;
            let mark = format!("{}.{}", error.name(), person.csrf(Form::Looked(id)));
            go(&format!("{}?{LOOKED}={mark}", address(id, None)), [])
        }
    }
}

async fn answer(
    visitor: &Visitor,
    person: &SignedIn,
    submitted: Submitted,
    typed: BTreeMap<String, SecretString>,
) -> Response {
    let again = StatusCode::UNPROCESSABLE_ENTITY;
    match submitted {
        Submitted::Completed(interaction) => go(&format!("/connect/{}", interaction.id), []),
        Submitted::Wrong(visit, faults) => {
            page(visitor, person, &visit, again, &Attempt { typed, faults, ..Attempt::default() }).await
        }
        Submitted::Unchecked(visit, error) => {
            page(visitor, person, &visit, again, &Attempt { typed, check: Some(error), ..Attempt::default() }).await
        }
        Submitted::Again(visit) => {
            let attempt = Attempt { outdated: true, ..Attempt::default() };
            page(visitor, person, &visit, StatusCode::CONFLICT, &attempt).await
        }
    }
}
