use super::{Choice, Format, Pattern, SomeChoices};
use crate::{Number, Value};

/// One property of a form: what is asked, and which answers fit (R-FORM-01).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The property's name, under which its answer is sent.
    pub name: String,
    /// What a person reads in place of the name.
    pub title: Option<String>,
    /// More words for the person.
    pub description: Option<String>,
    /// Whether an answer has to be there.
    pub required: bool,
    /// The type, with the constraints that it can have.
    pub kind: Kind,
}

/// The types of the restricted schema.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// `string`
    Text(Text),
    /// `number`
    Number(Numeric),
    /// `integer`
    Integer(Numeric),
    /// `boolean`
    Boolean(Boolean),
    /// A string with `enum` or `oneOf`: one of several choices.
    Select(Select),
    /// An array of such strings: any of several choices.
    MultiSelect(MultiSelect),
}

/// A text that a person writes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Text {
    /// The least length, in Unicode code points.
    pub min_length: Option<u64>,
    /// The greatest length, in Unicode code points.
    pub max_length: Option<u64>,
    /// A regular expression (ECMA-262) that has to be found in the text.
    pub pattern: Option<Pattern>,
    /// What the text has to be.
    pub format: Option<Format>,
    /// What the field holds at first (R-FORM-03).
    pub default: Option<String>,
    /// Whether the schema itself says that the text is a secret (`format: "password"`,
    /// `writeOnly: true`), which MCP forbids to ask for in a form (R-FORM-07).
    pub secret: bool,
}

/// A number.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Numeric {
    /// The least value.
    pub minimum: Option<Number>,
    /// The greatest value.
    pub maximum: Option<Number>,
    /// What the field holds at first (R-FORM-03).
    pub default: Option<Number>,
}

/// Yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Boolean {
    /// What the field holds at first (R-FORM-03); an untouched field without one has no answer.
    pub default: Option<bool>,
}

/// One of several choices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Select {
    /// The choices, in the sender's order; at least one, and no value twice.
    pub choices: Choices,
    /// The choice at first (R-FORM-03).
    pub default: Option<String>,
}

/// Any of several choices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiSelect {
    /// The choices, in the sender's order; at least one, and no value twice.
    pub choices: Choices,
    /// How many have to be chosen at least.
    pub min_items: Option<u64>,
    /// How many may be chosen at most.
    pub max_items: Option<u64>,
    /// Whether each choice counts once (`uniqueItems`).
    pub unique: bool,
    /// The choices at first (R-FORM-03).
    pub default: Option<Vec<String>>,
}

/// The choices of a field. It reads as a slice of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    list: Vec<Choice>,
    /// The places of the choices in the order of their values, where there are many.
    order: Vec<u32>,
}

/// So few choices are found faster by looking at each.
const FEW: usize = 16;

impl Field {
    /// The words that a person knows the field by: its title, else its name. Both are the server's
    /// own and have to go through [`text::line`](crate::text::line) before they are drawn.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.name)
    }

    /// What the field holds at first.
    pub fn default(&self) -> Option<Value> {
        match &self.kind {
            Kind::Text(text) => text.default.clone().map(Value::Text),
            Kind::Number(numeric) | Kind::Integer(numeric) => numeric.default.clone().map(Value::Number),
            Kind::Boolean(boolean) => boolean.default.map(Value::Boolean),
            Kind::Select(select) => select.default.clone().map(Value::Text),
            Kind::MultiSelect(select) => select.default.clone().map(Value::List),
        }
    }
}

impl Choices {
    /// `Err` with a value that is there twice.
    pub(super) fn new(list: Vec<Choice>) -> Result<Self, String> {
        let value = |place: u32| list.get(place as usize).map(|choice| choice.value.as_str());
        if list.len() <= FEW {
            let twice = list
                .iter()
                .enumerate()
                .find(|(index, choice)| list.iter().take(*index).any(|other| other.value == choice.value));
            return match twice {
                Some((_, choice)) => Err(choice.value.clone()),
                None => Ok(Self { list, order: Vec::new() }),
            };
        }
        let mut order: Vec<u32> = (0..u32::try_from(list.len()).unwrap_or(u32::MAX)).collect();
        order.sort_unstable_by(|left, right| value(*left).cmp(&value(*right)));
        for pair in order.windows(2) {
            if let [left, right] = pair
                && value(*left) == value(*right)
            {
                return Err(value(*left).unwrap_or_default().to_owned());
            }
        }
        Ok(Self { list, order })
    }

    /// The place of the choice with this value.
    pub fn position(&self, value: &str) -> Option<usize> {
        if self.order.is_empty() {
            return self.list.iter().position(|choice| choice.value == value);
        }
        let at = |place: &u32| self.list.get(*place as usize).map_or("", |choice| choice.value.as_str());
        self.order
            .binary_search_by(|place| at(place).cmp(value))
            .ok()
            .and_then(|found| self.order.get(found))
            .map(|place| *place as usize)
    }

    /// The first few, to say what is allowed.
    pub(super) fn some(&self) -> SomeChoices {
        SomeChoices::of(self)
    }

    /// Whether one of the choices has this value. Titles do not count: they are for the eye.
    pub fn contains(&self, value: &str) -> bool {
        self.position(value).is_some()
    }
}

impl std::ops::Deref for Choices {
    type Target = [Choice];

    fn deref(&self) -> &[Choice] {
        &self.list
    }
}
