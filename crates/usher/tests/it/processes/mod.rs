//! Servers that are commands: started, fed with a person's credential, watched and stopped.

mod crashes;
mod credentials;
mod legacy;
mod modern;
mod stops;

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use serde_json::Value;
use usher_testkit::{
    DEADLINE,
    client::{Legacy, Modern, Reply},
    upstream::Upstream,
    within,
};

use crate::harness::{Setup, Stage};

/// The server of `examples/stdio_server.rs`, which is built with the tests.
pub(crate) fn program() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples/stdio_server")
}

/// A service with a server `local` that is a command, and needs the key of the weather provider if `needs` says so.
pub(crate) async fn stage(keys: &str, needs: bool) -> Stage {
    stage_of(&format!("{:?}", [program()]), keys, needs).await
}

async fn stage_of(command: &str, keys: &str, needs: bool) -> Stage {
    let mut more = format!("{keys}\n");
    // Keys of the file's root and sections may come first.
    let at = more.find("[[upstream]]").unwrap_or(more.len());
    let own = more.split_off(at);
    write!(more, "[[upstream]]\nname = \"local\"\ncommand = {command}\n{}", own.trim_start_matches("[[upstream]]"))
        .unwrap();
    if needs {
        more.push_str("\n[[upstream.needs]]\nprovider = \"weather\"\nenv = { WEATHER_KEY = \"{api_key}\" }\n");
        more.push_str("on = [\"tools/env\", \"tools/linger\"]\n");
    }
    Stage::with(Setup { more, second: true, ..Setup::default() }, Upstream::start().await).await
}

impl Stage {
    fn local(&self) -> String {
        format!("{}/mcp/local", self.origin)
    }

    /// A legacy client of the server that is a command, initialised.
    pub(crate) async fn local_legacy(&self) -> Legacy {
        let client = Legacy::new(self.local()).token(&self.token).elicitation(&["form", "url"]);
        let reply = client.initialize().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        client
    }

    fn local_modern(&self) -> Modern {
        Modern::new(self.local()).token(&self.token).elicitation(&["form", "url"])
    }
}

/// What a tool of the server said, as JSON.
pub(crate) fn said(reply: &Reply) -> Value {
    serde_json::from_str(&reply.content_text()).unwrap_or_else(|_| panic!("{}", reply.text()))
}

async fn pid(client: &Legacy) -> u64 {
    said(&client.tool("whoami", "{}").await)["pid"].as_u64().unwrap()
}

fn runs(pid: u64) -> bool {
    // A zombie has an entry too, and no command line.
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// Waits until a process runs: one that was started a moment ago has no command line yet.
async fn running(pid: u64) {
    let running = async {
        while !runs(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(DEADLINE, "the process does not run", running).await;
}

/// Waits until a process is gone, and was reaped by whoever started it.
pub(crate) async fn gone(pid: u64) {
    let gone = async {
        while std::fs::exists(format!("/proc/{pid}")).unwrap() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(DEADLINE, "the process stays", gone).await;
}
