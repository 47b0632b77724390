use usher_store::InteractionState;

use super::*;
use crate::pages::{gallery, language::Language};

fn portal(language: Language, waiting: &[Interaction], readable: &[Credential], gone: Option<&str>) -> String {
    let connections = Connections { readable: readable.to_vec(), unreadable: Vec::new() };
    render(language, waiting, &connections, gone)
}

fn render(language: Language, waiting: &[Interaction], connections: &Connections, gone: Option<&str>) -> String {
    let (waiting, connections) = (waiting.to_vec(), connections.clone());
    let found = Found { waiting, resting: Vec::new(), connections, calls: BTreeMap::new(), let_go: None };
    render_all(language, &found, gone)
}

/// The portal after `tasks` was given up, which has come to this at its provider.
fn after(language: Language, host: &str, became: usize, still: &[Credential]) -> String {
    let connections = Connections { readable: still.to_vec(), unreadable: Vec::new() };
    let let_go = Some(LetGo::sample("tasks", host, became));
    let found = Found { waiting: Vec::new(), resting: Vec::new(), connections, calls: BTreeMap::new(), let_go };
    render_all(language, &found, Some("tasks"))
}

fn render_all(language: Language, found: &Found, gone: Option<&str>) -> String {
    let page = gallery::page(language, "/");
    let csrf = |form: Form<'_>| match form {
        Form::Reconnect(provider) => format!("token-of-{provider}"),
        _ => "form-token".to_owned(),
    };
    Portal::new(page, &gallery::config(), found, gone, &csrf, gallery::now()).render().unwrap()
}

/// Declined three minutes ago, for the second time.
fn resting() -> Resting {
    let at = "2026-11-30T08:04:00Z".parse().unwrap();
    let interaction = gallery::interaction(InteractionState::Declined { at });
    Resting { interaction, until: "2026-11-30T08:14:00Z".parse().unwrap() }
}

/// The page of this file, for the gallery.
pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let first = gallery::interaction(InteractionState::Created);
    let second = Interaction { id: InteractionId::parse(&format!("{}I", "B".repeat(42))).unwrap(), ..first.clone() };
    let waiting = [first, second];
    let connections = Connections {
        readable: vec![
            gallery::credential("weather", CredentialStatus::Rejected),
            gallery::credential("tracker", CredentialStatus::Working),
            gallery::account("tasks", CredentialStatus::Working),
            gallery::account("old", CredentialStatus::Working),
        ],
        unreadable: vec!["mail".to_owned()],
    };
    let calls = waiting.iter().zip(["get_forecast", "\u{202e}<b>delete</b>"]);
    let calls = calls.map(|(one, name)| (one.id.clone(), Operation::named("tools/call", name))).collect();
    let found = Found { waiting: waiting.to_vec(), resting: vec![resting()], connections, calls, let_go: None };
    vec![("portal", render_all(language, &found, None))]
}

/// Accounts in every state.
fn accounts() -> Vec<Credential> {
    let account = gallery::account;
    let mut narrow = account("tasks", CredentialStatus::Narrow);
    narrow.grant.as_mut().unwrap().demanded.insert("tasks.delete".into());
    let mut ended = account("tasks", CredentialStatus::Working);
    let grant = ended.grant.as_mut().unwrap();
    (grant.refresh_token, grant.expires_at) = (None, Some("2026-11-30T08:00:00Z".parse().unwrap()));
    vec![
        account("tasks", CredentialStatus::Working),
        narrow,
        account("tasks", CredentialStatus::Rejected),
        ended,
        account("tasks", CredentialStatus::Leaving),
        account("old", CredentialStatus::Working),
    ]
}

fn state(html: &str) -> &str {
    html.split("<span class=\"state").nth(1).unwrap().split('>').nth(1).unwrap().split('<').next().unwrap()
}

/// Whose account, what it may do, how long it lasts; its names are text.
#[test]
fn an_account_says_whose_it_is_what_it_may_do_and_how_it_stands() {
    let [working, narrow, rejected, ended, leaving, old] =
        accounts().try_into().unwrap_or_else(|_| panic!("six accounts"));
    let show = |account: &Credential| portal(Language::English, &[], std::slice::from_ref(account), None);
    let html = show(&working);
    assert_eq!(state(&html), "Working", "{html}");
    for said in [
        "<dt>Connected as</dt><dd>Ada &lt;b&gt;Example&lt;/b&gt;</dd>",
        "<details class=\"fold\"><summary>2 permissions</summary>",
        "<span>Read your tasks</span> <span class=\"note\"><code><bdi>tasks.read</bdi></code></span>",
        "tasks.&lt;b&gt;write&lt;/b&gt;",
        "<dt>Lasts</dt><dd>renewed by itself</dd>",
        "action=\"/connections/tasks/reconnect\"",
    ] {
        assert!(html.contains(said), "{said}: {html}");
    }
    assert!(!html.contains("refresh-secret"));
    let html = show(&narrow);
    assert_eq!(state(&html), "More permissions asked");
    assert!(html.contains("more than you allowed: <bdi>tasks.delete</bdi>.") && html.contains("/reconnect"), "{html}");
    for account in [&rejected, &ended] {
        let html = show(account);
        assert_eq!(state(&html), "Sign in again needed");
        assert!(html.contains("/reconnect") && !html.contains("did not accept it"), "{html}");
    }
    assert!(show(&ended).contains("<dt>Lasts</dt><dd>ended <time"));
    let html = show(&leaving);
    assert_eq!(state(&html), "Being disconnected");
    assert!(html.contains("/connections/tasks/disconnect") && !html.contains("/reconnect"), "{html}");
    let html = show(&old);
    assert_eq!(state(&html), "Not in use");
    assert!(html.contains("/connections/old/disconnect") && !html.contains("/reconnect"), "{html}");
}

/// What became of it at its provider is said after it was given up, with where to remove what is left.
#[test]
fn what_became_of_it_at_its_provider_is_said() {
    for (became, said) in [
        "tasks.example has ended the access too.",
        "tasks.example could not be told.",
        "tasks.example did not end the access.",
        "tasks.example cannot be told from here",
        "At Tasks itself nothing has ended.",
    ]
    .into_iter()
    .enumerate()
    {
        let html = after(Language::English, "tasks.example", became, &[]);
        assert!(html.contains("Tasks is disconnected.") && html.contains(said), "{said}: {html}");
        assert_eq!(html.contains("settings of your account"), became > 0, "{said}");
        let there = after(Language::English, "tasks.example", became, &accounts()[..1]);
        assert!(!there.contains("role=\"status\""), "it is there again");
    }
    let hostile = after(Language::Chinese, "<img src=x>\u{202e}", 0, &[]);
    assert!(!hostile.contains("<img src=x") && !hostile.contains('\u{202e}'), "{hostile}");
}

#[test]
fn what_waits_can_be_answered_and_what_is_connected_can_be_ended() {
    let (_, html) = pages(Language::English).remove(0);
    assert!(html.contains(&format!("href=\"/connect/{}\" aria-label=\"Answer: Weather\"", "A".repeat(43))));
    assert!(html.contains("<span class=\"state bad\">Refused by the server</span>"));
    assert!(html.contains("<span class=\"state\">Working</span>"));
    assert!(html.contains("href=\"/connections/weather/disconnect\" aria-label=\"Disconnect Weather\""));
}

/// R-SEC-02: several questions of one app are told apart by what it wants to call, and can be declined together.
#[test]
fn several_questions_of_one_app_are_told_apart_and_can_be_declined_together() {
    let (_, html) = pages(Language::English).remove(0);
    assert!(html.contains("Tool: <bdi>get_forecast</bdi>"), "{html}");
    assert!(html.contains("&#60;b&#62;delete") && !html.contains('\u{202e}'), "{html}");
    let form = html.split("action=\"/clients/decline?client=claude-desktop\"").nth(1).unwrap();
    assert!(form.contains("value=\"form-token\"") && form.contains(">Decline all 2 of claude-desktop</button>"));
    let one = [gallery::interaction(InteractionState::Created)];
    assert!(!portal(Language::English, &one, &[], None).contains("/clients/decline"));
}

/// Whoever declined by mistake need not wait until the rest is over.
#[test]
fn what_was_declined_may_be_asked_again() {
    let (_, html) = pages(Language::English).remove(0);
    let form = html.split(&format!("action=\"/declined/{}/release\"", "A".repeat(43))).nth(1).unwrap();
    assert!(form.contains("value=\"form-token\"") && form.contains(">May be asked again</button>"));
    assert!(html.contains("asked again by itself <time"), "{html}");
}

/// R-GW-04: every address that gets it is named, with its server.
#[test]
fn each_server_is_named_with_its_address() {
    let html = portal(Language::English, &[], &[gallery::credential("weather", CredentialStatus::Working)], None);
    let line = "<li><bdi>Weather server</bdi> at <bdi>https://weather-mcp.example</bdi></li>";
    assert!(html.contains(line), "{html}");
    let mut bare = gallery::credential("weather", CredentialStatus::Working);
    bare.approvals.clear();
    let html = portal(Language::English, &[], &[bare], None);
    assert!(html.contains("<dd>nowhere, until you allow it</dd>") && html.contains("<dd>none</dd>"), "{html}");
}

/// What was refused can be entered again from here, and only that.
#[test]
fn what_was_refused_can_be_connected_again() {
    let (_, html) = pages(Language::English).remove(0);
    assert_eq!(html.matches("/reconnect").count(), 2, "what was refused, and an account: {html}");
    let form = html.split("<form method=\"post\" action=\"/connections/weather/reconnect\">").nth(1).unwrap();
    assert!(form.contains("value=\"token-of-weather\"") && form.contains(">Reconnect</button>"));
    assert!(html.contains("<strong><bdi>Weather server</bdi></strong> did not accept it."));
    assert!(html.contains("<dt>Last used</dt><dd>refused <time"), "{html}");
    assert!(!html.contains(">Connected<"), "a refused key is not connected");
}

/// "Working" is said only of what a check, or a use, has shown to work.
#[test]
fn what_nobody_tried_is_stored_and_no_more() {
    let mut credential = gallery::credential("weather", CredentialStatus::Working);
    for used in [None, Some(credential.updated_at - jiff::Span::new().seconds(1))] {
        credential.last_used_at = used;
        let html = portal(Language::English, &[], &[credential.clone()], None);
        assert!(html.contains("<span class=\"state\">Stored</span>"), "{html}");
    }
}

/// The store does not keep which server refused it, so none is blamed.
#[test]
fn one_of_several_servers_is_not_blamed_alone() {
    let mut credential = gallery::credential("weather", CredentialStatus::Rejected);
    let mut other = credential.approvals[0].clone();
    other.destination.upstream = "other".into();
    credential.approvals.push(other);
    let html = portal(Language::English, &[], &[credential], None);
    assert!(html.contains("One of these did not accept it: <bdi>other and Weather server</bdi>."));
}

/// A credential that does not open is shown, says so, and can be ended.
#[test]
fn what_cannot_be_read_is_shown_and_can_be_ended() {
    let (_, html) = pages(Language::English).remove(0);
    assert!(html.contains("<span class=\"state bad\">Cannot be read</span>"));
    assert!(html.contains("href=\"/connections/mail/disconnect\" aria-label=\"Disconnect mail\""));
    let there = Connections { readable: Vec::new(), unreadable: vec!["weather".to_owned()] };
    assert!(!render(Language::English, &[], &there, Some("weather")).contains("role=\"status\""));
}

#[test]
fn an_empty_portal_says_how_connections_come_about() {
    let html = portal(Language::English, &[], &[], Some("weather"));
    assert!(html.contains("Nothing is connected yet."));
    assert!(html.contains("Weather is disconnected."));
}

#[test]
fn the_notice_is_shown_only_where_it_is_true() {
    let connections = [gallery::credential("weather", CredentialStatus::Working)];
    for name in ["weather", "nothing", "<script>"] {
        let html = portal(Language::English, &[], &connections, Some(name));
        assert!(!html.contains("role=\"status\""), "{name}");
    }
}

#[test]
fn a_connection_whose_provider_is_gone_is_still_shown_and_can_be_ended() {
    let html = portal(Language::English, &[], &[gallery::credential("old", CredentialStatus::Working)], None);
    assert!(html.contains("Not in use") && html.contains("/connections/old/disconnect"));
}
