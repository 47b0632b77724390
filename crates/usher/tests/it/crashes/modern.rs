//! Crashes on the way of a modern call: its question, its retry, its answer; and of a key that the upstream refuses.

use usher_store::{AuditAction, CredentialStatus, FailPoint, StateName};
use usher_testkit::{
    client::{Modern, Reply, Request},
    upstream::Script,
};

use super::scene::{Left, Scene, broke, connect, cut, id_in};
use crate::{
    database::Database,
    harness::{ACCEPT, CALLS, answered},
};

fn retry(client: &Modern, round: &Reply) -> Request {
    let state = round.request_state();
    client.retrying(CALLS[0].0, CALLS[0].1, Some(&round.answer_all(ACCEPT)), state.as_deref())
}

/// The question is asked, stored or not: whoever calls again is asked, and the question is one.
pub(super) async fn asks(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let client = scene.modern();
    tokio::join!(broke(client.request(CALLS[0].0, CALLS[0].1).try_stream()), scene.crash());
    let stored = scene.database.waiting().await;
    assert_eq!(stored.len(), usize::from(point == FailPoint::QuestionStored));

    scene.start_again().await;
    let round = client.call(CALLS[0].0, CALLS[0].1).await;
    let id = id_in(&round.url());
    assert_eq!(scene.database.waiting().await, [id.clone()]);
    assert!(stored.is_empty() || stored == [id.clone()], "the question that is open is asked");
    connect(&scene.person().await, &round.url()).await;
    assert!(answered(&retry(&client, &round).send().await));
    scene.all_happened_once(&id).await;
}

/// The retry is cut: taken and not yet waiting, or at any moment after the person was there.
pub(super) async fn retries(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let client = scene.modern();
    let round = client.call(CALLS[0].0, CALLS[0].1).await;
    let (url, id) = (round.url(), id_in(&round.url()));
    let person = scene.person().await;
    let connected = point != FailPoint::RetryTaken;
    if connected {
        let held = retry(&client, &round).stream().await;
        connect(&person, &url).await;
        scene.crash().await;
        cut(held).await;
    } else {
        tokio::join!(broke(retry(&client, &round).try_stream()), scene.crash());
    }
    let state = if connected { StateName::Completed } else { StateName::Created };
    assert_eq!(scene.left(&id).await, Left { state, connected, owed: false });
    let sent = usize::from(point == FailPoint::CallAnswered);
    assert_eq!(scene.upstream.requests_of(CALLS[0].0).len(), sent);

    scene.start_again().await;
    if !connected {
        connect(&person, &url).await;
    }
    // The same round again: its state is with the client.
    let reply = retry(&client, &round).send().await;
    assert!(answered(&reply), "{}", reply.text());
    scene.all_happened_once(&id).await;
}

/// The upstream refuses the key: marked or not, its owner is asked for another one.
pub(super) async fn is_refused(database: Database, point: FailPoint) {
    const NEW: &str = "the-next-key-8d2c";
    let mut scene = Scene::new(database, point).await;
    let client = scene.modern();
    let first = client.call(CALLS[0].0, CALLS[0].1).await;
    let person = scene.person().await;
    connect(&person, &first.url()).await;
    scene.upstream.tool("get_forecast", Script::new().require("x-api-key", NEW).text("sunny"));
    scene.api.accept(&[NEW]);
    tokio::join!(broke(client.request(CALLS[0].0, CALLS[0].1).try_stream()), scene.crash());
    let store = scene.database.store().await;
    let stored = store.credential(&usher::identity::tokens::local_user(), "weather").await.unwrap().unwrap();
    store.close().await;
    let rejected = stored.status == CredentialStatus::Rejected;
    assert_eq!(rejected, point == FailPoint::CredentialRejected);

    scene.start_again().await;
    let round = client.call(CALLS[0].0, CALLS[0].1).await;
    assert!(round.is_input_required(), "{}", round.text());
    assert_ne!(round.url(), first.url());
    let done = person.connect(&round.url(), &[("api_key", NEW)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    assert!(answered(&retry(&client, &round).send().await));
    assert_eq!(scene.database.audited(AuditAction::CredentialRejected, None).await, 1);
    scene.all_happened_once(&id_in(&round.url())).await;
}
