//! `GET /callback/{provider}` and `/callback/{provider}/{issuer}`: the browser comes back from a provider, with a code.
//!
//! The address holds what nobody else may have, so nothing that is shown has it: whatever comes of it, the browser is
//! sent on
//! to the page of the question, and from there nothing leads back (R-OAUTH-02).

use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use secrecy::SecretString;
use usher_store::InteractionId;

use super::{
    ended::{Names, instead},
    returned,
    view::address,
};
use crate::{
    broker::{Back, Came, Visit},
    identity::{
        browser::{Cookie, Form, SignedIn},
        tokens::is_token,
    },
    pages::{
        headers,
        page::{Message, Page, Tone},
        visitor::{Visitor, go},
    },
};

/// The longest query that is read, in bytes. Codes have at most a few KiB.
const QUERY_AT_MOST: usize = 16 * 1024;

/// How soon the page of an exchange looks again by itself, in seconds.
const LOOKS_AGAIN: &str = "2";

const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Back from the only authorization server of a provider.
pub(crate) async fn callback(visitor: Visitor, method: Method, Path(provider): Path<String>) -> Response {
    come_back(visitor, &method, provider, None).await
}

/// Back from one of the authorization servers of a provider.
pub(crate) async fn callback_of(
    visitor: Visitor,
    method: Method,
    Path((provider, issuer)): Path<(String, String)>,
) -> Response {
    come_back(visitor, &method, provider, Some(issuer)).await
}

async fn come_back(visitor: Visitor, method: &Method, provider: String, issuer: Option<String>) -> Response {
    // A code is good once: only a browser that shows the page uses it up.
    if method != Method::GET || is_ahead(&visitor.headers) {
        let status =
            if method == Method::GET { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::METHOD_NOT_ALLOWED };
        let mut response = status.into_response();
        headers::protect(response.headers_mut());
        return response;
    }
    let Some((id, state)) = state(&visitor, &provider) else { return visitor.missing(None) };
    let person = match visitor.signed_in().await {
        Ok(Some(person)) => person,
        // To sign in and come back, the code would have to be kept for somebody of whom nobody knows who it is.
        Ok(None) => return visitor.show(StatusCode::FORBIDDEN, &signed_out(visitor.page_at("/", None), &id)),
        Err(response) => return response,
    };
    let flow = visitor.cookies.read(&visitor.headers, Cookie::Flow).unwrap_or_default();
    let back = Back {
        id: id.clone(),
        user: person.user.clone(),
        state,
        browser: browser(&person, &id, flow),
        provider,
        issuer,
        query: visitor.query_pairs().to_vec(),
    };
    let broker = visitor.app.broker.clone();
    // A person who closes the window here has agreed at the provider all the same.
    let came = tokio::spawn(async move { broker.come_back(back).await }).await;
    match came {
        Ok(Ok(Came::Settled)) => go(&address(&id, None), []),
        Ok(Ok(Came::Refused)) => {
            let message = refused(visitor.page_at("/", Some(&person)), &id);
            visitor.show(StatusCode::FORBIDDEN, &message)
        }
        Ok(Err(error)) => instead(&visitor, &person, &id, error).await,
        Err(error) => {
            tracing::error!(interaction = %id, %error, "a way back from a provider came to no end");
            visitor.unavailable()
        }
    }
}

/// Whether a browser only looks ahead, and may show nothing of it.
fn is_ahead(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_PURPOSE).iter().any(|purpose| purpose.as_bytes().starts_with(b"prefetch"))
}

/// What one browser of one session alone comes back with: `flow` is the value of its cookie. Without that it is
/// nobody's.
pub(super) fn browser(person: &SignedIn, id: &InteractionId, flow: &str) -> Option<String> {
    is_token(flow).then(|| format!("{flow}.{}", person.csrf(Form::Callback(id))))
}

/// The question and the secret part of `state`, which stands once.
fn state(visitor: &Visitor, provider: &str) -> Option<(InteractionId, SecretString)> {
    let parameter = visitor.app.broker.state_parameter(provider);
    let pairs = visitor.query_pairs();
    if pairs.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>() > QUERY_AT_MOST {
        return None;
    }
    let mut states = pairs.iter().filter(|(name, _)| name == parameter);
    let (_, state) = states.next()?;
    if states.next().is_some() {
        return None;
    }
    let (id, secret) = state.split_once('.')?;
    Some((InteractionId::parse(id).ok()?, SecretString::from(secret)))
}

/// Nothing happens, and the page of the question says what is the case.
fn refused(page: Page, id: &InteractionId) -> Message {
    returned::refused(page, id).telling("callback.sent")
}

/// Says nothing of the question to somebody of whom nobody knows who it is.
fn signed_out(page: Page, id: &InteractionId) -> Message {
    let heading = page.text("callback.signed_out_heading");
    Message::new(page, Tone::Warning, heading)
        .telling("callback.signed_out")
        .telling("callback.signed_out_next")
        .telling("callback.sent")
        .go(&address(id, None), "callback.signed_out_go")
}

/// The page while the code is being exchanged, in another tab or after the person has come back.
pub(super) fn exchanging(visitor: &Visitor, person: &SignedIn, visit: &Visit) -> Response {
    let id = &visit.interaction.id;
    let names = Names::of(visitor, &visit.interaction);
    let page = visitor.page_at(&address(id, None), Some(person));
    let mut response = visitor.show(StatusCode::OK, &waiting(page, id, &names.provider));
    response.headers_mut().insert(REFRESH, HeaderValue::from_static(LOOKS_AGAIN));
    response
}

fn waiting(page: Page, id: &InteractionId, provider: &str) -> Message {
    let values = [("provider", provider)];
    let heading = page.words().say("exchanging.heading", &values);
    Message::new(page, Tone::Plain, heading)
        .saying("exchanging.body", &values)
        .go(&address(id, None), "exchanging.again")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let id = InteractionId::parse(&"A".repeat(43)).unwrap();
        let page = |here: &str| gallery::page(language, here);
        vec![
            ("callback-refused", refused(page("/"), &id).render().unwrap()),
            ("callback-signed-out", signed_out(gallery::stranger(language, "/"), &id).render().unwrap()),
            ("exchanging", waiting(page("/connect/AAA"), &id, "GitHub").render().unwrap()),
        ]
    }

    /// R-ID-03: whoever is not signed in learns nothing of the question.
    #[test]
    fn a_stranger_is_told_nothing_of_the_question() {
        let html = pages(Language::English).into_iter().find(|(name, _)| *name == "callback-signed-out").unwrap().1;
        for secret in ["GitHub", "Weather", "claude", "owner"] {
            assert!(!html.contains(secret), "{secret}");
        }
        assert!(html.contains("If a person sent you the link"));
    }

    #[test]
    fn a_browser_that_looks_ahead_is_known() {
        let ahead = |value: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.extend(value.map(|value| (SEC_PURPOSE, HeaderValue::from_static(value))));
            is_ahead(&headers)
        };
        assert!(ahead(Some("prefetch")) && ahead(Some("prefetch;prerender")));
        assert!(!ahead(None) && !ahead(Some("")));
    }
}
