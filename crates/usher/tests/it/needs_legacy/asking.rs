//! What a question looks like, how many there are, and on which stream.

use std::fmt::Write as _;

use usher_testkit::{
    client::{Legacy, Reply, Stream},
    upstream::{Script, Upstream},
};

use super::{accept, asked, connect, elicitation_id, holding, ready, url};
use crate::harness::{CALLS, CANCEL, DECLINE, KEY, Setup, Stage, answered};

/// R-URL-01, R-URL-03, R-REQ-01: one url elicitation: message, link, and an id that is that of the link.
#[tokio::test]
async fn the_question_is_a_link_with_its_id() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    for call in CALLS {
        let (_stream, question) = asked(&client, call).await;
        let question = question.json();
        let mut members: Vec<&String> = question["params"].as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["elicitationId", "message", "mode", "url"]);
        assert_eq!(question["params"]["mode"], "url");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("Weather") && !message.contains("http"), "{message}");
        assert_eq!(question["params"]["elicitationId"].as_str().unwrap().len(), 43);
    }
}

const COMPLETE: &str = "notifications/elicitation/complete";

fn count(replies: &[Reply], method: &str) -> usize {
    replies.iter().map(|reply| reply.text().matches(method).count()).sum()
}

/// Nine more calls of a session that is being asked.
async fn nine_more(client: &Legacy) -> Vec<Stream> {
    let mut streams = Vec::new();
    for number in 0..9 {
        streams.push(client.open(CALLS[number % 3].0, CALLS[number % 3].1).await);
    }
    streams
}

async fn replies(streams: Vec<Stream>) -> Vec<Reply> {
    futures_util::future::join_all(streams.into_iter().map(Stream::reply)).await
}

/// R-SEC-01, R-DONE-01: ten calls at once ask once; each gets its answer, and one notice comes in all.
#[tokio::test]
async fn parallel_calls_ask_once_and_all_go_on() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (first, question) = asked(&client, CALLS[0]).await;
    let mut streams = nine_more(&client).await;
    streams.push(first);
    accept(&client, &question).await;
    connect(&stage.person().await, &question, KEY).await;
    let replies = replies(streams).await;
    assert!(replies.iter().all(answered));
    assert_eq!((count(&replies, "elicitation/create"), count(&replies, COMPLETE)), (1, 1));
    stage.upstream.assert_clean();
}

/// R-ACT-03: what the client says to the one question holds for all that wait for it.
#[tokio::test]
async fn what_is_said_once_is_said_to_all() {
    for (said, word) in [(DECLINE, "declined"), (CANCEL, "not connected")] {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (first, question) = asked(&client, CALLS[0]).await;
        let mut streams = nine_more(&client).await;
        streams.push(first);
        client.respond(question.id().unwrap(), said).await;
        let replies = replies(streams).await;
        assert!(replies.iter().all(|reply| reply.text().contains(word)), "{}", replies[0].text());
        assert_eq!(count(&replies, "elicitation/create"), 1);
    }
}

/// R-SEC-04: when the call that asked leaves without an answer, another one asks; when it had one, none does.
#[tokio::test]
async fn when_the_asking_call_leaves_another_one_asks() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (first, question) = asked(&client, CALLS[0]).await;
    let mut second = client.open(CALLS[1].0, CALLS[1].1).await;
    drop(first);
    let again = second.expect("elicitation/create").await;
    assert_eq!(url(&again), url(&question));
    assert_ne!(again.id(), question.id());
    let third = client.open(CALLS[2].0, CALLS[2].1).await;
    accept(&client, &again).await;
    drop(second);
    connect(&stage.person().await, &again, KEY).await;
    let reply = third.reply().await;
    assert!(answered(&reply) && !reply.text().contains("elicitation/create"), "{}", reply.text());
}

/// The weather and a mail account.
fn two_providers(hold: &str) -> Setup {
    let mut setup = Setup { upstream: format!("hold = \"{hold}\""), ..Setup::default() };
    setup.needs.push_str("[[upstream.needs]]\nprovider = \"mail\"\nheader = { X-Mail-Key = \"{mail_key}\" }\n");
    let provider = "[[provider]]\nname = \"mail\"\ntitle = \"Mail\"\nkind = \"secret\"\n";
    write!(setup.more, "{provider}[[provider.field]]\nname = \"mail_key\"\nlabel = \"Mail key\"\n").unwrap();
    setup
}

/// R-GW-03, R-DONE-01: two missing credentials are asked for one after the other, on the same stream.
#[tokio::test]
async fn two_missing_credentials_are_asked_one_after_the_other() {
    let stage = Stage::with(two_providers("40s"), Upstream::start().await).await;
    let script = Script::new().require("x-api-key", KEY).require("x-mail-key", "mail-1").text("sunny");
    stage.upstream.tool("get_forecast", script);
    let client = ready(&stage).await;
    let person = stage.person().await;
    let (mut stream, weather) = asked(&client, CALLS[0]).await;
    accept(&client, &weather).await;
    connect(&person, &weather, KEY).await;
    let notice = stream.expect("notifications/elicitation/complete").await;
    assert_eq!(elicitation_id(&notice), elicitation_id(&weather));
    let mail = stream.expect("elicitation/create").await;
    assert_ne!(url(&mail), url(&weather));
    accept(&client, &mail).await;
    person.connect(&url(&mail), &[("mail_key", "mail-1")]).await;
    let notice = stream.expect("notifications/elicitation/complete").await;
    assert_eq!(elicitation_id(&notice), elicitation_id(&mail));
    assert!(answered(&stream.reply().await));
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}

/// R-ERR-01: without a hold both are named at once in -32042.
#[tokio::test]
async fn without_a_hold_all_missing_credentials_are_named_in_one_error() {
    let stage = Stage::with(two_providers("0s"), Upstream::start().await).await;
    let client = ready(&stage).await;
    for call in CALLS {
        let reply = client.call(call.0, call.1).await;
        assert_eq!(reply.error_code(), -32042, "{}", reply.text());
        assert_eq!(reply.error()["data"]["elicitations"].as_array().unwrap().len(), 2);
    }
    assert_eq!(stage.waiting().await.len(), 2);
}

/// R-GW-02, R-FORM-11: the call that was held goes upstream byte for byte.
#[tokio::test]
async fn a_held_call_goes_upstream_byte_for_byte() {
    let stage = holding("40s").await;
    let client = ready(&stage).await;
    let body = r#"{ "method":"tools/call","jsonrpc":"2.0",  "params":{"z":1e999,"name":"get_forecast","arguments":{"n":9007199254740993,"\u0061":1.0}},"x":[], "id":"seven" }"#;
    let mut stream = client.post(body).await;
    let question = stream.expect("elicitation/create").await;
    accept(&client, &question).await;
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await));
    assert_eq!(stage.upstream.requests_of("tools/call")[0].text(), body);
}
