//! What became of a question that is open no longer, and why somebody is not shown one.

use axum::response::Response;
use http::StatusCode;
use usher_store::{Interaction, InteractionId, InteractionState};

use crate::{
    broker::VisitError,
    identity::browser::{Form, SignedIn},
    pages::{
        page::{Action, Fact, Message, Page, Tone},
        visitor::Visitor,
        words::Words,
    },
};

/// The page for what came instead of an open question.
pub(crate) fn instead(visitor: &Visitor, person: &SignedIn, id: &InteractionId, error: VisitError) -> Response {
    let page = visitor.page(Some(person));
    let (status, message) = match error {
        VisitError::NotFound => return visitor.missing(Some(person)),
        VisitError::Store(error) => return visitor.trouble(&error),
        VisitError::Busy => return visitor.unavailable(),
        VisitError::OtherPerson => (StatusCode::FORBIDDEN, other_person(page, person.csrf(Form::SignOut), id)),
        VisitError::Ended(interaction) => {
            let names = Names::of(visitor, &interaction);
            let csrf = person.csrf(Form::Connect(id));
            (StatusCode::OK, ended(page, &interaction, &names, csrf, visitor.app.clock.now()))
        }
        VisitError::Changed(interaction) => (StatusCode::GONE, changed(page, &Names::of(visitor, &interaction))),
    };
    visitor.show(status, &message)
}

/// What the pages call the parts of an interaction: the operator's titles, or the names where there are none any more.
pub(crate) struct Names {
    /// The provider.
    pub(crate) provider: String,
    /// The server.
    pub(crate) server: String,
    /// The verified client.
    pub(crate) client: String,
}

impl Names {
    /// Of `interaction`, in the language of `visitor`.
    pub(crate) fn of(visitor: &Visitor, interaction: &Interaction) -> Self {
        let (config, language) = (&visitor.app.config, visitor.words.language().code());
        let provider = config.provider(&interaction.provider).map(|provider| provider.title.get(language));
        let server = config.upstream(&interaction.destination.upstream).map(|upstream| upstream.title.get(language));
        Self {
            provider: provider.unwrap_or(&interaction.provider).to_owned(),
            server: server.unwrap_or(&interaction.destination.upstream).to_owned(),
            client: interaction.principal.client.as_str().to_owned(),
        }
    }

    fn values(&self) -> [(&str, &str); 3] {
        [("provider", &self.provider), ("server", &self.server), ("client", &self.client)]
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
        .saying("other.body", &[])
        .action(switch)
        .go("/", "other.leave")
}

fn ended(page: Page, interaction: &Interaction, names: &Names, csrf: String, now: jiff::Timestamp) -> Message {
    let words = page.words();
    let titled = |message: Message, heading: &str| message.titled(format!("{heading}: {}", names.provider));
    match interaction.state {
        InteractionState::Completed { at } => {
            let heading = words.text("done.heading");
            titled(Message::new(page, Tone::Good, heading), heading)
                .saying("done.body", &names.values())
                .fact(Fact::new(words.text("done.provider"), &names.provider))
                .fact(Fact::noted(words.text("done.sent_to"), &interaction.destination.target, &names.server))
                .fact(Fact::rich(words.text("done.when"), words.time(at, now)))
                .go("/", "common.home")
        }
        InteractionState::Declined { .. } => {
            let heading = words.text("declined.heading");
            titled(Message::new(page, Tone::Plain, heading), heading)
                .saying("declined.body", &names.values())
                .saying("declined.later", &names.values())
                .go("/", "common.home")
        }
        InteractionState::Failed { .. } => failed(page, interaction, names, csrf, words),
        // An open one does not come here; if it did, it could not be answered either.
        InteractionState::Expired
        | InteractionState::Created
        | InteractionState::Opened { .. }
        | InteractionState::Consented { .. } => {
            let heading = words.text("expired.heading");
            titled(Message::new(page, Tone::Plain, heading), heading)
                .saying("expired.body", &[])
                .saying("expired.next", &names.values())
                .go("/", "common.home")
        }
    }
}

fn failed(page: Page, interaction: &Interaction, names: &Names, csrf: String, words: Words) -> Message {
    let again = Action::Send {
        to: format!("/connect/{}", interaction.id),
        hidden: vec![("csrf", csrf), ("action", "restart".to_owned())],
        label: words.text("failed.again"),
        main: true,
    };
    let heading = words.text("failed.heading");
    Message::new(page, Tone::Warning, heading)
        .titled(format!("{heading}: {}", names.provider))
        .saying("failed.body", &names.values())
        .saying("failed.next", &[])
        .action(again)
}

fn changed(page: Page, names: &Names) -> Message {
    let heading = page.words().text("changed.heading");
    Message::new(page, Tone::Plain, heading)
        .titled(format!("{heading}: {}", names.provider))
        .saying("changed.body", &names.values())
        .saying("changed.next", &[])
        .go("/", "common.home")
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;
    use usher_store::FailureReason;

    use super::*;
    use crate::pages::{gallery, language::Language};

    fn names() -> Names {
        Names { provider: "Weather".into(), server: "Weather server".into(), client: "claude-desktop".into() }
    }

    fn of(language: Language, state: InteractionState) -> String {
        let page = gallery::page(language, "/connect/AAA");
        ended(page, &gallery::interaction(state), &names(), "form-token".into(), gallery::now()).render().unwrap()
    }

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let at = gallery::now();
        let id = gallery::interaction(InteractionState::Created).id;
        let page = || gallery::page(language, "/connect/AAA");
        vec![
            ("done", of(language, InteractionState::Completed { at })),
            ("declined", of(language, InteractionState::Declined { at })),
            ("expired", of(language, InteractionState::Expired)),
            ("failed", of(language, InteractionState::Failed { at, reason: FailureReason::StoreTrouble })),
            ("other", other_person(page(), "sign-out-token".into(), &id).render().unwrap()),
            ("changed", changed(page(), &names()).render().unwrap()),
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

    #[test]
    fn a_failed_visit_can_be_started_again() {
        let html = of(
            Language::English,
            InteractionState::Failed { at: gallery::now(), reason: FailureReason::ProviderUnreachable },
        );
        assert!(html.contains("name=\"action\" value=\"restart\""));
        assert!(html.contains("name=\"csrf\" value=\"form-token\""));
    }

    #[test]
    fn a_completed_visit_says_where_to_go_back_to() {
        let html = of(Language::English, InteractionState::Completed { at: gallery::now() });
        assert!(html.contains("<h1>Connected</h1>"));
        assert!(html.contains("go back to <strong><bdi>claude-desktop</bdi></strong>"));
        assert!(!html.contains("<input id="), "nothing to fill in a second time");
    }
}
