//! `/clients/revoke?client=…`: asks once and says what the app may do no longer; then takes it back (R-OAUTH-04).

use axum::{extract::rejection::BytesRejection, response::Response};
use bytes::Bytes;
use elicit::ClientId;
use http::StatusCode;
use usher_store::Credential;

use super::{
    clients::{revoke_path, uses, with_client},
    said::shown,
};
use crate::{
    config::Config,
    identity::browser::{Form, Place},
    pages::{
        page::{Action, Fact, Message, Page, Tone},
        visitor::{Visitor, go},
        words::Html,
    },
};

/// `GET`: asks.
pub(crate) async fn ask(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Clients).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    let Some(client) = client(&visitor) else { return visitor.missing(Some(&person)) };
    let credentials = match visitor.app.store.connections(&person.user).await {
        Ok(connections) => connections.readable,
        Err(error) => return visitor.trouble(&error),
    };
    if !credentials.iter().any(|credential| credential.clients().contains(&client)) {
        return visitor.missing(Some(&person));
    }
    let csrf = person.csrf(Form::Revoke(client.as_str()));
    let page = visitor.page_at(&revoke_path(&client), Some(&person));
    visitor.show(StatusCode::OK, &question(page, &visitor.app.config, &credentials, &client, csrf))
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
            go(&with_client("/clients?revoked=", &client), [])
        }
        Err(error) => visitor.trouble(&error),
    }
}

fn client(visitor: &Visitor) -> Option<ClientId> {
    ClientId::new(visitor.query("client")?).ok()
}

fn question(page: Page, config: &Config, credentials: &[Credential], client: &ClientId, csrf: String) -> Message {
    let words = page.words();
    let name = shown(client.as_str());
    let name = words.app(&name);
    let confirm = Action::Send {
        to: revoke_path(client),
        hidden: vec![("csrf", csrf)],
        label: words.text("revoke.confirm"),
        main: true,
    };
    Message::new(page, Tone::Plain, words.say("revoke.heading", &[("client", name)]))
        .telling("revoke.body")
        .fact(Fact::rich(words.text("clients.uses"), Html::list(uses(words, config, credentials, client))))
        .telling("revoke.kept")
        .action(confirm)
        .go("/clients", "revoke.keep")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::{super::clients::tests::credentials, *};
    use crate::pages::{gallery, language::Language};

    /// The page of this file, for the gallery.
    pub(crate) fn page(language: Language) -> String {
        let client = ClientId::new("claude-desktop").unwrap();
        let page = gallery::page(language, "/clients/revoke?client=claude-desktop");
        question(page, &gallery::config(), &credentials(), &client, "form-token".into()).render().unwrap()
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
