//! Letting go of accounts: at the provider, on the portal, by an operator; and what is sent where after the configuration changed.

mod commands;
mod configuration;
mod destinations;
mod own_account;
mod portal;
mod race;

use usher_store::{AuditAction, Outcome};
use usher_testkit::{
    oauth::{Endpoint, Provider},
    person::{Page, Person},
    upstream::Upstream,
};

use crate::{
    harness::{Setup, Stage},
    refresh::scene::{Scene, furnish, prepared},
};

/// Where the provider ends an access, in its section of the configuration.
pub(crate) fn revocation(hub: &Provider) -> String {
    format!("[provider.revocation]\nendpoint = \"{}\"\n", hub.url(Endpoint::Revocation))
}

/// A service whose provider can be told.
async fn scene_with(setup: Setup) -> Scene {
    let hub = Provider::start().await;
    let more = format!("{}{}", revocation(&hub), setup.more);
    let stage = Stage::with(prepared(Setup { more, ..setup }, &hub), Upstream::start().await).await;
    furnish(&stage.upstream, &hub);
    Scene { stage, hub }
}

/// The same, and the person has connected.
async fn connected() -> (Scene, Person) {
    let scene = scene_with(Setup::default()).await;
    scene.connect().await;
    scene.goes_through().await;
    let person = scene.stage.person().await;
    (scene, person)
}

/// The person gives the account up.
async fn disconnect(person: &Person) -> Page {
    let ask = person.get("/connections/hub/disconnect").await;
    assert_eq!(ask.heading().as_deref(), Some("Disconnect Hub?"), "{}", ask.describe());
    person.agree(&ask, &[]).await
}

/// What the audit log says that a provider was told, and why not.
async fn told(scene: &Scene) -> Vec<(Outcome, Option<String>)> {
    let user = usher::identity::tokens::local_user();
    let rows = scene.stage.app().store.audit_of(&user, 100).await.unwrap();
    let told = rows.into_iter().filter(|row| row.action == Some(AuditAction::GrantRevoked));
    told.map(|row| (row.outcome, row.detail)).collect()
}

/// Whether nothing is stored of the account, and the next call asks.
async fn is_gone(scene: &Scene) {
    let (store, user) = (&scene.stage.app().store, usher::identity::tokens::local_user());
    let left = store.connections(&user).await.unwrap();
    assert!(left.readable.is_empty() && left.unreadable.is_empty(), "{left:?}");
    let asked = scene.call().await;
    assert!(asked.is_input_required(), "{}", asked.text());
}
