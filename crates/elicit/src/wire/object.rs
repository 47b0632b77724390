use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::WireError;
use crate::json;

/// A JSON object of which single members are read, set or removed, while all others keep their
/// place, the text of their key and the text of their value (R-REQ-03): no number is rounded, no
/// escape rewritten. Only white space between members is lost.
///
/// Reading, each edit and writing take time proportional to the text.
#[derive(Clone)]
pub struct RawObject<'a> {
    members: Vec<Member<'a>>,
}

#[derive(Clone)]
struct Member<'a> {
    /// The key as it stands in the text, with its quotes.
    key_text: Cow<'a, str>,
    /// The key that it means.
    key: Cow<'a, [u8]>,
    value: Text<'a>,
}

#[derive(Clone)]
enum Text<'a> {
    Parsed(&'a RawValue),
    Written(String),
}

impl<'a> RawObject<'a> {
    /// Reads one JSON object. A repeated key is an error, since its readers would not agree.
    pub fn parse(raw: &'a str) -> Result<Self, WireError> {
        let Members(members) = serde_json::from_str(raw).map_err(|error| match error.classify() {
            Category::Data => WireError::NotObject,
            _ => WireError::NotJson,
        })?;
        if repeats(&members) {
            return Err(WireError::DuplicateKey);
        }
        Ok(Self { members })
    }

    /// The value of `key` as it was read. `None` also for a member that was [set](Self::set) since:
    /// its new text is not part of what was read.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        match self.position(key).map(|index| &self.members[index].value) {
            Some(Text::Parsed(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether the object has this key now.
    pub fn contains(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Gives `key` the value whose JSON text is `raw`: at its place, or at the end where it is new.
    /// The text is written as it is, so it has to be one valid JSON value; debug builds check it.
    pub fn set(&mut self, key: &str, raw: String) {
        debug_assert!(json::is_valid(&raw), "the value of {key} is not JSON");
        let value = Text::Written(raw);
        match self.position(key) {
            Some(index) => self.members[index].value = value,
            None => self.members.push(Member {
                key_text: Cow::Owned(json::quote(key)),
                key: Cow::Owned(key.as_bytes().to_vec()),
                value,
            }),
        }
    }

    /// Removes `key`; whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        let position = self.position(key);
        if let Some(index) = position {
            self.members.remove(index);
        }
        position.is_some()
    }

    /// The object as JSON text.
    pub fn to_json(&self) -> String {
        self.to_json_without(|_| false)
    }

    /// The members as they were read: key (as UTF-8, or what [`json::unescape`] makes of half a
    /// surrogate pair) and value.
    pub(super) fn members(&self) -> impl Iterator<Item = (&Cow<'a, [u8]>, &'a RawValue)> {
        self.members.iter().filter_map(|member| match member.value {
            Text::Parsed(value) => Some((&member.key, value)),
            Text::Written(_) => None,
        })
    }

    /// The members as they were read, with keys as text; an error for a key that is none.
    pub(crate) fn text_members(&self) -> impl Iterator<Item = Result<(&str, &'a RawValue), WireError>> {
        self.members()
            .map(|(key, value)| std::str::from_utf8(key).map(|key| (key, value)).map_err(|_| WireError::KeyNotText))
    }

    pub(super) fn to_json_without(&self, leave_out: impl Fn(&[u8]) -> bool) -> String {
        let kept = || self.members.iter().filter(|member| !leave_out(&member.key));
        let length: usize = kept().map(|member| member.key_text.len() + member.value.as_str().len() + 2).sum();
        let mut json = String::with_capacity(length + 2);
        json.push('{');
        for member in kept() {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(&member.key_text);
            json.push(':');
            json.push_str(member.value.as_str());
        }
        json.push('}');
        json
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|member| *member.key == *key.as_bytes())
    }
}

impl Text<'_> {
    fn as_str(&self) -> &str {
        match self {
            Self::Parsed(value) => value.get(),
            Self::Written(text) => text,
        }
    }
}

/// Names the keys only: a value may be an answer or a secret.
impl fmt::Debug for RawObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawObject")?;
        f.debug_list().entries(self.members.iter().map(|member| &member.key_text)).finish()
    }
}

fn repeats(members: &[Member<'_>]) -> bool {
    // Most objects of the protocol are small, and then a set costs more than looking at all pairs.
    if members.len() <= 16 {
        return members
            .iter()
            .enumerate()
            .any(|(index, member)| members[..index].iter().any(|other| other.key == member.key));
    }
    let mut seen = HashSet::with_capacity(members.len());
    !members.iter().all(|member| seen.insert(&*member.key))
}

struct Members<'a>(Vec<Member<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
                    members.push(Member {
                        key_text: Cow::Borrowed(key.get()),
                        // A key that serde_json took is a valid string, so it never is `None`.
                        key: json::unescape(key.get()).unwrap_or_default(),
                        value: Text::Parsed(value),
                    });
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests;
