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
    // What is wrong with one that does not open is said by its own page.
    let asked: Vec<_> = waiting.iter().chain(resting.iter().map(|resting| &resting.interaction)).collect();
    let calls = app.store.operations(&asked, now).await?;
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
        let working = known && credential.status.is_usable();
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
            (true, CredentialStatus::Working | CredentialStatus::Narrow) if untried(config, credential) => {
                ("portal.stored", None)
            }
            (true, CredentialStatus::Working | CredentialStatus::Narrow) => ("portal.working", None),
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
pub(crate) mod tests;
