//! Handshakes and listings wait for nobody to say who makes a server's tokens (R-GW-06).

use std::time::Duration;

use tokio::time::Instant;
use usher_testkit::{client::Reply, provider::Behaviour};

use super::scene::{CALL, Scene, went};

fn tools(reply: &Reply) -> usize {
    reply.result()["tools"].as_array().unwrap().len()
}

/// R-GW-06: while a server's metadata are silent, everything is listed with what is known of it, known for minutes, for longer, or
/// not at all.
#[tokio::test]
async fn a_handshake_waits_for_no_discovery() {
    // Fresh no more, and too old to be used.
    for age in [301, 3000, 3700] {
        let scene = Scene::new().await;
        scene.connected().await;
        scene.stage.upstream.change_guard(|guard| guard.metadata.behaviour = Behaviour::Silence);
        scene.stage.clock.forward(age);
        let began = Instant::now();
        let (modern, legacy) = (scene.stage.modern(), scene.stage.legacy());
        assert_eq!(legacy.initialize().await.status, 200);
        for reply in [modern.call("tools/list", "{}").await, legacy.call("tools/list", "{}").await] {
            assert!(tools(&reply) > 0, "{}", reply.text());
        }
        assert!(began.elapsed() < Duration::from_millis(2500), "{age}: {:?}", began.elapsed());
    }
}

/// What a call waits for is bounded: it goes on with what its user has.
#[tokio::test]
async fn a_call_waits_a_moment_for_a_discovery() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    scene.stage.upstream.change_guard(|guard| guard.metadata.behaviour = Behaviour::Silence);
    scene.stage.clock.forward(301);
    assert!(went(&client.call(CALL.0, CALL.1).await));
}
