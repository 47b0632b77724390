//! What a provider granted and nobody will use is ended there.

use std::fmt::Write as _;

use http::Method;
use usher_store::{AuditAction, FailureReason, InteractionState, Outcome};
use usher_testkit::{
    oauth::{Endpoint, Provider, Trouble},
    person::Person,
    provider::Behaviour,
    upstream::Gate,
};

use super::scene::{Change, Scene, is_heading};

/// A provider that can be told, with more tables.
async fn scene(tables: impl Fn(&Provider) -> String) -> Scene {
    let provider = Provider::start().await;
    let mut text = tables(&provider);
    write!(text, "[provider.revocation]\nendpoint = \"{}\"\n", provider.url(Endpoint::Revocation)).unwrap();
    Scene::at(provider, Change { tables: text, ..Change::default() }).await
}

/// What the audit log says that the provider was told.
async fn told(scene: &Scene) -> Vec<(Outcome, Option<String>)> {
    let user = usher::identity::tokens::local_user();
    let rows = scene.stage.app().store.audit_of(&user, 100).await.unwrap();
    let told = rows.into_iter().filter(|row| row.action == Some(AuditAction::GrantRevoked));
    told.map(|row| (row.outcome, row.detail)).collect()
}

/// Waits until the audit log says so once.
async fn is_told(scene: &Scene, expected: (Outcome, Option<&str>)) {
    let wait = async {
        while told(scene).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    usher_testkit::within(usher_testkit::DEADLINE, "nothing was told", wait).await;
    let found = told(scene).await;
    assert_eq!(found, [(expected.0, expected.1.map(str::to_owned))]);
}

/// Comes back, and has `meanwhile` happen while the provider answers.
async fn comes_back(scene: &Scene, person: &Person, back: &str, meanwhile: impl Future<Output = ()>) {
    let gate = Gate::new();
    scene.provider.trouble_next(Endpoint::Token, Trouble::ReplyHeld(gate.clone()));
    let visit = person.visit(Method::GET, back).from_site("https://issuer.example").send();
    let other = async {
        gate.reached(1).await;
        meanwhile.await;
        gate.open();
    };
    tokio::join!(visit, other);
}

/// A person who declines in another tab, while the code is being exchanged, has what it brings ended at the provider.
#[tokio::test]
async fn what_is_granted_after_a_decline_is_ended() {
    let scene = scene(|_| String::new()).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    let declined = async {
        let id = super::scene::id_of(&asked.url());
        let user = usher::identity::tokens::local_user();
        scene.stage.app().broker.decline(&id, &user).await.unwrap();
    };
    comes_back(&scene, &person, &back, declined).await;
    assert!(matches!(scene.state(&asked.url()).await.state, InteractionState::Declined { .. }));
    is_told(&scene, (Outcome::Success, None)).await;
    assert_eq!(scene.provider.grants_of("user-1"), 0);
    assert!(scene.credential().await.is_none());
    scene.provider.assert_clean();
}

/// Where the call after connecting fails, the tokens of before it are ended.
#[tokio::test]
async fn what_lacks_a_field_is_ended() {
    let lookup = |provider: &Provider| {
        let url = provider.url(Endpoint::Resources);
        format!("[provider.lookup]\nurl = \"{url}\"\nfields = {{ site = \"0.id\" }}\n")
    };
    let scene = scene(lookup).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    scene.provider.trouble_next(Endpoint::Resources, Trouble::Instead(Behaviour::Body(200, "[]".to_owned())));
    is_heading(&scene.connect(&person, &asked.url()).await, "This did not work");
    let state = scene.state(&asked.url()).await.state;
    assert!(matches!(state, InteractionState::Failed { reason: FailureReason::ProviderRefused, .. }), "{state:?}");
    is_told(&scene, (Outcome::Success, None)).await;
    assert_eq!(scene.provider.grants_of("user-1"), 0);
}

/// A provider's own way may end all that its user ever granted: it is not gone while something of theirs is stored.
#[tokio::test]
async fn what_is_stored_is_not_ended_with_it() {
    for (way, expected) in
        [("", (Outcome::Success, None)), ("proof = \"client_basic\"\n", (Outcome::Failure, Some("not-tried")))]
    {
        let provider = Provider::start().await;
        let tables = format!("[provider.revocation]\nendpoint = \"{}\"\n{way}", provider.url(Endpoint::Revocation));
        let scene = Scene::at(provider, Change { tables, ..Change::default() }).await;
        let person = scene.stage.person().await;
        let client = scene.stage.modern();
        let asked = scene.asked(&client).await;
        is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
        let stored = scene.credential().await.unwrap();

        let store = &scene.stage.app().store;
        store.reject_credential(&stored.user, "forge", stored.version, stored.updated_at).await.unwrap();
        let again = scene.asked(&client).await;
        let back = scene.back(&person, &again.url()).await;
        let declined = async {
            let id = super::scene::id_of(&again.url());
            scene.stage.app().broker.decline(&id, &stored.user).await.unwrap();
        };
        comes_back(&scene, &person, &back, declined).await;
        is_told(&scene, expected).await;
        let left = scene.credential().await.unwrap().secrets;
        let token = secrecy::ExposeSecret::expose_secret(&left["access_token"]);
        assert!(scene.provider.token_book().look_up(token).is_some(), "{way}: what is stored is good still");
    }
}
