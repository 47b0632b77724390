//! The page before, and after, a visit to somebody else's page.

use askama::Template;
use elicit::{Profile, UrlReview};
use jiff::Timestamp;
use url::Url;
use usher_store::InteractionState;

use super::{
    approve::Called,
    facts::asked,
    view::{Attempt, address},
};
use crate::{
    broker::{ConfirmError, Visit},
    config::{External, Per},
    pages::{
        page::{Fact, Page},
        words::{Html, Said, Words},
    },
};

/// The page.
#[derive(Template)]
#[template(path = "connect/external.html")]
pub(crate) struct ExternalPage {
    page: Page,
    heading: String,
    lead: Html,
    about: Option<Html>,
    facts: Vec<Fact>,
    called: Option<Called>,
    action: String,
    csrf: String,
    /// What the main button says where nobody has gone there yet.
    leave: String,
    /// Whether the person went there from here, and is waited for.
    left: bool,
    failure: Option<String>,
    hint: &'static str,
    closes: Html,
}

impl ExternalPage {
    /// The page of `visit` to `external`, after `attempt`.
    pub(crate) fn new(
        page: Page,
        csrf: String,
        visit: &Visit,
        external: &External,
        attempt: &Attempt,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        let left = matches!(visit.interaction.state, InteractionState::Consented { .. });
        let provider = visit.provider.title.get(words.language().code());
        let heading = if left { "external.heading_left" } else { "external.heading" };
        let host = host(external.url.sample());
        Self {
            heading: words.say(heading, &[("provider", provider)]),
            lead: lead(words, visit, external, left),
            about: visit.provider.about.as_ref().map(|about| Html::said(Said::of(about, words.language()))),
            facts: facts(words, visit, external),
            called: Called::of(words, visit),
            action: address(&visit.interaction.id, None),
            csrf,
            leave: words.say(if left { "external.again" } else { "external.continue" }, &[("host", &host)]),
            left,
            failure: attempt.look.map(|error| failure(words, provider, error)),
            hint: words.text(if left { "external.hint_left" } else { "external.hint" }),
            closes: words.with_time("connect.closes", visit.interaction.expires_at, now),
            page,
        }
    }

    /// That something is wrong is said first.
    fn title(&self) -> String {
        match self.failure {
            Some(_) => self.page.words().say("common.error_title", &[("heading", &self.heading)]),
            None => self.heading.clone(),
        }
    }
}

fn lead(words: Words, visit: &Visit, external: &External, left: bool) -> Html {
    let key = match (left, external.confirm.is_some()) {
        (false, _) => "external.lead",
        (true, true) => "external.lead_left",
        (true, false) => "external.lead_waiting",
    };
    let client = visit.interaction.principal.client.as_str();
    let host = host(external.url.sample());
    let values = [
        ("Client", words.app_first(client).into()),
        ("client", words.app(client).into()),
        ("server", Said::of(&visit.upstream.title, words.language())),
        ("provider", Said::of(&visit.provider.title, words.language())),
        ("host", host.as_str().into()),
    ];
    words.rich(key, &values)
}

fn facts(words: Words, visit: &Visit, external: &External) -> Vec<Fact> {
    let mut facts = asked(words, visit, false);
    facts.push(Fact::rich(words.text("external.goes_to"), emphasised(external.url.sample())));
    facts.push(Fact::new(words.text("external.learns"), words.text("external.learns_value")));
    let valid = match external.per {
        Per::Call => "approve.valid_value",
        Per::User => "external.valid_user",
    };
    facts.push(Fact::new(words.text("approve.valid"), words.text(valid)));
    facts
}

/// The host and port that people are sent to.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The host, of which the part stands out that somebody had to register (R-URL-07).
pub(super) fn emphasised(url: &Url) -> Html {
    let host = host(url);
    let review = UrlReview::of(url.as_str(), &Profile::default());
    let found = review.registrable_domain().and_then(|domain| Some((host.find(domain)?, domain.len())));
    let (start, length) = found.unwrap_or((0, host.len()));
    let strong = Html::element("strong", None, &Html::text(&host[start..start + length]));
    let whole = Html::joined([Html::text(&host[..start]), strong, Html::text(&host[start + length..])]);
    Html::element("bdi", None, &whole)
}

fn failure(words: Words, provider: &str, error: ConfirmError) -> String {
    let key = match error {
        ConfirmError::NotYet => "external.not_yet",
        ConfirmError::Answered(_) | ConfirmError::Garbage | ConfirmError::Unsendable => "external.answered",
        ConfirmError::Unreachable => "external.unreachable",
        ConfirmError::TooSlow => "external.too_slow",
    };
    words.say(key, &[("provider", provider)])
}
