//! What the specification asks of a request, checked strictly.

use serde_json::Value;

use super::Inner;
use crate::record::lock;
use crate::{MODERN, Recorded, base64, json};

const META: &str = "io.modelcontextprotocol/";

/// A refusal: JSON-RPC code and text.
pub(super) type Fault = (i64, String);

impl Inner {
    /// Checks that hold for every POST.
    pub(super) fn check_post(&self, entry: &Recorded) {
        let accept = entry.header("accept").unwrap_or_default();
        if !accept.contains("application/json") || !accept.contains("text/event-stream") {
            self.violation(format!("{}: Accept is {accept:?}", entry.method));
        }
        let kind = entry.header("content-type").unwrap_or_default();
        if !kind.starts_with("application/json") {
            self.violation(format!("{}: Content-Type is {kind:?}", entry.method));
        }
    }

    /// Nothing of what must not leak is in the request.
    pub(super) fn check_forbidden(&self, entry: &Recorded) {
        let body = String::from_utf8_lossy(&entry.body);
        let head =
            entry.headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())));
        let parts: Vec<String> = head.chain([body.into_owned(), entry.path.clone()]).collect();
        for text in &*lock(&self.forbidden) {
            if let Some(part) = parts.iter().find(|part| part.contains(text)) {
                let place = part.chars().take(30).collect::<String>();
                self.violation(format!("{}: {text} leaked in {place}…", entry.method));
            }
        }
    }

    /// The first thing wrong with a modern request; all of them are recorded.
    pub(super) fn check_modern(&self, entry: &Recorded) -> Option<Fault> {
        let mut faults = modern_faults(entry);
        faults.extend(self.parameter_faults(entry));
        for (_, text) in &faults {
            self.violation(format!("{}: {text}", entry.method));
        }
        faults.into_iter().next()
    }

    fn parameter_faults(&self, entry: &Recorded) -> Vec<Fault> {
        let mut faults = Vec::new();
        if entry.method != "tools/call" {
            return faults;
        }
        let schema = entry
            .target()
            .and_then(|name| lock(&self.shelf).schema(&name).map(str::to_owned))
            .and_then(|schema| serde_json::from_str::<Value>(&schema).ok());
        let arguments = entry.raw(&["params", "arguments"]).unwrap_or("{}");
        if let Some(schema) = schema {
            annotated(&schema, arguments, entry, &mut faults);
        }
        faults
    }
}

fn modern_faults(entry: &Recorded) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut mismatch = |text: String| faults.push((-32020, text));
    let meta = |key: &str| entry.raw(&["params", "_meta", &format!("{META}{key}")]);
    let version = meta("protocolVersion").and_then(|raw| serde_json::from_str::<String>(raw).ok());
    if entry.header("mcp-protocol-version") != version.as_deref() {
        let header = entry.header("mcp-protocol-version");
        mismatch(format!("MCP-Protocol-Version is {header:?}, the body says {version:?}"));
    }
    if entry.header("mcp-method") != Some(entry.method.as_str()) {
        mismatch(format!("Mcp-Method is {:?}", entry.header("mcp-method")));
    }
    let named = matches!(entry.method.as_str(), "tools/call" | "prompts/get" | "resources/read");
    let name = entry.header("mcp-name");
    if named && (name.is_none() || name.and_then(base64::header_text) != entry.target()) {
        mismatch(format!("Mcp-Name is {name:?}, the body says {:?}", entry.target()));
    }
    if entry.header("mcp-session-id").is_some() {
        mismatch("a session id in the modern era".to_owned());
    }
    if version.is_none() {
        faults.push((-32602, "no protocolVersion in _meta".to_owned()));
    }
    if meta("clientCapabilities").and_then(json::members).is_none() {
        faults.push((-32602, "no clientCapabilities in _meta".to_owned()));
    }
    if meta("clientInfo").is_some_and(|raw| json::members(raw).is_none()) {
        faults.push((-32602, "clientInfo is no object".to_owned()));
    }
    faults
}

/// Compares `Mcp-Param-…` headers with the arguments, along `properties` only.
fn annotated(schema: &Value, arguments: &str, entry: &Recorded, faults: &mut Vec<Fault>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let values = json::members(arguments).unwrap_or_default();
    for (key, property) in properties {
        let value = values.get(key).map(|raw| raw.get());
        if let Some(name) = property["x-mcp-header"].as_str() {
            let header = entry.header(&format!("mcp-param-{name}"));
            let header = header.map(|text| base64::header_text(text).unwrap_or_default());
            let expected = value
                .filter(|raw| *raw != "null")
                .map(|raw| serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned()));
            if header != expected {
                let text = format!("Mcp-Param-{name} is {header:?}, the body says {expected:?}");
                faults.push((-32020, text));
            }
        }
        annotated(property, value.unwrap_or("{}"), entry, faults);
    }
}

/// Whether a request belongs to the modern era, however wrong it is otherwise.
pub(super) fn is_modern(version_header: Option<&str>, body: &str) -> bool {
    // Revisions are dates, so their text sorts by age.
    version_header.is_some_and(|version| version >= MODERN)
        || json::at(body, &["params", "_meta", &format!("{META}protocolVersion")]).is_some()
}
