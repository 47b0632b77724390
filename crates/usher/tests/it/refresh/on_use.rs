//! A token is renewed when it is used: one that lasts is sent as it is, one that has expired is waited for, once for all.

use futures_util::future::join_all;
use usher_store::{AskReason, CredentialStatus};
use usher_testkit::{
    oauth::{Endpoint, Trouble},
    upstream::Gate,
};

use super::scene::{HOUR, Scene, grant, granted, token_of};
use crate::{
    harness::{CALLS, answered},
    needs_modern::ask,
};

/// R-OAUTH-01: what lasts is sent upstream, and nobody is asked for another one.
#[tokio::test]
async fn a_token_that_lasts_is_used_as_it_is() {
    let scene = Scene::connected().await;
    for call in CALLS {
        assert!(answered(&scene.stage.modern().call(call.0, call.1).await));
    }
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
    scene.assert_clean();
}

/// R-GW-03: what has expired is renewed before the call goes upstream, for tools, prompts and resources alike; the person is
/// asked nothing.
#[tokio::test]
async fn an_expired_token_is_renewed_before_the_call_goes_on() {
    for call in CALLS {
        let scene = Scene::connected().await;
        let before = scene.stored().await;
        scene.hub.end_access_tokens_of("user-1");
        scene.stage.clock.forward(HOUR);
        let reply = scene.stage.modern().call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!((scene.hub.counts().refreshes, scene.stage.upstream.requests_of(call.0).len()), (1, 1));
        let after = scene.stored().await;
        assert_eq!((after.version, after.status), (before.version + 1, CredentialStatus::Working));
        assert_ne!(token_of(&after), token_of(&before));
        let grant = after.grant.unwrap();
        assert_eq!(grant.account.as_deref(), Some("user-1"), "what the reply does not say is as before");
        assert!(grant.refresh_at < grant.expires_at && grant.refresh_at.is_some());
        assert!(answered(&scene.stage.modern().call(call.0, call.1).await));
        assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
        scene.assert_clean();
    }
}

/// The same in the legacy era.
#[tokio::test]
async fn a_legacy_call_waits_for_it_as_well() {
    let scene = Scene::expired().await;
    let client = scene.stage.ready().await;
    for call in CALLS {
        assert!(answered(&client.call(call.0, call.1).await));
    }
    assert_eq!(scene.hub.counts().refreshes, 1);
    scene.assert_clean();
}

/// Many calls wait for one renewal, and each gets its answer.
#[tokio::test]
async fn many_calls_wait_for_one_renewal() {
    let scene = Scene::expired().await;
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    let calls = async {
        let client = scene.stage.modern();
        join_all((0..40).map(|_| client.call(CALLS[0].0, CALLS[0].1))).await
    };
    let opens = async {
        scene.hub.wait_for(Endpoint::Refresh, 1).await;
        gate.open();
    };
    let (replies, ()) = tokio::join!(calls, opens);
    assert!(replies.iter().all(answered));
    assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
    assert_eq!(scene.stage.upstream.requests_of(CALLS[0].0).len(), 40);
    scene.assert_clean();
}

/// A client that leaves does not end what others wait for, nor what the provider has answered.
#[tokio::test]
async fn whoever_leaves_ends_nothing() {
    let scene = Scene::expired().await;
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    let client = scene.stage.modern();
    let leaving = client.call(CALLS[0].0, CALLS[0].1);
    tokio::select! {
        _ = leaving => panic!("it has no token to be answered with"),
        _ = scene.hub.wait_for(Endpoint::Refresh, 1) => {}
    }
    let (reply, ()) = tokio::join!(scene.call(), async { gate.open() });
    assert!(answered(&reply), "{}", reply.text());
    assert_eq!(scene.hub.counts().refreshes, 1);
    scene.assert_clean();
}

/// Near its end a token is still used, and another one is got meanwhile.
#[tokio::test]
async fn near_its_end_a_token_is_used_while_another_one_is_got() {
    let scene = Scene::connected().await;
    let before = scene.stored().await;
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    scene.stage.clock.forward(HOUR - 120);
    scene.goes_through().await;
    scene.hub.wait_for(Endpoint::Refresh, 1).await;
    scene.goes_through().await;
    assert_eq!(scene.stored().await.version, before.version, "nothing has come yet");
    gate.open();
    super::until("the new token", || async { scene.stored().await.version > before.version }).await;
    scene.goes_through().await;
    assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
    let sent = scene.stage.upstream.requests_of(CALLS[0].0);
    let sent: Vec<_> = sent.iter().filter_map(|request| request.header("authorization")).collect();
    assert_eq!((sent[0], sent[0] == sent[2]), (sent[1], false));
    scene.assert_clean();
}

/// R-GW-03: a token that nothing can renew is asked for again, once it has expired and not before.
#[tokio::test]
async fn without_a_refresh_token_the_person_is_asked_at_its_end() {
    for call in CALLS {
        let scene = Scene::new().await;
        let granted = granted(&scene.hub, "user-1").await;
        let mut grant = grant(&scene.hub, &granted, usher::clock::Clock::now(&*scene.stage.clock));
        (grant.refresh_token, grant.refresh_at) = (None, None);
        scene.connect_with(&granted, grant).await;
        scene.stage.clock.forward(HOUR - 5);
        assert!(answered(&scene.stage.modern().call(call.0, call.1).await));
        scene.stage.clock.forward(10);
        let asked = ask(&scene.stage.modern(), call).await;
        assert_eq!(scene.stage.interaction(&asked.url()).await.reason, AskReason::Rejected);
        assert_eq!(scene.stored().await.status, CredentialStatus::Rejected, "the portal says so");
        assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
        scene.assert_clean();
    }
}

/// R-OAUTH-05: a grant belongs to the client that it was given to. Its token is used to its end, and then asked for anew.
#[tokio::test]
async fn a_grant_is_not_refreshed_by_another_client() {
    let scene = Scene::new().await;
    let granted = granted(&scene.hub, "user-1").await;
    let mut grant = grant(&scene.hub, &granted, usher::clock::Clock::now(&*scene.stage.clock));
    grant.server.client.id = "client-of-last-year".to_owned();
    scene.connect_with(&granted, grant).await;
    scene.goes_through().await;
    scene.stage.clock.forward(HOUR);
    ask(&scene.stage.modern(), CALLS[0]).await;
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
    // The file may be wrong, and be mended: then the grant goes on.
    assert_eq!(scene.stored().await.status, CredentialStatus::Working);
}

/// R-OAUTH-05: a refresh token goes to the server that gave it, and to no other that the configuration names later.
#[tokio::test]
async fn a_grant_is_not_refreshed_at_another_server() {
    let scene = Scene::new().await;
    let granted = granted(&scene.hub, "user-1").await;
    let mut grant = grant(&scene.hub, &granted, usher::clock::Clock::now(&*scene.stage.clock));
    grant.server.issuer = "https://hub-of-last-year.example".to_owned();
    scene.connect_with(&granted, grant).await;
    scene.goes_through().await;
    scene.stage.clock.forward(HOUR);
    ask(&scene.stage.modern(), CALLS[0]).await;
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
    assert_eq!(scene.stored().await.status, CredentialStatus::Working);
}

/// R-GW-03: a call with a token that is in memory and lasts makes no statement, in either era, whatever it is a call of: it goes
/// through without the store.
#[tokio::test]
async fn a_token_in_memory_is_used_without_the_store() {
    let scene = Scene::connected().await;
    let (modern, legacy) = (scene.stage.modern(), scene.stage.ready().await);
    for closed in [false, true] {
        if closed {
            scene.stage.app().store.close().await;
        }
        for call in CALLS {
            for reply in [modern.call(call.0, call.1).await, legacy.call(call.0, call.1).await] {
                assert!(answered(&reply), "the store is closed: {closed}: {}", reply.text());
            }
        }
    }
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
    scene.assert_clean();
}

/// What a decision costs with a token that lasts and is in memory: without the store, in microseconds. Prints numbers for
/// docs/performance.md.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "a measurement")]
#[ignore = "a measurement: prints"]
async fn what_a_token_in_memory_costs() {
    const TIMES: u32 = 20_000;
    let scene = Scene::connected().await;
    scene.goes_through().await;
    let app = scene.stage.app();
    let principal = elicit::Principal {
        user: usher::identity::tokens::local_user(),
        client: elicit::ClientId::new("default").unwrap(),
    };
    let upstream = app.config.upstream("weather").unwrap();
    let call = usher::broker::Call {
        principal: &principal,
        upstream,
        method: CALLS[0].0,
        subject: Some("get_forecast"),
        operation: None,
        round: "",
    };
    app.store.close().await;
    let mut medians = Vec::new();
    for _ in 0..9 {
        let began = tokio::time::Instant::now();
        for _ in 0..TIMES {
            let decision = app.broker.decide(call).await.unwrap();
            assert!(matches!(decision, usher::broker::Decision::Go(..)));
        }
        medians.push(began.elapsed() / TIMES);
    }
    medians.sort();
    println!("a decision with a token in memory: {:?} (from {:?} to {:?})", medians[4], medians[0], medians[8]);
}
