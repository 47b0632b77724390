//! A person gives an account up.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use usher::{
    clock::{Clock as _, SystemClock},
    credentials::{
        let_go::LetGo,
        revoke::{Revocation, StillListed},
    },
    egress::Egress,
};
use usher_store::{AskReason, Leave, Outcome};
use usher_testkit::{
    idp::Idp,
    oauth::{Endpoint, Trouble},
    provider::Behaviour,
};

use super::{connected, disconnect, is_gone, scene_with, told};
use crate::{
    harness::{CALLS, Setup, answered},
    needs_modern::ask,
    refresh::scene::{Scene, grant, granted, store_grant},
};

/// One account can be disconnected and connected anew: the page says whose it is, and the provider ends it once.
#[tokio::test]
async fn giving_an_account_up_ends_it_at_the_provider() {
    let (scene, person) = connected().await;
    let portal = person.get("/").await;
    for said in ["Hub", "Working", "Connected as user-1", "1 permission", "renewed by itself", "Reconnect"] {
        assert!(portal.text().contains(said), "{said}: {}", portal.text());
    }
    let ask = person.get("/connections/hub/disconnect").await;
    assert!(ask.text().contains("127.0.0.1 is told, and ends the access"), "{}", ask.text());
    assert_eq!(scene.hub.count(Endpoint::Revocation), 0, "looking ends nothing");

    let gone = disconnect(&person).await;

    assert!(
        gone.text().contains("Hub is disconnected.") && gone.text().contains("has ended the access too"),
        "{}",
        gone.text()
    );
    assert_eq!((scene.hub.counts().revocations, scene.hub.grants_of("user-1")), (1, 0));
    assert_eq!(told(&scene).await, [(Outcome::Success, None)]);
    is_gone(&scene).await;
    assert_eq!(person.get("/connections/hub/disconnect").await.status, 404);
    let activity = person.get("/activity").await;
    assert!(activity.text().contains("A provider was to be told that your access has ended"), "{}", activity.text());
    scene.assert_clean();
    // What anybody can write into an address is not said.
    let forged = person.get("/?disconnected=hub&became=let-go-refused&host=evil.example&mark=AAAA").await;
    assert!(!forged.text().contains("evil.example"), "{}", forged.text());
}

/// R-SEC-04: a provider that is away, refuses, or says nothing keeps nobody from letting go, and the page says what is left to do.
#[tokio::test]
async fn a_provider_that_does_not_end_it_keeps_nobody() {
    for (trouble, said, why) in [
        (Behaviour::Status(503), "could not be told", "provider-unreachable"),
        (Behaviour::Drop, "could not be told", "provider-unreachable"),
        (Behaviour::Status(400), "did not end the access", "provider-refused"),
        (Behaviour::Redirect("http://127.0.0.1:9/".to_owned()), "did not end the access", "provider-refused"),
    ] {
        let (scene, person) = connected().await;
        scene.hub.trouble(Endpoint::Revocation, Trouble::Instead(trouble.clone()));
        let gone = disconnect(&person).await;
        for said in ["Hub is disconnected.", said, "settings of your account"] {
            assert!(gone.text().contains(said), "{trouble:?}: {said}: {}", gone.text());
        }
        assert_eq!(told(&scene).await, [(Outcome::Failure, Some(why.to_owned()))]);
        assert_eq!(scene.hub.count(Endpoint::Revocation), 1, "told once");
        is_gone(&scene).await;
    }
}

/// Where the provider has no way to end an access, the person knows before.
#[tokio::test]
async fn a_provider_that_cannot_be_told_is_named() {
    let scene = Scene::connected().await;
    let person = scene.stage.person().await;
    let ask = person.get("/connections/hub/disconnect").await;
    assert!(ask.text().contains("it stays listed: Usher cannot end it there."), "{}", ask.text());
    let gone = disconnect(&person).await;
    assert!(gone.text().contains("cannot be told from here, so it still lists this access"), "{}", gone.text());
    assert_eq!(told(&scene).await, [(Outcome::Failure, Some("no-revocation".to_owned()))]);
    is_gone(&scene).await;
}

/// R-ID-01, R-ID-03: nobody sees or ends what is another's, whatever they write into an address.
#[tokio::test]
async fn nobody_sees_or_ends_the_account_of_another() {
    let setup = Setup { issuer: Some(Arc::new(Idp::start().await)), ..Setup::default() };
    let scene = scene_with(setup).await;
    let client = |user: &str| scene.stage.modern_with(&scene.stage.token_of(user, "editor"));
    let asked = ask(&client("user-1"), CALLS[0]).await;
    let (granted, now) = (granted(&scene.hub, "user-1").await, scene.stage.clock.now());
    let new = grant(&scene.hub, &granted, now);
    store_grant(&scene.stage.app().store, &asked.url(), &granted, new, now).await;
    let (one, other) = (scene.stage.person_of("user-1").await, scene.stage.person_of("user-2").await);
    let page = one.get("/connections/hub/disconnect").await;

    assert!(!other.get("/").await.text().contains("Hub"));
    assert_eq!(other.get("/connections/hub/disconnect").await.status, 404);
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    for path in ["/connections/hub/disconnect", "/connections/hub/reconnect"] {
        assert_eq!(other.post_form(path, &[("csrf", &csrf)]).await.status, 403, "{path}");
    }

    assert_eq!(scene.hub.count(Endpoint::Revocation), 0);
    let reply = client("user-1").call(CALLS[0].0, CALLS[0].1).await;
    assert!(answered(&reply), "{}", reply.text());
    one.agree(&page, &[]).await;
    assert_eq!(scene.hub.grants_of("user-1"), 0);
}

/// What works can be connected anew from the portal, to change the account: the question is the person's own, and the provider
/// is told nothing of the access of before.
#[tokio::test]
async fn an_account_that_works_can_be_connected_anew() {
    let (scene, person) = connected().await;
    let portal = person.get("/").await;
    let form = portal.form_by_action("/connections/hub/reconnect");
    let page = person.submit(&portal, &form, None, &[]).await;
    assert!(page.url.contains("/connect/") && page.url.contains("?begun="), "{}", page.describe());
    assert!(page.text().contains("127.0.0.1") && !page.text().contains("did not just ask"), "{}", page.text());
    let waiting = scene.stage.waiting().await;
    assert_eq!(waiting.iter().map(|one| one.reason).collect::<Vec<_>>(), [AskReason::Again]);
    scene.goes_through().await;

    let granted = granted(&scene.hub, "user-2").await;
    let new = grant(&scene.hub, &granted, scene.stage.clock.now());
    let (store, now) = (&scene.stage.app().store, scene.stage.clock.now());
    let interaction = store.interaction(&waiting[0].id, now).await.unwrap().unwrap();
    let usher_store::Advanced::Done(_) = store.advance(interaction, usher_store::Step::Consent, now).await.unwrap()
    else {
        panic!("consent")
    };
    crate::refresh::scene::finish_grant(store, &waiting[0].id, &granted, new, now).await;

    scene.goes_through().await;
    assert_eq!(scene.hub.count(Endpoint::Revocation), 0, "it could end the new one too");
    assert_eq!((scene.hub.grants_of("user-1"), scene.hub.grants_of("user-2")), (1, 1));
}

/// Taking an app's access away tells the provider nothing: other apps go on.
#[tokio::test]
async fn taking_an_app_s_access_away_ends_nothing_at_the_provider() {
    let (scene, person) = connected().await;
    let page = person.get("/clients/revoke?client=default").await;
    person.agree(&page, &[]).await;
    assert!(scene.call().await.is_input_required());
    assert_eq!((scene.hub.count(Endpoint::Revocation), scene.hub.grants_of("user-1")), (0, 1));
    assert!(person.get("/").await.text().contains("Hub"));
}

/// What was begun by a service that was killed is ended by the next one; until then it is used for nothing, listed, and can be
/// ended by its owner.
#[tokio::test]
async fn what_was_begun_and_not_ended_is_ended_later() {
    let (mut scene, person) = connected().await;
    let user = usher::identity::tokens::local_user();
    let own = Leave::Own { user: &user, provider: "hub" };
    scene.stage.app().store.leave(own, scene.stage.clock.now()).await.unwrap();
    let portal = person.get("/").await;
    assert!(portal.text().contains("Being disconnected"), "{}", portal.text());
    assert!(scene.call().await.is_input_required());
    assert_eq!(scene.hub.count(Endpoint::Revocation), 0);

    scene.stage.clock.forward(121);
    scene.stage.restart().await;

    scene.hub.wait_until("it is ended", |hub| hub.counts().revocations == 1).await;
    let store = &scene.stage.app().store;
    crate::refresh::until("it is deleted", || async { store.connections(&user).await.unwrap().readable.is_empty() })
        .await;
    assert_eq!(told(&scene).await, [(Outcome::Success, None)]);
    is_gone(&scene).await;
}

/// The same by its owner, who presses the button again.
#[tokio::test]
async fn what_was_begun_can_be_ended_by_its_owner() {
    let (scene, person) = connected().await;
    let user = usher::identity::tokens::local_user();
    let own = Leave::Own { user: &user, provider: "hub" };
    scene.stage.app().store.leave(own, scene.stage.clock.now()).await.unwrap();
    disconnect(&person).await;
    assert_eq!((scene.hub.counts().revocations, scene.hub.grants_of("user-1")), (1, 0));
    is_gone(&scene).await;
}

/// R-GW-03: an access that its provider has ended is no opaque error: its owner is asked, and the portal says that it is to be
/// connected anew.
#[tokio::test]
async fn an_access_that_was_ended_elsewhere_says_so() {
    let (scene, person) = connected().await;
    scene.hub.revoke_grants_of("user-1");
    for call in CALLS {
        ask(&scene.stage.modern(), call).await;
    }
    let portal = person.get("/").await;
    assert!(portal.text().contains("Sign in again needed"), "{}", portal.text());
    assert!(portal.html.contains("/connections/hub/reconnect"), "{}", portal.text());
}

/// What was connected anew while a batch was under way stays: its provider is told nothing of the old one, which could end both.
#[tokio::test]
async fn what_was_connected_anew_meanwhile_is_not_ended_with_the_old_one() {
    let (scene, _) = connected().await;
    let (store, config) = (&scene.stage.app().store, &scene.stage.app().config);
    let user = usher::identity::tokens::local_user();
    let leaving = store.leave(Leave::All(&user), scene.stage.clock.now()).await.unwrap();
    scene.connect().await;

    let egress = Egress::allowing(config.egress.clone()).unwrap();
    let let_go = LetGo { store, config, egress: &egress, clock: &SystemClock };
    let told = let_go.many(leaving, Some(Instant::now() + Duration::from_mins(1))).await;

    assert!(matches!(told[0].1, Revocation::StillListed { why: StillListed::NotTried, .. }), "{:?}", told[0].1);
    assert_eq!((scene.hub.count(Endpoint::Revocation), scene.hub.grants_of("user-1")), (0, 2));
    scene.goes_through().await;
}
