//! The page of a call that a person approves: all of it, once.

use askama::Template;
use jiff::Timestamp;

use super::{arguments, facts::asked, view::address};
use crate::{
    broker::Visit,
    claim,
    pages::{
        page::{Fact, Page},
        words::{Html, Said, Words},
    },
};

/// What a call is called with.
pub(super) struct Called {
    pub(super) list: Html,
    pub(super) exact: Option<Html>,
}

impl Called {
    /// Of the call of `visit`; `None` where it is not kept whole.
    pub(super) fn of(words: Words, visit: &Visit) -> Option<Self> {
        let operation = visit.operation.as_ref().filter(|operation| operation.digest().is_some())?;
        let arguments = operation.arguments();
        Some(Self { list: arguments::list(words, arguments), exact: arguments.map(arguments::exact) })
    }
}

/// The page.
#[derive(Template)]
#[template(path = "connect/approve.html")]
pub(crate) struct ApprovePage {
    page: Page,
    lead: Html,
    about: Option<Html>,
    facts: Vec<Fact>,
    called: Option<Called>,
    action: String,
    csrf: String,
    closes: Html,
}

impl ApprovePage {
    /// The page of `visit`.
    pub(crate) fn new(page: Page, csrf: String, visit: &Visit, now: Timestamp) -> Self {
        let words = page.words();
        let mut facts = asked(words, visit, false);
        facts.push(Fact::new(words.text("approve.valid"), words.text("approve.valid_value")));
        Self {
            lead: lead(words, visit),
            about: visit.provider.about.as_ref().map(|about| Html::said(Said::of(about, words.language()))),
            facts,
            called: Called::of(words, visit),
            action: address(&visit.interaction.id, None),
            csrf,
            closes: words.with_time("connect.closes", visit.interaction.expires_at, now),
            page,
        }
    }

    /// The heading does not tell one such page from another.
    fn title(&self) -> &'static str {
        self.page.text("approve.heading")
    }
}

fn lead(words: Words, visit: &Visit) -> Html {
    let method = visit.operation.as_ref().map_or("", |operation| operation.method());
    let key = match method {
        "prompts/get" => "approve.lead_prompt",
        "resources/read" => "approve.lead_resource",
        _ => "approve.lead",
    };
    let subject = visit.operation.as_ref().and_then(|operation| claim::clean(operation.subject()));
    let client = visit.interaction.principal.client.as_str();
    let values = [
        ("Client", words.app_first(client).into()),
        ("server", Said::of(&visit.upstream.title, words.language())),
        ("subject", subject.as_deref().unwrap_or("?").into()),
    ];
    words.rich(key, &values)
}
