//! `/connections/{provider}/disconnect`: asks once and says what stops working; then deletes what is kept.

use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use http::StatusCode;
use usher_store::Credential;

use super::connections::{clients, provider_title, server_title, unique};
use crate::{
    config::Config,
    identity::browser::{Form, Place, SignedIn},
    pages::{
        form::{FOREIGN, Posted, WRONG_TOKEN, from_our_page},
        page::{Action, Fact, Message, Page, Tone},
        visitor::{Visitor, go},
    },
};

/// `GET`: asks.
pub(crate) async fn ask(visitor: Visitor, Path(provider): Path<String>) -> Response {
    let (person, credential) = match connected(&visitor, &provider).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let csrf = person.csrf(Form::Disconnect(&provider));
    let question = question(visitor.page(Some(&person)), &visitor.app.config, &credential, csrf);
    visitor.show(StatusCode::OK, &question)
}

/// `POST`: deletes, and says so on the portal.
pub(crate) async fn disconnect(
    visitor: Visitor,
    Path(provider): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    if !from_our_page(&visitor.headers, visitor.app.config.public_url.origin()) {
        return visitor.refuse(None, FOREIGN).await;
    }
    let (person, _) = match connected(&visitor, &provider).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let form = Posted::read(&visitor.headers, body);
    if !form.is_some_and(|mut form| person.csrf_holds(Form::Disconnect(&provider), &form.take("csrf"))) {
        return visitor.refuse(Some(&person), WRONG_TOKEN).await;
    }
    let app = &visitor.app;
    if let Err(error) = app.store.disconnect(&person.user, &provider, app.clock.now()).await {
        return visitor.trouble(&error);
    }
    app.broker.credentials.forget(&person.user, &provider);
    go(&format!("/?disconnected={provider}"), [])
}

/// The person and what they connected; else the answer that says otherwise.
async fn connected(visitor: &Visitor, provider: &str) -> Result<(SignedIn, Credential), Response> {
    let person = visitor.must_be_signed_in(&Place::Portal).await?;
    match visitor.app.store.credential(&person.user, provider).await {
        Ok(Some(credential)) => Ok((person, credential)),
        Ok(None) => Err(visitor.missing(Some(&person))),
        Err(error) => Err(visitor.trouble(&error)),
    }
}

fn question(page: Page, config: &Config, credential: &Credential, csrf: String) -> Message {
    let words = page.words();
    let provider = provider_title(words, config, &credential.provider);
    let upstreams = unique(credential.approvals.iter().map(|approval| approval.destination.upstream.as_str()));
    let servers: Vec<_> = upstreams.iter().map(|name| server_title(words, config, name)).collect();
    let stops = if servers.is_empty() {
        words.text("disconnect.stops_nothing").to_owned()
    } else {
        words.say("disconnect.stops_value", &[("servers", &words.list(&servers))])
    };
    let confirm = Action::Send {
        to: format!("/connections/{}/disconnect", credential.provider),
        hidden: vec![("csrf", csrf)],
        label: words.text("disconnect.confirm"),
        main: true,
    };
    let values = [("provider", provider.as_str())];
    Message::new(page, Tone::Plain, words.say("disconnect.heading", &values))
        .saying("disconnect.body", &values)
        .fact(Fact::new(words.text("disconnect.stops"), &stops))
        .fact(Fact::new(words.text("disconnect.apps"), &words.list(&clients(credential))))
        .saying("disconnect.provider", &values)
        .action(confirm)
        .go("/", "disconnect.keep")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;
    use usher_store::CredentialStatus;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The page of this file, for the gallery.
    pub(crate) fn page(language: Language) -> String {
        let page = gallery::page(language, "/connections/weather/disconnect");
        let credential = gallery::credential("weather", CredentialStatus::Working);
        question(page, &gallery::config(), &credential, "form-token".into()).render().unwrap()
    }

    #[test]
    fn disconnecting_asks_once_and_says_what_stops_working() {
        let html = page(Language::English);
        assert!(html.contains("<h1>Disconnect Weather?</h1>"));
        assert!(html.contains("<dt>Stops working</dt><dd>Weather server, until you connect again</dd>"));
        assert!(html.contains("<form method=\"post\" action=\"/connections/weather/disconnect\">"));
        assert!(html.contains(">Keep it</a>"));
    }
}
