//! What becomes of an approval where the server asks something itself, or where nothing runs.

use super::*;

const SURE: &str = r#"{"type":"object","properties":{"z":{"type":"string"}},"required":["z"]}"#;
const FILLED: &str = r#"{"action":"accept","content":{"z":"yes"}}"#;

/// A stage whose server asks the questions of these keys itself, one after the other, before it deletes.
async fn asking(keys: &[&str], stateless: bool) -> Stage {
    let upstream = files().await;
    let mut script = Script::new();
    for key in keys {
        let question = Question::form(key, "Sure?", SURE);
        script = script.ask(if stateless { question.without_state() } else { question });
    }
    upstream.tool("delete_file", script.text("done"));
    Stage::with(setup(), upstream).await
}

fn asks_for(reply: &Reply, key: &str) {
    assert_eq!(reply.input_requests().keys().collect::<Vec<_>>(), [key], "{}", reply.text());
}

/// R-MRTR-03, R-MRTR-05: a server that asks in rounds of its own needs one approval for all of them; each round goes on once.
#[tokio::test]
async fn a_server_that_asks_itself_needs_one_approval() {
    let stage = asking(&["seat", "meal"], false).await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    approve(&stage.person().await, &asked.url()).await;
    let seat = retry(&client, DELETE, &asked, ACCEPT).await;
    asks_for(&seat, "seat");
    let calls = || stage.upstream.requests_of("tools/call").len();
    asks_for(&ask(&client, DELETE).await, "usher_connect_confirm");
    let meal = retry(&client, DELETE, &seat, FILLED).await;
    asks_for(&meal, "meal");
    assert_eq!(calls(), 2);
    asks_for(&retry(&client, DELETE, &seat, FILLED).await, "usher_connect_confirm");
    assert_eq!(calls(), 2, "an earlier round asks anew");
    assert!(went(&retry(&client, DELETE, &meal, FILLED).await));
    for used in [&asked, &seat, &meal] {
        asks_for(&retry(&client, DELETE, used, FILLED).await, "usher_connect_confirm");
    }
    assert_eq!(calls(), 3);
    assert_eq!(stage.audited(AuditAction::OperationApproved).await, 1);
    stage.upstream.assert_clean();
}

/// The same where the server has no state of its own: the state of the round is ours.
#[tokio::test]
async fn a_server_that_asks_without_state_needs_one_approval() {
    let stage = asking(&["seat"], true).await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    approve(&stage.person().await, &asked.url()).await;
    let seat = retry(&client, DELETE, &asked, ACCEPT).await;
    asks_for(&seat, "seat");
    assert!(went(&retry(&client, DELETE, &seat, FILLED).await));
    asks_for(&retry(&client, DELETE, &seat, FILLED).await, "usher_connect_confirm");
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 2);
    stage.upstream.assert_clean();
}

/// A call that reached nobody has used nothing; one that was sent and broke off may have run.
#[tokio::test]
async fn a_call_that_reached_nobody_keeps_its_approval() {
    let stage = stage().await;
    let client = stage.modern();
    let person = stage.person().await;
    let asked = ask(&client, DELETE).await;
    approve(&person, &asked.url()).await;
    stage.upstream.stop();
    // A connection that is kept finds out first.
    client.call("tools/list", "{}").await;
    let unreached = retry(&client, DELETE, &asked, ACCEPT).await;
    assert!(unreached.text().contains("cannot be reached"), "{}", unreached.text());
    stage.upstream.restart().await;
    assert!(went(&retry(&client, DELETE, &asked, ACCEPT).await), "the approval is there still");
    assert_eq!(stage.audited(AuditAction::OperationReturned).await, 1);

    stage.upstream.tool("delete_file", Script::new().drop_connection());
    let asked = ask(&client, DELETE).await;
    approve(&person, &asked.url()).await;
    let broken = retry(&client, DELETE, &asked, ACCEPT).await;
    assert!(!broken.is_input_required(), "{}", broken.text());
    assert_eq!(stage.audited(AuditAction::OperationReturned).await, 1, "it may have run");
    asks_for(&ask(&client, DELETE).await, "usher_connect_confirm");
}

/// A server that has forgotten the session has run nothing: the next session finds the approval.
#[tokio::test]
async fn a_session_that_is_over_uses_no_approval() {
    let mut setup = setup();
    setup.upstream.insert_str(0, "hold = \"0s\"\n");
    let stage = Stage::with(setup, files().await).await;
    let client = stage.ready().await;
    let required = client.call(DELETE.0, DELETE.1).await;
    approve(&stage.person().await, &required.url()).await;
    stage.upstream.forget_sessions();
    assert_eq!(client.call(DELETE.0, DELETE.1).await.status, 404);
    assert!(went(&stage.ready().await.call(DELETE.0, DELETE.1).await));
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 2);
}

/// R-GW-06: a server that refuses the credential has run nothing: the new credential is asked for, and no second approval.
#[tokio::test]
async fn a_refused_credential_uses_no_approval() {
    let upstream = files().await;
    upstream.tool("delete_file", Script::new().require("x-api-key", "another-key").text("done"));
    furnish(&upstream);
    let setup = Setup { needs: format!("\n{NEED}"), more: PROVIDER.to_owned(), ..Setup::default() };
    let stage = Stage::with(setup, upstream).await;
    let person = stage.connected().await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    asks_for(&asked, "usher_connect_confirm");
    approve(&person, &asked.url()).await;
    let refused = retry(&client, DELETE, &asked, ACCEPT).await;
    asks_for(&refused, "usher_connect_weather");
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.tool("delete_file", Script::new().require("x-api-key", KEY).text("done"));
    person.connect(&refused.url(), &[("api_key", KEY)]).await;
    assert!(went(&retry(&client, DELETE, &refused, ACCEPT).await));
}
