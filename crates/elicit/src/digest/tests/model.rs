//! The digest as one would write it first: a tree of the whole value, sorted, then hashed at once. Slow, large, and
//! plainly what the documentation says.

use aws_lc_rs::digest::{SHA256, digest};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::{Digest, DigestError};
use crate::json;

enum Node {
    Word(String),
    Text(Vec<u8>),
    Array(Vec<Node>),
    Object(Vec<(Vec<u8>, Node)>),
}

/// [`Digest::of_json`] over again.
pub(super) fn of_json(raw: &str) -> Result<Digest, DigestError> {
    let value: &RawValue = serde_json::from_str(raw).map_err(|_| DigestError::NotJson)?;
    let mut bytes = b"elicit json 2\0".to_vec();
    node(value, 0)?.write(&mut bytes)?;
    Ok(Digest::from_hash(&digest(&SHA256, &bytes)))
}

fn node(value: &RawValue, depth: usize) -> Result<Node, DigestError> {
    let text = value.get();
    if text.starts_with(['[', '{']) && depth == 128 {
        return Err(DigestError::TooDeep);
    }
    Ok(match text.as_bytes()[0] {
        b'"' => Node::Text(json::unescape(text).unwrap().into_owned()),
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap();
            Node::Array(items.into_iter().map(|item| node(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        b'{' => {
            let Members(members) = serde_json::from_str(text).unwrap();
            let member = |(key, value): (&RawValue, &RawValue)| {
                Ok((json::unescape(key.get()).unwrap().into_owned(), node(value, depth + 1)?))
            };
            Node::Object(members.into_iter().map(member).collect::<Result<_, _>>()?)
        }
        _ => Node::Word(text.to_owned()),
    })
}

impl Node {
    fn write(self, bytes: &mut Vec<u8>) -> Result<(), DigestError> {
        match self {
            Self::Word(word) => bytes.extend(word.into_bytes().into_iter().chain([b','])),
            Self::Text(text) => write_text(&text, bytes),
            Self::Array(items) => {
                bytes.push(b'[');
                items.into_iter().try_for_each(|item| item.write(bytes))?;
                bytes.push(b']');
            }
            Self::Object(mut members) => {
                members.sort_by(|left, right| left.0.cmp(&right.0));
                if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                    return Err(DigestError::DuplicateKey);
                }
                bytes.push(b'{');
                for (key, value) in members {
                    write_text(&key, bytes);
                    value.write(bytes)?;
                }
                bytes.push(b'}');
            }
        }
        Ok(())
    }
}

fn write_text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
    bytes.extend_from_slice(text);
}

/// The members in their order, repeated keys too.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
