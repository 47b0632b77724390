use usher_store::InteractionState;

use super::*;
use crate::pages::{gallery, language::Language};

fn portal(language: Language, waiting: &[Interaction], readable: &[Credential], gone: Option<&str>) -> String {
    let connections = Connections { readable: readable.to_vec(), unreadable: Vec::new() };
    render(language, waiting, &connections, gone)
}

fn render(language: Language, waiting: &[Interaction], connections: &Connections, gone: Option<&str>) -> String {
    let (waiting, connections) = (waiting.to_vec(), connections.clone());
    let found = Found { waiting, resting: Vec::new(), connections, calls: BTreeMap::new() };
    render_all(language, &found, gone)
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
        ],
        unreadable: vec!["mail".to_owned()],
    };
    let calls = waiting.iter().zip(["get_forecast", "\u{202e}<b>delete</b>"]);
    let calls = calls.map(|(one, name)| (one.id.clone(), Operation::named("tools/call", name))).collect();
    let found = Found { waiting: waiting.to_vec(), resting: vec![resting()], connections, calls };
    vec![("portal", render_all(language, &found, None))]
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
    assert_eq!(html.matches("/reconnect").count(), 1);
    let form = html.split("<form method=\"post\" action=\"/connections/weather/reconnect\">").nth(1).unwrap();
    assert!(form.contains("value=\"token-of-weather\"") && form.contains(">Reconnect</button>"));
    assert!(html.contains("<strong><bdi>Weather server</bdi></strong> did not accept it."));
    assert!(html.contains("<dt>Last used</dt><dd>refused <time"), "{html}");
    assert!(!html.contains("Connected"), "a refused key is not connected");
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
