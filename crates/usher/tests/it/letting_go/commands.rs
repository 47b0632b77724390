//! An operator lists and ends accounts.

use std::time::Duration;

use elicit::{ClientId, Principal, SystemRandom, UserId};
use usher::clock::Clock as _;
use usher_store::{AskReason, InteractionId, NewInteraction, Outcome};
use usher_testkit::{
    oauth::{Endpoint, Trouble},
    provider::Behaviour,
};

use super::{connected, is_gone, told};
use crate::{
    people_commands::{LOCAL, json, says},
    refresh::scene::{Scene, grant, granted, store_grant},
};

const REVOKE: [&str; 5] = ["connections", "revoke", "--provider", "hub", "--yes"];

/// The account of another user, with tokens of its own.
async fn of(scene: &Scene, subject: &str) {
    let (store, now) = (&scene.stage.app().store, scene.stage.clock.now());
    let new = NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal {
            user: UserId::new("https://accounts.example", subject).unwrap(),
            client: ClientId::new("editor").unwrap(),
        },
        client_claim: None,
        asked_by: None,
        provider: "hub".to_owned(),
        destination: scene.stage.app().config.upstreams[0].destination(),
        operation: None,
        reason: AskReason::Missing,
        expires_at: now + Duration::from_mins(15),
    };
    let asked = store.ask(&[new], None, now).await.unwrap().remove(0);
    let granted = granted(&scene.hub, "user-2").await;
    let url = format!("/connect/{}", asked.id);
    store_grant(store, &url, &granted, grant(&scene.hub, &granted, now), now).await;
}

/// Whose account it is, what it may do and how it stands; never a token.
#[tokio::test]
async fn accounts_are_listed_without_their_tokens() {
    let (scene, _) = connected().await;
    let folder = scene.stage.folder.path();
    let listed = says(folder, &["connections", "list"], 0).await;
    for said in ["oauth", "user-1", "working", "renewed", "read", "weather"] {
        assert!(listed.contains(said), "{said}: {listed}");
    }
    let object = json(folder, &["connections", "list", "--json"]).await;
    assert_eq!((object[0]["kind"].as_str(), object[0]["granted"]["account"].as_str()), (Some("oauth"), Some("user-1")));
    assert_eq!(object[0]["granted"]["scopes"], serde_json::json!(["read"]));
    assert_eq!(object[0]["granted"]["renewed"], true);
    for secret in scene.hub.secrets() {
        assert!(!listed.contains(&secret) && !object.to_string().contains(&secret), "{listed}");
    }
}

/// The provider ends what the operator revokes, beside a running service, which uses it no more.
#[tokio::test]
async fn a_revoked_connection_is_ended_at_the_provider() {
    let (scene, _) = connected().await;
    let folder = scene.stage.folder.path();
    let listed = says(folder, &REVOKE, 0).await;
    assert!(listed.contains("Revoked: 1.") && listed.contains("ended at 127.0.0.1 too"), "{listed}");
    assert_eq!((scene.hub.counts().revocations, scene.hub.grants_of("user-1")), (1, 0));
    assert_eq!(told(&scene).await, [(Outcome::Success, None)]);
    is_gone(&scene).await;
    scene.assert_clean();
}

/// What could not be ended is deleted, named, and told by the exit code; who wants to tell nobody says so.
#[tokio::test]
async fn what_could_not_be_ended_is_named() {
    let (scene, _) = connected().await;
    scene.hub.trouble(Endpoint::Revocation, Trouble::Instead(Behaviour::Status(503)));
    let folder = scene.stage.folder.path();
    let listed = says(folder, &REVOKE, 3).await;
    for said in ["Revoked: 1.", "may still be listed, and good, at 127.0.0.1", "could not be reached"] {
        assert!(listed.contains(said), "{said}: {listed}");
    }
    is_gone(&scene).await;

    let (scene, _) = connected().await;
    scene.hub.trouble(Endpoint::Revocation, Trouble::Instead(Behaviour::Silence));
    let soon: Vec<_> = REVOKE.iter().copied().chain(["--wait", "1"]).collect();
    let listed = says(scene.stage.folder.path(), &soon, 3).await;
    assert!(listed.contains("could not be reached"), "{listed}");
    assert_eq!(scene.hub.count(Endpoint::Revocation), 1);
    is_gone(&scene).await;

    let (scene, _) = connected().await;
    let offline: Vec<_> = REVOKE.iter().copied().chain(["--offline"]).collect();
    let listed = says(scene.stage.folder.path(), &offline, 0).await;
    assert!(listed.contains("the provider was not told"), "{listed}");
    assert_eq!((scene.hub.count(Endpoint::Revocation), scene.hub.grants_of("user-1")), (0, 1));
    assert_eq!(told(&scene).await, [(Outcome::Failure, Some("not-tried".to_owned()))]);
    is_gone(&scene).await;
}

/// R-SEC-04: many at once, with a provider that is away: all are deleted, and the provider is left alone after a few.
#[tokio::test]
async fn a_batch_leaves_a_provider_alone_that_is_away() {
    let (scene, _) = connected().await;
    for number in 0..14 {
        of(&scene, &format!("person-{number}")).await;
    }
    scene.hub.trouble(Endpoint::Revocation, Trouble::Instead(Behaviour::Status(503)));
    let folder = scene.stage.folder.path();
    let revoke: Vec<_> = REVOKE.iter().copied().chain(["--json"]).collect();
    let output = crate::serve_command::run(folder, &revoke).await;
    assert_eq!(output.status.code(), Some(3));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["revoked"], 15);
    let whys: Vec<_> = object["providers"].as_array().unwrap().iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(whys.len(), 15);
    assert!(whys.contains(&"provider-unreachable") && whys.contains(&"not-tried"), "{whys:?}");
    assert!(scene.hub.count(Endpoint::Revocation) <= 3 + 7, "{}", scene.hub.count(Endpoint::Revocation));
    assert!(says(folder, &["connections", "list"], 0).await.contains("There is no such connection."));
}

/// Offboarding: all accounts of a person end at their providers, and nobody else's.
#[tokio::test]
async fn the_accounts_of_a_person_who_is_forgotten_end_at_their_providers() {
    let (scene, _) = connected().await;
    of(&scene, "other").await;
    let [issuer, subject] = LOCAL;
    let forgotten = json(scene.stage.folder.path(), &["users", "forget", issuer, subject, "--yes", "--json"]).await;
    assert_eq!(forgotten["removed"]["connections"], 1, "{forgotten}");
    assert_eq!(forgotten["providers"][0]["outcome"], "ended", "{forgotten}");
    assert_eq!((scene.hub.grants_of("user-1"), scene.hub.grants_of("user-2")), (0, 1));
    assert_eq!(told(&scene).await, [(Outcome::Success, None)]);
    is_gone(&scene).await;

    let (scene, _) = connected().await;
    scene.hub.trouble(Endpoint::Revocation, Trouble::Instead(Behaviour::Drop));
    let said = says(scene.stage.folder.path(), &["users", "forget", issuer, subject, "--yes"], 3).await;
    assert!(said.contains("Removed: 1 connection") && said.contains("may still be listed"), "{said}");
    is_gone(&scene).await;
}

/// Without our client's secret a provider ends nothing: then nothing is deleted either, unless nobody is to be told.
#[tokio::test]
async fn a_command_that_lacks_the_client_s_secret_deletes_nothing() {
    let (scene, _) = connected().await;
    let folder = scene.stage.folder.path();
    let path = folder.join("usher.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let given = format!("client_secret = \"{}\"", usher_testkit::oauth::CLIENT_SECRET);
    assert!(text.contains(&given), "{text}");
    std::fs::write(&path, text.replace(&given, "client_secret_env = \"USHER_SECRET_OF_HUB\"")).unwrap();
    let [issuer, subject] = LOCAL;
    for command in [&REVOKE[..], &["users", "forget", issuer, subject, "--yes"]] {
        let said = says(folder, command, 1).await;
        assert!(said.contains("USHER_SECRET_OF_HUB") && said.contains("Nothing was changed"), "{said}");
    }
    assert_eq!(scene.hub.count(Endpoint::Revocation), 0);
    scene.goes_through().await;
    let offline: Vec<_> = REVOKE.iter().copied().chain(["--offline"]).collect();
    says(folder, &offline, 0).await;
    is_gone(&scene).await;
}
