//! What a verified token, or the issuer itself, says.

use serde_json::{Map, Value};

/// The claims of a token that was verified, or that the issuer told by introspection.
#[derive(Clone, PartialEq)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// Reads the object; `None` for anything else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().map(Self)
    }

    /// A claim that is a string, as it stands.
    pub fn string(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The strings of a claim that is one, or an array of them. Anything else in it counts for nothing.
    pub fn strings(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The same, and of an object the names of its members: some issuers write so which roles somebody has.
    pub fn names(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Value::Object(members)) => members.keys().map(String::as_str).collect(),
            _ => self.strings(name),
        }
    }

    /// Whether a claim is not there because it has too many values: it is named as told elsewhere (OpenID Connect Core, section
    /// 5.6.2), or as there being groups.
    pub fn is_left_out(&self, name: &str) -> bool {
        let elsewhere = self.0.get("_claim_names").is_some_and(|names| names.get(name).is_some());
        !self.has(name) && (elsewhere || (name == "groups" && self.is_true("hasgroups")))
    }

    /// Whether a claim is there at all.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A claim that is true.
    pub fn is_true(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// A time in seconds since 1970 (RFC 7519, section 2: it may have a fraction, which is cut off).
    #[allow(clippy::cast_possible_truncation, reason = "a time out of range becomes the last one there is")]
    pub fn time(&self, name: &str) -> Option<i64> {
        let number = self.0.get(name)?;
        number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds as i64))
    }

    /// The words of `scope` (RFC 6749, section 3.3), or of `scp`, which some issuers write instead, as words or as an array.
    pub fn scopes(&self) -> Vec<&str> {
        let name = if self.has("scope") { "scope" } else { "scp" };
        self.strings(name).into_iter().flat_map(|text| text.split(' ')).filter(|word| !word.is_empty()).collect()
    }
}

/// Names only: values are about people.
impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
