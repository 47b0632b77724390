//! Signing in to the local installation: a link that works once. Looking at it shows a button; the button uses it up.

use std::time::Duration;

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;
use elicit::UserId;
use http::{StatusCode, header};
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{AuditAction, NewBrowserSession, StoreError, fail_point};

use super::super::{
    form::{FOREIGN, NO_FORM, Posted, from_our_page},
    page::{Action, Message, Page, Tone},
    visitor::{Visitor, go},
};
use crate::{
    app::App,
    identity::{
        browser::{Cookie, Place, account, machine, times},
        tokens::{is_token, new_token},
    },
};

/// How long a sign-in link works.
pub const LINK_LIVES: Duration = Duration::from_mins(10);

/// What a person runs to get a link.
const COMMAND: &str = "usher login";

/// Makes a sign-in link for `user`: the full URL. It works once, for [`LINK_LIVES`].
pub async fn link(app: &App, user: &UserId) -> Result<String, StoreError> {
    link_to(app, user, &Place::Portal).await
}

/// The same, leading on to `place` once the person is signed in.
pub async fn link_to(app: &App, user: &UserId, place: &Place) -> Result<String, StoreError> {
    let token = new_token(&*app.random);
    let now = app.clock.now();
    app.store.create_login_link(&token, user, now + LINK_LIVES, now).await?;
    let mut path = format!("/login?token={}", token.expose_secret());
    if let Place::Connect(_) = place {
        // A path of ours needs no escape in a query.
        path.push_str("&return=");
        path.push_str(&place.path());
    }
    Ok(app.config.public_url.join(&path))
}

/// `GET /login`: asks whether it is the owner, or says how to get a link. Changes nothing, so that a preview of the link
/// does not use it up.
pub(crate) async fn ask(visitor: Visitor) -> Response {
    let Some(token) = visitor.query("token").filter(|token| is_token(token)) else {
        return match visitor.signed_in().await {
            Ok(Some(_)) => go("/", []),
            // Anybody can write the parameter; what is said because of it is true.
            Ok(None) => visitor.show(StatusCode::OK, &need(visitor.page(None), visitor.query("signed-out").is_some())),
            Err(response) => response,
        };
    };
    let already = match visitor.signed_in().await {
        Ok(person) => person.is_some(),
        Err(response) => return response,
    };
    let page = visitor.page_at(&format!("/login?token={token}"), None);
    let mut response = visitor.show(StatusCode::OK, &is_this_you(page, token, already));
    let place = visitor.query("return").and_then(Place::parse);
    if let Some(cookie) = place.and_then(|place| visitor.cookies.set(Cookie::Place, &place.path())) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn is_this_you(page: Page, token: &str, already: bool) -> Message {
    let words = page.words();
    let sign_in = Action::Send {
        to: "/login".to_owned(),
        hidden: vec![("token", token.to_owned())],
        label: words.text("login.sign_in"),
        main: true,
    };
    let message = Message::new(page, Tone::Plain, words.text("login.heading"));
    let message = if already { message.notice("login.already") } else { message };
    let message = message
        .saying("login.lead", &[("machine", machine().as_str()), ("account", account().as_str())])
        .telling("login.body")
        .action(sign_in);
    if already { message.go("/", "common.home") } else { message }
}

/// `POST /login`: uses the link up, begins a session and goes to where the person wanted to go.
pub(crate) async fn sign_in(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    if !from_our_page(&visitor.headers, visitor.app.config.public_url.origin()) {
        return visitor.refuse(None, FOREIGN).await;
    }
    let Some(mut posted) = Posted::read(&visitor.headers, body) else {
        return visitor.refuse(None, NO_FORM).await;
    };
    let token = posted.take_secret("token");
    if !is_token(token.expose_secret()) {
        return visitor.show(StatusCode::GONE, &used(visitor.page(None)));
    }
    match begin_session(&visitor, &token).await {
        Ok(Some(session)) => {
            fail_point!(SignedIn);
            let path = visitor.place().path();
            let session = visitor.cookies.set(Cookie::Session, session.expose_secret());
            go(&path, [session, visitor.cookies.clear(Cookie::Place)])
        }
        Ok(None) => visitor.show(StatusCode::GONE, &used(visitor.page(None))),
        Err(error) => visitor.trouble(&error),
    }
}

async fn begin_session(visitor: &Visitor, token: &SecretString) -> Result<Option<SecretString>, StoreError> {
    let app = &visitor.app;
    let now = app.clock.now();
    let session = new_token(&*app.random);
    let before = visitor.session_token();
    let new = NewBrowserSession {
        token: &session,
        agent: visitor.agent(),
        kept: None,
        before: before.as_ref(),
        expires_at: now + times(&app.config).lifetime,
    };
    let user = app.store.use_login_link(token, new, now).await?;
    if user.is_none() {
        // Anybody on this machine can send invented tokens: logged each time, audited only so often.
        app.broker.turned_away(AuditAction::BrowserRefused, None, None);
    }
    Ok(user.map(|_| session))
}

fn need(page: Page, signed_out: bool) -> Message {
    let heading = page.words().text("login.need_heading");
    let message = Message::new(page, Tone::Plain, heading);
    let message = if signed_out { message.notice("login.signed_out") } else { message };
    message
        .saying("login.need", &[("machine", machine().as_str())])
        .command(COMMAND)
        .telling("login.where")
        .telling("login.need_next")
}

fn used(page: Page) -> Message {
    let heading = page.words().text("login.used_heading");
    Message::new(page, Tone::Warning, heading)
        .saying("login.used", &[("machine", machine().as_str())])
        .command(COMMAND)
        .telling("login.where")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{language::Language, page::Page, words::Words};

    fn page(language: Language, here: &str) -> Page {
        Page::new(Words::of(language), "127.0.0.1:8420", here, None)
    }

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        vec![
            ("login", is_this_you(page(language, "/login"), &"t".repeat(43), false).render().unwrap()),
            ("login-need", need(page(language, "/login"), false).render().unwrap()),
            ("login-used", used(page(language, "/login")).render().unwrap()),
        ]
    }

    /// R-URL-03, R-ID-02: looking at the link signs nobody in; the token goes on only in a form.
    #[test]
    fn the_page_names_the_machine_and_sends_the_token_by_post() {
        let token = "t".repeat(43);
        let html =
            is_this_you(page(Language::English, &format!("/login?token={token}")), &token, false).render().unwrap();
        assert!(html.contains("<h1>Is this you?</h1>"));
        assert!(html.contains("<form method=\"post\" action=\"/login\">"));
        assert!(html.contains(&format!("<input type=\"hidden\" name=\"token\" value=\"{token}\">")));
    }
}
