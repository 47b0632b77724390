//! What a client says to our question: all three actions, an error, nonsense, and answers that are none.

use elicit::{ClientId, Principal};
use usher::{clock::Clock, identity::tokens::local_user};
use usher_store::{Advanced, FailureReason, InteractionState, Step};

use super::{accept, asked, connect, ready, url};
use crate::harness::{ACCEPT, CALLS, CANCEL, DECLINE, KEY, Stage, answered, told};

/// R-ACT-03: a decline ends the call with an error that says how to connect later, and rests.
#[tokio::test]
async fn a_decline_ends_the_call_and_is_not_asked_again_at_once() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        client.respond(question.id().unwrap(), DECLINE).await;
        let ended = stream.reply().await;
        let text = told(call.0, &ended);
        assert!(text.contains("declined") && text.contains(&stage.portal()), "{text}");
        assert!(!ended.text().contains("notifications/cancelled"), "an answered question is not withdrawn");
        assert!(matches!(stage.interaction(&url(&question)).await.state, InteractionState::Declined { .. }));
        let again = client.call(call.0, call.1).await;
        assert!(told(call.0, &again).contains("declined"), "{}", again.text());
        assert!(stage.waiting().await.is_empty());
        stage.clock.forward(121);
        let (_stream, question) = asked(&client, call).await;
        assert!(stage.interaction(&url(&question)).await.state.is_open());
        assert!(stage.upstream.requests_of(call.0).is_empty());
    }
}

/// R-ACT-03, R-CAP-04: a cancel, an error and an answer that is none end the call, but are no refusal of the person.
#[tokio::test]
async fn whatever_is_no_choice_ends_the_call_and_the_next_one_asks_again() {
    for (call, said) in CALLS.into_iter().zip([CANCEL, r#"{"action":"perhaps"}"#, "[]"]) {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        client.respond(question.id().unwrap(), said).await;
        let text = told(call.0, &stream.reply().await);
        assert!(!text.contains("declined") && text.contains(&stage.portal()), "{said}: {text}");
        let (stream, again) = asked(&client, call).await;
        assert_eq!(url(&again), url(&question), "the page is still open");
        client.respond_error(again.id().unwrap(), r#"{"code":-32602,"message":"mode not declared"}"#).await;
        let text = told(call.0, &stream.reply().await);
        assert!(!text.contains("declined") && text.contains(&stage.portal()), "{text}");
        let (stream, last) = asked(&client, call).await;
        connect(&stage.person().await, &last, KEY).await;
        assert!(answered(&stream.reply().await));
    }
}

/// R-ACT-03: the person declines on the page while the call is held.
#[tokio::test]
async fn a_decline_on_the_page_ends_the_held_call() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        accept(&client, &question).await;
        stage.person().await.decline(&url(&question)).await;
        let text = told(call.0, &stream.reply().await);
        assert!(text.contains("declined") && text.contains(&stage.portal()), "{text}");
        assert!(stage.upstream.requests_of(call.0).is_empty());
    }
}

/// R-URL-10, R-SEC-04: a client that never answers is not waited for: the page decides, and the question is taken back.
#[tokio::test]
async fn a_client_that_never_answers_gets_its_result_when_the_page_is_done() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (mut stream, question) = asked(&client, CALLS[0]).await;
    connect(&stage.person().await, &question, KEY).await;
    let withdrawn = stream.expect("notifications/cancelled").await;
    assert_eq!(withdrawn.at(&["params", "requestId"]), question.id());
    assert!(answered(&stream.reply().await));
    let late = client.respond(question.id().unwrap(), ACCEPT).await;
    assert_eq!(late.status, 202, "a late answer is taken and dropped");
    stage.upstream.assert_clean();
}

/// R-ID-01, R-MRTR-03: an answer of another session is none, and a second answer changes nothing.
#[tokio::test]
async fn only_the_first_answer_of_the_asked_session_counts() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let stranger = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let id = question.id().unwrap();
    assert_eq!(stranger.respond(id, DECLINE).await.status, 202);
    accept(&client, &question).await;
    assert_eq!(client.respond(id, DECLINE).await.status, 202);
    assert!(stage.interaction(&url(&question)).await.state.is_open());
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await));
    assert!(stage.upstream.requests_of("response").is_empty(), "answers to us do not go upstream");
    stage.upstream.assert_clean();
}

/// R-OAUTH-01, R-URL-10: content of an accept is no credential.
#[tokio::test]
async fn content_of_an_accept_is_no_credential() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let answer = format!(r#"{{"action":"accept","content":{{"api_key":"{KEY}"}}}}"#);
    client.respond(question.id().unwrap(), &answer).await;
    assert!(stage.credential().await.is_none());
    assert!(stage.interaction(&url(&question)).await.state.is_open());
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await));
}

/// R-GW-08: a decline that reaches a replica which did not ask is stored; an accept and a cancel change nothing.
#[tokio::test]
async fn an_answer_counts_on_whichever_replica_it_arrives() {
    let mut stage = Stage::new().await;
    let (client, stranger) = (ready(&stage).await, ready(&stage).await);
    let (_stream, question) = asked(&client, CALLS[0]).await;
    // The service that starts now has never seen the question.
    stage.restart().await;
    let id = question.id().unwrap();
    for (session, said) in [(&client, ACCEPT), (&client, CANCEL), (&stranger, DECLINE)] {
        assert_eq!(session.respond(id, said).await.status, 202);
        assert!(stage.interaction(&url(&question)).await.state.is_open(), "{said}");
    }
    assert_eq!(client.respond(id, DECLINE).await.status, 202);
    assert!(matches!(stage.interaction(&url(&question)).await.state, InteractionState::Declined { .. }));
    assert!(told(CALLS[0].0, &client.call(CALLS[0].0, CALLS[0].1).await).contains("declined"), "and it rests");
    assert!(stage.upstream.requests_of("response").is_empty());
}

/// R-GW-08: the replica that holds the call hears of it through the store.
#[tokio::test]
async fn a_decline_elsewhere_ends_the_held_call() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let interaction = stage.interaction(&url(&question)).await;
    let broker = &stage.app().broker;
    let other = Principal { client: ClientId::new("somebody-else").unwrap(), ..interaction.principal.clone() };
    broker.declined_elsewhere(&other, &interaction.id).await.unwrap();
    assert!(stage.interaction(&url(&question)).await.state.is_open(), "R-ID-01: another principal's");
    broker.declined_elsewhere(&interaction.principal, &interaction.id).await.unwrap();
    assert!(told(CALLS[0].0, &stream.reply().await).contains("declined"));
}

/// R-ACT-03: a person who opens the page, looks at it and declines in the app has declined; only an end beats it.
#[tokio::test]
async fn a_decline_beats_everything_but_an_end() {
    let stage = Stage::new().await;
    let (broker, store, user) = (&stage.app().broker, &stage.app().store, local_user());
    for _ in 0..20 {
        let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
        let id = stage.interaction(&asked.url()).await.id;
        let (_, declined) = tokio::join!(broker.open(&id, &user), broker.declined_by_client(&id));
        declined.unwrap();
        assert!(matches!(stage.interaction(&asked.url()).await.state, InteractionState::Declined { .. }));
        stage.clock.forward(3601);
    }
    let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    let interaction = stage.interaction(&asked.url()).await;
    let id = interaction.id.clone();
    let step = Step::Fail(FailureReason::ProviderUnreachable);
    assert!(matches!(store.advance(interaction, step, stage.clock.now()).await.unwrap(), Advanced::Done(_)));
    broker.declined_by_client(&id).await.unwrap();
    assert!(matches!(stage.interaction(&asked.url()).await.state, InteractionState::Declined { .. }));
    stage.clock.forward(3601);
    let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    let done = stage.interaction(&asked.url()).await;
    broker.declined_by_client(&done.id).await.unwrap();
    assert_eq!(stage.interaction(&asked.url()).await.state, done.state);
}
