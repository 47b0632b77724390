//! `/connections/{provider}/disconnect`: asks once and says what stops working; then deletes what is kept, and has its provider
//! end what was granted.

use std::collections::BTreeSet;

use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use http::StatusCode;
use usher_store::Credential;

use super::{
    connections::{clients, is_visit},
    let_go,
    said::{provider_title, server_title, shown},
};
use crate::{
    config::Config,
    credentials::revoke::Revocation,
    identity::browser::{Form, Place},
    pages::{
        page::{Action, Fact, Message, Page, Tone},
        visitor::{Visitor, go},
        words::Words,
    },
};

/// `GET`: asks.
pub(crate) async fn ask(visitor: Visitor, Path(provider): Path<String>) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Portal).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    // What cannot be read can be deleted all the same; only nobody knows any more who used it.
    let connections = match visitor.app.store.connections(&person.user).await {
        Ok(connections) => connections,
        Err(error) => return visitor.trouble(&error),
    };
    let credential = connections.readable.iter().find(|credential| credential.provider == provider);
    if credential.is_none() && !connections.unreadable.contains(&provider) {
        return visitor.missing(Some(&person));
    }
    let csrf = person.csrf(Form::Disconnect(&provider));
    let page = visitor.page(Some(&person));
    visitor.show(StatusCode::OK, &question(page, &visitor.app.config, &provider, credential, csrf))
}

/// `POST`: deletes, and says so on the portal.
pub(crate) async fn disconnect(
    visitor: Visitor,
    Path(provider): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let person = match visitor.posted(Form::Disconnect(&provider), &Place::Portal, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    // It goes on when the browser leaves meanwhile: the provider may take its time.
    let (broker, user, name) = (visitor.app.broker.clone(), person.user.clone(), provider.clone());
    match tokio::spawn(async move { broker.disconnect(&user, &name).await }).await {
        Ok(Ok(Some(revocation))) => go(&let_go::address(&person, &provider, &revocation), []),
        Ok(Ok(None)) => visitor.missing(Some(&person)),
        Ok(Err(error)) => visitor.trouble(&error),
        Err(_) => visitor.unavailable(),
    }
}

fn question(page: Page, config: &Config, provider: &str, credential: Option<&Credential>, csrf: String) -> Message {
    let words = page.words();
    let title = provider_title(words, config, provider);
    let confirm = Action::Send {
        to: format!("/connections/{provider}/disconnect"),
        hidden: vec![("csrf", csrf)],
        label: words.text("disconnect.confirm"),
        main: true,
    };
    let values = [("provider", title.as_str())];
    let expected = Revocation::expected(config, provider, credential);
    let (body, there) = match expected {
        _ if is_visit(config, provider) => ("disconnect.body_visit", Some("disconnect.provider_visit")),
        Revocation::Nothing => ("disconnect.body", Some("disconnect.provider")),
        // A fact says what becomes of it there.
        Revocation::Ended { .. } | Revocation::StillListed { .. } => ("disconnect.body_grant", None),
    };
    let message = Message::new(page, Tone::Plain, words.say("disconnect.heading", &values)).saying(body, &values);
    let message = match credential {
        Some(credential) => message
            .fact(Fact::new(words.text("disconnect.stops"), &stops(words, config, credential)))
            .fact(Fact::new(words.text("disconnect.apps"), &words.list(&clients(credential)))),
        None => message.telling("disconnect.unreadable"),
    };
    let message = there_too(words, &expected).into_iter().fold(message, Message::fact);
    let message = there.into_iter().fold(message, |message, key| message.saying(key, &values));
    message.action(confirm).go("/", "disconnect.keep")
}

/// What becomes of the access at its provider.
fn there_too(words: Words, expected: &Revocation) -> Option<Fact> {
    let value = match expected {
        Revocation::Nothing => return None,
        Revocation::Ended { host } => words.rich("disconnect.at_provider_ends", &[("host", &*shown(host))]),
        Revocation::StillListed { host: Some(host), .. } => {
            words.rich("disconnect.at_provider_stays", &[("host", &*shown(host))])
        }
        Revocation::StillListed { host: None, .. } => words.rich::<&str>("disconnect.at_provider_unknown", &[]),
    };
    Some(Fact::rich(words.text("disconnect.at_provider"), value))
}

/// What does not work without it.
fn stops(words: Words, config: &Config, credential: &Credential) -> String {
    let upstreams: BTreeSet<_> =
        credential.destinations().into_iter().map(|destination| destination.upstream.as_str()).collect();
    let servers: Vec<_> = upstreams.into_iter().map(|name| server_title(words, config, name)).collect();
    if servers.is_empty() {
        return words.text("disconnect.stops_nothing").to_owned();
    }
    words.say("disconnect.stops_value", &[("servers", words.list(&servers).as_str())])
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
        question(page, &gallery::config(), "weather", Some(&credential), "form-token".into()).render().unwrap()
    }

    /// The same for what cannot be read.
    pub(crate) fn unreadable(language: Language) -> String {
        let page = gallery::page(language, "/connections/tracker/disconnect");
        question(page, &gallery::config(), "tracker", None, "form-token".into()).render().unwrap()
    }

    /// The same for accounts: one that can be ended at its provider, and one whose provider is not configured any more.
    pub(crate) fn accounts(language: Language) -> Vec<(&'static str, String)> {
        let page = |provider: &str| {
            let page = gallery::page(language, "/connections/tasks/disconnect");
            let account = gallery::account(provider, CredentialStatus::Working);
            question(page, &gallery::config(), provider, Some(&account), "form-token".into()).render().unwrap()
        };
        vec![("disconnect-account", page("tasks")), ("disconnect-account-old", page("old"))]
    }

    /// Before the person decides they know what becomes of it at the provider.
    #[test]
    fn giving_an_account_up_says_what_becomes_of_it_there() {
        let [(_, known), (_, old)] = accounts(Language::English).try_into().unwrap_or_else(|_| panic!("two pages"));
        assert!(known.contains("<dt>At the provider</dt><dd><bdi>tasks.example</bdi> is told, and ends"), "{known}");
        assert!(!known.contains("the key stays valid"), "{known}");
        assert!(old.contains("it stays listed: Usher cannot end it there."), "{old}");
    }

    #[test]
    fn disconnecting_asks_once_and_says_what_stops_working() {
        let html = page(Language::English);
        assert!(html.contains("<h1>Disconnect Weather?</h1>"));
        assert!(html.contains("<dt>Stops working</dt><dd>Weather server, until you connect again</dd>"));
        assert!(html.contains("<form method=\"post\" action=\"/connections/weather/disconnect\">"));
        assert!(html.contains(">Keep it</a>"));
        let html = unreadable(Language::English);
        assert!(html.contains("cannot be read") && html.contains("action=\"/connections/tracker/disconnect\""));
        assert!(!html.contains("Stops working"), "nobody knows");
    }
}
