//! What somebody learns of what is not theirs: nothing that an invented name would not tell as well.

use http::Method;
use usher_testkit::person::{Page, Person};

use super::{client_at, is_heading};
use crate::{
    harness::{CALLS, KEY, Setup, Stage},
    needs_modern::ask,
};

const NO_ID: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// All that an answer says, but for its date, with `id` taken out.
fn said(page: &Page, id: &str) -> (u16, Vec<String>, String) {
    let mut headers: Vec<String> = page
        .headers
        .iter()
        .filter(|(name, _)| *name != "date" && *name != "content-length")
        .map(|(name, value)| format!("{name}: {value:?}").replace(id, "ID"))
        .collect();
    headers.sort();
    (page.status.as_u16(), headers, page.html.replace(id, "ID"))
}

/// What `person` is told at `path` with each of two ids, by a look and by a form.
async fn the_same(person: &Person, path: &str, theirs: &str, invented: &str) {
    for method in [Method::GET, Method::POST] {
        let ask = async |id: &str| {
            let visit = person.visit(method.clone(), &path.replace("ID", id)).fields(&[("csrf", "x")]).stay();
            said(&visit.send().await, id)
        };
        assert_eq!(ask(theirs).await, ask(invented).await, "{method} {path}");
    }
}

/// R-ID-01, R-SEC-07: browsers, connections, apps, declined questions and ways back of somebody else are like
/// ones that there are not: in status, headers and text.
#[tokio::test]
async fn what_is_somebody_elses_is_like_what_there_is_not() {
    let stage = Stage::oidc(Setup::default()).await;
    let client = client_at(&stage, "weather", "user-1", "editor-of-alice");
    let asked = ask(&client, CALLS[0]).await;
    let alice = stage.person_of("user-1").await;
    is_heading(&alice.connect(&asked.url(), &[("api_key", KEY)]).await, "Connected");
    let second = stage.person_of("user-1").await;
    let sessions = second.get("/sessions").await;
    let end =
        sessions.forms().into_iter().find(|form| form.action.ends_with("/end") && !form.action.contains("others"));
    let browser = end.unwrap().action.split('/').nth(2).unwrap().to_owned();
    let id = asked.url().rsplit('/').next().unwrap().to_owned();

    let bob = stage.person_of("user-2").await;
    the_same(&bob, "/sessions/ID/end", &browser, NO_ID).await;
    the_same(&bob, "/sessions?ended=ID", &browser, NO_ID).await;
    the_same(&bob, "/connections/ID/disconnect", "weather", "no-weather").await;
    the_same(&bob, "/clients/revoke?client=ID", "editor-of-alice", "editor-of-nobody").await;
    the_same(&bob, "/declined/ID/release", &id, NO_ID).await;
    the_same(&bob, "/return/pay?token=ID.x", &id, NO_ID).await;
    is_heading(&alice.get("/").await, "Your connections");
    assert!(alice.get("/").await.text().contains("Weather"), "nothing of it was touched");
}

/// R-ID-03, R-URL-03: whoever is not signed in learns nothing of a question, not even whether there is one.
#[tokio::test]
async fn a_stranger_does_not_learn_whether_there_is_a_question() {
    let stage = Stage::oidc(Setup::default()).await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    let id = asked.url().rsplit('/').next().unwrap().to_owned();
    for method in [Method::GET, Method::POST] {
        let ask = async |id: &str| {
            let stranger = Person::new(&stage.origin).language("en");
            let visit = stranger.visit(method.clone(), &format!("/connect/{id}")).fields(&[("csrf", "x")]).stay();
            said(&visit.send().await, id)
        };
        assert_eq!(ask(&id).await, ask(NO_ID).await, "{method}");
    }
}

/// R-ID-01: a session of somebody else is like none, for every method of the older protocol.
#[tokio::test]
async fn a_session_of_somebody_else_is_like_none() {
    let stage = Stage::oidc(Setup { free: true, ..Setup::default() }).await;
    let alice = stage.ready().await;
    let token = stage.token_of("user-2", "editor");
    let bob = |session: &str| stage.legacy().token(&token).with_session(session);
    let theirs = alice.session().unwrap();
    for session in [theirs.as_str(), NO_ID] {
        let reply = bob(session).call("tools/list", "{}").await;
        assert_eq!(reply.status, 404, "{session}: {}", reply.text());
    }
    let text = async |session: &str| bob(session).call("tools/list", "{}").await.text().replace(session, "ID");
    assert_eq!(text(&theirs).await, text(NO_ID).await);
    assert_eq!(bob(&theirs).delete().await.status, bob(NO_ID).delete().await.status);
    assert_eq!(alice.call("tools/list", "{}").await.status, 200, "it goes on");
}
