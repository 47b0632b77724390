//! Legacy sessions.

use usher_testkit::{
    client::Legacy,
    upstream::{Gate, Script},
};

use super::{free, refused};
use crate::harness::{SECOND, Stage};

async fn begun(client: Legacy) -> Legacy {
    let reply = client.initialize().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    client
}

async fn status(client: &Legacy) -> u16 {
    client.call("tools/list", "{}").await.status.as_u16()
}

/// The upstream's own id of the session that began as the `place`th.
fn theirs(stage: &Stage, place: usize) -> String {
    stage.upstream.sessions()[place].id.clone()
}

/// R-SEC-01: a host that starts often and ends nothing is not locked out: its longest idle session ends, upstream as well.
#[tokio::test]
async fn the_longest_idle_session_of_a_client_makes_room() {
    let stage = free("client_sessions = 2").await;
    let stranger = begun(stage.legacy().token(SECOND)).await;
    let first = begun(stage.legacy()).await;
    let second = begun(stage.legacy()).await;
    assert_eq!((status(&first).await, status(&second).await), (200, 200));
    let third = begun(stage.legacy()).await;
    stage.upstream.wait_deleted(&theirs(&stage, 1)).await;
    assert_eq!((status(&first).await, status(&second).await, status(&third).await), (404, 200, 200));
    assert_eq!(status(&stranger).await, 200);
    assert_eq!(stage.upstream.sessions().iter().filter(|session| session.deleted).count(), 1);
    stage.upstream.assert_clean();
}

/// R-GW-09: a session whose stream is open is not idle.
#[tokio::test]
async fn a_session_that_is_in_use_makes_no_room() {
    let stage = free("client_sessions = 2").await;
    let first = begun(stage.legacy()).await;
    let _stream = first.open_get(None).await;
    let second = begun(stage.legacy()).await;
    let third = begun(stage.legacy()).await;
    assert_eq!((status(&first).await, status(&second).await, status(&third).await), (200, 404, 200));
}

/// R-GW-09: nor is one whose call is still being answered, by a stream.
#[tokio::test]
async fn a_session_whose_call_streams_makes_no_room() {
    let stage = free("client_sessions = 2").await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().sse().wait(&gate).text("done"));
    let first = begun(stage.legacy()).await;
    let slow = first.open_tool("slow", "{}").await;
    gate.reached(1).await;
    let second = begun(stage.legacy()).await;
    let third = begun(stage.legacy()).await;
    gate.open();
    assert_eq!(slow.reply().await.content_text(), "done");
    assert_eq!((status(&first).await, status(&second).await, status(&third).await), (200, 404, 200));
    let _fourth = begun(stage.legacy()).await;
    assert_eq!(status(&first).await, 404, "it was idle since");
}

/// R-SEC-01: the same over all clients of a user.
#[tokio::test]
async fn the_longest_idle_session_of_a_user_makes_room() {
    let stage = free("user_sessions = 1").await;
    let first = begun(stage.legacy()).await;
    let second = begun(stage.legacy().token(SECOND)).await;
    assert_eq!((status(&first).await, status(&second).await), (404, 200));
}

/// R-SEC-01: sessions of all have a limit; nobody's ends for somebody else's, and the upstream keeps none that we refused.
#[tokio::test]
async fn sessions_of_all_are_limited() {
    let stage = free("sessions = 1").await;
    let first = begun(stage.legacy()).await;
    let late = stage.legacy().token(SECOND);
    let reply = late.initialize().await;
    refused(&reply);
    assert_eq!(reply.header("mcp-session-id"), None);
    stage.upstream.wait_deleted(&theirs(&stage, 1)).await;
    assert_eq!(status(&first).await, 200);
    first.delete().await;
    assert_eq!(status(&begun(late).await).await, 200);
}
