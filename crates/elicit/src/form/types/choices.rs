use serde_json::Value;

use super::super::Choice;
use super::members::{Members, array};
use super::refusal::Refusal;
use super::shape::Shape;
use crate::json;

/// The keywords that say the choices.
const KEYWORDS: [&str; 4] = ["enum", "const", "oneOf", "anyOf"];

/// Choices, and the keyword that says them.
pub(super) struct Listed {
    pub(super) keyword: &'static str,
    choices: Vec<Choice>,
}

impl Listed {
    /// The choices that a schema says in one way or another; `None` where it says none.
    pub(super) fn of(shape: &Shape, root: &Value) -> Result<Option<Self>, Refusal> {
        let Some((keyword, value)) = KEYWORDS.into_iter().find_map(|keyword| Some((keyword, shape.get(keyword)?)))
        else {
            return Ok(None);
        };
        let other = if keyword == "anyOf" { Refusal::Union } else { Refusal::DataEnum };
        let choices = match (keyword, value) {
            ("enum", Value::Array(values)) => plain(values)?,
            ("const", value) => plain(std::slice::from_ref(value))?,
            (_, Value::Array(entries)) => variants(entries, root).ok_or(other)?,
            _ => return Err(other),
        };
        Ok(Some(Self { keyword, choices }))
    }

    pub(super) fn is_titled(&self) -> bool {
        self.choices.iter().any(|choice| choice.title.is_some())
    }

    /// `enum`, or the list of `const` and `title` that `combinator` takes where anything has a title.
    pub(super) fn write(&self, combinator: &str, members: &mut Members) {
        if !self.is_titled() {
            members.raw("enum", &array(self.choices.iter().map(|choice| json::quote(&choice.value))));
            return;
        }
        let titled = self.choices.iter().map(|choice| {
            let mut entry = Members::new();
            entry.text("const", &choice.value);
            entry.text("title", choice.label());
            entry.into_json()
        });
        members.raw(combinator, &array(titled));
    }
}

fn plain(values: &[Value]) -> Result<Vec<Choice>, Refusal> {
    let texts = values.iter().map(|value| value.as_str().map(Choice::from));
    texts.collect::<Option<_>>().ok_or(Refusal::ChoicesNotText)
}

/// The unit variants of an enum. Those without attributes stand together in one entry.
fn variants(entries: &[Value], root: &Value) -> Option<Vec<Choice>> {
    let mut choices = Vec::new();
    for entry in entries {
        let entry = Shape::of(entry, root).ok()?;
        match (entry.get("const"), entry.get("enum")) {
            (Some(value), None) => {
                choices.push(Choice { value: value.as_str()?.to_owned(), title: title(&entry) });
            }
            (None, Some(values)) => choices.extend(plain(values.as_array()?).ok()?),
            _ => return None,
        }
    }
    Some(choices)
}

/// A title is one line: of a comment its first paragraph, without its line breaks.
fn title(variant: &Shape) -> Option<String> {
    let text = |keyword| variant.get(keyword).and_then(Value::as_str);
    text("title").map(str::to_owned).or_else(|| {
        let lines = text("description")?.lines().map(str::trim).take_while(|line| !line.is_empty());
        Some(lines.collect::<Vec<_>>().join(" "))
    })
}
