//! A person's own pages: what waits, what is connected, and how to end it.

use http::Method;
use usher_store::AuditAction;

use super::{audit, is_heading, link, stranger};
use crate::harness::{CALLS, KEY, Stage, answered};

/// R-GW-05: the portal lists what waits and leads to it; it asks for a sign-in first.
#[tokio::test]
async fn the_portal_lists_what_waits() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    is_heading(&stranger(&stage).get("/").await, "Sign in");
    let person = stage.person().await;
    let portal = person.get("/").await;
    assert!(portal.text().contains("The app with the token “default” wants to use Weather"), "{}", portal.text());
    assert!(portal.links().iter().any(|(href, text)| url.ends_with(href.as_str()) && text.contains("Answer")));
    super::foreign_link(&stage).await;
    assert_eq!(person.get("/").await.html.matches("href=\"/connect/").count(), 1, "another person's is not in it");
}

/// The portal shows a connection, never the key, and ends it after asking once.
#[tokio::test]
async fn a_connection_is_shown_and_can_be_ended() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await));
    // The use is written down beside the call, which does not wait for it.
    let mut portal = person.get("/").await;
    for _ in 0..1_000 {
        if portal.text().contains("Working") {
            break;
        }
        portal = person.get("/").await;
    }
    for said in ["Weather", "Working", stage.upstream.origin(), "default"] {
        assert!(portal.text().contains(said), "{said}: {}", portal.text());
    }
    assert!(!portal.html.contains(KEY));
    let (href, _) = portal.links().into_iter().find(|(href, _)| href.contains("disconnect")).unwrap();
    let ask = person.get(&href).await;
    is_heading(&ask, "Disconnect Weather?");
    assert!(stage.credential().await.is_some(), "looking ends nothing");
    let gone = person.agree(&ask, &[]).await;
    is_heading(&gone, "Your connections");
    assert!(gone.text().contains("Weather is disconnected"), "{}", gone.text());
    assert!(stage.credential().await.is_none());
    assert!(stage.modern().call(CALLS[0].0, CALLS[0].1).await.is_input_required(), "at once, whatever was cached");
    assert!(audit(&stage).await.iter().any(|row| row.action == Some(AuditAction::CredentialDisconnected)));
    assert_eq!(person.get(&href).await.status, 404);
    let again = person.agree(&ask, &[]).await;
    assert_eq!(again.status, 404, "{}", again.describe());
}

/// A connection that the server refused says so.
#[tokio::test]
async fn a_refused_connection_says_so() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    let person = stage.person().await;
    person.connect(&asked.url(), &[("api_key", "wrong-key")]).await;
    client.call(CALLS[0].0, CALLS[0].1).await;
    let portal = person.get("/").await;
    assert!(portal.text().contains("Refused by the server"), "{}", portal.text());
    assert!(portal.text().contains("Waiting for you"), "{}", portal.text());
}

/// R-SEC-06: signing out ends the session on our side, not only in the browser.
#[tokio::test]
async fn signing_out_ends_the_session_itself() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    let cookie =
        person.cookies().iter().map(|one| format!("{}={}", one.name, one.value)).collect::<Vec<_>>().join("; ");
    let portal = person.get("/").await;
    let form = portal.form_by_action("/logout");
    let out = person.submit(&portal, &form, None, &[]).await;
    is_heading(&out, "Sign in");
    assert!(out.text().contains("You are signed out."), "{}", out.text());
    assert!(person.cookies().is_empty());
    let stolen = stranger(&stage).visit(Method::GET, "/").header("cookie", &cookie).send().await;
    is_heading(&stolen, "Sign in");
    assert!(audit(&stage).await.iter().any(|row| row.action == Some(AuditAction::BrowserSignedOut)));
}

/// R-SEC-03: the audit log tells the story: asked, opened, agreed, connected, completed, used no secret.
#[tokio::test]
async fn the_audit_log_tells_the_story() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    person.connect(&url, &[("api_key", KEY)]).await;
    let rows = audit(&stage).await;
    let told: Vec<AuditAction> = rows.iter().rev().filter_map(|row| row.action).collect();
    let place = |action: AuditAction| {
        told.iter().position(|one| *one == action).unwrap_or_else(|| panic!("{action:?}: {told:?}"))
    };
    let story = [
        AuditAction::InteractionAsked,
        AuditAction::BrowserSignedIn,
        AuditAction::InteractionOpened,
        AuditAction::InteractionConsented,
        AuditAction::InteractionCompleted,
    ];
    assert!(story.map(place).is_sorted(), "{told:?}");
    place(AuditAction::CredentialConnected);
    let asked = rows.iter().find(|row| row.action == Some(AuditAction::InteractionAsked)).unwrap();
    assert_eq!(asked.client.as_ref().unwrap().as_str(), "default");
    assert_eq!((asked.upstream.as_deref(), asked.provider.as_deref()), (Some("weather"), Some("weather")));
    assert!(url.ends_with(asked.interaction.as_ref().unwrap().as_str()));
}

/// Whoever declined by mistake lets it be asked again at once; another person cannot.
#[tokio::test]
async fn what_was_declined_may_be_asked_again() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    let url = link(&stage).await;
    is_heading(&person.decline(&url).await, "Declined");
    let refused = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    assert!(!refused.is_input_required(), "{}", refused.text());
    let portal = person.get("/").await;
    assert!(portal.text().contains("You declined"), "{}", portal.text());
    let id = url.rsplit('/').next().unwrap();
    let form = portal.form_by_action(&format!("/declined/{id}/release"));
    let path = format!("/declined/{id}/release");
    for refused in [
        person.visit(Method::POST, &path).fields(&[("csrf", "x")]),
        person.submission(&portal, &form, None, &[]).from_site("https://evil.example"),
        person.visit(Method::POST, "/declined/nothing/release").fields(&[]),
    ] {
        assert!([403, 404].contains(&refused.send().await.status.as_u16()));
    }
    assert!(!stage.modern().call(CALLS[0].0, CALLS[0].1).await.is_input_required());

    let after = person.submit(&portal, &form, None, &[]).await;

    is_heading(&after, "Your connections");
    assert!(!after.text().contains("You declined"), "{}", after.text());
    assert!(stage.modern().call(CALLS[0].0, CALLS[0].1).await.is_input_required(), "at once");
}

/// The pages lead to one another, and each says which it is.
#[tokio::test]
async fn the_pages_lead_to_one_another() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    for path in ["/", "/clients", "/activity", "/sessions"] {
        is_heading(&stranger(&stage).get(path).await, "Sign in");
        let page = person.get(path).await;
        assert!(page.html.contains(&format!("<a href=\"{path}\" aria-current=\"page\">")), "{path}: {}", page.html);
        assert_eq!(page.html.matches("aria-current=\"page\"").count(), 1, "{path}");
        let back = stranger(&stage);
        back.get(path).await;
        let signed_in = back.sign_in(&super::sign_in_link(&stage).await).await;
        assert_eq!(signed_in.heading(), page.heading(), "signing in leads back to {path}");
    }
}
