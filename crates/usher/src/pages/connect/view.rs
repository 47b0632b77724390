//! What the page of an open question shows, in the person's language.

use std::collections::BTreeMap;

use askama::Template;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    broker::{Fault, Purpose, Visit},
    credentials::check::CheckError,
    pages::{
        page::{Fact, Page},
        words::{Html, Words, claim},
    },
};

/// What a person tried before, and why it did not do.
#[derive(Default)]
pub(crate) struct Attempt {
    /// What they typed. Masked fields are not shown again.
    pub(crate) typed: BTreeMap<String, SecretString>,
    /// What is wrong with it.
    pub(crate) faults: Vec<Fault>,
    /// What the provider said.
    pub(crate) check: Option<CheckError>,
}

/// The page. `Debug` would show what was typed, so there is none.
#[derive(Template)]
#[template(path = "connect/show.html")]
pub(crate) struct ConnectPage {
    page: Page,
    heading: String,
    lead: Html,
    about: Option<String>,
    claim: Option<String>,
    facts: Vec<Fact>,
    action: String,
    csrf: String,
    reuse: bool,
    failure: Option<String>,
    fields: Vec<FieldView>,
    closes: Html,
}

struct FieldView {
    name: String,
    label: String,
    description: Option<String>,
    help_url: Option<String>,
    masked: bool,
    required: bool,
    value: String,
    fault: Option<String>,
}

impl FieldView {
    /// The ids of what describes the input, the fault first.
    fn described_by(&self) -> Option<String> {
        let fault = self.fault.as_ref().map(|_| format!("fault-{}", self.name));
        let about = self.description.as_ref().map(|_| format!("about-{}", self.name));
        let ids = fault.into_iter().chain(about).collect::<Vec<_>>().join(" ");
        (!ids.is_empty()).then_some(ids)
    }
}

impl ConnectPage {
    /// The page of `visit`, after `attempt`.
    pub(crate) fn new(page: Page, csrf: String, visit: &Visit, attempt: &Attempt, now: Timestamp) -> Self {
        let words = page.words();
        let language = words.language().code();
        let interaction = &visit.interaction;
        Self {
            heading: heading(words, visit),
            lead: lead(words, visit),
            about: visit.provider.about.as_ref().map(|about| about.get(language).to_owned()),
            claim: interaction
                .client_claim
                .as_deref()
                .and_then(claim)
                .map(|claim| words.say("common.claim", &[("claim", &claim)])),
            facts: facts(words, visit),
            action: format!("/connect/{}", interaction.id),
            csrf,
            reuse: visit.purpose.reuses(),
            failure: failure(words, attempt),
            fields: fields(words, visit, attempt),
            closes: words.with_time("connect.closes", interaction.expires_at, now),
            page,
        }
    }

    fn has_errors(&self) -> bool {
        self.failure.is_some() || self.fields.iter().any(|field| field.fault.is_some())
    }
}

fn heading(words: Words, visit: &Visit) -> String {
    let key = match visit.purpose {
        Purpose::Connect => "connect.heading",
        Purpose::Replace => "connect.heading_replace",
        Purpose::AllowClient => "connect.heading_client",
        Purpose::AllowDestination => "connect.heading_destination",
    };
    let provider = visit.provider.title.get(words.language().code());
    words.say(key, &[("provider", provider), ("client", visit.interaction.principal.client.as_str())])
}

/// Who wants what, in one or two sentences.
fn lead(words: Words, visit: &Visit) -> Html {
    let language = words.language().code();
    let provider = visit.provider.title.get(language);
    let mut required = visit.provider.fields().iter().filter(|field| field.required);
    let what = match (required.next(), required.next()) {
        (Some(field), None) => {
            let label = field.label.get(language);
            // "Weather API key" needs no "Weather" before it.
            let whole = label.to_lowercase().contains(&provider.to_lowercase());
            let joined = words.say("connect.what", &[("provider", provider), ("field", label)]);
            Some(if whole { label.to_owned() } else { joined })
        }
        _ => None,
    };
    let key = match (visit.purpose, &what) {
        (Purpose::Connect, Some(_)) => "connect.lead",
        (Purpose::Connect, None) => "connect.lead_many",
        (Purpose::Replace, _) => "connect.lead_replace",
        (Purpose::AllowClient, _) => "connect.lead_client",
        (Purpose::AllowDestination, _) => "connect.lead_destination",
    };
    let values = [
        ("client", visit.interaction.principal.client.as_str()),
        ("server", visit.upstream.title.get(language)),
        ("provider", provider),
        ("what", what.as_deref().unwrap_or_default()),
        ("target", &visit.interaction.destination.target),
    ];
    words.rich(key, &values)
}

/// R-OAUTH-03: who asks, which server, where it goes, what becomes of it.
fn facts(words: Words, visit: &Visit) -> Vec<Fact> {
    let interaction = &visit.interaction;
    let server = visit.upstream.title.get(words.language().code());
    let name = &visit.upstream.name;
    let server = if server == name {
        Fact::new(words.text("connect.server"), server)
    } else {
        Fact::noted(words.text("connect.server"), server, name.as_str())
    };
    vec![
        Fact::noted(
            words.text("connect.asked_by"),
            interaction.principal.client.as_str(),
            words.text("connect.asked_by_note"),
        ),
        server,
        Fact::noted(words.text("connect.sent_to"), &interaction.destination.target, words.text("connect.sent_to_note")),
        Fact::new(words.text("connect.kept"), words.text("connect.kept_value")),
        Fact::new(words.text("connect.seen"), words.text("connect.seen_value")),
    ]
}

/// What went wrong that is no single field's fault. Never any part of what was typed.
fn failure(words: Words, attempt: &Attempt) -> Option<String> {
    if attempt.faults.contains(&Fault::Unknown) {
        return Some(words.text("fault.unknown").to_owned());
    }
    let with_status = |key, status: http::StatusCode| words.say(key, &[("status", status.as_str())]);
    attempt.check.map(|error| match error {
        CheckError::Refused(status) => with_status("fault.refused", status),
        CheckError::Answered(status) => with_status("fault.answered", status),
        CheckError::Unreachable => words.text("fault.unreachable").to_owned(),
        CheckError::TooSlow => words.text("fault.too_slow").to_owned(),
        CheckError::Unsendable => words.text("fault.unsendable").to_owned(),
    })
}

fn fields(words: Words, visit: &Visit, attempt: &Attempt) -> Vec<FieldView> {
    let language = words.language().code();
    let view = |field: &crate::config::Field| {
        let label = field.label.get(language);
        let fault = attempt.faults.iter().find(|fault| fault.field() == Some(field.name.as_str()));
        let fault = fault.and_then(|fault| match fault {
            Fault::Missing(_) => Some("fault.missing"),
            Fault::TooLong(_) => Some("fault.too_long"),
            Fault::Characters(_) => Some("fault.characters"),
            Fault::Unknown => None,
        });
        let typed = attempt.typed.get(&field.name).filter(|_| !field.masked);
        FieldView {
            name: field.name.clone(),
            label: label.to_owned(),
            description: field.description.as_ref().map(|text| text.get(language).to_owned()),
            help_url: field.help_url.as_ref().map(ToString::to_string),
            masked: field.masked,
            required: field.required,
            value: typed.map(|value| value.expose_secret().to_owned()).unwrap_or_default(),
            fault: fault.map(|key| words.say(key, &[("field", label)])),
        }
    };
    visit.provider.fields().iter().map(view).collect()
}
