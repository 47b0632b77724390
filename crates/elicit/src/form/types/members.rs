use crate::json;

/// A JSON object in the making. Values are texts, since integers of 128 bits have no other form.
pub(super) struct Members {
    json: String,
}

impl Members {
    pub(super) fn new() -> Self {
        Self { json: String::from("{") }
    }

    /// A member with a value that is JSON already. Each name is given once.
    pub(super) fn raw(&mut self, name: &str, value: &str) {
        if self.json.len() > 1 {
            self.json.push(',');
        }
        json::write_quoted(name, &mut self.json);
        self.json.push(':');
        self.json.push_str(value);
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.raw(name, &json::quote(value));
    }

    pub(super) fn into_json(mut self) -> String {
        self.json.push('}');
        self.json
    }
}

/// A JSON array of these values.
pub(super) fn array(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}
