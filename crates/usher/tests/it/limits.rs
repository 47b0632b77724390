//! Limits over HTTP: at the limit one is served, beyond it is told when to come back, others are not concerned, and later one
//! is served again.

mod connections;
mod declines;
mod held;
mod memory;
mod questions;
mod requests;
mod sessions;

use std::{fmt::Write as _, time::Duration};

use usher::relay::Pace;
use usher_testkit::{
    DEADLINE,
    client::{Modern, Reply},
    upstream::Upstream,
    within,
};

use crate::harness::{SECOND, Setup, Stage};

/// The usual set-up with two clients and a second server `other`, which needs the same credential, and these limits.
async fn stage(limits: &str) -> Stage {
    let upstream = Upstream::start().await;
    // A client that leaves gives its place back once it has been away for so long.
    let pace = Pace { away: Duration::from_millis(200), ..Pace::default() };
    let mut setup = Setup { second: true, pace, ..Setup::default() };
    write!(
        setup.more,
        "[[upstream]]\nname = \"other\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"weather\"\n\
         header = {{ X-Api-Key = \"{{api_key}}\" }}\n[limits]\n{limits}\n",
        upstream.url()
    )
    .unwrap();
    Stage::with(setup, upstream).await
}

/// Two clients, a server that needs nothing, and these limits.
async fn free(limits: &str) -> Stage {
    let more = format!("[limits]\n{limits}\n");
    Stage::with(Setup { free: true, second: true, more, ..Setup::default() }, Upstream::start().await).await
}

/// The second client, at a server.
fn second(stage: &Stage, server: &str) -> Modern {
    Modern::new(format!("{}/mcp/{server}", stage.origin)).token(SECOND).elicitation(&["url"])
}

/// The first client, at the other server.
fn other(stage: &Stage) -> Modern {
    Modern::new(format!("{}/mcp/other", stage.origin)).token(&stage.token).elicitation(&["url"])
}

/// What a JSON-RPC error says about when to come back, in seconds.
fn retry_after(reply: &Reply) -> i64 {
    assert_ne!(reply.error_code(), -32042, "a refused question is not asked");
    reply.error()["data"]["retryAfter"].as_i64().unwrap_or_else(|| panic!("not when: {}", reply.text()))
}

/// A refusal of the transport: the status, and when to come back in the head and in the error.
fn refused(reply: &Reply) {
    assert_eq!(reply.status, 429, "{}", reply.text());
    let header: i64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(retry_after(reply), header);
    assert!(header > 0 && reply.error_message().contains("try again in"), "{}", reply.text());
}

/// Tries until it is served: what was given up a moment ago makes room when the service has noticed.
async fn until_served(mut served: impl AsyncFnMut() -> bool) {
    let trying = async {
        while !served().await {
            tokio::task::yield_now().await;
        }
    };
    within(DEADLINE, "it is never served again", trying).await;
}
