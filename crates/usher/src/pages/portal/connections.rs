//! `GET /`: what the person connected, and what waits for their answer.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use usher_store::{
    Connections, Credential, CredentialStatus, Interaction, InteractionId, Operation, Resting, StoreError,
};

use super::{
    clients::with_client,
    said::{destination, provider_title, server_title, shown},
};
use crate::{
    broker::reconnectable,
    config::Config,
    identity::browser::{Form, Place, SignedIn},
    pages::{
        connect::facts::label_of_call,
        page::{Fact, Page, Section},
        visitor::Visitor,
        words::{Html, Said, Words},
    },
};

/// The page.
#[derive(Template)]
#[template(path = "portal/connections.html")]
pub(crate) struct Portal {
    page: Page,
    notice: Option<String>,
    waiting: Vec<Waiting>,
    many: Vec<DeclineAll>,
    declined: Vec<Declined>,
    connections: Vec<Connection>,
}

/// What of the person's there is to show.
struct Found {
    waiting: Vec<Interaction>,
    resting: Vec<Resting>,
    connections: Connections,
    /// The calls that they are about, where these are known.
    calls: BTreeMap<InteractionId, Operation>,
}

struct Waiting {
    provider: String,
    who: Html,
    call: Option<Call>,
    asked: Html,
    closes: Html,
    href: String,
    label: String,
}

/// What an app wants to call: what that is, and its name.
struct Call {
    label: &'static str,
    name: String,
}

/// The form that declines all that one app asks, where that is more than one question.
struct DeclineAll {
    action: String,
    csrf: String,
    label: String,
}

/// What the person declined, and the form by which it may be asked again at once.
struct Declined {
    provider: String,
    who: Html,
    call: Option<Call>,
    rests: Html,
    release: String,
    csrf: String,
    label: String,
}

struct Connection {
    provider: Html,
    working: bool,
    state: &'static str,
    note: Option<Html>,
    facts: Vec<Fact>,
    reconnect: Option<Reconnect>,
    disconnect: String,
    disconnect_label: String,
}

/// The form that asks for a refused credential again.
struct Reconnect {
    action: String,
    csrf: String,
    label: String,
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
    let resting = app.store.resting(&person.user, now).await?;
    let mut calls = BTreeMap::new();
    for one in waiting.iter().chain(resting.iter().map(|resting| &resting.interaction)) {
        match app.store.operation(one, now).await {
            Ok(call) => calls.extend(call.map(|call| (one.id.clone(), call))),
            // Its own page says what is wrong with it.
            Err(error) if error.is_unopened() => {}
            Err(error) => return Err(error),
        }
    }
    let connections = app.store.connections(&person.user).await?;
    let found = Found { waiting, resting, connections, calls };
    let csrf = |form: Form<'_>| person.csrf(form);
    let page = visitor.page(Some(person));
    Ok(Portal::new(page, &app.config, &found, visitor.query("disconnected"), &csrf, now))
}

impl Portal {
    fn new(
        page: Page,
        config: &Config,
        found: &Found,
        disconnected: Option<&str>,
        csrf: &dyn Fn(Form<'_>) -> String,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        let Connections { readable, unreadable } = &found.connections;
        let there = |name: &str| {
            readable.iter().any(|credential| credential.provider == name)
                || unreadable.iter().any(|provider| provider == name)
        };
        // Said only where it is true: the address is anybody's to write.
        let notice = disconnected
            .filter(|name| !there(name))
            .and_then(|name| config.provider(name))
            .map(|provider| provider.title.get(words.language().code()))
            .map(|provider| words.say("portal.disconnected", &[("provider", provider)]));
        let readable = readable.iter().map(|one| Connection::new(words, config, one, csrf, now));
        let unreadable = unreadable.iter().map(|provider| Connection::unreadable(words, config, provider));
        Self {
            notice,
            many: DeclineAll::of(words, &found.waiting, csrf),
            waiting: found
                .waiting
                .iter()
                .map(|one| Waiting::new(words, config, one, found.call(words, one), now))
                .collect(),
            declined: found
                .resting
                .iter()
                .map(|one| Declined::new(words, config, one, found.call(words, &one.interaction), csrf, now))
                .collect(),
            connections: readable.chain(unreadable).collect(),
            page: page.within(Section::Connections),
        }
    }
}

impl Found {
    fn call(&self, words: Words, interaction: &Interaction) -> Option<Call> {
        let call = self.calls.get(&interaction.id)?;
        Some(Call { label: label_of_call(words, call.method()), name: shown(call.subject()).into_owned() })
    }
}

impl DeclineAll {
    fn of(words: Words, waiting: &[Interaction], csrf: &dyn Fn(Form<'_>) -> String) -> Vec<Self> {
        let mut counts = BTreeMap::<_, usize>::new();
        for one in waiting {
            *counts.entry(&one.principal.client).or_default() += 1;
        }
        let several = counts.into_iter().filter(|(_, count)| *count > 1);
        several
            .map(|(client, count)| {
                let name = shown(client.as_str());
                let (count, name) = (count.to_string(), words.app(&name));
                Self {
                    action: with_client("/clients/decline?client=", client),
                    csrf: csrf(Form::DeclineAll(client.as_str())),
                    label: words.say("portal.decline_all", &[("count", &count), ("client", name)]),
                }
            })
            .collect()
    }
}

/// Who wants to use which server.
fn who(words: Words, config: &Config, interaction: &Interaction) -> Html {
    let server = server_title(words, config, &interaction.destination.upstream);
    let client = shown(interaction.principal.client.as_str());
    words.rich("portal.waiting_row", &[("Client", words.app_first(&client)), ("server", server.as_str())])
}

impl Waiting {
    fn new(words: Words, config: &Config, interaction: &Interaction, call: Option<Call>, now: Timestamp) -> Self {
        let provider = provider_title(words, config, &interaction.provider);
        Self {
            label: words.say("portal.answer_named", &[("provider", &provider)]),
            provider,
            who: who(words, config, interaction),
            call,
            asked: words.time(interaction.created_at, now),
            closes: words.with_time("portal.closes", interaction.expires_at, now),
            href: format!("/connect/{}", interaction.id),
        }
    }
}

impl Declined {
    fn new(
        words: Words,
        config: &Config,
        resting: &Resting,
        call: Option<Call>,
        csrf: &dyn Fn(Form<'_>) -> String,
        now: Timestamp,
    ) -> Self {
        let interaction = &resting.interaction;
        let provider = provider_title(words, config, &interaction.provider);
        Self {
            label: words.say("portal.release_named", &[("provider", &provider)]),
            provider,
            who: who(words, config, interaction),
            call,
            rests: words.with_time("portal.rests", resting.until, now),
            release: format!("/declined/{}/release", interaction.id),
            csrf: csrf(Form::Release(&interaction.id)),
        }
    }
}

impl Connection {
    fn new(
        words: Words,
        config: &Config,
        credential: &Credential,
        csrf: &dyn Fn(Form<'_>) -> String,
        now: Timestamp,
    ) -> Self {
        let name = &credential.provider;
        let known = config.provider(name).is_some();
        let working = known && credential.status == CredentialStatus::Working;
        let used = match credential.last_used_at {
            // The refusal is the last change: nothing else is done with it until it is replaced.
            _ if credential.status == CredentialStatus::Rejected => Fact::rich(
                words.text("portal.last_used"),
                words.with_time("portal.refused_at", credential.updated_at, now),
            ),
            Some(at) => Fact::rich(words.text("portal.last_used"), words.time(at, now)),
            None => Fact::new(words.text("portal.last_used"), words.text("portal.never")),
        };
        let reaches = if is_visit(config, name) { "portal.good_for" } else { "portal.sent_to" };
        let facts = vec![
            Fact::rich(words.text("portal.since"), words.time(credential.created_at, now)),
            used,
            Fact::rich(words.text(reaches), sent_to(words, config, credential)),
            Fact::new(words.text("portal.apps"), &apps(words, credential)),
        ];
        let (state, note) = match (known, credential.status) {
            (false, _) => ("portal.unused", Some(words.rich::<&str>("portal.unused_note", &[]))),
            (true, CredentialStatus::Rejected) => ("portal.rejected", Some(refused_by(words, config, credential))),
            (true, CredentialStatus::Working) if untried(config, credential) => ("portal.stored", None),
            (true, CredentialStatus::Working) => ("portal.working", None),
        };
        let title = provider_title(words, config, name);
        Self {
            working,
            state: words.text(state),
            note,
            facts,
            reconnect: reconnectable(config, credential).map(|_| Reconnect {
                action: format!("/connections/{name}/reconnect"),
                csrf: csrf(Form::Reconnect(name)),
                label: words.say("portal.reconnect_named", &[("provider", &title)]),
            }),
            ..Self::unreadable(words, config, name)
        }
    }

    /// One of which nothing can be said but that it is there.
    fn unreadable(words: Words, config: &Config, name: &str) -> Self {
        let title = provider_title(words, config, name);
        Self {
            working: false,
            state: words.text("portal.unreadable"),
            note: Some(words.rich::<&str>("portal.unreadable_note", &[])),
            facts: Vec::new(),
            reconnect: None,
            disconnect: format!("/connections/{name}/disconnect"),
            disconnect_label: words.say("portal.disconnect_named", &[("provider", &title)]),
            provider: config.provider(name).map_or_else(
                || Html::text(&shown(name)),
                |provider| Html::said(Said::of(&provider.title, words.language())),
            ),
        }
    }
}

/// Whether it is that the person was at somebody else's page: nothing is kept that could be sent.
pub(super) fn is_visit(config: &Config, provider: &str) -> bool {
    config.provider(provider).is_some_and(|provider| !provider.has_secrets())
}

/// Whether nobody knows that it works as it is now: no check of the provider's said so, and nothing has used it since.
fn untried(config: &Config, credential: &Credential) -> bool {
    let checked = config.provider(&credential.provider).is_some_and(|provider| provider.check().is_some());
    !checked && credential.last_used_at.is_none_or(|used| used < credential.updated_at)
}

/// Who refused it, as far as is known: the store keeps that it was refused, not by whom.
fn refused_by(words: Words, config: &Config, credential: &Credential) -> Html {
    let upstreams: BTreeSet<_> =
        credential.destinations().into_iter().map(|destination| destination.upstream.as_str()).collect();
    let servers: Vec<_> = upstreams.into_iter().map(|name| server_title(words, config, name)).collect();
    let key = if servers.len() == 1 { "portal.rejected_note" } else { "portal.rejected_note_several" };
    words.rich(key, &[("servers", words.list(&servers).as_str())])
}

/// Each server with its address, a line each.
fn sent_to(words: Words, config: &Config, credential: &Credential) -> Html {
    let destinations = credential.destinations();
    if destinations.is_empty() {
        return Html::text(words.text("portal.nowhere"));
    }
    Html::list(destinations.into_iter().map(|one| destination(words, config, one)))
}

fn apps(words: Words, credential: &Credential) -> String {
    let clients = clients(credential);
    if clients.is_empty() { words.text("portal.no_apps").to_owned() } else { words.list(&clients) }
}

/// The clients that may use a credential.
pub(crate) fn clients(credential: &Credential) -> Vec<String> {
    credential.clients().into_iter().map(|client| shown(client.as_str()).into_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use usher_store::InteractionState;

    use super::*;
    use crate::pages::{gallery, language::Language};

    fn portal(language: Language, waiting: &[Interaction], readable: &[Credential], gone: Option<&str>) -> String {
        let connections = Connections { readable: readable.to_vec(), unreadable: Vec::new() };
        render(language, waiting, &connections, gone)
    }

    fn render(language: Language, waiting: &[Interaction], connections: &Connections, gone: Option<&str>) -> String {
        let (waiting, connections) = (waiting.to_vec(), connections.clone());
        let found = Found { waiting, resting: Vec::new(), connections, calls: BTreeMap::new() };
        render_all(language, &found, gone)
    }

    fn render_all(language: Language, found: &Found, gone: Option<&str>) -> String {
        let page = gallery::page(language, "/");
        let csrf = |form: Form<'_>| match form {
            Form::Reconnect(provider) => format!("token-of-{provider}"),
            _ => "form-token".to_owned(),
        };
        Portal::new(page, &gallery::config(), found, gone, &csrf, gallery::now()).render().unwrap()
    }

    /// Declined three minutes ago, for the second time.
    fn resting() -> Resting {
        let at = "2026-11-30T08:04:00Z".parse().unwrap();
        let interaction = gallery::interaction(InteractionState::Declined { at });
        Resting { interaction, until: "2026-11-30T08:14:00Z".parse().unwrap() }
    }

    /// The page of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let first = gallery::interaction(InteractionState::Created);
        let second =
            Interaction { id: InteractionId::parse(&format!("{}I", "B".repeat(42))).unwrap(), ..first.clone() };
        let waiting = [first, second];
        let connections = Connections {
            readable: vec![
                gallery::credential("weather", CredentialStatus::Rejected),
                gallery::credential("tracker", CredentialStatus::Working),
            ],
            unreadable: vec!["mail".to_owned()],
        };
        let calls = waiting.iter().zip(["get_forecast", "\u{202e}<b>delete</b>"]);
        let calls = calls.map(|(one, name)| (one.id.clone(), Operation::named("tools/call", name))).collect();
        let found = Found { waiting: waiting.to_vec(), resting: vec![resting()], connections, calls };
        vec![("portal", render_all(language, &found, None))]
    }

    #[test]
    fn what_waits_can_be_answered_and_what_is_connected_can_be_ended() {
        let (_, html) = pages(Language::English).remove(0);
        assert!(html.contains(&format!("href=\"/connect/{}\" aria-label=\"Answer: Weather\"", "A".repeat(43))));
        assert!(html.contains("<span class=\"state bad\">Refused by the server</span>"));
        assert!(html.contains("<span class=\"state\">Working</span>"));
        assert!(html.contains("href=\"/connections/weather/disconnect\" aria-label=\"Disconnect Weather\""));
    }

    /// R-SEC-02: several questions of one app are told apart by what it wants to call, and can be declined together.
    #[test]
    fn several_questions_of_one_app_are_told_apart_and_can_be_declined_together() {
        let (_, html) = pages(Language::English).remove(0);
        assert!(html.contains("Tool: <bdi>get_forecast</bdi>"), "{html}");
        assert!(html.contains("&#60;b&#62;delete") && !html.contains('\u{202e}'), "{html}");
        let form = html.split("action=\"/clients/decline?client=claude-desktop\"").nth(1).unwrap();
        assert!(form.contains("value=\"form-token\"") && form.contains(">Decline all 2 of claude-desktop</button>"));
        let one = [gallery::interaction(InteractionState::Created)];
        assert!(!portal(Language::English, &one, &[], None).contains("/clients/decline"));
    }

    /// Whoever declined by mistake need not wait until the rest is over.
    #[test]
    fn what_was_declined_may_be_asked_again() {
        let (_, html) = pages(Language::English).remove(0);
        let form = html.split(&format!("action=\"/declined/{}/release\"", "A".repeat(43))).nth(1).unwrap();
        assert!(form.contains("value=\"form-token\"") && form.contains(">May be asked again</button>"));
        assert!(html.contains("asked again by itself <time"), "{html}");
    }

    /// R-GW-04: every address that gets it is named, with its server.
    #[test]
    fn each_server_is_named_with_its_address() {
        let html = portal(Language::English, &[], &[gallery::credential("weather", CredentialStatus::Working)], None);
        let line = "<li><bdi>Weather server</bdi> at <bdi>https://weather-mcp.example</bdi></li>";
        assert!(html.contains(line), "{html}");
        let mut bare = gallery::credential("weather", CredentialStatus::Working);
        bare.approvals.clear();
        let html = portal(Language::English, &[], &[bare], None);
        assert!(html.contains("<dd>nowhere, until you allow it</dd>") && html.contains("<dd>none</dd>"), "{html}");
    }

    /// What was refused can be entered again from here, and only that.
    #[test]
    fn what_was_refused_can_be_connected_again() {
        let (_, html) = pages(Language::English).remove(0);
        assert_eq!(html.matches("/reconnect").count(), 1);
        let form = html.split("<form method=\"post\" action=\"/connections/weather/reconnect\">").nth(1).unwrap();
        assert!(form.contains("value=\"token-of-weather\"") && form.contains(">Reconnect</button>"));
        assert!(html.contains("<strong><bdi>Weather server</bdi></strong> did not accept it."));
        assert!(html.contains("<dt>Last used</dt><dd>refused <time"), "{html}");
        assert!(!html.contains("Connected"), "a refused key is not connected");
    }

    /// "Working" is said only of what a check, or a use, has shown to work.
    #[test]
    fn what_nobody_tried_is_stored_and_no_more() {
        let mut credential = gallery::credential("weather", CredentialStatus::Working);
        for used in [None, Some(credential.updated_at - jiff::Span::new().seconds(1))] {
            credential.last_used_at = used;
            let html = portal(Language::English, &[], &[credential.clone()], None);
            assert!(html.contains("<span class=\"state\">Stored</span>"), "{html}");
        }
    }

    /// The store does not keep which server refused it, so none is blamed.
    #[test]
    fn one_of_several_servers_is_not_blamed_alone() {
        let mut credential = gallery::credential("weather", CredentialStatus::Rejected);
        let mut other = credential.approvals[0].clone();
        other.destination.upstream = "other".into();
        credential.approvals.push(other);
        let html = portal(Language::English, &[], &[credential], None);
        assert!(html.contains("One of these did not accept it: <bdi>other and Weather server</bdi>."));
    }

    /// A credential that does not open is shown, says so, and can be ended.
    #[test]
    fn what_cannot_be_read_is_shown_and_can_be_ended() {
        let (_, html) = pages(Language::English).remove(0);
        assert!(html.contains("<span class=\"state bad\">Cannot be read</span>"));
        assert!(html.contains("href=\"/connections/mail/disconnect\" aria-label=\"Disconnect mail\""));
        let there = Connections { readable: Vec::new(), unreadable: vec!["weather".to_owned()] };
        assert!(!render(Language::English, &[], &there, Some("weather")).contains("role=\"status\""));
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
