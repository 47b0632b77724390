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

/// The name of the hidden field with what the page showed of the way. No input of a provider is called so.
pub(super) const SHOWN: &str = "shown-way";

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
    /// Where the person goes, and for what, as they see it here.
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
    /// The page of `visit`, which leads by `way`, after `attempt`. `begun` is the mark of a question that the person
    /// began.
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
            shown: match way {
                Way::To(url) => visit.shown(url),
                Way::Asks | Way::Closed(_) => String::new(),
            },
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
    let mut facts = vec![Fact::rich(words.text("oauth.new_permissions"), listed(words, visit, &scopes.more()))];
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

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;
    use secrecy::SecretString;
    use usher_store::{Interaction, InteractionState};

    use super::*;
    use crate::{
        broker::Scopes,
        pages::{gallery, language::Language},
    };

    fn visit(provider: &str, purpose: Purpose) -> Visit {
        let set = |scopes: &[&str]| scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let visit = gallery::visit(purpose);
        Visit {
            interaction: Interaction {
                provider: provider.into(),
                ..gallery::interaction(InteractionState::Opened { at: gallery::now() })
            },
            provider: gallery::config().provider(provider).unwrap().clone(),
            scopes: Scopes { asked: set(&["delete:<b>all</b>", "repo"]), given: set(&["repo"]) },
            ..visit
        }
    }

    fn render(language: Language, visit: &Visit, way: &Way, attempt: &Attempt, begun: Option<&str>) -> String {
        let page = gallery::page(language, "/connect/AAA");
        OAuthPage::new(page, "form-token".into(), visit, way, attempt, begun, gallery::now()).render().unwrap()
    }

    fn there() -> Way {
        Way::To(Url::parse("https://login.forge.example").unwrap())
    }

    fn plain(language: Language, purpose: Purpose, way: &Way) -> String {
        render(language, &visit("forge", purpose), way, &Attempt::default(), None)
    }

    fn shop(language: Language, typed: Option<&str>, way: &Way) -> String {
        let mut attempt = Attempt::default();
        if let Some(typed) = typed {
            attempt.typed.insert("shop".into(), SecretString::from(typed));
            attempt.faults.push(Fault::Form("shop".into()));
        }
        render(language, &visit("shop", Purpose::Connect), way, &attempt, None)
    }

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let account = Visit { account: Some("ada".into()), ..visit("forge", Purpose::Replace) };
        vec![
            ("oauth", plain(language, Purpose::Connect, &there())),
            ("oauth-replace", render(language, &account, &there(), &Attempt::default(), None)),
            ("oauth-begun", render(language, &account, &there(), &Attempt::default(), Some("mark"))),
            ("oauth-restore", plain(language, Purpose::Restore, &there())),
            ("oauth-more", plain(language, Purpose::Widen, &there())),
            ("oauth-client", plain(language, Purpose::AllowClient, &there())),
            ("oauth-continue", plain(language, Purpose::Continue, &there())),
            ("oauth-asks", shop(language, None, &Way::Asks)),
            ("oauth-wrong", shop(language, Some("a/b"), &Way::Asks)),
            ("oauth-unknown", plain(language, Purpose::Connect, &Way::Closed(NoWay::Unknown))),
            ("oauth-unreachable", plain(language, Purpose::Connect, &Way::Closed(NoWay::Unreachable))),
            ("oauth-unsafe", plain(language, Purpose::Connect, &Way::Closed(NoWay::Unsafe))),
            ("oauth-no-client", plain(language, Purpose::Connect, &Way::Closed(NoWay::NoClient))),
        ]
    }

    /// R-OAUTH-03, R-URL-06, R-URL-07: who asks, which server, for which permissions, where one signs in, what is kept
    /// and where it goes.
    #[test]
    fn the_page_names_who_asks_for_what_and_where_one_signs_in() {
        let html = plain(Language::English, Purpose::Connect, &there());
        assert!(html.contains("<h1>Connect Forge</h1>"), "{html}");
        for shown in [
            "<strong><bdi>claude-desktop</bdi></strong> wants to use <strong><bdi>Weather server</bdi></strong>",
            "<dt>Asked by</dt><dd>claude-desktop",
            "<dt>You will sign in at</dt><dd><bdi>login.<strong>forge.example</strong></bdi>",
            "<span>Read and write your repositories</span> <span class=\"note\"><code><bdi>repo</bdi></code></span>",
            "<li><code><bdi>delete:&lt;b&gt;all&lt;/b&gt;</bdi></code></li>",
            "<dt>Sent to</dt><dd>https://weather-mcp.example <span class=\"note\">only there</span>",
            "access tokens, encrypted, for you only",
            "Usher does not show it to the app or the model",
            "<button class=\"main\" name=\"action\" value=\"authorize\">Continue to login.forge.example</button>",
            "<button name=\"action\" value=\"decline\">Decline</button>",
            "name=\"shown-way\" value=\"https://login.forge.example delete:&#60;b&#62;all&#60;/b&#62; repo\"",
        ] {
            assert!(html.contains(shown), "{shown}: {html}");
        }
        assert!(!html.contains("<b>all"), "a scope is text");
        assert!(plain(Language::Chinese, Purpose::Connect, &there()).contains("读写您的代码仓库"));
    }

    /// What is new stands apart from what was given before.
    #[test]
    fn more_permissions_are_told_from_those_of_before() {
        let html = plain(Language::English, Purpose::Widen, &there());
        let (new, old) = html.split_once("<dt>You gave already</dt>").unwrap();
        assert!(
            new.contains("<dt>New permissions</dt>") && new.contains("delete:") && !new.contains(">repo<"),
            "{html}"
        );
        assert!(old.contains(">repo<") && old.contains("which stay until then"), "{html}");
    }

    /// R-OAUTH-04: what is granted already is allowed without going anywhere.
    #[test]
    fn a_grant_is_allowed_without_going_anywhere() {
        let html = plain(Language::English, Purpose::AllowClient, &there());
        assert!(html.contains("<button class=\"main\" name=\"action\" value=\"allow\">Allow</button>"), "{html}");
        assert_eq!(html.matches("class=\"main\"").count(), 1, "one main action");
        assert!(html.contains("Connect another account instead") && !html.contains("You will sign in at"));
        let closed = plain(Language::English, Purpose::AllowClient, &Way::Closed(NoWay::Unreachable));
        assert!(closed.contains("value=\"allow\"") && !closed.contains("role=\"alert\""), "{closed}");
    }

    /// Nobody is led to a host that the page does not name.
    #[test]
    fn without_a_host_the_page_names_none() {
        let html = shop(Language::English, None, &Way::Asks);
        assert!(
            html.contains("value=\"authorize\">Continue</button>") && !html.contains("You will sign in at"),
            "{html}"
        );
        assert!(html.contains("For example: <bdi>acme.myshop.example</bdi>"), "{html}");
        let wrong = shop(Language::English, Some("a/b"), &Way::Asks);
        assert!(wrong.contains("value=\"a/b\"") && wrong.contains("is not written as it should be"), "{wrong}");
        let closed = plain(Language::English, Purpose::Connect, &Way::Closed(NoWay::Unsafe));
        assert!(closed.contains("role=\"alert\"") && !closed.contains("value=\"authorize\""), "{closed}");
        assert!(closed.contains("value=\"decline\""));
    }
}
