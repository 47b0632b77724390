use std::fmt;

use serde_json::value::RawValue;

use super::Value;
use crate::places::Places;
use crate::{RawObject, WireError, json};

/// The content of an accepted form: names and values, in the order in which they came.
#[derive(Clone, Default)]
pub struct Content {
    members: Vec<(String, Value)>,
    /// The places of the members by name, where there are many.
    places: Places,
}

impl Content {
    /// `{}`: what a form without answers sends.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a JSON object. A name that is there twice, or is no Unicode text, is an error; a value
    /// that no form takes is kept as [`Value::Other`], for the check to name.
    pub fn parse(raw: &str) -> Result<Self, WireError> {
        let object = RawObject::parse(raw)?;
        let member = |(key, value): (&str, &RawValue)| (key.to_owned(), Value::read(value.get()));
        object.text_members().map(|read| read.map(member)).collect::<Result<_, _>>().map(Self::from_members)
    }

    /// The value under `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.place(name).and_then(|place| self.members.get(place)).map(|(_, value)| value)
    }

    /// Gives `name` this value: at its place, or at the end where it is new.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        if let Some((_, old)) = self.place(&name).and_then(|place| self.members.get_mut(place)) {
            *old = value;
        } else {
            self.members.push((name, value));
            self.places.note(&self.members, name_of);
        }
    }

    /// The same content with `name` set to `value`.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// Removes the value under `name`.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.place(name)?;
        let (_, value) = self.members.remove(place);
        self.places = Places::of(&self.members, name_of);
        Some(value)
    }

    /// Names and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.members.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The JSON object, numbers in their exact text (R-FORM-11).
    pub fn to_json(&self) -> String {
        write_object(self.iter())
    }

    pub(crate) fn into_members(self) -> Vec<(String, Value)> {
        self.members
    }

    /// From names that are known to differ.
    pub(crate) fn from_members(members: Vec<(String, Value)>) -> Self {
        let places = Places::of(&members, name_of);
        Self { members, places }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.find(&self.members, name_of, name)
    }
}

fn name_of((name, _): &(String, Value)) -> &str {
    name
}

pub(crate) fn write_object<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let mut json = String::from("{");
    for (name, value) in members {
        if json.len() > 1 {
            json.push(',');
        }
        json::write_quoted(name, &mut json);
        json.push(':');
        value.write(&mut json);
    }
    json.push('}');
    json
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}

impl Eq for Content {}

/// Of a name that is there twice the last value counts, at the first place.
impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Content {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        members.into_iter().fold(Self::new(), |content, (name, value)| content.with(name, value))
    }
}

impl IntoIterator for Content {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

/// Names only: the values are the person's.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content")?;
        f.debug_list().entries(self.members.iter().map(|(name, _)| name)).finish()
    }
}
