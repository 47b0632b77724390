//! `/clients/revoke?client=…`: asks once and says what the app may do no longer; then takes it back (R-OAUTH-04).

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;
use elicit::ClientId;
use http::StatusCode;

use super::{
    clients::{Found, revoke_path, with_client},
    said::shown,
};
use crate::{
    config::Config,
    identity::browser::{Form, Place},
    pages::{
        page::{Action, Message, Page, Tone},
        visitor::{Visitor, go},
    },
};

/// `GET`: asks.
pub(crate) async fn ask(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Clients).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    let Some(client) = client(&visitor) else { return visitor.missing(Some(&person)) };
    let found = match Found::of(&visitor, &person).await {
        Ok(found) => found,
        Err(error) => return visitor.trouble(&error),
    };
    if !found.asking.contains_key(&client) {
        return visitor.missing(Some(&person));
    }
    let csrf = person.csrf(Form::Revoke(client.as_str()));
    let page = visitor.page_at(&revoke_path(&client), Some(&person));
    visitor.show(StatusCode::OK, &question(page, &visitor.app.config, &found, &client, csrf))
}

/// `POST`: takes it back, and says so.
pub(crate) async fn revoke(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    let Some(client) = client(&visitor) else { return visitor.missing(None) };
    let person = match visitor.posted(Form::Revoke(client.as_str()), &Place::Clients, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    let app = &visitor.app;
    match app.store.revoke_client(&person.user, &client, app.clock.now()).await {
        Ok(withdrawn) => {
            for provider in &withdrawn.providers {
                app.broker.credentials.forget(&person.user, provider);
            }
            let mark = person.csrf(Form::Revoked(client.as_str()));
            go(&format!("{}&mark={mark}", with_client("/clients?revoked=", &client)), [])
        }
        Err(error) => visitor.trouble(&error),
    }
}

/// The client that the address names.
pub(super) fn client(visitor: &Visitor) -> Option<ClientId> {
    ClientId::new(visitor.query("client")?).ok()
}

fn question(page: Page, config: &Config, found: &Found, client: &ClientId, csrf: String) -> Message {
    let words = page.words();
    let name = shown(client.as_str());
    let name = words.app(&name);
    let confirm = Action::Send {
        to: revoke_path(client),
        hidden: vec![("csrf", csrf)],
        label: words.text("revoke.confirm"),
        main: true,
    };
    let asks = Message::new(page, Tone::Plain, words.say("revoke.heading", &[("client", name)])).telling("revoke.body");
    let tells = found.facts(words, config, client).into_iter().fold(asks, Message::fact);
    tells.telling("revoke.kept").action(confirm).go("/clients", "revoke.keep")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::{super::clients::tests::found, *};
    use crate::pages::{gallery, language::Language};

    /// The page of this file, for the gallery.
    pub(crate) fn page(language: Language) -> String {
        let client = ClientId::new("claude-desktop").unwrap();
        let page = gallery::page(language, "/clients/revoke?client=claude-desktop");
        question(page, &gallery::config(), &found(), &client, "form-token".into()).render().unwrap()
    }

    #[test]
    fn revoking_asks_once_and_says_what_the_app_may_do_no_longer() {
        let html = page(Language::English);
        assert!(html.contains("<h1>Take access away from claude-desktop?</h1>"));
        assert!(html.contains("<form method=\"post\" action=\"/clients/revoke?client=claude-desktop\">"));
        assert!(html.contains("<bdi>Weather</bdi>, with <bdi>Weather server</bdi>"));
        assert!(!html.contains("alert"), "what another app may use is not said here");
    }
}
