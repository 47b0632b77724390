//! What was declined rests, and longer each time.

use super::{retry_after, second, stage};
use crate::{
    harness::{CALLS, DECLINE, KEY, answered, told},
    needs_modern::{ask, retry},
};

/// Prompt fatigue: after a decline the same is not asked by itself, for longer each time, whatever becomes of the service.
#[tokio::test]
async fn a_declined_question_rests_longer_each_time() {
    let mut stage = stage("").await;
    let client = stage.modern();
    for (seconds, words) in [(120, "again in"), (600, "10 minutes"), (3600, "60 minutes"), (3600, "60 minutes")] {
        let asked = ask(&client, CALLS[1]).await;
        let declined = retry(&client, CALLS[1], &asked, DECLINE).await;
        assert_eq!(declined.error_code(), -31001);
        assert!((seconds - 5..=seconds).contains(&retry_after(&declined)), "{}", declined.text());
        if seconds == 600 {
            stage.restart().await;
        }
        let refused = client.call(CALLS[1].0, CALLS[1].1).await;
        assert!((seconds - 10..=seconds).contains(&retry_after(&refused)), "{}", refused.text());
        let text = told(CALLS[0].0, &client.call(CALLS[0].0, CALLS[0].1).await);
        assert!(text.contains(words) && text.contains("declined") && text.contains(&stage.portal()), "{text}");
        ask(&second(&stage, "weather"), CALLS[1]).await;
        stage.clock.forward(seconds - 15);
        told(CALLS[1].0, &client.call(CALLS[1].0, CALLS[1].1).await);
        stage.clock.forward(15);
    }
    ask(&client, CALLS[1]).await;
}

/// A decline of the past is forgotten once the person connected.
#[tokio::test]
async fn a_person_who_connects_is_asked_afresh() {
    let stage = stage("").await;
    let client = stage.modern();
    let asked = ask(&client, CALLS[1]).await;
    retry(&client, CALLS[1], &asked, DECLINE).await;
    stage.clock.forward(120);
    let asked = ask(&client, CALLS[1]).await;
    let person = stage.person().await;
    person.connect(&asked.url(), &[("api_key", "refused by the server")]).await;
    // The server refuses it, so the client asks again, at once.
    let again = client.call(CALLS[1].0, CALLS[1].1).await;
    assert!(again.is_input_required(), "{}", again.text());
    let declined = retry(&client, CALLS[1], &again, DECLINE).await;
    assert!((115..=120).contains(&retry_after(&declined)), "{}", declined.text());
    stage.clock.forward(120);
    let asked = ask(&client, CALLS[1]).await;
    person.connect(&asked.url(), &[("api_key", KEY)]).await;
    assert!(answered(&client.call(CALLS[1].0, CALLS[1].1).await));
}
