//! Signing in at the issuer: the way there and the way back (R-ID-03, R-OAUTH-02).

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use secrecy::ExposeSecret as _;

use super::failed::{self, Failure};
use crate::{
    identity::{
        browser::Cookie,
        oidc::{
            OpenIdProvider,
            sign_in::{self, Browser, Choice, Failed},
        },
    },
    pages::{
        page::{Message, Page, Tone},
        visitor::{Visitor, go},
    },
};

/// Where somebody goes on who wants another account at an issuer that has no list of them.
const ANEW: &str = "anew";

/// `GET /login`: leads to the issuer. Whoever has just failed, or is to look first, gets a page with a button; so that nobody
/// is sent to and fro, and a sign-out is not undone at once.
///
/// Anybody can have a browser come here. It ends in the browser's own account at the issuer, as the issuer alone decides: the
/// reply is taken only with this browser's cookie.
pub(super) async fn ask(visitor: Visitor) -> Response {
    match visitor.signed_in().await {
        Ok(None) => {}
        // Signed in meanwhile, in another tab for example.
        Ok(Some(_)) => return go(&visitor.place().path(), [visitor.cookies.clear(Cookie::Place)]),
        Err(response) => return response,
    }
    let Some(issuer) = visitor.issuer() else { return visitor.missing(None) };
    if let Some(failure) = visitor.query("failed").and_then(Failure::parse) {
        return failed::show(&visitor, issuer, failure, None, None);
    }
    if visitor.query("wait").is_some() {
        return visitor.show(StatusCode::OK, &wait(visitor.page_at("/login?wait", None), &issuer.host(), false));
    }
    let choice = match visitor.query("switch") {
        None => Choice::Anyone,
        Some(ANEW) => Choice::Anew,
        Some(_) => Choice::Another,
    };
    begin(&visitor, issuer, choice).await
}

/// The page for somebody who is not signed in and is not sent on at once.
pub(crate) fn wait(page: Page, host: &str, signed_out: bool) -> Message {
    let words = page.words();
    let heading = words.text("sign_in.heading");
    let message = Message::new(page, Tone::Plain, heading);
    let message = if signed_out {
        message.notice("login.signed_out").titled(words.titled(heading, words.text("login.signed_out")))
    } else {
        message
    };
    message.saying("sign_in.lead", &[("issuer", host)]).go("/login", "login.sign_in")
}

async fn begin(visitor: &Visitor, issuer: &Arc<OpenIdProvider>, choice: Choice) -> Response {
    let browser = visitor.cookies.read(&visitor.headers, Cookie::SignIn);
    let place = visitor.place();
    let language = visitor.words.language().code();
    match sign_in::begin(&visitor.app, issuer, browser, &place, choice, language).await {
        Ok(begun) => {
            let browser = visitor.cookies.set(Cookie::SignIn, begun.browser.expose_secret());
            go(begun.url.as_str(), [browser])
        }
        Err(fault) => failed::answer(visitor, issuer, &Failed { fault, place: Some(place), anew: false }),
    }
}

/// `GET /login/callback`: the issuer's reply.
pub(crate) async fn callback(visitor: Visitor) -> Response {
    let Some(issuer) = visitor.issuer() else { return visitor.missing(None) };
    let session = visitor.session_token();
    let browser = Browser {
        token: visitor.cookies.read(&visitor.headers, Cookie::SignIn),
        session: session.as_ref(),
        agent: visitor.agent(),
    };
    match sign_in::finish(&visitor.app, issuer, &browser, visitor.query_pairs()).await {
        Ok(done) => {
            let session = visitor.cookies.set(Cookie::Session, done.session.expose_secret());
            // The browser keeps its sign-in cookie: other tabs may be at the issuer still. What they bring is used once, and
            // is good for ten minutes.
            go(&done.place.path(), [session, visitor.cookies.clear(Cookie::Place)])
        }
        Err(Failed { anew: true, place, .. }) => {
            let place = place.and_then(|place| visitor.cookies.set(Cookie::Place, &place.path()));
            go(&format!("/login?switch={ANEW}"), [place])
        }
        Err(failed) => failed::answer(&visitor, issuer, &failed),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let html =
            |signed_out| wait(gallery::stranger(language, "/login?wait"), "id.example", signed_out).render().unwrap();
        vec![("sign-in", html(false)), ("signed-out", html(true))]
    }

    /// R-OAUTH-03: no form whose redirect a policy would stop; nothing but a link begins a sign-in.
    #[test]
    fn the_page_names_the_issuer_and_leads_on_by_a_link() {
        let html = wait(gallery::stranger(Language::English, "/login?wait"), "id.example", true).render().unwrap();
        assert!(html.contains("<strong><bdi>id.example</bdi></strong>"), "{html}");
        assert!(html.contains("href=\"/login\">Sign in</a>") && !html.contains("<form"), "{html}");
    }
}
