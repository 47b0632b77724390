//! An upstream behind a proxy that cuts, refuses or stalls: whoever calls is told which server it is, in time, and others go
//! on.

use std::time::Duration;

use tokio::time::Instant;
use usher_testkit::{
    chaos::{Chaos, Mode},
    client::{Legacy, Modern},
    upstream::{Gate, Script, Upstream},
};

use crate::harness::{Setup, Stage};

/// A service whose server `far` is behind the proxy, and `weather` is not.
struct Far {
    stage: Stage,
    upstream: Upstream,
    chaos: Chaos,
}

impl Far {
    async fn new() -> Self {
        let upstream = Upstream::start().await;
        upstream.tool("large", Script::new().text("x".repeat(2 * 1024 * 1024)));
        upstream.tool("quick", Script::new().text("done"));
        let chaos = Chaos::start(upstream.origin().trim_start_matches("http://")).await;
        let path = upstream.url().replace(upstream.origin(), "");
        let more =
            format!("[[upstream]]\nname = \"far\"\nurl = \"http://{}{path}\"\ntimeout = \"1s\"\n", chaos.address());
        let setup = Setup { free: true, more, ..Setup::default() };
        let near = Upstream::start().await;
        near.tool("quick", Script::new().text("done"));
        Self { stage: Stage::with(setup, near).await, upstream, chaos }
    }

    fn modern(&self) -> Modern {
        Modern::new(format!("{}/mcp/far", self.stage.origin)).token(&self.stage.token)
    }

    async fn legacy(&self) -> Legacy {
        let client = Legacy::new(format!("{}/mcp/far", self.stage.origin)).token(&self.stage.token);
        assert_eq!(client.initialize().await.status, 200);
        client
    }
}

/// R-SEC-04: an error that names the server, within its deadline; the next call goes through again.
#[tokio::test]
async fn a_server_that_is_away_is_named_in_time_and_others_go_on() {
    let far = Far::new().await;
    let (modern, legacy) = (far.modern(), far.legacy().await);
    let near = far.stage.modern();
    for mode in [Mode::Stall, Mode::Cut, Mode::Refuse] {
        far.chaos.set(mode).await;
        let began = Instant::now();
        let (first, second, other) =
            tokio::join!(modern.tool("quick", "{}"), legacy.tool("quick", "{}"), near.tool("quick", "{}"));
        assert!(began.elapsed() < Duration::from_secs(3), "{mode:?}: {:?}", began.elapsed());
        assert_eq!(other.content_text(), "done");
        for reply in [first, second] {
            assert_eq!(reply.error_code(), -32603, "{}", reply.text());
            assert!(reply.error_message().contains("the server far"), "{}", reply.text());
        }
        far.chaos.set(Mode::Pass).await;
        assert_eq!(modern.tool("quick", "{}").await.content_text(), "done");
        assert_eq!(legacy.tool("quick", "{}").await.content_text(), "done");
    }
}

/// R-SEC-04: the same in the middle of an answer, be it one body or a stream.
#[tokio::test]
async fn an_answer_that_breaks_off_becomes_an_error() {
    let far = Far::new().await;
    let (modern, legacy) = (far.modern(), far.legacy().await);
    let gate = Gate::new();
    far.upstream.tool("stream", Script::new().event(": begun\n\n").wait(&gate));
    let mut streams =
        [modern.stream("tools/call", r#"{"name":"stream"}"#).await, legacy.open_tool("stream", "{}").await];
    for stream in &mut streams {
        assert!(stream.next_item().await.is_some());
    }
    // More than a hundred pieces of each body: they are under way when they are cut.
    far.chaos.set(Mode::Slow(Duration::from_millis(10))).await;
    let cut = async {
        far.upstream.wait_until("both calls", |upstream| upstream.requests_of("tools/call").len() == 4).await;
        far.chaos.until_passed(32 * 1024).await;
        far.chaos.set(Mode::Cut).await;
    };
    let (first, second, ()) = tokio::join!(modern.tool("large", "{}"), legacy.tool("large", "{}"), cut);
    let [third, fourth] = streams;
    for reply in [first, second, third.reply().await, fourth.reply().await] {
        assert_eq!(reply.error_code(), -32603, "{}", reply.text());
        assert!(reply.error_message().contains("the server far"), "{}", reply.text());
    }
}
