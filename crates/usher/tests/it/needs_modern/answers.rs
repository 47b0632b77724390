//! What a retry says to our questions: all three actions, none, too many, and nonsense.

use usher_store::InteractionState;

use crate::{
    harness::{ACCEPT, CALLS, CANCEL, DECLINE, KEY, Stage, answered, told},
    needs_modern::{ask, retry},
};

/// R-ACT-03: a decline ends the call with an error that says how to connect later; the question is declined for good, and
/// is not asked again by itself before its rest is over.
#[tokio::test]
async fn a_decline_ends_the_call_and_is_not_asked_again_at_once() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        for content in ["", r#","content":{"api_key":"x"}"#, r#","content":null"#] {
            let answer = DECLINE.replace('}', &format!("{content}}}"));
            let ended = retry(&client, call, &asked, &answer).await;
            assert_eq!(ended.status, 200, "{}", ended.text());
            let text = told(call.0, &ended);
            assert!(text.contains("declined") && text.contains(&stage.portal()), "{text}");
        }
        assert!(matches!(stage.interaction(&asked.url()).await.state, InteractionState::Declined { .. }));
        let text = told(call.0, &client.call(call.0, call.1).await);
        assert!(text.contains("declined") && text.contains(&stage.portal()), "{text}");
        assert!(stage.waiting().await.is_empty(), "nothing new is asked");
        stage.clock.forward(119);
        told(call.0, &client.call(call.0, call.1).await);
        stage.clock.forward(2);
        let again = ask(&client, call).await;
        assert_ne!(again.url(), asked.url());
        assert!(stage.upstream.requests_of(call.0).is_empty());
    }
}

/// R-ACT-03: a cancel ends the call, but is no refusal: the next call asks again, on the same page.
#[tokio::test]
async fn a_cancel_ends_the_call_and_the_next_one_asks_again() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        let ended = retry(&client, call, &asked, CANCEL).await;
        let text = told(call.0, &ended);
        assert!(!text.contains("declined") && text.contains(&stage.portal()), "{text}");
        let again = ask(&client, call).await;
        assert_eq!(again.url(), asked.url());
        stage.person().await.connect(&again.url(), &[("api_key", KEY)]).await;
        assert!(answered(&retry(&client, call, &again, ACCEPT).await));
    }
}

/// R-ACT-03: a decline on the page ends the retry that waits for it at once.
#[tokio::test]
async fn a_decline_on_the_page_ends_the_waiting_retry() {
    for (method, params) in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, (method, params)).await;
        let person = stage.person().await;
        let page = person.get(&asked.url()).await;
        let responses = asked.answer_all(ACCEPT);
        let state = asked.request_state().unwrap();
        let waits = client.retry(method, params, Some(&responses), Some(&state));
        let (ended, declined) = tokio::join!(waits, person.refuse(&page));
        assert_eq!(declined.heading().as_deref(), Some("Declined"), "{}", declined.describe());
        let text = told(method, &ended);
        assert!(text.contains("declined") && text.contains(&stage.portal()), "{text}");
        assert!(stage.upstream.requests_of(method).is_empty());
        let text = told(method, &client.call(method, params).await);
        assert!(text.contains("declined"), "a decline on the page rests too: {text}");
        assert!(matches!(stage.interaction(&asked.url()).await.state, InteractionState::Declined { .. }));
    }
}

/// R-MRTR-04: a missing answer, an empty one and one that is no answer leave the question open; it is asked again.
#[tokio::test]
async fn a_missing_or_malformed_answer_is_asked_for_again() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let mut asked = ask(&client, CALLS[0]).await;
    let url = asked.url();
    let key = asked.input_requests().keys().next().unwrap().clone();
    let own = |answer: &str| Some(format!("{{\"{key}\":{answer}}}"));
    for responses in [
        None,
        Some("{}".to_owned()),
        Some("null".to_owned()),
        Some("[]".to_owned()),
        Some("\"accept\"".to_owned()),
        own("null"),
        own("{}"),
        own("\"accept\""),
        own(r#"{"action":"yes"}"#),
        own(r#"{"action":["accept"]}"#),
        own(r#"{"action":"ACCEPT"}"#),
        Some(r#"{"other":{"action":"accept"}}"#.to_owned()),
        Some(r#"{"other":{"action":"decline"}}"#.to_owned()),
    ] {
        let reply = client.retry(CALLS[0].0, CALLS[0].1, responses.as_deref(), asked.request_state().as_deref()).await;
        assert!(reply.is_input_required(), "{responses:?}: {}", reply.text());
        assert_eq!(reply.url(), url, "{responses:?}");
        asked = reply;
    }
    assert_eq!(stage.waiting().await.len(), 1);
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// R-MRTR-04: answers to what nobody asked are ignored, and do not reach the server, which did not ask either.
#[tokio::test]
async fn answers_that_nobody_asked_for_are_ignored() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
        let responses = asked.answer_all(ACCEPT).replacen('{', r#"{"stray":{"action":"accept","content":{"a":1}},"#, 1);
        let reply = client.retry(call.0, call.1, Some(&responses), asked.request_state().as_deref()).await;
        assert!(answered(&reply), "{}", reply.text());
        let sent = &stage.upstream.requests_of(call.0)[0];
        assert_eq!(sent.raw(&["params", "inputResponses"]), None, "{}", sent.text());
        assert_eq!(sent.raw(&["params", "requestState"]), None, "{}", sent.text());
        stage.upstream.assert_clean();
    }
}

/// R-URL-10: accept is consent to open the page, not its completion; content that comes with it is nothing to us.
#[tokio::test]
async fn content_of_an_accept_is_no_credential() {
    let stage = Stage::with(
        crate::harness::Setup { upstream: "hold = \"0s\"".to_owned(), ..Default::default() },
        usher_testkit::upstream::Upstream::start().await,
    )
    .await;
    let client = stage.modern();
    let asked = ask(&client, CALLS[0]).await;
    let answer = format!(r#"{{"action":"accept","content":{{"api_key":"{KEY}"}}}}"#);
    let again = retry(&client, CALLS[0], &asked, &answer).await;
    assert_eq!(again.url(), asked.url(), "{}", again.text());
    assert!(stage.credential().await.is_none());
    assert!(!again.text().contains(KEY));
}
