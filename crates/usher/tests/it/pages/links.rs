//! The link of a question: whose it is, whether it exists, whether it is still open.

use http::Method;
use usher_store::{AuditAction, InteractionState, Outcome};

use super::{audit, foreign_link, is_heading, link, refusals, stranger};
use crate::harness::{ACCEPT, CALLS, DECLINE, KEY, Stage};

/// R-ID-03: another person's link shows neither account nor question, changes nothing, and is audited: when it
/// is opened and when it is submitted, whatever the button.
#[tokio::test]
async fn another_persons_link_is_refused_and_audited() {
    let stage = Stage::new().await;
    let url = foreign_link(&stage).await;
    let person = stage.person().await;
    let own = person.get(&link(&stage).await).await;
    let page = person.get(&url).await;
    assert_eq!(page.status, 403, "{}", page.describe());
    is_heading(&page, "This link is for another account");
    for word in ["mallory", "Mallory", "accounts.example", "owner", "urn:usher", "Weather", "default"] {
        assert!(!page.html.contains(word), "{word}: {}", page.html);
    }
    assert_eq!(refusals(&stage, AuditAction::InteractionRefused).await, 1);
    let own = own.main_form().input("csrf").unwrap().value.clone();
    for action in ["connect", "allow", "decline", "restart"] {
        let fields = [("csrf", own.as_str()), ("action", action), ("api_key", KEY)];
        let sent = person.post_form(&url, &fields).await;
        assert_eq!(sent.status, 403, "{action}: {}", sent.describe());
    }
    assert!(matches!(stage.interaction(&url).await.state, InteractionState::Created));
    assert!(stage.credential().await.is_none());
    let rows = audit(&stage).await;
    let row = rows.iter().find(|row| row.action == Some(AuditAction::InteractionRefused)).unwrap();
    assert_eq!((row.outcome, row.detail.as_deref()), (Outcome::Refused, Some("another user")));
    assert!(url.ends_with(row.interaction.as_ref().unwrap().as_str()));
    assert_eq!(rows.iter().filter(|row| row.outcome == Outcome::Refused).count(), 5, "each attempt: {rows:?}");
}

/// R-ID-03: with the form token that belongs to that very link, the other person's question still is not ours to answer.
#[tokio::test]
async fn the_right_form_token_does_not_make_another_persons_question_ours() {
    let stage = Stage::new().await;
    let url = foreign_link(&stage).await;
    let person = stage.person().await;
    let session = person.cookies().into_iter().find(|cookie| cookie.http_only).unwrap().value;
    let id = url.rsplit('/').next().unwrap();
    let signed = usher::identity::browser::SignedIn::new(
        usher::identity::tokens::local_user(),
        secrecy::SecretString::from(session),
    );
    let interaction = usher_store::InteractionId::parse(id).unwrap();
    let csrf = signed.csrf(usher::identity::browser::Form::Connect(&interaction));
    for action in ["connect", "allow", "decline", "restart"] {
        let sent = person.post_form(&url, &[("csrf", &csrf), ("action", action), ("api_key", KEY)]).await;
        is_heading(&sent, "This link is for another account");
    }
    assert!(matches!(stage.interaction(&url).await.state, InteractionState::Created));
    assert_eq!(refusals(&stage, AuditAction::InteractionRefused).await, 4);
}

/// R-ID-03: an id that leads nowhere, in every shape.
#[tokio::test]
async fn an_address_that_leads_nowhere_says_so() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    let unknown = format!("/connect/{}", "A".repeat(43));
    for path in [
        unknown.as_str(),
        "/connect/short",
        "/connect/",
        "/connect",
        "/connect/%00",
        "/connect/..%2F..%2Flogin",
        "/connect/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
        "/connections/nothing/disconnect",
        "/connections/%3Cscript%3E/disconnect",
        "/nothing",
        "/favicon.ico",
    ] {
        let page = person.get(path).await;
        assert_eq!(page.status, 404, "{path}: {}", page.describe());
        is_heading(&page, "There is nothing here");
        assert!(!page.html.contains("<script>"), "{path}");
    }
    for method in [Method::PUT, Method::DELETE, Method::PATCH] {
        let page = person.visit(method, &unknown).send().await;
        assert_eq!(page.status, 405);
    }
}

/// R-SEC-01: a question that nobody answered in time is closed, and says how to get another.
#[tokio::test]
async fn an_expired_link_says_how_to_get_another() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    stage.clock.forward(15 * 60 + 1);
    is_heading(&person.get(&url).await, "This question has closed");
    let sent = person.agree(&page, &[("api_key", KEY)]).await;
    is_heading(&sent, "This question has closed");
    is_heading(&person.refuse(&page).await, "This question has closed");
    assert!(stage.credential().await.is_none());
    assert!(!person.get("/").await.text().contains("Waiting for you"));
}

/// R-MRTR-03, R-OAUTH-02: a second use of a link changes nothing.
#[tokio::test]
async fn a_link_works_once() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    is_heading(&person.agree(&page, &[("api_key", KEY)]).await, "Connected");
    let again = person.agree(&page, &[("api_key", "another-key")]).await;
    is_heading(&again, "Connected");
    is_heading(&person.refuse(&page).await, "Connected");
    let open = person.get(&url).await;
    is_heading(&open, "Connected");
    assert!(open.forms().iter().all(usher_testkit::person::Form::is_aside), "nothing to send a second time");
    assert_eq!(stage.credential().await.unwrap().version, 1);
    let reply = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    assert_eq!(reply.content_text(), "sunny", "the first key counts");
}

/// R-MRTR-03: two tabs send the same form at once: one effect.
#[tokio::test]
async fn two_parallel_submissions_are_one() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    let fields = [("api_key", KEY)];
    let send = || person.agree(&page, &fields);
    let (one, two, three) = tokio::join!(send(), send(), send());
    for page in [one, two, three] {
        is_heading(&page, "Connected");
    }
    assert_eq!(stage.credential().await.unwrap().version, 1);
    let done = |row: &&usher_store::AuditRow| row.action == Some(AuditAction::CredentialConnected);
    assert_eq!(audit(&stage).await.iter().filter(done).count(), 1);
}

/// R-ACT-04: a decline is final for this link: nothing is stored by a form that was still open.
#[tokio::test]
async fn a_declined_link_stays_declined() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    is_heading(&person.refuse(&page).await, "Declined");
    is_heading(&person.get(&url).await, "Declined");
    is_heading(&person.agree(&page, &[("api_key", KEY)]).await, "Declined");
    assert!(stage.credential().await.is_none());
    assert!(audit(&stage).await.iter().any(|row| row.action == Some(AuditAction::InteractionDeclined)));
}

/// Decline in the client while the page is open: the page says so.
#[tokio::test]
async fn a_decline_in_the_client_closes_the_page() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    let state = asked.request_state();
    client.retry(CALLS[0].0, CALLS[0].1, Some(&asked.answer_all(DECLINE)), state.as_deref()).await;
    is_heading(&person.agree(&page, &[("api_key", KEY)]).await, "Declined");
    assert!(stage.credential().await.is_none());
    let late = client.retry(CALLS[0].0, CALLS[0].1, Some(&asked.answer_all(ACCEPT)), state.as_deref()).await;
    assert!(late.is_tool_error(), "{}", late.text());
}

/// R-URL-03: whoever holds a link and nothing else can do nothing with it.
#[tokio::test]
async fn a_link_alone_opens_nothing() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let thief = stranger(&stage);
    is_heading(&thief.get(&url).await, "Sign in");
    for action in ["connect", "decline"] {
        let fields = [("csrf", "x"), ("action", action), ("api_key", "mallorys-key")];
        is_heading(&thief.post_form(&url, &fields).await, "Sign in");
    }
    assert!(matches!(stage.interaction(&url).await.state, InteractionState::Created));
}
