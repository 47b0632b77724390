//! Letting go while something else is under way.

use usher_testkit::{
    oauth::{Endpoint, Trouble},
    upstream::Gate,
};

use super::{connected, disconnect, is_gone};
use crate::{harness::CALLS, refresh::scene::HOUR};

/// A refresh that is under way brings nothing back, and what it got is ended too.
#[tokio::test]
async fn a_refresh_that_comes_too_late_brings_nothing_back() {
    let (scene, person) = connected().await;
    scene.stage.clock.forward(HOUR);
    let gate = Gate::new();
    scene.hub.trouble_next(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    let client = scene.stage.modern();
    let call = tokio::spawn(async move { client.call(CALLS[0].0, CALLS[0].1).await });
    gate.reached(1).await;

    disconnect(&person).await;
    assert_eq!(scene.hub.counts().revocations, 1);
    gate.open();

    let reply = call.await.unwrap();
    assert!(reply.is_input_required(), "{}", reply.text());
    scene.hub.wait_until("the new tokens are ended", |hub| hub.counts().revocations == 2).await;
    assert_eq!(scene.hub.grants_of("user-1"), 0);
    is_gone(&scene).await;
}
