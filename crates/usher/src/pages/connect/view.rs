//! What the page of an open question shows, in the person's language.

use std::collections::BTreeMap;

use askama::Template;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::InteractionId;

use super::facts::facts;
use crate::{
    broker::{ConfirmError, Fault, Purpose, Visit},
    credentials::check::CheckError,
    pages::{
        page::{Fact, Page},
        words::{Html, Said, Words},
    },
};

/// The parameter that carries the mark of a question that the person began on the portal.
pub(crate) const BEGUN: &str = "begun";

/// The parameter that carries what a look at a visit found, with its mark.
pub(super) const LOOKED: &str = "looked";

/// What a person tried before, and why it did not do.
#[derive(Default)]
pub(crate) struct Attempt {
    /// What they typed. Masked fields are not shown again.
    pub(crate) typed: BTreeMap<String, SecretString>,
    /// What is wrong with it.
    pub(crate) faults: Vec<Fault>,
    /// What the provider said.
    pub(crate) check: Option<CheckError>,
    /// Whether what they wanted to allow is there no longer.
    pub(crate) outdated: bool,
    /// Why a visit to somebody else's page is not known to be done.
    pub(crate) look: Option<ConfirmError>,
}

/// The page. `Debug` would show what was typed, so there is none.
#[derive(Template)]
#[template(path = "connect/show.html")]
pub(crate) struct ConnectPage {
    page: Page,
    heading: String,
    lead: Html,
    about: Option<Html>,
    facts: Vec<Fact>,
    action: String,
    csrf: String,
    /// The main button where nothing needs to be typed.
    reuse: Option<&'static str>,
    failure: Option<String>,
    fields: Vec<FieldView>,
    /// The advice to decline what one did not ask for.
    hint: Option<&'static str>,
    closes: Html,
}

/// One input of a form.
pub(super) struct FieldView {
    pub(super) name: String,
    pub(super) label: Html,
    pub(super) show: String,
    pub(super) hide: String,
    pub(super) description: Option<Html>,
    pub(super) help_url: Option<String>,
    pub(super) masked: bool,
    pub(super) required: bool,
    pub(super) value: String,
    pub(super) fault: Option<String>,
}

impl FieldView {
    /// The ids of what describes the input, the fault first.
    pub(super) fn described_by(&self) -> Option<String> {
        let fault = self.fault.as_ref().map(|_| format!("fault-{}", self.name));
        let about = self.description.as_ref().map(|_| format!("about-{}", self.name));
        let ids = fault.into_iter().chain(about).collect::<Vec<_>>().join(" ");
        (!ids.is_empty()).then_some(ids)
    }
}

impl ConnectPage {
    /// The page of `visit`, after `attempt`. `begun` is the mark of a question that the person began on the portal,
    /// which goes on to the next page.
    pub(crate) fn new(
        page: Page,
        csrf: String,
        visit: &Visit,
        attempt: &Attempt,
        begun: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        let interaction = &visit.interaction;
        let reuse = match visit.purpose {
            Purpose::Continue => Some("connect.continue"),
            purpose if purpose.reuses() => Some("connect.allow"),
            _ => None,
        };
        Self {
            heading: heading(words, visit),
            lead: if begun.is_some() { lead_begun(words, visit) } else { lead(words, visit) },
            about: visit.provider.about.as_ref().map(|about| Html::said(Said::of(about, words.language()))),
            facts: facts(words, visit, begun.is_some()),
            action: address(&interaction.id, begun),
            csrf,
            reuse: reuse.map(|key| words.text(key)),
            failure: failure(words, visit, attempt),
            fields: fields(words, visit, attempt),
            hint: begun.is_none().then(|| words.text("connect.hint")),
            closes: words.with_time("connect.closes", interaction.expires_at, now),
            page,
        }
    }

    /// That something is wrong is said first.
    fn title(&self) -> String {
        if !self.has_errors() {
            return self.heading.clone();
        }
        self.page.words().say("common.error_title", &[("heading", &self.heading)])
    }

    fn has_errors(&self) -> bool {
        self.failure.is_some() || self.fields.iter().any(|field| field.fault.is_some())
    }
}

/// The path of a question's page, with the mark of one that the person began.
pub(super) fn address(id: &InteractionId, begun: Option<&str>) -> String {
    match begun {
        Some(mark) => format!("/connect/{id}?{BEGUN}={mark}"),
        None => format!("/connect/{id}"),
    }
}

pub(super) fn heading(words: Words, visit: &Visit) -> String {
    let key = match visit.purpose {
        Purpose::Connect => "connect.heading",
        Purpose::Replace => "connect.heading_replace",
        Purpose::Restore => "connect.heading_restore",
        Purpose::Widen => "oauth.heading_more",
        Purpose::AllowClient => "connect.heading_client",
        Purpose::AllowAddress => "connect.heading_address",
        Purpose::AllowServer => "connect.heading_server",
        Purpose::AllowBoth => "connect.heading_both",
        Purpose::Continue => "connect.heading_continue",
    };
    let language = words.language().code();
    let values = [
        ("provider", visit.provider.title.get(language)),
        ("client", words.app(visit.interaction.principal.client.as_str())),
        ("server", visit.upstream.title.get(language)),
    ];
    words.say(key, &values)
}

/// Nobody wants anything but the person.
fn lead_begun(words: Words, visit: &Visit) -> Html {
    words.rich("connect.lead_begun", &[("provider", Said::of(&visit.provider.title, words.language()))])
}

/// Who wants what, in one or two sentences.
pub(super) fn lead(words: Words, visit: &Visit) -> Html {
    let language = words.language();
    let provider = Said::of(&visit.provider.title, language);
    let mut required = visit.provider.fields().iter().filter(|field| field.required);
    let what = match (required.next(), required.next()) {
        (Some(field), None) => {
            let label = field.label.get(language.code());
            // "Weather API key" needs no "Weather" before it.
            let whole = label.to_lowercase().contains(&provider.text().to_lowercase());
            let joined = words.say("connect.what", &[("provider", provider.text()), ("field", label)]);
            Some(if whole { label.to_owned() } else { joined })
        }
        _ => None,
    };
    let key = match (visit.purpose, &what) {
        (Purpose::Connect, Some(_)) => "connect.lead",
        (Purpose::Connect, None) => "connect.lead_many",
        (Purpose::Replace, _) => "connect.lead_replace",
        (Purpose::Restore, _) => "connect.lead_restore",
        (Purpose::Widen, _) => "oauth.lead_more",
        (Purpose::AllowClient, _) => "connect.lead_client",
        (Purpose::AllowAddress, _) => "connect.lead_address",
        (Purpose::AllowServer, _) => "connect.lead_server",
        (Purpose::AllowBoth, _) => "connect.lead_both",
        (Purpose::Continue, _) => "connect.lead_continue",
    };
    let client = visit.interaction.principal.client.as_str();
    let values = [
        ("client", words.app(client).into()),
        ("Client", words.app_first(client).into()),
        ("server", Said::of(&visit.upstream.title, language)),
        ("provider", provider),
        ("what", what.as_deref().unwrap_or_default().into()),
        ("target", visit.interaction.destination.target.as_str().into()),
    ];
    words.rich(key, &values)
}

/// What the provider said of the only field there is: that is where it is to be mended.
fn refused_field<'v>(visit: &'v Visit, attempt: &Attempt) -> Option<&'v str> {
    match (attempt.check, visit.provider.fields()) {
        (Some(CheckError::Refused(_) | CheckError::Unsendable), [only]) => Some(&only.name),
        _ => None,
    }
}

/// What went wrong that is no single field's fault. Never any part of what was typed.
pub(super) fn failure(words: Words, visit: &Visit, attempt: &Attempt) -> Option<String> {
    if attempt.outdated {
        let provider = visit.provider.title.get(words.language().code());
        return Some(words.say("fault.outdated", &[("provider", provider)]));
    }
    if attempt.faults.contains(&Fault::Unknown) {
        return Some(words.text("fault.unknown").to_owned());
    }
    if refused_field(visit, attempt).is_some() {
        return None;
    }
    attempt.check.map(|error| check_failed(words, error))
}

fn check_failed(words: Words, error: CheckError) -> String {
    let with_status = |key, status: http::StatusCode| words.say(key, &[("status", status.as_str())]);
    match error {
        CheckError::Refused(status) => with_status("fault.refused", status),
        CheckError::Answered(status) => with_status("fault.answered", status),
        CheckError::Unreachable => words.text("fault.unreachable").to_owned(),
        CheckError::TooSlow => words.text("fault.too_slow").to_owned(),
        CheckError::Unsendable => words.text("fault.unsendable").to_owned(),
    }
}

fn fields(words: Words, visit: &Visit, attempt: &Attempt) -> Vec<FieldView> {
    let language = words.language();
    let refused = refused_field(visit, attempt);
    let view = |field: &crate::config::Field| {
        let label = field.label.get(language.code());
        let fault = attempt.faults.iter().find(|fault| fault.field() == Some(field.name.as_str()));
        let fault = fault.and_then(|fault| match fault {
            Fault::Missing(_) => Some("fault.missing"),
            Fault::TooLong(_) => Some("fault.too_long"),
            Fault::Characters(_) => Some("fault.characters"),
            Fault::Form(_) => Some("oauth.value_wrong"),
            Fault::Unknown => None,
        });
        let check = attempt.check.filter(|_| refused == Some(&field.name));
        let typed = attempt.typed.get(&field.name).filter(|_| !field.masked);
        FieldView {
            name: field.name.clone(),
            label: Html::said(Said::of(&field.label, language)),
            show: words.say("connect.show_named", &[("field", label)]),
            hide: words.say("connect.hide_named", &[("field", label)]),
            description: field.description.as_ref().map(|text| Html::said(Said::of(text, language))),
            help_url: field.help_url.as_ref().map(ToString::to_string),
            masked: field.masked,
            required: field.required,
            value: typed.map(|value| value.expose_secret().to_owned()).unwrap_or_default(),
            fault: fault
                .map(|key| words.say(key, &[("field", label)]))
                .or_else(|| check.map(|error| check_failed(words, error))),
        }
    };
    visit.provider.fields().iter().map(view).collect()
}
