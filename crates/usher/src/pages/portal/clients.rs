//! `GET /clients`: the apps that may use what the person connected, that ask for it, or that may call something once.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use elicit::ClientId;
use http::StatusCode;
use jiff::Timestamp;
use url::form_urlencoded;
use usher_store::{Approval, AskingClient, Credential, CredentialStatus, StoreError};

use super::said::{provider_title, server_title, shown};
use crate::{
    config::Config,
    identity::browser::{Form, Place, SignedIn},
    pages::{
        page::{Fact, Page, Section},
        visitor::Visitor,
        words::{Html, Words},
    },
};

/// The page.
#[derive(Template)]
#[template(path = "portal/clients.html")]
pub(crate) struct ClientsPage {
    page: Page,
    notice: Option<String>,
    clients: Vec<Client>,
}

struct Client {
    name: String,
    facts: Vec<Fact>,
    revoke: String,
    revoke_label: String,
}

/// Shows it.
pub(crate) async fn show(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Clients).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    match clients(&visitor, &person).await {
        Ok(page) => visitor.show(StatusCode::OK, &page),
        Err(error) => visitor.trouble(&error),
    }
}

async fn clients(visitor: &Visitor, person: &SignedIn) -> Result<ClientsPage, StoreError> {
    let app = &visitor.app;
    let found = Found::of(visitor, person).await?;
    let mut claims = BTreeMap::new();
    for id in found.asking.keys() {
        if let Some(claim) = app.store.client_claim(&person.user, id).await? {
            claims.insert(id.clone(), claim);
        }
    }
    let marked = |id: &&str| {
        let mark = visitor.query("mark").unwrap_or_default();
        person.csrf_holds(Form::Revoked(id), mark)
    };
    // What anybody can write into an address is said only with a mark of this session.
    let revoked = visitor.query("revoked").filter(marked);
    let page = visitor.page(Some(person));
    Ok(ClientsPage::new(page, &app.config, &found, &claims, revoked, app.clock.now()))
}

/// The apps of a person.
pub(super) struct Found {
    pub(super) credentials: Vec<Credential>,
    /// Each app, with what it has beside what it may use.
    pub(super) asking: BTreeMap<ClientId, AskingClient>,
}

impl Found {
    pub(super) async fn of(visitor: &Visitor, person: &SignedIn) -> Result<Self, StoreError> {
        let store = &visitor.app.store;
        let mut credentials = store.connections(&person.user).await?.readable;
        // Nobody may use it any more.
        credentials.retain(|one| one.status != CredentialStatus::Leaving);
        let asking = store.asking_clients(&person.user, visitor.app.clock.now()).await?;
        Ok(Self::new(credentials, asking))
    }

    pub(super) fn new(credentials: Vec<Credential>, mut asking: BTreeMap<ClientId, AskingClient>) -> Self {
        for id in credentials.iter().flat_map(Credential::clients) {
            asking.entry(id.clone()).or_default();
        }
        Self { credentials, asking }
    }

    /// What a client has, in lines of its own where it has that.
    pub(super) fn facts(&self, words: Words, config: &Config, id: &ClientId) -> Vec<Fact> {
        let AskingClient { questions, approvals } = self.asking.get(id).copied().unwrap_or_default();
        let uses: Vec<_> = uses(words, config, &self.credentials, id).collect();
        let uses = (!uses.is_empty()).then(|| Fact::rich(words.text("clients.uses"), Html::list(uses)));
        let counted =
            |key: &'static str, count: usize| (count > 0).then(|| Fact::new(words.text(key), &count.to_string()));
        [uses, counted("clients.questions", questions), counted("clients.approvals", approvals)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl ClientsPage {
    fn new(
        page: Page,
        config: &Config,
        found: &Found,
        claims: &BTreeMap<ClientId, String>,
        revoked: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        // Said only where it is true still.
        let notice = revoked
            .filter(|revoked| found.asking.keys().all(|id| id.as_str() != *revoked))
            .map(|revoked| words.say("clients.revoked", &[("Client", words.app_first(&shown(revoked)))]));
        let clients = found
            .asking
            .keys()
            .map(|id| Client::new(words, config, found, id, claims.get(id).map(String::as_str), now))
            .collect();
        Self { notice, clients, page: page.within(Section::Clients) }
    }
}

impl Client {
    fn new(words: Words, config: &Config, found: &Found, id: &ClientId, claim: Option<&str>, now: Timestamp) -> Self {
        let name = shown(id.as_str());
        let name = words.app_first(&name).to_owned();
        let claim = claim.and_then(|claim| Fact::calls_itself(words, claim));
        let since = since(&found.credentials, id).map(|at| Fact::rich(words.text("portal.since"), words.time(at, now)));
        Self {
            facts: claim.into_iter().chain(found.facts(words, config, id)).chain(since).collect(),
            revoke: revoke_path(id),
            revoke_label: words.say("clients.revoke_named", &[("client", &name)]),
            name,
        }
    }
}

/// What a client may use, and where: a line each.
fn uses<'a>(
    words: Words,
    config: &'a Config,
    credentials: &'a [Credential],
    id: &'a ClientId,
) -> impl Iterator<Item = Html> + 'a {
    approvals(credentials, id).map(move |(credential, approval)| {
        let provider = provider_title(words, config, &credential.provider);
        let server = server_title(words, config, &approval.destination.upstream);
        let target = shown(&approval.destination.target);
        words.rich("clients.use", &[("provider", provider.as_str()), ("server", &server), ("target", &target)])
    })
}

/// When it was allowed something first, where that is known of all that it was allowed.
fn since(credentials: &[Credential], id: &ClientId) -> Option<Timestamp> {
    let times = approvals(credentials, id).map(|(credential, approval)| credential.approved_at.get(approval).copied());
    times.collect::<Option<Vec<_>>>()?.into_iter().min()
}

/// All that a client was allowed.
fn approvals<'a>(
    credentials: &'a [Credential],
    id: &'a ClientId,
) -> impl Iterator<Item = (&'a Credential, &'a Approval)> {
    let all = credentials.iter().flat_map(|credential| credential.approvals.iter().map(move |one| (credential, one)));
    all.filter(move |(_, approval)| approval.client == *id)
}

/// Where it is asked whether to take all of it back; the form's address as well.
pub(super) fn revoke_path(id: &ClientId) -> String {
    with_client("/clients/revoke?client=", id)
}

/// A path with a client's id, which may hold anything.
pub(super) fn with_client(path: &str, id: &ClientId) -> String {
    let mut path = path.to_owned();
    path.extend(form_urlencoded::byte_serialize(id.as_str().as_bytes()));
    path
}

#[cfg(test)]
pub(crate) mod tests {
    use usher_store::CredentialStatus;

    use super::*;
    use crate::pages::{gallery, language::Language};

    const HOSTILE: &str = "https://evil.example/\"><script>alert(1)</script>&client=other\u{202e}";

    /// Two providers of one client, and of one with a hostile id.
    pub(crate) fn credentials() -> Vec<Credential> {
        let mut weather = gallery::credential("weather", CredentialStatus::Working);
        let hostile = Approval { client: ClientId::new(HOSTILE).unwrap(), ..weather.approvals[0].clone() };
        weather.approvals.push(hostile);
        vec![weather, gallery::credential("old", CredentialStatus::Working)]
    }

    /// One that only asks, and may call something once.
    fn asking() -> (ClientId, AskingClient) {
        (ClientId::new("new-app").unwrap(), AskingClient { questions: 5, approvals: 1 })
    }

    fn render(language: Language, found: &Found, revoked: Option<&str>) -> String {
        let claims = found
            .credentials
            .iter()
            .flat_map(Credential::clients)
            .map(|id| (id.clone(), "Claude <b>Desktop</b>".to_owned()))
            .collect();
        let page = gallery::page(language, "/clients");
        ClientsPage::new(page, &gallery::config(), found, &claims, revoked, gallery::now()).render().unwrap()
    }

    pub(in crate::pages::portal) fn found() -> Found {
        Found::new(credentials(), BTreeMap::from([asking()]))
    }

    /// The page of this file, for the gallery.
    pub(crate) fn page(language: Language) -> String {
        render(language, &found(), None)
    }

    /// R-OAUTH-04: each app once, by its verified id, with all that it may use; what it calls itself stands apart.
    #[test]
    fn each_app_stands_once_with_all_that_it_may_use() {
        let html = page(Language::English);
        assert_eq!(html.matches("<li class=\"card\">").count(), 3);
        assert!(html.contains("<h2><bdi>claude-desktop</bdi></h2>"));
        assert!(html.contains(
            "<li><bdi>Weather</bdi>, with <bdi>Weather server</bdi> at <bdi>https://weather-mcp.example</bdi></li>"
        ));
        assert!(html.contains("<bdi>old</bdi>, with"), "also where the provider is configured no longer");
        assert!(html.contains("<div class=\"claim\"><dt>Not verified</dt>"));
        assert!(html.contains("<dt>Since</dt><dd><time datetime=\"2026-11-28T08:05:00Z\""));
        assert!(html.contains(
            "href=\"/clients/revoke?client=claude-desktop\" aria-label=\"Take access away from claude-desktop\""
        ));
    }

    /// R-SEC-02: an id is text, whatever it holds, and stays one value of the address.
    #[test]
    fn a_hostile_id_is_text() {
        let html = page(Language::Chinese);
        assert!(!html.contains("<script>") && !html.contains('\u{202e}') && !html.contains("<b>"), "{html}");
        assert!(html.contains(
            "client=https%3A%2F%2Fevil.example%2F%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26client%3Dother"
        ));
    }

    #[test]
    fn the_notice_is_shown_only_where_it_is_true() {
        let notice = |html: &str| html.contains("role=\"status\"");
        let none = Found::new(Vec::new(), BTreeMap::new());
        assert!(notice(&render(Language::English, &none, Some("claude-desktop"))));
        assert!(!notice(&render(Language::English, &found(), Some("claude-desktop"))));
        assert!(render(Language::English, &none, None).contains("No app may use"));
    }

    /// R-OAUTH-04: what only asks, or may call something once, is listed too and can be revoked.
    #[test]
    fn an_app_that_only_asks_is_listed() {
        let html = page(Language::English);
        let card = html.split("<h2><bdi>new-app</bdi></h2>").nth(1).unwrap();
        assert!(card.contains("<dt>Open questions</dt><dd>5</dd>"), "{card}");
        assert!(card.contains("<dt>Calls allowed once, still to come</dt><dd>1</dd>"), "{card}");
        assert!(!card.contains("May use") && card.contains("href=\"/clients/revoke?client=new-app\""), "{card}");
    }
}
