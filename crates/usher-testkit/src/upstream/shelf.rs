use super::Script;
use crate::{Era, json, quote};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tool,
    Prompt,
    Resource,
    Method,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    name: String,
    schema: String,
    script: Script,
}

/// What the server offers.
#[derive(Debug, Default)]
pub(super) struct Shelf(Vec<Entry>);

impl Shelf {
    pub(super) fn put(&mut self, kind: Kind, name: &str, schema: &str, script: Script) {
        let entry = Entry { kind, name: name.to_owned(), schema: schema.to_owned(), script };
        match self.0.iter_mut().find(|old| old.kind == kind && old.name == name) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    fn find(&self, kind: Kind, name: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.kind == kind && entry.name == name)
    }

    pub(super) fn schema(&self, tool: &str) -> Option<&str> {
        self.find(Kind::Tool, tool).map(|entry| entry.schema.as_str())
    }

    /// The script for a request that both eras know; `None` where the method is unknown.
    pub(super) fn script(&self, era: Era, method: &str, params: &str) -> Option<Script> {
        if let Some(entry) = self.find(Kind::Method, method) {
            return Some(entry.script.clone());
        }
        let (kind, key) = match method {
            "tools/call" => (Kind::Tool, "name"),
            "prompts/get" => (Kind::Prompt, "name"),
            "resources/read" => (Kind::Resource, "uri"),
            "tools/list" => return Some(self.list(era, Kind::Tool, "tools")),
            "prompts/list" => return Some(self.list(era, Kind::Prompt, "prompts")),
            "resources/list" => return Some(self.list(era, Kind::Resource, "resources")),
            _ => return None,
        };
        let name = json::string_at(params, &[key]).unwrap_or_default();
        let code = if (era, kind) == (Era::Legacy, Kind::Resource) { -32002 } else { -32602 };
        let unknown = || Script::new().error(code, &format!("not on offer: {name}"));
        Some(self.find(kind, &name).map_or_else(unknown, |entry| entry.script.clone()))
    }

    fn list(&self, era: Era, kind: Kind, key: &str) -> Script {
        let item = |entry: &Entry| {
            let name = quote(&entry.name);
            match kind {
                Kind::Tool => format!(r#"{{"name":{name},"inputSchema":{}}}"#, entry.schema),
                Kind::Resource => format!(r#"{{"uri":{name},"name":{name}}}"#),
                Kind::Prompt | Kind::Method => format!(r#"{{"name":{name}}}"#),
            }
        };
        let items: Vec<String> = self.0.iter().filter(|entry| entry.kind == kind).map(item).collect();
        let more = match era {
            Era::Modern => r#","resultType":"complete","ttlMs":0,"cacheScope":"private""#,
            Era::Legacy => "",
        };
        Script::new().result(format!(r#"{{"{key}":[{}]{more}}}"#, items.join(",")))
    }
}
