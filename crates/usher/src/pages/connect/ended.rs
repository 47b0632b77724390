//! What became of a question that is open no longer, and why somebody is not shown one.

use std::collections::BTreeSet;

use axum::response::Response;
use http::StatusCode;
use usher_store::{AskReason, Destination, FailureReason, Interaction, InteractionId, InteractionState, StoreError};

use crate::{
    broker::{Stored, VisitError},
    config::{External, Per, ProviderKind},
    identity::browser::{Form, SignedIn},
    pages::{
        page::{Action, Fact, Message, Page, Tone},
        visitor::Visitor,
        words::Html,
    },
};

/// The page for what came instead of an open question.
pub(crate) async fn instead(visitor: &Visitor, person: &SignedIn, id: &InteractionId, error: VisitError) -> Response {
    let page = visitor.page(Some(person));
    let (status, message) = match error {
        VisitError::NotFound => return visitor.missing(Some(person)),
        VisitError::Store(error) => return visitor.trouble(&error),
        VisitError::Busy => return visitor.unavailable(),
        VisitError::OtherPerson => (StatusCode::FORBIDDEN, other_person(page, person.csrf(Form::SignOut), id)),
        VisitError::Ended(interaction) => {
            let names = Names::of(visitor, &interaction);
            let csrf = person.csrf(Form::Connect(id));
            let left = match left(visitor, &interaction).await {
                Ok(left) => left,
                Err(error) => return visitor.trouble(&error),
            };
            (StatusCode::OK, ended(page, &interaction, &names, &left, &csrf, visitor.app.clock.now()))
        }
        VisitError::Changed(interaction) => (StatusCode::GONE, changed(page, &Names::of(visitor, &interaction))),
    };
    visitor.show(status, &message)
}

/// What a question was about, and what is left of its answer.
enum Left {
    /// A credential; `None` where nothing of it is left.
    Credential(Option<Kept>),
    /// A call that was approved.
    Call,
    /// A visit to somebody else's page; for one call or for all.
    Visit(Per),
}

async fn left(visitor: &Visitor, interaction: &Interaction) -> Result<Left, StoreError> {
    let provider = visitor.app.config.provider(&interaction.provider);
    Ok(match provider.map(|provider| &provider.kind) {
        Some(ProviderKind::Approval) => Left::Call,
        Some(ProviderKind::External(External { per: Per::Call, .. })) => Left::Visit(Per::Call),
        Some(ProviderKind::External(External { per: Per::User, .. })) => match kept(visitor, interaction).await? {
            Some(_) => Left::Visit(Per::User),
            None => Left::Credential(None),
        },
        Some(ProviderKind::Secret { .. } | ProviderKind::OAuth(_) | ProviderKind::Mcp(_)) | None => {
            Left::Credential(kept(visitor, interaction).await?)
        }
    })
}

/// What is left of the connection that a question made.
struct Kept {
    /// Where it may be sent now.
    destinations: Vec<Destination>,
    /// Whether nobody knows yet that it works: no check of the provider's said so, and nothing has used it since.
    untried: bool,
    /// Whose account it is at the provider, as the provider says.
    account: Option<String>,
}

/// `None` where nothing is left: it was disconnected, was refused, or cannot be read.
async fn kept(visitor: &Visitor, interaction: &Interaction) -> Result<Option<Kept>, StoreError> {
    let InteractionState::Completed { at } = interaction.state else { return Ok(None) };
    let principal = &interaction.principal;
    let Stored::Kept(credential) = visitor.app.broker.stored(&principal.user, &interaction.provider).await? else {
        return Ok(None);
    };
    let holds = credential.status.is_usable() && credential.allows(&principal.client, &interaction.destination);
    let checked = visitor.app.config.provider(&interaction.provider).is_some_and(|provider| provider.check().is_some());
    // What the provider itself has just made is good.
    let checked = checked || credential.grant.is_some();
    // What was allowed to one more app or server may have been in use for long.
    let typed = matches!(interaction.reason, AskReason::Missing | AskReason::Rejected);
    let used = credential.last_used_at.is_some_and(|used| used >= at || !typed);
    Ok(holds.then(|| Kept {
        destinations: credential.destinations().into_iter().cloned().collect(),
        untried: !checked && !used,
        account: credential.grant.as_ref().and_then(|grant| grant.account.clone()),
    }))
}

/// What the pages call the parts of an interaction: the operator's titles, or the names where there are none any more.
pub(crate) struct Names {
    /// The provider.
    pub(crate) provider: String,
    /// The server.
    pub(crate) server: String,
    /// The verified client, within a sentence.
    pub(crate) client: String,
    /// The same at the beginning of one.
    pub(crate) client_first: String,
}

impl Names {
    /// Of `interaction`, in the language of `visitor`.
    pub(crate) fn of(visitor: &Visitor, interaction: &Interaction) -> Self {
        let client = interaction.principal.client.as_str();
        let (config, language) = (&visitor.app.config, visitor.words.language().code());
        let provider = config.provider(&interaction.provider).map(|provider| provider.title.get(language));
        let server = config.upstream(&interaction.destination.upstream).map(|upstream| upstream.title.get(language));
        Self {
            provider: provider.unwrap_or(&interaction.provider).to_owned(),
            server: server.unwrap_or(&interaction.destination.upstream).to_owned(),
            client: visitor.words.app(client).to_owned(),
            client_first: visitor.words.app_first(client).to_owned(),
        }
    }

    fn values(&self) -> [(&str, &str); 4] {
        [
            ("provider", &self.provider),
            ("server", &self.server),
            ("client", &self.client),
            ("Client", &self.client_first),
        ]
    }
}

/// R-ID-03: names neither account, and does not say what is asked.
fn other_person(page: Page, csrf: String, id: &InteractionId) -> Message {
    let words = page.words();
    let switch = Action::Send {
        to: "/logout".to_owned(),
        hidden: vec![("csrf", csrf), ("return", format!("/connect/{id}"))],
        label: words.text("other.switch"),
        main: false,
    };
    Message::new(page, Tone::Warning, words.text("other.heading"))
        .titled(words.text("other.title"))
        .telling("other.body")
        .action(switch)
        .go("/", "other.leave")
}

fn ended(
    page: Page,
    interaction: &Interaction,
    names: &Names,
    left: &Left,
    csrf: &str,
    now: jiff::Timestamp,
) -> Message {
    let words = page.words();
    let titled = |message: Message, heading: &str| message.titled(words.titled(heading, &names.provider));
    match (interaction.state, left) {
        (InteractionState::Completed { at }, Left::Call | Left::Visit(_)) => done_once(page, names, left, at, now),
        (InteractionState::Completed { at }, Left::Credential(Some(Kept { destinations, untried, account }))) => {
            let heading = words.text("done.heading");
            let targets: BTreeSet<_> = destinations.iter().map(|destination| destination.target.as_str()).collect();
            let sent_to = if targets.len() == 1 {
                Fact::noted(words.text("done.sent_to"), &interaction.destination.target, &names.server)
            } else {
                Fact::rich(words.text("done.sent_to"), Html::list(targets.into_iter().map(Html::text)))
            };
            let message = titled(Message::new(page, Tone::Good, heading), heading);
            let message = if *untried { message.telling("done.untried") } else { message };
            let message = message
                .saying("done.body", &names.values())
                .fact(Fact::new(words.text("done.provider"), &names.provider));
            let account = account.as_deref().map(|account| Html::element("bdi", None, &Html::text(account)));
            let message = match account {
                Some(account) => message.fact(Fact::rich(words.text("done.account"), account)),
                None => message,
            };
            message.fact(sent_to).fact(Fact::rich(words.text("done.when"), words.time(at, now))).go("/", "common.home")
        }
        (InteractionState::Completed { .. }, Left::Credential(None)) => {
            let heading = words.text("over.heading");
            titled(Message::new(page, Tone::Plain, heading), heading)
                .saying("over.body", &names.values())
                .saying("over.next", &names.values())
                .go("/", "common.home")
        }
        (InteractionState::Declined { .. }, left) => {
            let heading = words.text("declined.heading");
            let [body, later] = match left {
                Left::Credential(_) => ["declined.body", "declined.later"],
                Left::Call => ["once.declined_call", "once.later"],
                Left::Visit(_) => ["once.declined_visit", "once.later"],
            };
            titled(Message::new(page, Tone::Plain, heading), heading)
                .saying(body, &names.values())
                .saying(later, &names.values())
                .go("/", "common.home")
        }
        (InteractionState::Failed { reason, .. }, _) => failed(page, interaction, names, reason, csrf),
        // An open one does not come here; if it did, it could not be answered either.
        (
            InteractionState::Expired
            | InteractionState::Created
            | InteractionState::Opened { .. }
            | InteractionState::Consented { .. }
            | InteractionState::Exchanging { .. },
            _,
        ) => {
            let heading = words.text("expired.heading");
            titled(Message::new(page, Tone::Plain, heading), heading)
                .telling("expired.body")
                .saying("expired.next", &names.values())
                .go("/", "common.home")
        }
    }
}

/// What was done for a call, or at somebody else's page: nothing of it can be told but that.
fn done_once(page: Page, names: &Names, left: &Left, at: jiff::Timestamp, now: jiff::Timestamp) -> Message {
    let words = page.words();
    let heading = words.text(if matches!(left, Left::Call) { "once.approved" } else { "once.visited" });
    let message = Message::new(page, Tone::Good, heading)
        .titled(words.titled(heading, &names.provider))
        .saying("done.body", &names.values());
    let message = if matches!(left, Left::Visit(Per::User)) { message } else { message.telling("once.valid") };
    message.fact(Fact::rich(words.text("done.when"), words.time(at, now))).go("/", "common.home")
}

/// What went wrong, as far as the person can do something about it. It is they who say whether that is the end
/// (R-ACT-01):
/// the question stays open until they start again, or decline.
fn failed(page: Page, interaction: &Interaction, names: &Names, reason: FailureReason, csrf: &str) -> Message {
    let words = page.words();
    let send = |action: &str, label, main| Action::Send {
        to: format!("/connect/{}", interaction.id),
        hidden: vec![("csrf", csrf.to_owned()), ("action", action.to_owned())],
        label: words.text(label),
        main,
    };
    let why = match reason {
        FailureReason::ProviderDeclined => "failed.declined",
        FailureReason::ProviderRefused => "failed.refused",
        FailureReason::ProviderUnreachable => "failed.unreachable",
        FailureReason::Misconfigured => "failed.misconfigured",
        FailureReason::StoreTrouble => "failed.store",
        FailureReason::Interrupted => "failed.interrupted",
    };
    let next = match reason {
        FailureReason::ProviderDeclined => "failed.next_declined",
        FailureReason::Misconfigured if page.operated() => "failed.next_operated",
        FailureReason::Misconfigured => "failed.next_operator",
        _ => "failed.next",
    };
    let body = if interaction.reason == AskReason::MoreScopes { "failed.body_more" } else { "failed.body" };
    let heading = words.text("failed.heading");
    Message::new(page, Tone::Warning, heading)
        .titled(words.titled(heading, &names.provider))
        .saying(why, &names.values())
        .saying(body, &names.values())
        .saying(next, &names.values())
        .action(send("restart", "failed.again", true))
        .action(send("decline", "connect.decline", false))
}

fn changed(page: Page, names: &Names) -> Message {
    let words = page.words();
    let heading = words.text("changed.heading");
    Message::new(page, Tone::Plain, heading)
        .titled(words.titled(heading, &names.provider))
        .saying("changed.body", &names.values())
        .telling("changed.next")
        .go("/", "common.home")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::pages::{gallery, language::Language};
    use askama::Template as _;

    fn names() -> Names {
        Names {
            provider: "Weather".into(),
            server: "Weather server".into(),
            client: "claude-desktop".into(),
            client_first: "claude-desktop".into(),
        }
    }

    fn of(language: Language, state: InteractionState) -> String {
        let page = gallery::page(language, "/connect/AAA");
        let interaction = gallery::interaction(state);
        let kept = Kept { destinations: vec![interaction.destination.clone()], untried: false, account: None };
        let left = Left::Credential(Some(kept));
        ended(page, &interaction, &names(), &left, "form-token", gallery::now()).render().unwrap()
    }

    /// A question that was good for one call, or led to somebody else's page.
    fn once(language: Language, provider: &str, state: InteractionState, left: &Left) -> String {
        let page = gallery::page(language, "/connect/AAA");
        let names = Names { provider: provider.into(), ..names() };
        ended(page, &gallery::interaction(state), &names, left, "t", gallery::now()).render().unwrap()
    }

    fn over(language: Language) -> String {
        let interaction = gallery::interaction(InteractionState::Completed { at: gallery::now() });
        let page = gallery::page(language, "/connect/AAA");
        let left = Left::Credential(None);
        ended(page, &interaction, &names(), &left, "form-token", gallery::now()).render().unwrap()
    }

    fn failing(language: Language, asked: AskReason, reason: FailureReason) -> String {
        let page = gallery::page(language, "/connect/AAA");
        let failed = gallery::interaction(InteractionState::Failed { at: gallery::now(), reason });
        let failed = Interaction { reason: asked, ..failed };
        let left = Left::Credential(None);
        ended(page, &failed, &names(), &left, "form-token", gallery::now()).render().unwrap()
    }

    fn account(language: Language) -> String {
        let page = gallery::page(language, "/connect/AAA");
        let interaction = gallery::interaction(InteractionState::Completed { at: gallery::now() });
        let destinations = vec![interaction.destination.clone()];
        let account = Some("ada <ada@example.org>".to_owned());
        let left = Left::Credential(Some(Kept { destinations, untried: false, account }));
        let names = Names { provider: "GitHub".into(), ..names() };
        ended(page, &interaction, &names, &left, "form-token", gallery::now()).render().unwrap()
    }

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let at = gallery::now();
        let id = gallery::interaction(InteractionState::Created).id;
        let page = || gallery::page(language, "/connect/AAA");
        vec![
            ("done", of(language, InteractionState::Completed { at })),
            ("over", over(language)),
            ("declined", of(language, InteractionState::Declined { at })),
            ("expired", of(language, InteractionState::Expired)),
            ("failed", failing(language, AskReason::Missing, FailureReason::StoreTrouble)),
            ("failed-declined", failing(language, AskReason::Missing, FailureReason::ProviderDeclined)),
            ("failed-refused", failing(language, AskReason::Missing, FailureReason::ProviderRefused)),
            ("failed-unreachable", failing(language, AskReason::MoreScopes, FailureReason::ProviderUnreachable)),
            ("failed-misconfigured", failing(language, AskReason::Missing, FailureReason::Misconfigured)),
            ("failed-interrupted", failing(language, AskReason::Missing, FailureReason::Interrupted)),
            ("done-account", account(language)),
            ("other", other_person(page(), "sign-out-token".into(), &id).render().unwrap()),
            ("changed", changed(page(), &names()).render().unwrap()),
            ("approved", once(language, "Approval", InteractionState::Completed { at }, &Left::Call)),
            ("visited", once(language, "Example Pay", InteractionState::Completed { at }, &Left::Visit(Per::Call))),
            ("visited-user", once(language, "Terms", InteractionState::Completed { at }, &Left::Visit(Per::User))),
            ("declined-call", once(language, "Approval", InteractionState::Declined { at }, &Left::Call)),
            (
                "declined-visit",
                once(language, "Example Pay", InteractionState::Declined { at }, &Left::Visit(Per::Call)),
            ),
        ]
    }

    /// R-ID-03
    #[test]
    fn another_persons_question_names_nobody_and_nothing() {
        let id = gallery::interaction(InteractionState::Created).id;
        let page = gallery::page(Language::English, "/");
        let html = other_person(page, "t".into(), &id).render().unwrap();
        for secret in ["claude-desktop", "Claude", "Weather", "weather", "owner", "urn:usher"] {
            assert!(!html.contains(secret), "{secret}");
        }
        assert!(html.contains(">Switch account</button>") && html.contains(">Leave</a>"));
    }

    /// R-ACT-01: a failure is no decline; the person says what it is, by one of two buttons.
    #[test]
    fn a_failed_visit_can_be_started_again_or_declined() {
        let html = failing(Language::English, AskReason::Missing, FailureReason::ProviderDeclined);
        assert!(html.contains("says that you did not agree there."), "{html}");
        for action in ["restart", "decline"] {
            assert!(html.contains(&format!("name=\"action\" value=\"{action}\"")), "{action}: {html}");
        }
        assert!(html.contains("name=\"csrf\" value=\"form-token\""));
        let more = failing(Language::English, AskReason::MoreScopes, FailureReason::ProviderUnreachable);
        assert!(more.contains("What you had allowed before is still in place."), "{more}");
        assert!(!more.contains("Nothing was stored"), "the old grant is");
    }

    /// What the provider says of the account is text.
    #[test]
    fn a_completed_visit_names_the_account() {
        let html = account(Language::English);
        assert!(html.contains("<dt>Connected as</dt><dd><bdi>ada &lt;ada@example.org&gt;</bdi>"), "{html}");
    }

    #[test]
    fn a_completed_visit_says_where_to_go_back_to() {
        let html = of(Language::English, InteractionState::Completed { at: gallery::now() });
        assert!(html.contains("<h1>Connected</h1>"));
        assert!(html.contains("go back to <strong><bdi>claude-desktop</bdi></strong>"));
        assert!(!html.contains("<input id="), "nothing to fill in a second time");
    }

    /// What was disconnected since is not said to be connected.
    #[test]
    fn a_completed_visit_whose_connection_is_gone_says_so() {
        let html = over(Language::English);
        assert!(html.contains("<h1>Not connected any more</h1>"));
        assert!(!html.contains("go back to"));
    }

    /// R-GW-04: everywhere the key may go, not only where this question sends it.
    #[test]
    fn a_completed_visit_names_every_place() {
        let interaction = gallery::interaction(InteractionState::Completed { at: gallery::now() });
        let other = Destination { upstream: "other".into(), target: "https://other.example".into() };
        let page = gallery::page(Language::English, "/connect/AAA");
        let kept = Kept { destinations: vec![interaction.destination.clone(), other], untried: true, account: None };
        let left = Left::Credential(Some(kept));
        let html = ended(page, &interaction, &names(), &left, "t", gallery::now()).render().unwrap();
        assert!(html.contains("Stored. Whether it works shows at the first use."), "{html}");
        assert!(html.contains("<li>https://other.example</li><li>https://weather-mcp.example</li>"));
    }
}
