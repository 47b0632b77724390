//! `GET /`: what the person connected, and what waits for their answer.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use usher_store::{Credential, CredentialStatus, Interaction, StoreError};

use crate::{
    config::Config,
    identity::browser::{Place, SignedIn},
    pages::{
        page::{Fact, Page},
        visitor::Visitor,
        words::{Html, Words},
    },
};

/// The page.
#[derive(Template)]
#[template(path = "portal/connections.html")]
pub(crate) struct Portal {
    page: Page,
    notice: Option<String>,
    waiting: Vec<Waiting>,
    connections: Vec<Connection>,
}

struct Waiting {
    provider: String,
    who: Html,
    asked: Html,
    closes: Html,
    href: String,
}

struct Connection {
    provider: String,
    working: bool,
    state: &'static str,
    note: Option<&'static str>,
    facts: Vec<Fact>,
    disconnect: String,
    disconnect_label: String,
}

/// Shows the portal. A client that cannot show links sends people here, so open questions come first.
pub(crate) async fn show(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Portal).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    match portal(&visitor, &person).await {
        Ok(portal) => visitor.show(StatusCode::OK, &portal),
        Err(error) => visitor.trouble(&error),
    }
}

async fn portal(visitor: &Visitor, person: &SignedIn) -> Result<Portal, StoreError> {
    let (app, now) = (&visitor.app, visitor.app.clock.now());
    let waiting = app.store.waiting_interactions(&person.user, now).await?;
    let connections = app.store.connections(&person.user).await?;
    Ok(Portal::new(visitor.page(Some(person)), &app.config, &waiting, &connections, visitor.query("disconnected"), now))
}

impl Portal {
    fn new(
        page: Page,
        config: &Config,
        waiting: &[Interaction],
        connections: &[Credential],
        disconnected: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        // Said only where it is true: the address is anybody's to write.
        let notice = disconnected
            .filter(|name| connections.iter().all(|connection| connection.provider != **name))
            .and_then(|name| config.provider(name))
            .map(|provider| provider.title.get(words.language().code()))
            .map(|provider| words.say("portal.disconnected", &[("provider", provider)]));
        Self {
            notice,
            waiting: waiting.iter().map(|interaction| Waiting::new(words, config, interaction, now)).collect(),
            connections: connections.iter().map(|credential| Connection::new(words, config, credential, now)).collect(),
            page,
        }
    }
}

impl Waiting {
    fn new(words: Words, config: &Config, interaction: &Interaction, now: Timestamp) -> Self {
        let server = server_title(words, config, &interaction.destination.upstream);
        let client = interaction.principal.client.as_str();
        Self {
            provider: provider_title(words, config, &interaction.provider),
            who: words.rich("portal.waiting_row", &[("client", client), ("server", &server)]),
            asked: words.time(interaction.created_at, now),
            closes: words.with_time("portal.closes", interaction.expires_at, now),
            href: format!("/connect/{}", interaction.id),
        }
    }
}

impl Connection {
    fn new(words: Words, config: &Config, credential: &Credential, now: Timestamp) -> Self {
        let provider = provider_title(words, config, &credential.provider);
        let known = config.provider(&credential.provider).is_some();
        let working = known && credential.status == CredentialStatus::Working;
        let (state, note) = match (known, credential.status) {
            (false, _) => ("portal.unused", Some("portal.unused_note")),
            (true, CredentialStatus::Rejected) => ("portal.rejected", Some("portal.rejected_note")),
            (true, CredentialStatus::Working) => ("portal.working", None),
        };
        let used = match credential.last_used_at {
            Some(at) => Fact::rich(words.text("portal.last_used"), words.time(at, now)),
            None => Fact::new(words.text("portal.last_used"), words.text("portal.never")),
        };
        let facts = vec![
            Fact::rich(words.text("portal.since"), words.time(credential.created_at, now)),
            used,
            Fact::new(words.text("portal.sent_to"), &words.list(&targets(credential))),
            Fact::new(words.text("portal.apps"), &words.list(&clients(credential))),
        ];
        Self {
            working,
            state: words.text(state),
            note: note.map(|key| words.text(key)),
            facts,
            disconnect: format!("/connections/{}/disconnect", credential.provider),
            disconnect_label: words.say("portal.disconnect_named", &[("provider", &provider)]),
            provider,
        }
    }
}

/// The operator's title for a provider, or its name.
pub(crate) fn provider_title(words: Words, config: &Config, name: &str) -> String {
    config.provider(name).map_or(name, |provider| provider.title.get(words.language().code())).to_owned()
}

/// The operator's title for a server, or its name.
pub(crate) fn server_title(words: Words, config: &Config, name: &str) -> String {
    config.upstream(name).map_or(name, |upstream| upstream.title.get(words.language().code())).to_owned()
}

fn targets(credential: &Credential) -> Vec<String> {
    unique(credential.approvals.iter().map(|approval| approval.destination.target.as_str()))
}

/// The clients that may use a credential.
pub(crate) fn clients(credential: &Credential) -> Vec<String> {
    unique(credential.approvals.iter().map(|approval| approval.client.as_str()))
}

/// In the order of the alphabet, each once.
pub(crate) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.collect::<std::collections::BTreeSet<_>>().into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use usher_store::InteractionState;

    use super::*;
    use crate::pages::{gallery, language::Language};

    fn portal(language: Language, waiting: &[Interaction], connections: &[Credential], gone: Option<&str>) -> String {
        let page = gallery::page(language, "/");
        Portal::new(page, &gallery::config(), waiting, connections, gone, gallery::now()).render().unwrap()
    }

    /// The page of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let waiting = [gallery::interaction(InteractionState::Created)];
        let connections = [
            gallery::credential("weather", CredentialStatus::Rejected),
            gallery::credential("tracker", CredentialStatus::Working),
        ];
        vec![("portal", portal(language, &waiting, &connections, None))]
    }

    #[test]
    fn what_waits_can_be_answered_and_what_is_connected_can_be_ended() {
        let (_, html) = pages(Language::English).remove(0);
        assert!(html.contains(&format!("href=\"/connect/{}\" aria-label=\"Answer: Weather\"", "A".repeat(43))));
        assert!(html.contains("<span class=\"state bad\">Refused by the server</span>"));
        assert!(html.contains("<span class=\"state\">Working</span>"));
        assert!(html.contains("href=\"/connections/weather/disconnect\" aria-label=\"Disconnect Weather\""));
    }

    #[test]
    fn an_empty_portal_says_how_connections_come_about() {
        let html = portal(Language::English, &[], &[], Some("weather"));
        assert!(html.contains("Nothing is connected yet."));
        assert!(html.contains("Weather is disconnected."));
    }

    #[test]
    fn the_notice_is_shown_only_where_it_is_true() {
        let connections = [gallery::credential("weather", CredentialStatus::Working)];
        for name in ["weather", "nothing", "<script>"] {
            let html = portal(Language::English, &[], &connections, Some(name));
            assert!(!html.contains("role=\"status\""), "{name}");
        }
    }

    #[test]
    fn a_connection_whose_provider_is_gone_is_still_shown_and_can_be_ended() {
        let html = portal(Language::English, &[], &[gallery::credential("old", CredentialStatus::Working)], None);
        assert!(html.contains("Not in use") && html.contains("/connections/old/disconnect"));
    }
}
