//! Every page in every language, made from one configuration, and what must hold for all of them.

mod setting;
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use askama::Template as _;
use elicit::{ClientId, Principal, UserId};
use http::StatusCode;
use jiff::Timestamp;
use secrecy::SecretString;
use usher_store::{
    Approval, AskReason, Credential, CredentialStatus, Destination, Grant, GrantClient, GrantServer, Interaction,
    InteractionId, InteractionState, Operation,
};

pub(crate) use self::setting::config;
use super::{
    connect::{
        approve::ApprovePage,
        external::ExternalPage,
        view::{Attempt, ConnectPage},
    },
    language::Language,
    page::Page,
    words::Words,
};
use crate::{
    broker::{ConfirmError, Fault, Purpose, Scopes, Visit},
    config::{Check, ProviderKind},
    credentials::check::CheckError,
};

/// The moment at which all pages are made.
pub(crate) fn now() -> Timestamp {
    "2026-11-30T08:05:00Z".parse().unwrap()
}

/// A page frame of a person who is signed in.
pub(crate) fn page(language: Language, here: &str) -> Page {
    Page::new(Words::of(language), "127.0.0.1:8420", here, Some("sign-out-token".into()))
}

/// A page frame of somebody who is not signed in, in identity mode oidc.
pub(crate) fn stranger(language: Language, here: &str) -> Page {
    Page::new(Words::of(language), "usher.example.com", here, None).of_an_operator()
}

/// A question of the client `claude-desktop` about the weather.
pub(crate) fn interaction(state: InteractionState) -> Interaction {
    Interaction {
        id: InteractionId::parse(&"A".repeat(43)).unwrap(),
        principal: Principal {
            user: UserId::new("urn:usher:local", "owner").unwrap(),
            client: ClientId::new("claude-desktop").unwrap(),
        },
        client_claim: Some("Claude Desktop".into()),
        asked_by: None,
        provider: "weather".into(),
        destination: Destination { upstream: "weather-server".into(), target: "https://weather-mcp.example".into() },
        reason: AskReason::Missing,
        created_at: "2026-11-30T08:03:00Z".parse().unwrap(),
        expires_at: "2026-11-30T08:18:00Z".parse().unwrap(),
        state,
        version: 2,
    }
}

/// What the person connected.
pub(crate) fn credential(provider: &str, status: CredentialStatus) -> Credential {
    let interaction = interaction(InteractionState::Created);
    let approval = Approval { client: interaction.principal.client, destination: interaction.destination };
    Credential {
        id: "1".into(),
        user: interaction.principal.user,
        provider: provider.into(),
        version: 1,
        status,
        created_at: "2026-11-27T08:05:00Z".parse().unwrap(),
        updated_at: "2026-11-27T08:05:00Z".parse().unwrap(),
        last_used_at: Some("2026-11-30T08:01:00Z".parse().unwrap()),
        secrets: BTreeMap::new(),
        approved_at: [(approval.clone(), "2026-11-28T08:05:00Z".parse().unwrap())].into(),
        approvals: vec![approval],
        grant: None,
        attempts: 0,
    }
}

/// An account that the person connected at a third party.
pub(crate) fn account(provider: &str, status: CredentialStatus) -> Credential {
    let scopes = ["tasks.read", "tasks.<b>write</b>"].map(str::to_owned);
    let grant = Grant {
        refresh_token: Some("refresh-secret".into()),
        expires_at: Some("2026-11-30T09:05:00Z".parse().unwrap()),
        refresh_at: None,
        scopes: scopes.into(),
        asked: BTreeSet::new(),
        demanded: BTreeSet::new(),
        account: Some("Ada <b>Example</b>".into()),
        values: BTreeMap::new(),
        server: GrantServer {
            issuer: "https://tasks.example".into(),
            token_endpoint: None,
            revocation_endpoint: None,
            resource: None,
            client: GrantClient {
                id: "usher".into(),
                secret: None,
                method: "client_secret_basic".into(),
                redirect_uri: "https://usher.example/callback/tasks".into(),
            },
        },
    };
    Credential { grant: Some(grant), ..credential(provider, status) }
}

/// The open question.
pub(crate) fn visit(purpose: Purpose) -> Visit {
    let config = config();
    Visit {
        interaction: interaction(InteractionState::Opened { at: now() }),
        provider: config.provider("weather").unwrap().clone(),
        upstream: config.upstream("weather-server").unwrap().clone(),
        operation: Some(Operation::named("tools/call", "get_forecast")),
        purpose,
        approvals: Vec::new(),
        titles: BTreeMap::new(),
        scopes: Scopes::default(),
        account: None,
        values: BTreeMap::new(),
    }
}

/// A call that its page shows whole.
pub(crate) const CALL: &str =
    r#"{"name":"delete_file","arguments":{"path":"/srv/<b>report</b>.txt","size":9007199254740993,"force":true}}"#;

/// A question of another kind, about that call.
pub(crate) fn once(provider: &str, state: InteractionState) -> Visit {
    Visit {
        interaction: Interaction { provider: provider.into(), ..interaction(state) },
        provider: config().provider(provider).unwrap().clone(),
        operation: Some(Operation::exact("tools/call", Some(CALL)).unwrap()),
        ..visit(Purpose::Connect)
    }
}

fn approve(language: Language) -> String {
    let page = page(language, "/connect/AAA");
    let visit = once("confirm", InteractionState::Opened { at: now() });
    ApprovePage::new(page, "form-token".into(), &visit, now()).render().unwrap()
}

fn external(language: Language, provider: &str, state: InteractionState, look: Option<ConfirmError>) -> String {
    let page = page(language, "/connect/AAA");
    let visit = once(provider, state);
    let attempt = Attempt { look, ..Attempt::default() };
    let external = visit.provider.external().unwrap();
    ExternalPage::new(page, "form-token".into(), &visit, external, &attempt, now()).render().unwrap()
}

/// The same, where another client has it sent there, and to a second server of old.
pub(crate) fn shared(purpose: Purpose) -> Visit {
    let visit = visit(purpose);
    let approval =
        |client: &str, destination: Destination| Approval { client: ClientId::new(client).unwrap(), destination };
    let old = Destination { upstream: "archive".into(), target: "https://archive.example".into() };
    let title = visit.upstream.title.clone();
    Visit {
        approvals: vec![
            approval("claude-desktop", visit.interaction.destination.clone()),
            approval("editor", visit.interaction.destination.clone()),
            approval("editor", old),
        ],
        titles: [("weather-server".to_owned(), title)].into(),
        ..visit
    }
}

fn connect(language: Language, purpose: Purpose, attempt: &Attempt) -> String {
    render(language, &visit(purpose), attempt)
}

fn render(language: Language, visit: &Visit, attempt: &Attempt) -> String {
    let page = page(language, "/connect/AAA");
    ConnectPage::new(page, "form-token".into(), visit, attempt, None, now()).render().unwrap()
}

/// A try that went wrong in every field.
pub(crate) fn wrong() -> Attempt {
    let typed = [("api_key", "wk_secret"), ("team", "blue \"team\"")];
    Attempt {
        typed: typed.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect(),
        faults: vec![Fault::Missing("api_key".into()), Fault::TooLong("team".into())],
        ..Attempt::default()
    }
}

/// A try that the provider refused.
pub(crate) fn refused() -> Attempt {
    let check = Some(CheckError::Refused(StatusCode::UNAUTHORIZED));
    Attempt { faults: Vec::new(), check, ..wrong() }
}

/// All pages by name.
fn gallery(language: Language) -> Vec<(&'static str, String)> {
    let none = Attempt::default();
    let mut pages = vec![
        ("connect", connect(language, Purpose::Connect, &none)),
        ("connect-wrong", connect(language, Purpose::Connect, &wrong())),
        ("connect-refused", connect(language, Purpose::Connect, &refused())),
        ("connect-replace", connect(language, Purpose::Replace, &none)),
        ("allow-client", connect(language, Purpose::AllowClient, &none)),
        ("connect-restore", connect(language, Purpose::Restore, &none)),
        ("connect-shared", render(language, &shared(Purpose::Replace), &none)),
        ("allow-address", connect(language, Purpose::AllowAddress, &none)),
        ("allow-server", connect(language, Purpose::AllowServer, &none)),
        ("allow-both", render(language, &shared(Purpose::AllowBoth), &none)),
        ("continue", connect(language, Purpose::Continue, &none)),
        ("allow-refused", connect(language, Purpose::AllowClient, &refused())),
    ];
    let (opened, left) = (InteractionState::Opened { at: now() }, InteractionState::Consented { at: now() });
    pages.extend([
        ("approve", approve(language)),
        ("external", external(language, "pay", opened, None)),
        ("external-left", external(language, "pay", left, None)),
        ("external-not-yet", external(language, "pay", left, Some(ConfirmError::NotYet))),
        ("external-user", external(language, "terms", opened, None)),
        ("external-user-left", external(language, "terms", left, None)),
    ]);
    pages.extend(super::connect::ended::tests::pages(language));
    pages.extend(super::connect::returned::tests::pages(language));
    pages.extend(super::connect::callback::tests::pages(language));
    pages.extend(super::connect::oauth::tests::pages(language));
    pages.extend(super::connect::leaving::tests::pages(language));
    pages.extend(super::portal::connections::tests::pages(language));
    pages.push(("clients", super::portal::clients::tests::page(language)));
    pages.push(("revoke", super::portal::revoke::tests::page(language)));
    pages.push(("activity", super::portal::activity::tests::page(language)));
    pages.push(("sessions", super::portal::sessions::tests::page(language)));
    pages.push(("disconnect", super::portal::disconnect::tests::page(language)));
    pages.push(("disconnect-unreadable", super::portal::disconnect::tests::unreadable(language)));
    pages.extend(super::portal::disconnect::tests::accounts(language));
    pages.extend(super::login::tests::pages(language));
    pages.extend(super::logout::tests::pages(language));
    pages
}

/// Each page: one heading, one main landmark, its language, a title of its own, a label for each input, nothing inline.
#[test]
fn every_page_is_well_made() {
    for language in Language::ALL {
        for (name, html) in gallery(language) {
            assert!(html.starts_with("<!doctype html>"), "{name}");
            assert!(html.contains(&format!("<html lang=\"{}\">", language.code())), "{name}");
            for once in ["<h1", "<main", "<title>", "<footer", "<header"] {
                assert_eq!(html.matches(once).count(), 1, "{name}: {once}");
            }
            for never in [" style=", "<style", " onclick=", " onsubmit=", "javascript:", "http://"] {
                assert!(!html.contains(never), "{name}: {never}");
            }
            let mut ids = BTreeSet::new();
            for id in html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                assert!(ids.insert(id), "{name}: {id} twice");
            }
            for reference in
                [" for=\"", " aria-labelledby=\"", " aria-describedby=\"", " aria-controls=\"", " href=\"#"]
            {
                for names in html.split(reference).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                    assert!(names.split(' ').all(|id| ids.contains(id)), "{name}: {reference}{names}");
                }
            }
            let inputs = html.matches("<input id=").count();
            assert_eq!(html.matches("<label for=").count(), inputs, "{name}");
            assert_eq!(html.matches("<form method=\"post\"").count(), html.matches("<form").count(), "{name}");
        }
    }
}

#[test]
fn every_page_has_a_title_of_its_own() {
    for language in Language::ALL {
        let titles = gallery(language).into_iter().map(|(name, html)| {
            let title = html.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned();
            (name, title)
        });
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (name, title) in titles {
            // The page after a refused answer is the same page; that it has a fault is said first.
            let same = ["connect-refused", "connect-wrong", "connect-shared", "allow-refused"].contains(&name)
                || name.starts_with("failed-")
                || name == "callback-refused"
                || name.starts_with("oauth-");
            if let Some(other) = seen.insert(title, name) {
                assert!(same, "{name} is titled as {other}");
            }
        }
    }
}

/// R-OAUTH-03, R-GW-04, R-SEC-02: who asks, which server, where it goes; what the client says of itself stands apart.
#[test]
fn the_question_names_who_asks_and_where_the_key_goes() {
    let html = connect(Language::English, Purpose::Connect, &Attempt::default());
    assert!(html.contains("<h1>Connect Weather</h1>"));
    assert!(html.contains(
        "<p class=\"lead\"><strong><bdi>claude-desktop</bdi></strong> wants to use <strong><bdi>Weather server</bdi>\
         </strong> for you. It needs your <bdi>Weather API key</bdi>.</p>"
    ));
    assert!(html.contains(
        "<dt>Asked by</dt><dd>claude-desktop <span class=\"note\">verified by its token on this \
         machine</span></dd>"
    ));
    assert!(
        html.contains("<dt>Server</dt><dd><span>Weather server</span> <span class=\"note\">weather-server</span></dd>")
    );
    assert!(
        html.contains("<dt>Sent to</dt><dd>https://weather-mcp.example <span class=\"note\">only there</span></dd>")
    );
    assert!(html.contains(
        "machine</span></dd></div>\n<div class=\"claim\"><dt>Not verified</dt><dd>calls itself “<bdi>Claude Desktop</bdi>”</dd>"
    ));
    assert_eq!(html.matches("Claude Desktop").count(), 1, "the claim stands nowhere else");
    assert!(html.contains("<button class=\"main\" name=\"action\" value=\"connect\">Connect</button>"));
    assert!(html.contains("<button name=\"action\" value=\"decline\">Decline</button>"));
}

/// R-OAUTH-03, R-SEC-02: the page of an approval shows all of the call, as text, and who makes it where.
#[test]
fn an_approval_shows_the_whole_call() {
    let html = approve(Language::English);
    assert!(html.contains("<h1>Allow this once?</h1>"));
    assert!(html.contains(
        "<strong><bdi>claude-desktop</bdi></strong> wants to run <strong><bdi>delete_file</bdi></strong> on"
    ));
    for shown in ["/srv/&lt;b&gt;report&lt;/b&gt;.txt", "9007199254740993", ">true<", "Deleting needs your word."] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    assert!(html.contains("Not verified") && html.contains("this one call, exactly as shown here"));
    assert!(html.contains("<button class=\"main\" name=\"action\" value=\"approve\">Allow once</button>"));
    assert!(html.contains("<button name=\"action\" value=\"decline\">Decline</button>"));
    assert!(approve(Language::Chinese).contains("<h1>仅允许这一次？</h1>"));
}

/// R-URL-06, R-URL-07: before anybody goes there, the page says where, why and what for.
#[test]
fn an_external_page_is_named_before_anybody_goes_there() {
    let html = external(Language::English, "pay", InteractionState::Opened { at: now() }, None);
    assert!(html.contains("<h1>Continue at Example Pay</h1>"));
    assert!(html.contains("<bdi>checkout.<strong>pay.example</strong></bdi>"), "{html}");
    assert!(html.contains("You pay 3 euros for one report.") && html.contains("9007199254740993"));
    assert!(html.contains("value=\"continue\">Continue to checkout.pay.example</button>"));
    assert!(!html.contains("api.pay.example"), "what we ask is nobody's business");
    let left =
        external(Language::English, "pay", InteractionState::Consented { at: now() }, Some(ConfirmError::NotYet));
    assert!(left.contains("<button class=\"main\" name=\"action\" value=\"check\">Check again</button>"));
    assert!(left.contains("role=\"alert\"") && left.contains("Example Pay says that it is not done yet."));
    let user = external(Language::English, "terms", InteractionState::Opened { at: now() }, None);
    assert!(user.contains("all calls, until you disconnect"));
}

/// The called tool stands on the page of a key as well.
#[test]
fn the_question_names_the_tool() {
    let html = connect(Language::English, Purpose::Connect, &Attempt::default());
    assert!(html.contains("<dt>Tool</dt><dd><bdi>get_forecast</bdi></dd>"), "{html}");
}

/// R-OAUTH-01: a masked field never comes back; what else was typed stays, with its fault beside it.
#[test]
fn after_a_fault_only_what_is_no_secret_stays() {
    let html = connect(Language::English, Purpose::Connect, &wrong());
    assert!(!html.contains("wk_secret"));
    assert!(html.contains("value=\"blue &#34;team&#34;\""));
    assert!(html.contains("<title>Error: Connect Weather · Usher</title>"));
    assert!(html.contains("role=\"alert\" tabindex=\"-1\" autofocus"));
    assert!(html.contains("<a href=\"#field-api_key\">Enter your API key.</a>"));
    assert!(html.contains("aria-invalid=\"true\" aria-describedby=\"fault-api_key about-api_key\""));
    let refused = connect(Language::Chinese, Purpose::Connect, &refused());
    assert!(refused.contains("服务商拒绝了这个密钥（401）"));
    assert!(!refused.contains("wk_secret"));
}

/// R-OAUTH-04: another client is allowed without typing the key again, and can be given another key.
#[test]
fn what_is_stored_can_be_allowed_without_typing() {
    let html = connect(Language::English, Purpose::AllowClient, &Attempt::default());
    assert!(html.contains("<h1>Allow claude-desktop to use Weather?</h1>"));
    assert!(html.contains("<button class=\"main\" name=\"action\" value=\"allow\">Allow</button>"));
    assert_eq!(html.matches("class=\"main\"").count(), 1, "one main action");
    assert!(html.contains("<details>") && html.contains("name=\"api_key\""));
    for purpose in [Purpose::AllowAddress, Purpose::AllowServer, Purpose::AllowBoth] {
        let html = connect(Language::English, purpose, &Attempt::default());
        assert!(html.contains("<strong><bdi>https://weather-mcp.example</bdi></strong>"), "{purpose:?}");
    }
    let allowed = connect(Language::English, Purpose::Continue, &Attempt::default());
    assert!(allowed.contains("<button class=\"main\" name=\"action\" value=\"allow\">Continue</button>"));
}

/// R-GW-04, R-OAUTH-03: "only there" is said only where it is so; the check's address and everybody else who uses the key
/// are named.
#[test]
fn every_place_that_gets_the_key_is_named() {
    let only = "<span class=\"note\">only there</span>";
    for purpose in [Purpose::Replace, Purpose::AllowBoth] {
        let html = render(Language::English, &shared(purpose), &Attempt::default());
        assert!(!html.contains(only), "{purpose:?}");
        let also = html.split("<dt>Also used by</dt>").nth(1).unwrap().split("</dd>").next().unwrap();
        for line in [
            "<li><bdi>editor</bdi>, with <bdi>Weather server</bdi> at <bdi>https://weather-mcp.example</bdi></li>",
            "<li><bdi>editor</bdi>, with <bdi>archive</bdi> at <bdi>https://archive.example</bdi></li>",
        ] {
            assert!(also.contains(line), "{purpose:?}: {also}");
        }
        assert!(!also.contains("claude-desktop"), "the one who asks is named already");
    }
    let replace = render(Language::English, &shared(Purpose::Replace), &Attempt::default());
    assert!(replace.contains("<dt>Refused by</dt><dd>one of archive and Weather server</dd>"));
    assert!(replace.contains("what you enter replaces the old one there too"));

    let mut checked = visit(Purpose::Connect);
    checked.provider.kind = checking("https://api.weather.example/me");
    let html = render(Language::English, &checked, &Attempt::default());
    assert!(!html.contains(only));
    assert!(html.contains("<dt>Checked at</dt><dd>https://api.weather.example <span"));
    checked.provider.kind = checking("https://weather-mcp.example/me");
    assert!(render(Language::English, &checked, &Attempt::default()).contains(only), "one place is one place");
}

/// The fields of the gallery's provider, with a check at `url`.
fn checking(url: &str) -> ProviderKind {
    let ProviderKind::Secret { fields, .. } = config().provider("weather").unwrap().kind.clone() else {
        panic!("another kind")
    };
    ProviderKind::Secret { fields, check: Some(Check { get: url.parse().unwrap(), headers: Vec::new() }) }
}
