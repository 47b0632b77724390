//! Members of a message that a careless reader takes for others: decoders that fold case, or end a name at NUL, see
//! `Arguments` or `name\u0000` where we see something unknown.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The members of a message that say what it is.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The members of `params` that say what a call is for.
const SUBJECTS: [&str; 2] = ["name", "uri"];

/// All that the params of a call may have which a person approves: the rest of it they would not be shown.
const APPROVED: [&str; 6] = ["name", "uri", "arguments", "_meta", "requestState", "inputResponses"];

/// Why a message could be understood in two ways.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ambiguous {
    /// A member that is none of ours, and that other readers could take for one.
    #[error("the member {0:?} could be taken for {1:?}")]
    Alike(String, &'static str),
    /// A member beside those that a person is shown.
    #[error(
        "the params have the member {0:?}, which nobody is shown: only name, uri, arguments and _meta may stand there"
    )]
    Unshown(String),
    /// No object that can be read.
    #[error("the message cannot be read")]
    Unreadable,
}

/// Refuses a message whose kind, method or subject another reader could see otherwise than we do. `params` are those of `body`,
/// which is read once.
pub fn one_meaning(body: &[u8], params: Option<&str>) -> Result<(), Ambiguous> {
    let text = std::str::from_utf8(body).map_err(|_| Ambiguous::Unreadable)?;
    let mut found = Ok(());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let message = Message { has_params: params.is_some(), found: &mut found };
    deserializer.deserialize_map(message).map_err(|_| Ambiguous::Unreadable)?;
    found
}

/// Refuses params of which a person would not be shown all that a reader could act on.
pub fn all_shown(params: Option<&str>) -> Result<(), Ambiguous> {
    for member in members(params.unwrap_or("{}"))? {
        distinct(&member, &APPROVED)?;
        if !APPROVED.contains(&member.as_str()) {
            return Err(Ambiguous::Unshown(shown(&member)));
        }
    }
    Ok(())
}

/// Whether a member is one of `known`, or like none of them.
fn distinct(member: &str, known: &[&'static str]) -> Result<(), Ambiguous> {
    if known.contains(&member) {
        return Ok(());
    }
    let cut = member.split('\0').next().unwrap_or_default();
    let alike = |one: &&&str| [member, cut].into_iter().any(|reading| folded(reading).eq(folded(one)));
    match known.iter().find(alike) {
        Some(one) => Err(Ambiguous::Alike(shown(member), one)),
        None => Ok(()),
    }
}

/// As readers fold that know no more of Unicode than its two letters that are ASCII in another case.
fn folded(member: &str) -> impl Iterator<Item = char> {
    let fold = |character| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    member.chars().filter(|character| *character != '\0').map(fold)
}

/// Short enough for an error.
fn shown(member: &str) -> String {
    member.chars().take(40).collect()
}

/// The names of an object's members, each as often as it stands there.
fn members(text: &str) -> Result<Vec<String>, Ambiguous> {
    let mut names = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_map(Names(|name: &str| names.push(name.to_owned()))).map_err(|_| Ambiguous::Unreadable)?;
    Ok(names)
}

/// Keeps the first fault.
fn look(member: &str, known: &[&'static str], found: &mut Result<(), Ambiguous>) {
    if found.is_ok() {
        *found = distinct(member, known);
    }
}

/// A whole message, with the names of its params.
struct Message<'a> {
    has_params: bool,
    found: &'a mut Result<(), Ambiguous>,
}

impl<'de> Visitor<'de> for Message<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            look(&name, &ENVELOPE, self.found);
            if self.has_params && name == "params" {
                map.next_value_seed(Names(|name: &str| look(name, &SUBJECTS, self.found)))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The names of an object, one by one.
struct Names<F>(F);

impl<'de, F: FnMut(&str)> DeserializeSeed<'de> for Names<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&str)> Visitor<'de> for Names<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Name(name), IgnoredAny)) = map.next_entry()? {
            (self.0)(&name);
        }
        Ok(())
    }
}

/// A name, which is copied only where it is escaped.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_we_tell_apart_is_refused() {
        for member in
            ["Method", "METHOD", "method\\u0000", "method\\u0000x", "\\u0000method", "param\\u017f", "Id", "Params"]
        {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","{member}":"tools/call"}}"#);
            assert!(matches!(one_meaning(body.as_bytes(), None), Err(Ambiguous::Alike(..))), "{member}");
        }
        for member in ["Name", "URI", "name\\u0000", "nam\\u0045"] {
            let params = format!(r#"{{"name":"a","{member}":"b"}}"#);
            let body = format!(r#"{{"method":"ping","params":{params}}}"#);
            assert!(matches!(one_meaning(body.as_bytes(), Some(&params)), Err(Ambiguous::Alike(..))), "{member}");
        }
        assert!(folded("to\u{212a}en\u{17f}").eq("tokens".chars()));
    }

    /// R-GW-02: what is like nothing known passes.
    #[test]
    fn what_nobody_confuses_passes() {
        let params = r#"{"name":"a","n\u0061mes":1,"Arguments":{"Name":2}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{params},"x":1,"x":2,"methods":3,"":4}}"#);
        assert_eq!(one_meaning(body.as_bytes(), Some(params)), Ok(()));
        assert_eq!(one_meaning(br#"{"params":[]}"#, Some("[]")), Err(Ambiguous::Unreadable));
        assert_eq!(one_meaning(br#"{"params":null}"#, None), Ok(()));
    }

    #[test]
    fn a_person_is_shown_all_that_counts() {
        let whole = r#"{"name":"a","arguments":{"Name":1},"_meta":{},"requestState":"s","inputResponses":{}}"#;
        assert_eq!(all_shown(Some(whole)), Ok(()));
        for member in ["Arguments", "arguments\\u0000", "argument\\u017f", "_META"] {
            let params = format!(r#"{{"name":"a","{member}":{{}}}}"#);
            assert!(matches!(all_shown(Some(&params)), Err(Ambiguous::Alike(..))), "{member}");
        }
        assert_eq!(all_shown(Some(r#"{"name":"a","task":{}}"#)), Err(Ambiguous::Unshown("task".to_owned())));
    }
}
