//! A credential that the server refuses, a client that is new, a server that moved.

use usher_store::{AskReason, CredentialStatus};
use usher_testkit::upstream::{Refusal, Script, Upstream};

use crate::{
    harness::{ACCEPT, CALLS, KEY, SECOND, Setup, Stage, answered, told},
    needs_modern::{ask, retry},
};

/// R-GW-03: a refused credential is marked, not used again, and asked for anew: by the very retry that met the refusal.
#[tokio::test]
async fn a_refused_credential_is_asked_for_again() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        let person = stage.person().await;
        person.connect(&asked.url(), &[("api_key", "wrong-key-1")]).await;
        let again = retry(&client, call, &asked, ACCEPT).await;
        assert!(again.is_input_required(), "{}", again.text());
        assert_ne!(again.url(), asked.url());
        assert_eq!(stage.interaction(&again.url()).await.reason, AskReason::Rejected);
        assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Rejected);
        ask(&client, call).await;
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1, "a refused key is not tried again");
        let page = person.get(&again.url()).await;
        assert_eq!(page.heading().as_deref(), Some("Connect Weather again"), "{}", page.describe());
        person.agree(&page, &[("api_key", KEY)]).await;
        let reply = retry(&client, call, &again, ACCEPT).await;
        assert!(answered(&reply), "{}", reply.text());
    }
}

/// R-GW-03, R-SEC-04: a key that the server refuses again and again ends the call, in words.
#[tokio::test]
async fn the_third_refused_key_ends_the_call() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let person = stage.person().await;
        let mut round = ask(&client, call).await;
        for count in 1..=3 {
            assert!(round.is_input_required(), "round {count}: {}", round.text());
            person.connect(&round.url(), &[("api_key", &format!("wrong-key-{count}"))]).await;
            round = retry(&client, call, &round, ACCEPT).await;
        }
        let text = told(call.0, &round);
        assert!(text.contains("keeps refusing") && text.contains(&stage.portal()), "{text}");
        assert_eq!(stage.upstream.requests_of(call.0).len(), 3);
        ask(&client, call).await;
    }
}

/// R-GW-03: whether 403 means a bad credential is the operator's to say.
#[tokio::test]
async fn forbidden_is_an_error_unless_the_operator_says_otherwise() {
    let forbids = || Script::new().require_or("x-api-key", "none is good enough", Refusal::forbidden());
    let stage = Stage::new().await;
    stage.connected().await;
    stage.upstream.tool("get_forecast", forbids());
    stage.upstream.prompt("plan", forbids());
    stage.upstream.resource("weather://berlin", forbids());
    for (method, params) in CALLS {
        let reply = stage.modern().call(method, params).await;
        assert!(reply.error_message().contains("weather") && reply.error_message().contains("403"), "{}", reply.text());
    }
    assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Working);

    let setup = Setup { upstream: "reject = [401, 403]".to_owned(), ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    stage.connected().await;
    stage.upstream.resource("weather://berlin", forbids());
    ask(&stage.modern(), CALLS[2]).await;
    assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Rejected);
}

/// R-OAUTH-04: what one client connected is not used for another before the person allows that; allowing needs no key.
#[tokio::test]
async fn a_new_client_is_allowed_first() {
    for call in CALLS {
        let stage = Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await;
        let person = stage.connected().await;
        let second = stage.modern().token(SECOND);
        let asked = ask(&second, call).await;
        assert_eq!(stage.interaction(&asked.url()).await.reason, AskReason::NewClient);
        assert!(stage.upstream.requests_of(call.0).is_empty());
        let page = person.get(&asked.url()).await;
        assert_eq!(page.heading().as_deref(), Some("Allow second to use Weather?"), "{}", page.describe());
        let done = person.agree(&page, &[]).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        assert!(answered(&retry(&second, call, &asked, ACCEPT).await));
        assert!(answered(&stage.modern().call(call.0, call.1).await), "the first client keeps what it had");
        let stored = stage.credential().await.unwrap();
        assert_eq!(stored.clients().len(), 2);
        stage.upstream.assert_clean();
    }
}

/// R-OAUTH-04: a client that the person declines stays without, and the other one keeps working.
#[tokio::test]
async fn a_new_client_that_is_declined_gets_nothing() {
    let stage = Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await;
    let person = stage.connected().await;
    let second = stage.modern().token(SECOND);
    let asked = ask(&second, CALLS[0]).await;
    person.decline(&asked.url()).await;
    told(CALLS[0].0, &retry(&second, CALLS[0], &asked, ACCEPT).await);
    assert!(stage.upstream.requests_of("tools/call").is_empty());
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await));
    assert_eq!(stage.credential().await.unwrap().clients().len(), 1);
}

/// R-GW-04: a server that moved gets nothing before the person allows its new address; until then the key stays here.
#[tokio::test]
async fn a_server_that_moved_is_allowed_first() {
    let stage = Stage::new().await;
    stage.connected().await;
    let new = Upstream::start().await;
    new.forbid(KEY);
    let stage = stage.moved(&Setup::default(), new).await;
    let client = stage.modern();
    assert_eq!(client.call("tools/list", "{}").await.status, 200);
    let asked = ask(&client, CALLS[0]).await;
    assert_eq!(stage.interaction(&asked.url()).await.reason, AskReason::NewDestination);
    stage.upstream.assert_clean();
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    assert_eq!(page.heading().as_deref(), Some("Allow a new address for Weather?"), "{}", page.describe());
    assert!(page.text().contains(stage.upstream.origin()), "{}", page.describe());
    person.agree(&page, &[]).await;
    assert!(answered(&retry(&client, CALLS[0], &asked, ACCEPT).await));
}

/// R-GW-04: a question that was asked for the old address connects nothing to the new one.
#[tokio::test]
async fn a_question_from_before_the_move_leads_nowhere() {
    let stage = Stage::new().await;
    let path = ask(&stage.modern(), CALLS[0]).await.url().replace(&stage.origin, "");
    let stage = stage.moved(&Setup::default(), Upstream::start().await).await;
    let person = stage.person().await;
    let page = person.get(&path).await;
    assert_eq!(page.status, 410, "{}", page.describe());
    assert_eq!(page.heading().as_deref(), Some("The settings have changed"));
    assert!(stage.credential().await.is_none());
}

/// R-GW-03: nobody is asked because of what is kept in memory: another replica may have stored a better one.
#[tokio::test]
async fn a_person_who_has_just_answered_elsewhere_is_not_asked_again() {
    let stage = Stage::new().await;
    stage.connected_with("wrong-key-1").await;
    let client = stage.modern();
    let asked = ask(&client, CALLS[0]).await;
    assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Rejected);
    // It is in memory now, as the refused one that it is.
    assert_eq!(ask(&client, CALLS[1]).await.url(), asked.url());
    stage.connect_elsewhere(&asked.url(), KEY).await;
    for call in CALLS {
        let reply = client.call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
    }
}

/// R-GW-06: a stored credential that cannot be sent is as good as none: listings go without, calls ask.
#[tokio::test]
async fn a_credential_that_does_not_fit_any_more_blocks_no_listing() {
    let stage = Stage::new().await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    stage.connect_elsewhere(&asked.url(), "no header\ncan hold this").await;
    let (modern, legacy) = (stage.modern(), stage.ready().await);
    for reply in [modern.call("tools/list", "{}").await, legacy.call("tools/list", "{}").await] {
        assert!(reply.response().result().is_some_and(|result| result.contains("get_forecast")), "{}", reply.text());
    }
    let again = ask(&modern, CALLS[0]).await;
    assert_eq!(stage.interaction(&again.url()).await.reason, AskReason::Missing);
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}
