//! The store is gone: what needs it gets a clear error, what does not goes on.

use elicit::Principal;
use usher::identity::tokens::local_user;
use usher_store::AuditAction;
use usher_testkit::person::Person;

use crate::harness::{ACCEPT, CALLS, KEY, Stage, answered};

/// R-SEC-04: readiness says so, and health does not depend on it.
#[tokio::test]
async fn readiness_says_that_the_store_is_gone() {
    let stage = Stage::new().await;
    let somebody = Person::new(&stage.origin);
    assert_eq!(somebody.get("/readyz").await.status, 200);
    stage.app().store.close().await;
    assert_eq!(somebody.get("/readyz").await.status, 503);
    assert_eq!(somebody.get("/healthz").await.status, 200);
}

/// Calls that need the store end with an error that says so, in both eras and for all kinds of calls.
#[tokio::test]
async fn calls_that_need_the_store_end_with_a_clear_error() {
    let stage = Stage::new().await;
    let (modern, legacy) = (stage.modern(), stage.legacy());
    legacy.initialize().await;
    assert!(legacy.call("ping", "{}").await.response().result().is_some());
    let asked = modern.call(CALLS[0].0, CALLS[0].1).await;
    stage.app().store.close().await;
    for (method, params) in CALLS {
        for reply in [modern.call(method, params).await, legacy.call(method, params).await] {
            assert_eq!(reply.error_code(), -32603, "{}", reply.text());
            let text = reply.error_message();
            assert!(text.contains("store") && text.contains("Try again"), "{text}");
        }
    }
    let responses = asked.answer_all(ACCEPT);
    let state = asked.request_state();
    let retry = modern.retry(CALLS[0].0, CALLS[0].1, Some(&responses), state.as_deref()).await;
    assert_eq!(retry.error_code(), -32603, "{}", retry.text());
    let late = stage.legacy();
    assert_eq!(late.initialize().await.error_code(), -32603);
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// A credential that was used a moment ago is still used.
#[tokio::test]
async fn a_cached_credential_is_used_without_the_store() {
    let stage = Stage::new().await;
    stage.connected().await;
    let (modern, legacy) = (stage.modern(), stage.legacy());
    legacy.initialize().await;
    for call in CALLS {
        assert!(answered(&modern.call(call.0, call.1).await));
        assert!(answered(&legacy.call(call.0, call.1).await));
    }
    stage.app().store.close().await;
    for call in CALLS {
        assert!(answered(&modern.call(call.0, call.1).await));
        assert!(answered(&legacy.call(call.0, call.1).await));
    }
    stage.upstream.assert_clean();
}

/// R-SEC-04: pages say that it did not work and what to do; nothing that was typed is shown again.
#[tokio::test]
async fn pages_say_that_nothing_could_be_saved() {
    let stage = Stage::new().await;
    let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    stage.app().store.close().await;
    let saved = person.agree(&page, &[("api_key", KEY)]).await;
    assert_eq!(saved.status, 503, "{}", saved.describe());
    assert_eq!(saved.heading().as_deref(), Some("Usher cannot do this right now"));
    assert!(!saved.html.contains(KEY));
    assert!(saved.text().contains("may not have been saved: open the page again"), "{}", saved.text());
    for path in ["/", asked.url().as_str(), "/connections/weather/disconnect"] {
        let page = person.get(path).await;
        assert_eq!(page.status, 503, "{}", page.describe());
        assert!(page.text().contains("Try again"), "{}", page.describe());
    }
}

/// R-SEC-04: a call that is held when the store goes away ends with an error, not in silence.
#[tokio::test]
async fn a_held_call_ends_when_the_store_is_gone() {
    let setup = crate::harness::Setup { upstream: "hold = \"1s\"".to_owned(), ..Default::default() };
    let stage = Stage::with(setup, usher_testkit::upstream::Upstream::start().await).await;
    let client = stage.legacy();
    client.initialize().await;
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    stage.app().store.close().await;
    let reply = stream.reply().await;
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert!(reply.error_message().contains("store"), "{}", reply.text());
}

/// R-SEC-03, R-SEC-04: nobody waits for the store to be turned away, and it is audited all the same.
#[tokio::test]
async fn who_is_turned_away_does_not_wait_for_the_audit_log() {
    let stage = Stage::new().await;
    let principal = Principal { user: local_user(), client: stage.app().identity.tokens().unwrap().first().0.clone() };
    // No future: there is nothing to wait for.
    stage.app().broker.turned_away(AuditAction::SessionRefused, Some(&principal), Some("weather"));
    assert_eq!(stage.audited(AuditAction::SessionRefused).await, 1);
}
