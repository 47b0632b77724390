use std::sync::Arc;

use axum::response::Response;
use tokio::sync::mpsc;

use super::conformance::Fault;
use super::output::{Watch, event_stream};
use super::run::{Task, respond};
use super::streams::{Open, subscription_meta};
use super::{Inner, Script};
use crate::record::lock;
use crate::{Era, MODERN, json, quote, sse};

/// Answers a modern request that was found in order.
pub(super) async fn answer(task: Task) -> Response {
    let inner = Arc::clone(&task.inner);
    let known = lock(&inner.shelf).script(Era::Modern, &task.method, &task.params);
    match (known, task.method.as_str()) {
        (Some(script), _) => respond(task, script).await,
        (None, "server/discover") => {
            let script = Script::new().result(inner.discovery());
            respond(task, script).await
        }
        (None, "subscriptions/listen") => listen(&task),
        (None, method) => {
            let script = Script::new().error(-32601, &format!("unknown method {method}"));
            respond(task, script).await
        }
    }
}

fn listen(task: &Task) -> Response {
    let (sender, receiver) = mpsc::unbounded_channel();
    let filter = json::at(&task.params, &["notifications"]).unwrap_or("{}");
    let params = format!(r#"{{"_meta":{{{}}},"notifications":{filter}}}"#, subscription_meta(&task.id));
    let method = "notifications/subscriptions/acknowledged";
    let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
    // The receiver is at hand, so this cannot fail.
    let _ = sender.send(sse::event(&text).into());
    let subscription = Some(task.id.clone());
    lock(&task.inner.streams).push(Open { session: String::new(), subscription, sender });
    task.inner.log.touch();
    let watch = Watch {
        inner: Arc::clone(&task.inner),
        entry: task.entry.clone(),
        task: None,
        running: None,
        switch: None,
        detached: Arc::clone(&task.detached),
    };
    event_stream(receiver, watch)
}

impl Inner {
    /// What is wrong with the version of a modern request: error object as JSON text.
    pub(super) fn unsupported(&self, requested: &str) -> Option<String> {
        let versions = &self.config.modern_versions;
        (!versions.iter().any(|version| version == requested)).then(|| {
            format!(
                r#"{{"code":-32022,"message":"Unsupported protocol version","data":{{"supported":{},"requested":{}}}}}"#,
                self.supported(),
                quote(requested)
            )
        })
    }

    fn supported(&self) -> String {
        let config = &self.config;
        let mut versions: Vec<&String> = config.modern_versions.iter().collect();
        if config.eras.serves(Era::Legacy) {
            versions.extend(&config.legacy_versions);
        }
        versions.into_iter().cloned().collect::<serde_json::Value>().to_string()
    }

    fn discovery(&self) -> String {
        let config = &self.config;
        let instructions = config.instructions.as_ref();
        let instructions = instructions.map(|text| format!(r#""instructions":{},"#, quote(text))).unwrap_or_default();
        format!(
            r#"{{"resultType":"complete","supportedVersions":{},"capabilities":{},{instructions}"_meta":{{"io.modelcontextprotocol/serverInfo":{}}},"ttlMs":3600000,"cacheScope":"public"}}"#,
            self.supported(),
            config.capabilities,
            config.server_info
        )
    }

    /// How a request of the other era is refused by a modern server.
    pub(super) fn refuse_legacy(&self, method: &str, params: &str) -> (Option<String>, Fault) {
        if method == "initialize" {
            let asked = json::string_at(params, &["protocolVersion"]).unwrap_or_default();
            let error = self.unsupported(&asked);
            return (error, (-32601, format!("initialize is unknown; speak {MODERN}")));
        }
        (None, (-32020, "Header mismatch: MCP-Protocol-Version is missing".to_owned()))
    }
}
