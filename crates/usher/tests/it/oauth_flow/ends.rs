//! How a visit to a provider ends otherwise: declined here, declined there, left alone.

use usher_store::{AuditAction, FailureReason, InteractionState};
use usher_testkit::{
    oauth::{Endpoint, Provider, Trouble, settings::RefreshBy},
    upstream::Gate,
};

use super::scene::{CALL, Change, Scene, is_heading, is_refused, went};
use crate::{
    harness::{ACCEPT, told},
    needs_modern::retry,
};

/// A decline on our page starts nothing at the provider, and ends the call.
#[tokio::test]
async fn a_decline_here_goes_nowhere() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    is_heading(&person.decline(&asked.url()).await, "Declined");
    assert!(scene.provider.requests().is_empty());
    let ended = told(CALL.0, &retry(&client, CALL, &asked, ACCEPT).await);
    assert!(ended.starts_with("Connecting Forge forge was declined"), "{ended}");
}

/// R-ACT-01: who says no at the provider has not declined the question: the page says so, the call waits, and the
/// person starts again or declines.
#[tokio::test]
async fn a_no_at_the_provider_is_told_and_the_person_decides() {
    let scene = Scene::new().await;
    let client = scene.stage.ready().await;
    let mut stream = client.open(CALL.0, CALL.1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    let person = scene.stage.person().await;
    let back = scene.back_as(&person, &url, "deny").await;
    assert!(back.contains("error=access_denied"), "{back}");
    let page = person.come_back(&back).await;
    is_heading(&page, "This did not work");
    assert!(page.text().contains("Forge forge says that you did not agree there."), "{}", page.text());
    let failed = |state: InteractionState| matches!(state, InteractionState::Failed { reason, .. } if reason == FailureReason::ProviderDeclined);
    assert!(failed(scene.state(&url).await.state));
    assert_eq!(scene.audited(AuditAction::InteractionDeclined).await, 0, "nobody declined the question");
    is_refused(&person.come_back(&back).await);

    let again = person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    is_heading(&again, "Connect Forge forge");
    is_heading(&scene.connect(&person, &url).await, "Connected");
    assert!(went(&stream.reply().await), "the call waited");
    scene.provider.assert_clean();
}

/// The same, and the person declines then: the call ends at once.
#[tokio::test]
async fn a_no_at_the_provider_can_be_made_a_decline() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let back = scene.back_as(&person, &asked.url(), "deny").await;
    let page = person.come_back(&back).await;
    is_heading(&person.refuse(&page).await, "Declined");
    let ended = told(CALL.0, &retry(&client, CALL, &asked, ACCEPT).await);
    assert!(ended.starts_with("Connecting Forge forge was declined"), "{ended}");
    assert!(scene.credential().await.is_none());
}

/// A decline while the person is away at the provider: what it grants then is used for nothing.
#[tokio::test]
async fn a_decline_on_the_way_ends_the_question() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let back = scene.back(&person, &asked.url()).await;
    is_heading(&person.decline(&asked.url()).await, "Declined");
    is_refused(&person.come_back(&back).await);
    assert_eq!(scene.provider.count(Endpoint::Token), 0);
    assert!(scene.credential().await.is_none());
}

/// The newest way out is the one way back; the page can be left and opened again before.
#[tokio::test]
async fn who_leaves_twice_comes_back_the_second_way() {
    let scene = Scene::new().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let first = scene.back(&person, &asked.url()).await;
    let second = scene.back(&person, &asked.url()).await;
    is_refused(&person.come_back(&first).await);
    is_heading(&person.come_back(&second).await, "Connected");
    assert_eq!(scene.provider.counts().exchanges, 1);
}

/// A decline in the moment in which the code is exchanged: what the provider grants is used for nothing, and given
/// back.
#[tokio::test]
async fn a_decline_while_the_code_is_exchanged_lets_the_grant_go() {
    let provider = Provider::start().await;
    let tables = format!("[provider.revocation]\nendpoint = \"{}\"\n", provider.url(Endpoint::Revocation));
    let scene = Scene::at(provider, Change { tables, ..Change::default() }).await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let opened = person.get(&asked.url()).await;
    let back = scene.back(&person, &asked.url()).await;
    let gate = Gate::new();
    scene.provider.trouble(Endpoint::Token, Trouble::ReplyHeld(gate.clone()));
    let declining = async {
        scene.provider.wait_for(Endpoint::Token, 1).await;
        is_heading(&person.refuse(&opened).await, "Declined");
        gate.open();
    };
    let (page, ()) = tokio::join!(person.come_back(&back), declining);
    is_heading(&page, "Declined");
    assert!(scene.credential().await.is_none());
    assert_eq!(scene.provider.counts().revocations, 1);
    assert_eq!(scene.provider.grants_of("user-1"), 0);
    scene.provider.assert_clean();
}

/// Kind 12: what is renewed by its access token has its time to be renewed from the start, before that token ends.
#[tokio::test]
async fn kind_12_an_access_that_renews_itself_is_to_be_renewed_before_it_ends() {
    let provider = Provider::start().await;
    let by = RefreshBy::AccessToken { grant_type: "refresh_token", parameter: "access_token" };
    provider.set(|settings| settings.refreshing.by = by);
    let tables = "[provider.refresh]\nby = \"access_token\"\n".to_owned();
    let scene = Scene::at(provider, Change { tables, ..Change::default() }).await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let back = scene.back(&person, &asked.url()).await;
    is_heading(&person.come_back(&back).await, "Connected");
    let grant = scene.credential().await.unwrap().grant.unwrap();
    assert!(grant.refresh_token.is_none(), "it gives none");
    assert!(grant.refresh_at < grant.expires_at && grant.refresh_at.is_some(), "{:?}", grant.refresh_at);
    scene.stage.clock.forward(3500);
    scene.provider.wait_until("it is renewed", |provider| provider.counts().refreshes == 1).await;
}
