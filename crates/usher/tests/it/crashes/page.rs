//! Crashes while the person is at the page, with a call of each era waiting for them.

use http::Method;
use usher_store::{AuditAction, FailPoint, InteractionId, StateName};
use usher_testkit::{
    client::{Legacy, Modern, Reply, Stream},
    person::Person,
};

use super::scene::{COMPLETE, Left, PROMPT, Scene, broke, connect, cut, elicitation_id, id_in};
use crate::{
    database::Database,
    harness::{ACCEPT, CALLS, KEY, answered, told},
};

/// One question that two clients were asked, and the person.
struct Asked {
    modern: Modern,
    round: Reply,
    legacy: Legacy,
    person: Person,
    url: String,
    id: InteractionId,
}

impl Asked {
    /// Asks both; each waits, in the streams of the modern retry and of the legacy call.
    async fn both(scene: &Scene) -> (Self, [Stream; 2]) {
        let (method, params) = CALLS[0];
        let modern = scene.modern();
        let round = modern.call(method, params).await;
        let (url, state) = (round.url(), round.request_state());
        let id = id_in(&url);
        let retry = modern.retrying(method, params, Some(&round.answer_all(ACCEPT)), state.as_deref()).stream().await;
        let legacy = scene.legacy().await;
        let mut call = legacy.open(method, params).await;
        let question = call.expect("elicitation/create").await;
        assert_eq!(elicitation_id(&question), id, "both wait for one question");
        assert_eq!(legacy.respond(question.id().unwrap(), ACCEPT).await.status, 202);
        let person = scene.person().await;
        (Self { modern, round, legacy, person, url, id }, [retry, call])
    }

    /// The retry of the round from before the crash.
    async fn retry(&self) -> Reply {
        let state = self.round.request_state();
        self.modern.retry(CALLS[0].0, CALLS[0].1, Some(&self.round.answer_all(ACCEPT)), state.as_deref()).await
    }
}

/// The person sends the key, or only opens the page.
pub(super) async fn submits(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let (asked, [retry, call]) = Asked::both(&scene).await;
    let visit = if point == FailPoint::PageOpened {
        asked.person.visit(Method::GET, &asked.url)
    } else {
        let page = asked.person.get(&asked.url).await;
        asked.person.agreement(&page, &[("api_key", KEY)])
    };
    tokio::join!(broke(visit.try_send()), scene.crash());

    let expected = match point {
        FailPoint::PageOpened | FailPoint::FormRead => StateName::Opened,
        FailPoint::CompletionCommitted | FailPoint::CompletionTold => StateName::Completed,
        _ => StateName::Consented,
    };
    let connected = expected == StateName::Completed;
    let left = scene.left(&asked.id).await;
    assert_eq!((left.state, left.connected), (expected, connected));
    // Once everybody was told, calls go on while the process is being killed: they may have come to their end.
    let told = if point == FailPoint::CompletionTold {
        retry.reply_within(PROMPT).await;
        call.reply_within(PROMPT).await
    } else {
        assert!(left.owed, "nobody has claimed the notice");
        cut(retry).await;
        cut(call).await
    };
    assert!(notices(&told) + usize::from(left.owed) <= 1, "told, and to be told again");

    scene.start_again().await;
    if connected {
        let page = asked.person.get(&asked.url).await;
        assert_eq!(page.heading().as_deref(), Some("Connected"), "{}", page.describe());
    } else {
        connect(&asked.person, &asked.url).await;
    }
    let reply = asked.retry().await;
    assert!(answered(&reply), "{}", reply.text());
    scene.goes_through(&asked.legacy).await;
    scene.is_told(&asked.legacy, &asked.id, left.owed).await;
    scene.all_happened_once(&asked.id).await;
}

fn notices(reply: &Reply) -> usize {
    reply.messages.iter().filter(|message| message.method().as_deref() == Some(COMPLETE)).count()
}

/// The person refuses: that holds, and whoever calls anew is asked anew.
pub(super) async fn declines(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let (asked, [retry, call]) = Asked::both(&scene).await;
    let page = asked.person.get(&asked.url).await;
    let refusal = asked.person.refusal(&page);
    tokio::join!(broke(refusal.try_send()), scene.crash());
    assert_eq!(scene.left(&asked.id).await, Left { state: StateName::Declined, connected: false, owed: true });
    tokio::join!(cut(retry), cut(call));

    scene.start_again().await;
    let ended = told(CALLS[0].0, &asked.retry().await);
    assert!(ended.contains("was declined"), "{ended}");
    // The next call finds that it rests, although the process that heard the decline is gone.
    let next = told(CALLS[0].0, &asked.modern.call(CALLS[0].0, CALLS[0].1).await);
    assert!(next.contains("was declined") && rests(&next), "{next}");
    assert_eq!(scene.database.audited(AuditAction::InteractionDeclined, Some(&asked.id)).await, 1);
    assert_eq!(scene.database.audited(AuditAction::InteractionCompleted, None).await, 0);
}

/// Whether a text says that the question rests for what is left of two minutes.
fn rests(text: &str) -> bool {
    let span = text.split_once("try again in ").and_then(|(_, rest)| rest.split_once(';')).unwrap().0;
    let seconds = span.strip_suffix(" seconds").map(|seconds| seconds.parse::<u64>().unwrap());
    seconds.map_or(span == "2 minutes", |seconds| (60..120).contains(&seconds))
}

/// The person signs in: the link is used up, and another one leads in.
pub(super) async fn signs_in(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let person = scene.stranger();
    let used = scene.link().to_owned();
    let visit = person.signing_in(&used).await;
    tokio::join!(broke(visit.try_send()), scene.crash());

    scene.start_again().await;
    assert_eq!(person.sign_in(&used).await.status, 410, "once is once");
    assert_eq!(person.sign_in(scene.link()).await.status, 200);
    assert_eq!(person.get("/").await.status, 200);
}

/// The person takes the key back: it is there and used until that is committed, and then gone.
pub(super) async fn disconnects(database: Database, point: FailPoint) {
    const PAGE: &str = "/connections/weather/disconnect";
    let mut scene = Scene::new(database, point).await;
    let (method, params) = CALLS[0];
    let modern = scene.modern();
    let round = modern.call(method, params).await;
    let person = scene.person().await;
    connect(&person, &round.url()).await;
    assert!(answered(&modern.call(method, params).await));
    let page = person.get(PAGE).await;
    let visit = person.agreement(&page, &[]);
    tokio::join!(broke(visit.try_send()), scene.crash());
    let gone = point == FailPoint::Disconnected;
    assert_eq!(scene.left(&id_in(&round.url())).await.connected, !gone);

    scene.start_again().await;
    if !gone {
        assert!(answered(&modern.call(method, params).await));
        let page = person.get(PAGE).await;
        assert_eq!(person.agree(&page, &[]).await.status, 200);
    }
    let anew = modern.call(method, params).await;
    assert!(anew.is_input_required(), "{}", anew.text());
    assert_eq!(scene.database.audited(AuditAction::CredentialDisconnected, None).await, 1);
    connect(&person, &anew.url()).await;
    assert!(answered(&modern.call(method, params).await));
    scene.all_happened_once(&id_in(&anew.url())).await;
}
