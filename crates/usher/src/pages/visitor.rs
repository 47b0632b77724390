//! One request of a browser: its language, its cookies, who is signed in; and the answers that every page gives.

use std::{convert::Infallible, sync::Arc};

use askama::Template;
use axum::{
    extract::{FromRequestParts, rejection::BytesRejection},
    response::{Html as HtmlBody, IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use secrecy::SecretString;
use url::form_urlencoded;
use usher_store::{AuditAction, AuditEntry, InteractionId, Outcome, StoreError};

use super::{
    form::{FOREIGN, NO_FORM, Posted, WRONG_TOKEN, from_our_page},
    headers,
    language::Language,
    page::{Message, Page, Tone},
    words::Words,
};
use crate::{
    app::App,
    identity::{
        browser::{self, Cookie, Cookies, Form, Place, SignedIn},
        oidc::OpenIdProvider,
    },
};

/// A request of a browser. An extractor that never fails.
pub(crate) struct Visitor {
    /// The running service.
    pub(crate) app: Arc<App>,
    /// The sentences in this person's language.
    pub(crate) words: Words,
    /// Our cookies.
    pub(crate) cookies: Cookies,
    /// The request's headers.
    pub(crate) headers: HeaderMap,
    path: String,
    query: Vec<(String, String)>,
    chosen: Option<Language>,
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let cookies = Cookies::of(app);
        let query: Vec<_> =
            form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let asked = query.iter().find(|(name, _)| name == "lang").map(|(_, value)| value.as_str());
        let chosen = asked.and_then(Language::of_tag);
        let language = Language::choose(asked, cookies.read(&parts.headers, Cookie::Language), &parts.headers);
        Ok(Self {
            app: Arc::clone(app),
            words: Words::of(language),
            cookies,
            headers: parts.headers.clone(),
            path: parts.uri.path().to_owned(),
            query,
            chosen,
        })
    }
}

impl Visitor {
    /// A parameter of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// What the browser says of itself; empty where it says nothing that can be read.
    pub(crate) fn agent(&self) -> &str {
        self.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default()
    }

    /// Who signs people in, in identity mode oidc.
    pub(crate) fn issuer(&self) -> Option<&Arc<OpenIdProvider>> {
        self.app.identity.openid()
    }

    /// The whole query, in its order.
    pub(crate) fn query_pairs(&self) -> &[(String, String)] {
        &self.query
    }

    /// The token of this browser's session, whether or not it is one.
    pub(crate) fn session_token(&self) -> Option<SecretString> {
        self.cookies.session(&self.headers)
    }

    /// Where the person was going when they had to sign in.
    pub(crate) fn place(&self) -> Place {
        self.cookies.read(&self.headers, Cookie::Place).and_then(Place::parse).unwrap_or(Place::Portal)
    }

    /// Who is signed in, if somebody is; else the answer where the store cannot say.
    pub(crate) async fn signed_in(&self) -> Result<Option<SignedIn>, Response> {
        browser::signed_in(&self.app, &self.headers).await.map_err(|error| self.trouble(&error))
    }

    /// Who is signed in, or the way to sign in and back here.
    pub(crate) async fn must_be_signed_in(&self, back: &Place) -> Result<SignedIn, Response> {
        match self.signed_in().await? {
            Some(person) => Ok(person),
            None => Err(go("/login", [self.cookies.set(Cookie::Place, &back.path())])),
        }
    }

    /// A form of ours: where it comes from, who sends it, and that it was made for them, in this order. So what is refused
    /// is audited for the person on whom it was tried (R-SEC-03), and a form of another site learns nothing, signed in or
    /// not.
    pub(crate) async fn posted(
        &self,
        form: Form<'_>,
        back: &Place,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<(SignedIn, Posted), Response> {
        let ours = from_our_page(&self.headers, self.app.config.public_url.origin());
        let person = match self.must_be_signed_in(back).await {
            Ok(person) => person,
            Err(_) if !ours => return Err(self.refuse(None, FOREIGN).await),
            Err(response) => return Err(response),
        };
        if !ours {
            return Err(self.refuse(Some(&person), FOREIGN).await);
        }
        let Some(mut posted) = Posted::read(&self.headers, body) else {
            return Err(self.refuse(Some(&person), NO_FORM).await);
        };
        if !person.csrf_holds(form, &posted.take("csrf")) {
            return Err(self.refuse(Some(&person), WRONG_TOKEN).await);
        }
        Ok((person, posted))
    }

    /// The frame of a page at this request's path.
    pub(crate) fn page(&self, person: Option<&SignedIn>) -> Page {
        self.page_at(&self.path, person)
    }

    /// The frame of a page whose language switch leads to `here`.
    pub(crate) fn page_at(&self, here: &str, person: Option<&SignedIn>) -> Page {
        let sign_out = person.map(|person| person.csrf(Form::SignOut));
        let page = Page::new(self.words, self.app.config.public_url.authority(), here, sign_out);
        if self.issuer().is_some() { page.of_an_operator() } else { page }
    }

    /// Answers with a page, and remembers the language if the person chose one.
    pub(crate) fn show(&self, status: StatusCode, page: &impl Template) -> Response {
        let mut response = match page.render() {
            Ok(html) => (status, HtmlBody(html)).into_response(),
            Err(error) => {
                tracing::error!(%error, "a page could not be rendered");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        };
        headers::protect(response.headers_mut());
        let cookie = self.chosen.and_then(|language| self.cookies.set(Cookie::Language, language.code()));
        set_cookies(&mut response, [cookie]);
        response
    }

    /// Refuses a request that is not what our forms send. Audited where somebody is signed in (R-SEC-03); from others
    /// anybody could fill the log.
    pub(crate) async fn refuse(&self, person: Option<&SignedIn>, why: &'static str) -> Response {
        tracing::warn!(path = self.path, why, "request to a page refused");
        if let Some(person) = person {
            let entry = AuditEntry {
                principal: Some((person.user.clone(), None)),
                interaction: self.path.strip_prefix("/connect/").and_then(|id| InteractionId::parse(id).ok()),
                detail: Some(why),
                ..AuditEntry::new(AuditAction::PageRefused, Outcome::Refused)
            };
            if let Err(error) = self.app.store.audit(entry, self.app.clock.now()).await {
                return self.trouble(&error);
            }
        }
        let message = Message::new(self.page(person), Tone::Warning, self.words.text("refused.heading"))
            .telling("refused.body")
            .telling("refused.next");
        self.show(StatusCode::FORBIDDEN, &message)
    }

    /// The page for an address that leads nowhere.
    pub(crate) fn missing(&self, person: Option<&SignedIn>) -> Response {
        let message = Message::new(self.page(person), Tone::Plain, self.words.text("missing.heading"))
            .telling("missing.body")
            .telling("missing.next")
            .go("/", "common.home");
        self.show(StatusCode::NOT_FOUND, &message)
    }

    /// The page for a store that does not do what it should. The one place that logs it.
    pub(crate) fn trouble(&self, error: &StoreError) -> Response {
        tracing::error!(path = self.path, %error, "a page could not be served");
        self.unavailable()
    }

    /// The page that says to try again.
    pub(crate) fn unavailable(&self) -> Response {
        let page = self.page(None);
        let next = if page.operated() { "trouble.next_operated" } else { "trouble.next" };
        let message = Message::new(page, Tone::Warning, self.words.text("trouble.heading"))
            .telling("trouble.body")
            .telling(next)
            .go(&self.path, "trouble.again");
        self.show(StatusCode::SERVICE_UNAVAILABLE, &message)
    }
}

/// Sends the browser to a path of ours, or to an address of the issuer's, with a GET, setting cookies on the way.
pub(crate) fn go(path: &str, cookies: impl IntoIterator<Item = Option<HeaderValue>>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    match HeaderValue::from_str(path) {
        Ok(path) => drop(response.headers_mut().insert(header::LOCATION, path)),
        Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    headers::protect(response.headers_mut());
    set_cookies(&mut response, cookies);
    response
}

/// Sets cookies with an answer.
pub(crate) fn set_cookies(response: &mut Response, cookies: impl IntoIterator<Item = Option<HeaderValue>>) {
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
