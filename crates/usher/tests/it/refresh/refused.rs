//! A token that the server refuses although it has not expired: somebody revoked it, most likely.

use futures_util::future::join_all;
use usher_store::{AskReason, CredentialStatus};
use usher_testkit::{
    client::Reply,
    oauth::{Endpoint, Trouble},
    provider::Behaviour,
    upstream::{Gate, Script, Upstream},
};

use super::scene::{Scene, grant, granted};
use crate::{
    harness::{ACCEPT, CALLS, Setup, answered, told},
    needs_modern::{ask, retry},
};

/// R-GW-03, cases 37: it is renewed once, and the call is sent again; the person is asked nothing.
#[tokio::test]
async fn a_token_that_was_revoked_is_renewed_and_the_call_sent_again() {
    for call in CALLS {
        let scene = Scene::connected().await;
        scene.hub.end_access_tokens_of("user-1");
        let reply = scene.stage.modern().call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!((scene.hub.counts().refreshes, scene.stage.upstream.requests_of(call.0).len()), (1, 2));
        assert!(answered(&scene.stage.modern().call(call.0, call.1).await));
        assert_eq!(scene.hub.counts().refreshes, 1);
        scene.hub.end_access_tokens_of("user-1");
        assert!(answered(&scene.stage.ready().await.call(call.0, call.1).await), "as often as it happens");
        assert_eq!(scene.hub.counts().refreshes, 2);
        assert_eq!(scene.stored().await.status, CredentialStatus::Working);
        scene.hub.assert_clean();
    }
}

/// Two calls that were sent with the same old token: one renewal, and both are answered.
#[tokio::test]
async fn calls_with_the_same_old_token_wait_for_one_renewal() {
    let scene = Scene::connected().await;
    let gate = Gate::new();
    let script = Script::new().wait(&gate).require_token(&scene.hub.token_book()).text("sunny");
    scene.stage.upstream.tool("get_forecast", script);
    let calls = join_all((0..8).map(|_| scene.call()));
    let revokes = async {
        scene.stage.upstream.wait_for(CALLS[0].0, 8).await;
        scene.hub.end_access_tokens_of("user-1");
        gate.open();
    };
    let (replies, ()) = tokio::join!(calls, revokes);
    assert!(replies.iter().all(answered));
    assert_eq!((scene.hub.counts().refreshes, scene.stage.upstream.requests_of(CALLS[0].0).len()), (1, 16));
}

/// R-GW-03, R-SEC-04: a server that refuses the new one as well makes a question, and not another renewal.
#[tokio::test]
async fn a_server_that_refuses_the_new_one_too_makes_a_question() {
    for call in CALLS {
        let scene = Scene::connected().await;
        let refuses = || Script::new().require("x-never", "sent");
        scene.stage.upstream.tool("get_forecast", refuses());
        scene.stage.upstream.prompt("plan", refuses());
        scene.stage.upstream.resource("weather://berlin", refuses());
        let asked = ask(&scene.stage.modern(), call).await;
        assert_eq!(scene.stage.interaction(&asked.url()).await.reason, AskReason::Rejected);
        ask(&scene.stage.modern(), call).await;
        assert_eq!((scene.hub.counts().refreshes, scene.stage.upstream.requests_of(call.0).len()), (1, 2));
        assert_eq!(scene.stored().await.status, CredentialStatus::Rejected);
    }
}

/// R-SEC-04: and when the person signs in again for the same call, that has an end as well.
#[tokio::test]
async fn a_server_that_refuses_everything_ends_the_call() {
    let scene = Scene::new().await;
    scene.stage.upstream.tool("get_forecast", Script::new().require("x-never", "sent"));
    let client = scene.stage.modern();
    let mut round = ask(&client, CALLS[0]).await;
    for count in 1..=3 {
        assert!(round.is_input_required(), "round {count}: {}", round.text());
        let granted = granted(&scene.hub, "user-1").await;
        let now = usher::clock::Clock::now(&*scene.stage.clock);
        let new = grant(&scene.hub, &granted, now);
        super::scene::store_grant(&scene.stage.app().store, &round.url(), &granted, new, now).await;
        round = retry(&client, CALLS[0], &round, ACCEPT).await;
    }
    let text = told(CALLS[0].0, &round);
    assert!(text.contains("keeps refusing"), "{text}");
    assert_eq!((scene.hub.counts().refreshes, scene.stage.upstream.requests_of(CALLS[0].0).len()), (3, 6));
}

/// Revoked by its owner at the provider, refresh token and all: the call asks.
#[tokio::test]
async fn a_grant_that_was_revoked_at_the_provider_makes_a_question() {
    for call in CALLS {
        let scene = Scene::connected().await;
        scene.hub.revoke_grants_of("user-1");
        ask(&scene.stage.modern(), call).await;
        assert_eq!((scene.hub.counts().refreshes_tried, scene.stage.upstream.requests_of(call.0).len()), (1, 1));
    }
}

/// A refused token whose provider is away: an error that says so, and no question.
#[tokio::test]
async fn a_refused_token_and_a_provider_that_is_away_make_an_error() {
    let scene = Scene::connected().await;
    scene.hub.end_access_tokens_of("user-1");
    scene.hub.trouble(Endpoint::Refresh, Trouble::Instead(Behaviour::Status(503)));
    for _ in 0..3 {
        let text = told(CALLS[0].0, &scene.call().await);
        assert!(text.contains("Hub") && text.contains("try again in"), "{text}");
    }
    assert_eq!((scene.hub.count(Endpoint::Refresh), scene.stage.upstream.requests_of(CALLS[0].0).len()), (1, 1));
    assert_eq!(scene.stored().await.status, CredentialStatus::Working);
    scene.hub.well(Endpoint::Refresh);
    scene.stage.clock.forward(10);
    scene.goes_through().await;
}

/// The links of a round, in their order.
fn urls(round: &Reply) -> Vec<String> {
    let requests = round.input_requests();
    requests.values().map(|request| request["params"]["url"].as_str().unwrap().to_owned()).collect()
}

/// Which of two credentials was refused nobody knows: the one that can be renewed is, and then the call goes through. Where it is
/// refused again, both are asked for.
#[tokio::test]
async fn of_two_credentials_the_one_that_can_be_renewed_is() {
    let more = "[[upstream.needs]]\nprovider = \"weather\"\nheader = { X-Api-Key = \"{api_key}\" }\n";
    let setup = Setup { needs: more.to_owned(), ..Setup::default() };
    let scene = Scene::with(setup, Upstream::start().await).await;
    let client = scene.stage.modern();
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    let [hub, weather]: [String; 2] = urls(&asked).try_into().unwrap();
    let granted = granted(&scene.hub, "user-1").await;
    let now = usher::clock::Clock::now(&*scene.stage.clock);
    let new = grant(&scene.hub, &granted, now);
    super::scene::store_grant(&scene.stage.app().store, &hub, &granted, new, now).await;
    scene.stage.person().await.connect(&weather, &[("api_key", "a-key")]).await;
    scene.goes_through().await;
    scene.hub.end_access_tokens_of("user-1");
    scene.goes_through().await;
    assert_eq!(scene.stage.credential().await.unwrap().status, CredentialStatus::Working);
    scene.stage.upstream.tool("get_forecast", Script::new().require("x-never", "sent"));
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    assert_eq!(urls(&asked).len(), 2, "{}", asked.text());
}
