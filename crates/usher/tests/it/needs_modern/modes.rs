//! Questions are asked only in modes that the client declared on this very request.

use crate::{
    harness::{CALLS, KEY, Stage, answered},
    needs_modern::ask,
};

/// What is no url mode.
const WITHOUT_URL: [&str; 6] = [
    "{}",
    r#"{"elicitation":{}}"#,
    r#"{"elicitation":{"form":{}}}"#,
    r#"{"elicitation":{"popup":{}}}"#,
    r#"{"elicitation":true}"#,
    r#"{"sampling":{},"roots":{}}"#,
];

/// R-CAP-02, R-CAP-03, R-CAP-05, R-GW-05: a client without url mode is asked nothing; the error leads a person to the portal,
/// by an address that is not pre-authenticated.
#[tokio::test]
async fn a_client_without_url_mode_is_led_to_the_portal() {
    let stage = Stage::new().await;
    for declared in WITHOUT_URL {
        for (method, params) in CALLS {
            let reply = stage.modern().capabilities(declared).call(method, params).await;
            assert_eq!(reply.status, 400, "{declared} {method}: {}", reply.text());
            assert_eq!(reply.error_code(), -32021, "{declared} {method}");
            let required = reply.error()["data"]["requiredCapabilities"].to_string();
            assert_eq!(required, r#"{"elicitation":{"url":{}}}"#, "{declared} {method}");
            assert!(reply.error_message().contains(&format!("{} ", stage.portal())), "{}", reply.error_message());
            assert!(!reply.text().contains("/connect/"), "the link itself goes to nobody who may not open it");
        }
    }
    for (method, _) in CALLS {
        assert!(stage.upstream.requests_of(method).is_empty());
    }
}

/// R-GW-05: the question waits on the portal, and once it is answered there a new call works.
#[tokio::test]
async fn the_question_of_a_client_without_url_mode_waits_on_the_portal() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern().capabilities("{}");
        assert_eq!(client.call(call.0, call.1).await.error_code(), -32021);
        let person = stage.person().await;
        let portal = person.get("/").await;
        assert!(portal.text().contains("Waiting for you"), "{}", portal.describe());
        let (link, _) = portal.links().into_iter().find(|(href, _)| href.starts_with("/connect/")).unwrap();
        let done = person.connect(&link, &[("api_key", KEY)]).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        assert!(!person.get("/").await.text().contains("Waiting for you"));
        let reply = client.call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
        stage.upstream.assert_clean();
    }
}

/// R-CAP-02, R-CAP-03: url mode alone is enough, and unknown sub-keys do no harm.
#[tokio::test]
async fn a_client_with_url_mode_is_asked_whatever_else_it_declares() {
    let stage = Stage::new().await;
    for declared in
        [r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"url":{"x":1},"voice":{}},"x/y":{"deep":[1e999]}}"#]
    {
        for call in CALLS {
            let asked = ask(&stage.modern().capabilities(declared), call).await;
            assert_eq!(asked.input_requests().len(), 1, "{declared}");
        }
    }
}

/// R-CAP-05: the declaration counts on each request anew: a retry without url mode is not asked again.
#[tokio::test]
async fn a_retry_that_no_longer_declares_url_mode_is_not_asked() {
    let stage = Stage::new().await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    let form = stage.modern().elicitation(&["form"]);
    let reply = form.retry(CALLS[0].0, CALLS[0].1, Some("{}"), asked.request_state().as_deref()).await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32021), "{}", reply.text());
}
