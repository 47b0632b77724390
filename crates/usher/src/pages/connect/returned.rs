//! `GET /return/{provider}`: the browser comes back from somebody else's page.
//!
//! That it is back says nothing of what happened there; it only has us ask.

use axum::{extract::Path, response::Response};
use http::StatusCode;
use secrecy::SecretString;
use usher_store::InteractionId;

use super::{ended::instead, submit::looked};
use crate::{
    identity::browser::{Cookie, Form, Place, SignedIn},
    pages::{
        page::{Message, Page, Tone},
        visitor::Visitor,
    },
};

/// Takes the browser back that left, once; then looks what became of the visit.
pub(crate) async fn returned(visitor: Visitor, Path(provider): Path<String>) -> Response {
    let Some((id, token)) = visitor.query("token").and_then(parts) else { return visitor.missing(None) };
    // Whoever signs in anew comes to the question: the way back belongs to the session that left.
    let person = match visitor.must_be_signed_in(&Place::Connect(id.clone())).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    let flow = visitor.cookies.read(&visitor.headers, Cookie::Flow).unwrap_or_default();
    let (broker, user) = (&visitor.app.broker, &person.user);
    match broker.arrive(&id, user, &provider, &token, &browser(&person, &id, flow)).await {
        Ok(true) => {}
        Ok(false) => {
            let message = refused(visitor.page_at("/", Some(&person)), &id);
            return visitor.show(StatusCode::FORBIDDEN, &message);
        }
        Err(error) => return instead(&visitor, &person, &id, error).await,
    }
    match broker.look(&id, user).await {
        Ok(found) => looked(&person, &found),
        Err(error) => instead(&visitor, &person, &id, error).await,
    }
}

/// What one browser of one session alone comes back with: `flow` is the value of its cookie.
pub(super) fn browser(person: &SignedIn, id: &InteractionId, flow: &str) -> String {
    format!("{flow}.{}", person.csrf(Form::Return(id)))
}

/// The question and the secret part of a return token.
fn parts(token: &str) -> Option<(InteractionId, SecretString)> {
    let (id, secret) = token.split_once('.')?;
    Some((InteractionId::parse(id).ok()?, SecretString::from(secret)))
}

/// Nothing happens, and the page of the question says what is the case.
pub(super) fn refused(page: Page, id: &InteractionId) -> Message {
    let heading = page.text("returned.heading");
    Message::new(page, Tone::Warning, heading)
        .telling("returned.body")
        .telling("returned.next")
        .go(&format!("/connect/{id}"), "returned.open")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let id = InteractionId::parse(&"A".repeat(43)).unwrap();
        vec![("returned-refused", refused(gallery::page(language, "/"), &id).render().unwrap())]
    }

    #[test]
    fn a_token_has_a_question_and_a_secret() {
        let id = "A".repeat(43);
        assert_eq!(parts(&format!("{id}.secret")).unwrap().0.as_str(), id);
        for wrong in ["", "x", &id, &format!("{id}secret"), "short.secret"] {
            assert!(parts(wrong).is_none(), "{wrong}");
        }
    }
}
