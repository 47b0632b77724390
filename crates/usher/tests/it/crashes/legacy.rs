//! Crashes on the way of a legacy call: its session, its question, its notice, its answer.

use usher_store::{FailPoint, StateName};
use usher_testkit::{
    client::{Legacy, Stream},
    upstream::{Refusal, Upstream},
};

use super::scene::{COMPLETE, Left, Scene, broke, connect, cut, elicitation_id, id_in};
use crate::{
    database::Database,
    harness::{ACCEPT, CALLS, KEY},
};

/// Opens a call that lacks the key; the link of its question.
async fn asked(client: &Legacy) -> (Stream, String) {
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    let url = question.string(&["params", "url"]).unwrap();
    if let Some(id) = question.id() {
        assert_eq!(client.respond(id, ACCEPT).await.status, 202);
    }
    (stream, url)
}

/// `initialize` gets no answer: the client begins anew.
pub(super) async fn initializes(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let newcomer = scene.newcomer();
    let params = newcomer.initialize_params();
    tokio::join!(broke(newcomer.try_open("initialize", &params)), scene.crash());

    scene.start_again().await;
    let client = scene.legacy().await;
    let (call, url) = asked(&client).await;
    connect(&scene.person().await, &url).await;
    assert_eq!(call.reply().await.content_text(), "sunny");
    scene.goes_through(&client).await;
    scene.is_told(&client, &id_in(&url), false).await;
    scene.all_happened_once(&id_in(&url)).await;
}

/// The upstream begins its side once there is a key: whatever of that is stored, the session goes on.
pub(super) async fn begins_late(database: Database, point: FailPoint) {
    let upstream = Upstream::builder().require("x-api-key", KEY, Refusal::unauthorized()).start().await;
    let mut scene = Scene::with(database, point, upstream, "").await;
    let client = scene.legacy().await;
    let (mut call, url) = asked(&client).await;
    connect(&scene.person().await, &url).await;
    call.expect(COMPLETE).await;
    scene.crash().await;
    cut(call).await;
    let left = Left { state: StateName::Completed, connected: true, owed: false };
    assert_eq!(scene.left(&id_in(&url)).await, left);

    scene.start_again().await;
    scene.goes_through(&client).await;
    // The one that nobody knows of ends by itself.
    let begun = if point == FailPoint::HandshakeDone { 2 } else { 1 };
    assert_eq!(scene.upstream.sessions().len(), begun);
    scene.all_happened_once(&id_in(&url)).await;
}

/// The client ends its session, and does not hear that it is ended: it is.
pub(super) async fn ends(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let client = scene.legacy().await;
    tokio::join!(broke(client.try_delete()), scene.crash());

    scene.start_again().await;
    assert_eq!(client.delete().await.status, 404);
    assert_eq!(client.call("ping", "{}").await.status, 404);
    assert_eq!(scene.legacy().await.call("ping", "{}").await.status, 200);
    scene.upstream.assert_clean();
}

/// The question is asked, stored or not: the session is asked again, and its question is one.
pub(super) async fn asks(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let client = scene.legacy().await;
    tokio::join!(broke(client.try_open(CALLS[0].0, CALLS[0].1)), scene.crash());
    let stored = scene.database.waiting().await;
    assert_eq!(stored.len(), usize::from(point == FailPoint::QuestionStored));

    scene.start_again().await;
    let (mut call, url) = asked(&client).await;
    let id = id_in(&url);
    assert_eq!(scene.database.waiting().await, [id.clone()]);
    assert!(stored.is_empty() || stored == [id.clone()], "the question that is open is asked");
    connect(&scene.person().await, &url).await;
    assert_eq!(elicitation_id(&call.expect(COMPLETE).await), id);
    assert_eq!(call.reply().await.content_text(), "sunny");
    scene.is_told(&client, &id, false).await;
    scene.goes_through(&client).await;
    scene.all_happened_once(&id).await;
}

/// A held call is cut: before the person was there, or at any moment after they were.
pub(super) async fn is_held(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let client = scene.legacy().await;
    let (mut call, url) = asked(&client).await;
    let id = id_in(&url);
    let person = scene.person().await;
    let connected = point != FailPoint::QuestionSent;
    if connected {
        connect(&person, &url).await;
    }
    let told = connected && !matches!(point, FailPoint::WaiterWoken | FailPoint::NoticeClaimed);
    if told {
        assert_eq!(elicitation_id(&call.expect(COMPLETE).await), id);
    }
    scene.crash().await;
    let came = cut(call).await;
    assert_eq!(came.text().contains(COMPLETE), told, "{}", came.text());
    // A notice that was claimed and not written is lost. The call of the client goes through all the same.
    let owed = matches!(point, FailPoint::QuestionSent | FailPoint::WaiterWoken);
    let state = if connected { StateName::Completed } else { StateName::Created };
    assert_eq!(scene.left(&id).await, Left { state, connected, owed });
    let sent = usize::from(point == FailPoint::CallAnswered);
    assert_eq!(scene.upstream.requests_of(CALLS[0].0).len(), sent);

    scene.start_again().await;
    if !connected {
        connect(&person, &url).await;
    }
    scene.goes_through(&client).await;
    scene.is_told(&client, &id, owed).await;
    scene.all_happened_once(&id).await;
}

/// The notice goes to a GET stream: at most once.
pub(super) async fn is_told_on_a_stream(database: Database, point: FailPoint) {
    let upstream = Upstream::start().await;
    let mut scene = Scene::with(database, point, upstream, "hold = \"0s\"").await;
    let client = scene.legacy().await;
    let mut stream = client.open_get(None).await;
    scene.upstream.wait_until("a GET stream", |upstream| upstream.get_streams() == 1).await;
    let url = client.call(CALLS[0].0, CALLS[0].1).await.url();
    let id = id_in(&url);
    connect(&scene.person().await, &url).await;
    let written = point == FailPoint::StreamNoticeWritten;
    if written {
        assert_eq!(elicitation_id(&stream.expect(COMPLETE).await), id);
    }
    scene.crash().await;
    let came = cut(stream).await;
    assert_eq!(came.text().contains(COMPLETE), written, "{}", came.text());
    // One that was claimed and not written is lost.
    assert_eq!(scene.left(&id).await, Left { state: StateName::Completed, connected: true, owed: false });

    scene.start_again().await;
    scene.goes_through(&client).await;
    scene.is_told(&client, &id, false).await;
    scene.all_happened_once(&id).await;
}
