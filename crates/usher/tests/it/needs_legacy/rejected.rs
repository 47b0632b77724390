//! A credential that the server refuses, a client that is new, a server that moved.

use usher_store::{AskReason, CredentialStatus};
use usher_testkit::upstream::{Refusal, Script, Upstream};

use super::{accept, asked, begun, connect, ready, url};
use crate::harness::{CALLS, KEY, SECOND, Setup, Stage, answered, told};

/// R-GW-03: a refused key is marked, and asked for anew within the same call.
#[tokio::test]
async fn a_refused_key_is_asked_for_again_in_the_same_call() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let person = stage.person().await;
        let (mut stream, question) = asked(&client, call).await;
        accept(&client, &question).await;
        // What the page says by then depends on who is faster: it, or the call that goes on and is refused.
        person.connect(&url(&question), &[("api_key", "wrong-key-1")]).await;
        let again = stream.expect("elicitation/create").await;
        assert_ne!(url(&again), url(&question));
        assert_eq!(stage.interaction(&url(&again)).await.reason, AskReason::Rejected);
        assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Rejected);
        let page = person.get(&url(&again)).await;
        assert_eq!(page.heading().as_deref(), Some("Connect Weather again"), "{}", page.describe());
        accept(&client, &again).await;
        connect(&person, &again, KEY).await;
        let reply = stream.reply().await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!(stage.upstream.requests_of(call.0).len(), 2);
    }
}

/// R-GW-03: a key that was revoked at the provider after it worked is asked for anew as well.
#[tokio::test]
async fn a_key_that_no_longer_works_is_asked_for_again() {
    let stage = Stage::new().await;
    stage.connected().await;
    let client = ready(&stage).await;
    assert!(answered(&client.call(CALLS[2].0, CALLS[2].1).await));
    stage.upstream.resource("weather://berlin", Script::new().require("x-api-key", "key-2").text("sunny"));
    let (stream, question) = asked(&client, CALLS[2]).await;
    connect(&stage.person().await, &question, "key-2").await;
    assert!(answered(&stream.reply().await));
}

/// R-GW-03, R-SEC-04: the third key that the server refuses ends the call.
#[tokio::test]
async fn the_third_refused_key_ends_the_call() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let person = stage.person().await;
        let (mut stream, mut question) = asked(&client, call).await;
        for count in 1..=3 {
            accept(&client, &question).await;
            person.connect(&url(&question), &[("api_key", &format!("wrong-key-{count}"))]).await;
            if count < 3 {
                question = stream.expect("elicitation/create").await;
            }
        }
        let text = told(call.0, &stream.reply().await);
        assert!(text.contains("keeps refusing") && text.contains(&stage.portal()), "{text}");
        assert_eq!(stage.upstream.requests_of(call.0).len(), 3);
        asked(&client, call).await;
    }
}

/// R-GW-03: 403 is an error unless the operator counts it as a refusal of the credential.
#[tokio::test]
async fn forbidden_is_an_error_unless_the_operator_says_otherwise() {
    let forbids = || Script::new().require_or("x-api-key", "none is good enough", Refusal::forbidden());
    for (reject, asks) in [("", false), ("reject = [401, 403]", true)] {
        let setup = Setup { upstream: reject.to_owned(), ..Setup::default() };
        let stage = Stage::with(setup, Upstream::start().await).await;
        stage.connected().await;
        let client = ready(&stage).await;
        stage.upstream.tool("get_forecast", forbids());
        if asks {
            asked(&client, CALLS[0]).await;
            assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Rejected);
        } else {
            let reply = client.call(CALLS[0].0, CALLS[0].1).await;
            let text = reply.error_message();
            assert!(text.contains("weather") && text.contains("403"), "{text}");
            assert_eq!(stage.credential().await.unwrap().status, CredentialStatus::Working);
        }
    }
}

/// R-OAUTH-04: a new client is allowed first, without the key, and the held call goes on.
#[tokio::test]
async fn a_new_client_is_allowed_first() {
    for call in CALLS {
        let stage = Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await;
        let person = stage.connected().await;
        let second = begun(stage.legacy().token(SECOND)).await;
        let (stream, question) = asked(&second, call).await;
        accept(&second, &question).await;
        assert!(stage.upstream.requests_of(call.0).is_empty());
        let page = person.get(&url(&question)).await;
        assert_eq!(page.heading().as_deref(), Some("Allow second to use Weather?"), "{}", page.describe());
        person.agree(&page, &[]).await;
        assert!(answered(&stream.reply().await));
        stage.upstream.assert_clean();
    }
}

/// R-GW-04: a server that moved is allowed first; sessions of before are over, and start anew.
#[tokio::test]
async fn a_server_that_moved_is_allowed_first() {
    let stage = Stage::new().await;
    stage.connected().await;
    let new = Upstream::start().await;
    new.forbid(KEY);
    let stage = stage.moved(&Setup::default(), new).await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    assert_eq!(stage.interaction(&url(&question)).await.reason, AskReason::NewDestination);
    stage.upstream.assert_clean();
    let person = stage.person().await;
    let page = person.get(&url(&question)).await;
    assert!(page.text().contains(stage.upstream.origin()), "{}", page.describe());
    person.agree(&page, &[]).await;
    assert!(answered(&stream.reply().await));
}
