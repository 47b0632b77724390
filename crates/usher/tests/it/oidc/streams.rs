//! Streams that outlive the token which opened them.

use usher_testkit::client::{Legacy, Stream};

use crate::harness::{Setup, Stage};

/// Nothing more comes, although nobody has stopped anything.
async fn ends(mut stream: Stream) {
    while stream.next_message().await.is_some() {}
}

/// R-ID-02: what is open ends with its token, and whoever opens it anew shows another one. A minute more is for clocks that
/// differ.
#[tokio::test]
async fn a_stream_ends_with_the_token_that_opened_it() {
    let stage = Stage::oidc(Setup { free: true, ..Setup::default() }).await;
    let session = stage.ready().await.session().unwrap();
    let short = stage.access("user-1", "editor").at("exp", -58).mint();

    let own = Legacy::new(stage.endpoint()).token(&short).with_session(&session).open_get(None).await;
    assert_eq!(own.status, 200);
    ends(own).await;

    let short = stage.access("user-1", "editor").at("exp", -58).mint();
    let request = stage.modern_with(&short).request("subscriptions/listen", "{}").id(Some("\"l1\""));
    let mut subscription = request.stream().await;
    subscription.expect("notifications/subscriptions/acknowledged").await;
    let told = subscription.expect("notifications/cancelled").await;
    assert_eq!(told.at(&["params", "requestId"]), Some("\"l1\""), "in order");
    ends(subscription).await;
}
