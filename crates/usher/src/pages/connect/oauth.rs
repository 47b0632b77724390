//! The page before a person goes to a provider to sign in: who asks, for which permissions, and where that is.

use std::collections::BTreeSet;

use askama::Template;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use url::Url;

use super::{
    external::{emphasised, host},
    facts::facts_of_grant,
    view::{Attempt, FieldView, address, failure, heading, lead},
};
use crate::{
    broker::{Fault, NoWay, Purpose, Visit, Way},
    claim,
    config::definition::Input,
    pages::{
        page::{Fact, Page},
        words::{Html, Said, Words},
    },
};

/// The name of the hidden field with the host that the page showed. No input of a provider is called so.
pub(super) const SHOWN: &str = "host shown";

/// The page.
#[derive(Template)]
#[template(path = "connect/oauth.html")]
pub(crate) struct OAuthPage {
    page: Page,
    heading: String,
    lead: Html,
    about: Option<Html>,
    facts: Vec<Fact>,
    action: String,
    csrf: String,
    /// The host that the person sees here, to go to no other one.
    shown: String,
    /// The main button where nobody needs to sign in anywhere.
    reuse: Option<&'static str>,
    /// What the button says that leads there; without one nobody can go.
    leave: Option<String>,
    failure: Option<String>,
    fields: Vec<FieldView>,
    hint: Option<&'static str>,
    closes: Html,
}

impl OAuthPage {
    /// The page of `visit`, which leads by `way`, after `attempt`. `begun` is the mark of a question that the person began.
    pub(crate) fn new(
        page: Page,
        csrf: String,
        visit: &Visit,
        way: &Way,
        attempt: &Attempt,
        begun: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        let language = words.language();
        let reuse = match visit.purpose {
            Purpose::Continue => Some("connect.continue"),
            purpose if purpose.reuses() => Some("connect.allow"),
            _ => None,
        };
        let leave = match way {
            Way::To(url) => Some(words.say("external.continue", &[("host", &host(url))])),
            Way::Asks => Some(words.text("connect.continue").to_owned()),
            Way::Closed(_) => None,
        };
        let closed = match way {
            Way::Closed(why) if reuse.is_none() => Some(no_way(words, visit, *why)),
            _ => None,
        };
        Self {
            heading: heading(words, visit),
            lead: if begun.is_some() { lead_begun(words, visit) } else { lead_of(words, visit) },
            about: visit.provider.about.as_ref().map(|about| Html::said(Said::of(about, language))),
            facts: facts(words, visit, way, begun.is_some()),
            action: address(&visit.interaction.id, begun),
            csrf,
            shown: shown(way),
            reuse: reuse.map(|key| words.text(key)),
            leave,
            failure: failure(words, visit, attempt).or(closed),
            fields: fields(words, visit, attempt),
            hint: begun.is_none().then(|| words.text("oauth.hint")),
            closes: words.with_time("connect.closes", visit.interaction.expires_at, now),
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

/// The host that a page with this way shows, as its form says it.
pub(super) fn shown(way: &Way) -> String {
    match way {
        Way::To(url) => url.origin().ascii_serialization(),
        Way::Asks | Way::Closed(_) => String::new(),
    }
}

fn lead_begun(words: Words, visit: &Visit) -> Html {
    words.rich("oauth.lead_begun", &[("provider", Said::of(&visit.provider.title, words.language()))])
}

/// Who wants what, in one or two sentences.
fn lead_of(words: Words, visit: &Visit) -> Html {
    let key = match visit.purpose {
        Purpose::Connect => "oauth.lead",
        Purpose::Replace => "oauth.lead_replace",
        Purpose::Restore => "oauth.lead_restore",
        Purpose::Widen => "oauth.lead_more",
        // Nobody signs in anywhere: it is the same as with a key.
        Purpose::AllowClient
        | Purpose::AllowAddress
        | Purpose::AllowServer
        | Purpose::AllowBoth
        | Purpose::Continue => return lead(words, visit),
    };
    let values = [
        ("Client", words.app_first(visit.interaction.principal.client.as_str()).into()),
        ("server", Said::of(&visit.upstream.title, words.language())),
        ("provider", Said::of(&visit.provider.title, words.language())),
    ];
    words.rich(key, &values)
}

fn facts(words: Words, visit: &Visit, way: &Way, begun: bool) -> Vec<Fact> {
    let mut own = Vec::new();
    if let Some(account) = &visit.account {
        own.push(Fact::rich(words.text("done.account"), Html::element("bdi", None, &Html::text(account))));
    }
    if !visit.purpose.reuses() {
        if let Way::To(url) = way {
            own.push(sign_in(words, url));
        }
        own.extend(permissions(words, visit));
    }
    facts_of_grant(words, visit, begun, own)
}

fn sign_in(words: Words, url: &Url) -> Fact {
    let mut fact = Fact::rich(words.text("oauth.sign_in_at"), emphasised(url));
    fact.note = Some(words.text("oauth.sign_in_note").to_owned());
    fact
}

/// What is asked for (R-OAUTH-03): what is new, and what the person gave before.
fn permissions(words: Words, visit: &Visit) -> Vec<Fact> {
    let scopes = &visit.scopes;
    if visit.purpose != Purpose::Widen {
        return vec![Fact::rich(words.text("oauth.permissions"), listed(words, visit, &scopes.asked))];
    }
    let mut facts = vec![Fact::rich(words.text("oauth.new_permissions"), listed(words, visit, &scopes.new()))];
    if !scopes.given.is_empty() {
        facts.push(Fact::rich(words.text("oauth.old_permissions"), listed(words, visit, &scopes.given)));
    }
    facts
}

/// Each in words where they are known, with the scope itself beside it.
fn listed(words: Words, visit: &Visit, scopes: &BTreeSet<String>) -> Html {
    if scopes.is_empty() {
        let provider = Said::of(&visit.provider.title, words.language());
        return words.rich("oauth.permissions_open", &[("provider", provider)]);
    }
    let texts = visit.provider.definition().map(|definition| &definition.scope_text);
    Html::list(scopes.iter().map(|scope| {
        // Servers of others choose some of them.
        let raw = claim::clean(scope).unwrap_or_else(|| "?".to_owned());
        let raw = Html::element("code", None, &Html::element("bdi", None, &Html::text(&raw)));
        match texts.and_then(|texts| texts.get(scope)) {
            Some(text) => Html::joined([
                Html::said(Said::of(text, words.language())),
                Html::text(" "),
                Html::element("span", Some("note"), &raw),
            ]),
            None => raw,
        }
    }))
}

fn no_way(words: Words, visit: &Visit, why: NoWay) -> String {
    let key = match why {
        NoWay::Unknown => "oauth.no_way",
        NoWay::Unreachable => "oauth.no_answer",
        NoWay::Unsafe => "oauth.unsafe",
        NoWay::NoClient => "oauth.no_client",
    };
    words.say(key, &[("provider", visit.provider.title.get(words.language().code()))])
}

/// What the provider's address depends on, with what the person typed, or gave the last time.
fn fields(words: Words, visit: &Visit, attempt: &Attempt) -> Vec<FieldView> {
    let language = words.language();
    let view = |input: &Input| {
        let label = input.label.get(language.code());
        let fault = attempt.faults.iter().find(|fault| fault.field() == Some(input.name.as_str()));
        let key = fault.map(|fault| match fault {
            Fault::Missing(_) => "oauth.value_missing",
            _ => "oauth.value_wrong",
        });
        let typed = attempt.typed.get(&input.name).map(|value| value.expose_secret().to_owned());
        let given = || visit.values.get(&input.name).or(input.default.as_ref()).cloned();
        let suffix = input.suffix.as_ref().zip(input.example.as_ref());
        let example = suffix.map(|(suffix, example)| format!("{example}{suffix}")).or_else(|| input.example.clone());
        FieldView {
            name: input.name.clone(),
            label: Html::said(Said::of(&input.label, language)),
            show: String::new(),
            hide: String::new(),
            description: input
                .description
                .as_ref()
                .map(|text| Html::said(Said::of(text, language)))
                .or_else(|| example.map(|example| words.rich("oauth.example", &[("example", &example)]))),
            help_url: None,
            masked: false,
            required: input.default.is_none(),
            value: typed.or_else(given).unwrap_or_default(),
            fault: key.map(|key| words.say(key, &[("field", label)])),
        }
    };
    visit.provider.inputs().map(view).collect()
}
