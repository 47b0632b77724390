//! The builders of the kinds: each has the keywords that its kind has (R-FORM-01).

use super::super::{Choice, Field, Problem};
use super::{FieldDraft, InclusiveRange};
use crate::{Number, Value, json};

macro_rules! builders {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        #[must_use = "a field is part of a form only when it is added to one"]
        pub struct $name(FieldDraft);

        impl $name {
            /// What a person reads in place of the property's name: one line.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.0.set_text("title", &title.into());
                self
            }

            /// More words for the person.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.0.set_text("description", &description.into());
                self
            }
        }

        impl From<$name> for FieldDraft {
            fn from(field: $name) -> Self {
                field.0
            }
        }
    )*};
}

builders! {
    /// A text that a person writes: [`Field::text`], [`Field::email`], [`Field::uri`], [`Field::date`],
    /// [`Field::date_time`].
    TextField
    /// A whole number: [`Field::integer`].
    IntegerField
    /// A number: [`Field::number`].
    NumberField
    /// Yes or no: [`Field::boolean`].
    BooleanField
    /// One of several choices: [`Field::select`].
    SelectField
    /// Any of several choices: [`Field::multi_select`].
    MultiSelectField
}

/// Builders of fields, for [`Form::builder`](super::super::Form::builder).
impl Field {
    /// A text that a person writes.
    pub fn text() -> TextField {
        TextField(FieldDraft::new("string"))
    }

    /// An address of e-mail.
    pub fn email() -> TextField {
        Self::formatted("email")
    }

    /// A URI.
    pub fn uri() -> TextField {
        Self::formatted("uri")
    }

    /// A date, such as 2026-11-30.
    pub fn date() -> TextField {
        Self::formatted("date")
    }

    /// A date and a time with its offset, such as 2026-11-30T09:30:00Z.
    pub fn date_time() -> TextField {
        Self::formatted("date-time")
    }

    /// A whole number.
    pub fn integer() -> IntegerField {
        IntegerField(FieldDraft::new("integer"))
    }

    /// A number, which may have a fraction.
    pub fn number() -> NumberField {
        NumberField(FieldDraft::new("number"))
    }

    /// Yes or no.
    pub fn boolean() -> BooleanField {
        BooleanField(FieldDraft::new("boolean"))
    }

    /// One of several choices: values alone, `["free", "pro"]`, or values with the titles that a person reads,
    /// `[("in", "Inside"), ("out", "Outside")]`. Either all have titles or none.
    pub fn select<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> SelectField {
        let mut draft = FieldDraft::new("string");
        match List::of(choices) {
            List::Plain(list) => draft.set("enum", Ok(list)),
            List::Titled(list) => draft.set("oneOf", Ok(list)),
        }
        SelectField(draft)
    }

    /// Any of several choices, which are written as for [`select`](Self::select).
    pub fn multi_select<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> MultiSelectField {
        let mut draft = FieldDraft::new("array");
        let items = match List::of(choices) {
            List::Plain(list) => format!(r#"{{"type":"string","enum":{list}}}"#),
            List::Titled(list) => format!(r#"{{"anyOf":{list}}}"#),
        };
        draft.set("items", Ok(items));
        MultiSelectField(draft)
    }

    fn formatted(format: &'static str) -> TextField {
        let mut draft = FieldDraft::new("string");
        draft.set_text("format", format);
        TextField(draft)
    }
}

impl TextField {
    /// How long the text has to be, in Unicode code points.
    pub fn length(mut self, length: impl InclusiveRange<u64>) -> Self {
        self.0.set_counts("minLength", "maxLength", length);
        self
    }

    /// A regular expression (ECMA-262) that has to be found in the text; `^` and `$` make it the whole. It has to be
    /// one that can be checked in linear time.
    pub fn pattern(mut self, pattern: impl Into<String>) -> Self {
        self.0.set_text("pattern", &pattern.into());
        self
    }

    /// What the field holds at first (R-FORM-03).
    pub fn default(mut self, default: impl Into<String>) -> Self {
        self.0.set_text("default", &default.into());
        self
    }
}

impl IntegerField {
    /// The least and the greatest value.
    pub fn range<N: Into<Number>>(mut self, range: impl InclusiveRange<N>) -> Self {
        self.0.set_range(range);
        self
    }

    /// What the field holds at first (R-FORM-03).
    pub fn default(mut self, default: impl Into<Number>) -> Self {
        self.0.set_number("default", Some(default));
        self
    }
}

impl NumberField {
    /// The least and the greatest value: integers, doubles in their shortest text (`0.1..=0.5`), or a [`Number`] in
    /// its exact one.
    pub fn range<N: TryInto<Number>>(mut self, range: impl InclusiveRange<N>) -> Self {
        self.0.set_range(range);
        self
    }

    /// What the field holds at first (R-FORM-03).
    pub fn default(mut self, default: impl TryInto<Number>) -> Self {
        self.0.set_number("default", Some(default));
        self
    }
}

impl BooleanField {
    /// What the field holds at first (R-FORM-03).
    pub fn default(mut self, default: bool) -> Self {
        self.0.set("default", Ok(default.to_string()));
        self
    }
}

impl SelectField {
    /// The value of the choice at first (R-FORM-03).
    pub fn default(mut self, default: impl Into<String>) -> Self {
        self.0.set_text("default", &default.into());
        self
    }
}

impl MultiSelectField {
    /// How many have to be chosen.
    pub fn items(mut self, items: impl InclusiveRange<u64>) -> Self {
        self.0.set_counts("minItems", "maxItems", items);
        self
    }

    /// The values of the choices at first (R-FORM-03).
    pub fn default<V: Into<String>>(mut self, default: impl IntoIterator<Item = V>) -> Self {
        let mut list = String::new();
        Value::List(default.into_iter().map(Into::into).collect()).write(&mut list);
        self.0.set("default", Ok(list));
        self
    }
}

impl FieldDraft {
    fn set_counts(&mut self, least: &'static str, most: &'static str, range: impl InclusiveRange<u64>) {
        let (minimum, maximum) = range.into_bounds();
        self.set_number(least, minimum);
        self.set_number(most, maximum);
    }

    fn set_range<N: TryInto<Number>>(&mut self, range: impl InclusiveRange<N>) {
        let (minimum, maximum) = range.into_bounds();
        self.set_number("minimum", minimum);
        self.set_number("maximum", maximum);
    }

    fn set_number(&mut self, name: &'static str, number: Option<impl TryInto<Number>>) {
        self.remove(name);
        if let Some(number) = number {
            // Of what can be turned into a number, only infinity and NaN fail.
            let text = number.try_into().map(|number| number.as_str().to_owned());
            self.set(name, text.map_err(|_| Problem::NumberTooLarge));
        }
    }
}

/// The JSON text of a list of choices.
enum List {
    Plain(String),
    Titled(String),
}

impl List {
    fn of<C: Into<Choice>>(choices: impl IntoIterator<Item = C>) -> Self {
        let choices: Vec<Choice> = choices.into_iter().map(Into::into).collect();
        let titled = choices.iter().any(|choice| choice.title.is_some());
        let mut list = String::from("[");
        for choice in choices {
            if list.len() > 1 {
                list.push(',');
            }
            if titled {
                list.push_str(r#"{"const":"#);
            }
            json::write_quoted(&choice.value, &mut list);
            if let Some(title) = choice.title {
                list.push_str(r#","title":"#);
                json::write_quoted(&title, &mut list);
            }
            if titled {
                list.push('}');
            }
        }
        list.push(']');
        if titled { Self::Titled(list) } else { Self::Plain(list) }
    }
}
