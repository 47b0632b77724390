//! A form from a Rust type: the schema of the type, rewritten in the shapes that a form has.

mod bounds;
mod choices;
mod members;
mod property;
mod refusal;
mod root;
mod shape;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::{Form, FormError};

impl Form {
    /// The form that asks for a value of `T`: a struct with named fields that derives
    /// [`JsonSchema`] (R-FORM-01, R-FORM-10).
    ///
    /// ```
    /// use std::sync::LazyLock;
    ///
    /// use elicit::{Answer, Content, Form};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Order {
    ///     /// How many you want.
    ///     #[schemars(range(max = 12))]
    ///     count: u8,
    ///     size: Option<Size>,
    /// }
    ///
    /// #[derive(Deserialize, JsonSchema, Debug, PartialEq)]
    /// enum Size {
    ///     Small,
    ///     Large,
    /// }
    ///
    /// // A type has one form: build it once and keep it.
    /// static ORDER: LazyLock<Form> = LazyLock::new(|| Form::from_type::<Order>().expect("a test builds it"));
    ///
    /// let answer = Answer::Accept(Content::new().with("count", 3).with("size", "Large"));
    /// let order = ORDER.check(&answer)?.into::<Order>()?.accepted().unwrap();
    /// assert_eq!((order.count, order.size), (3, Some(Size::Large)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # What becomes what
    ///
    /// - `String`, `bool`, `char`, integers and floats become fields of their types. An integer gets
    ///   the bounds of its size, and an `f32` those of its range, so that every answer that fits the
    ///   form fits `T`.
    /// - `Option<…>`, and what has a `#[serde(default)]`, need not be answered; a default is kept.
    ///   `Option<Option<…>>` has the schema of one `Option`, and is asked for like it.
    /// - An enum of unit variants becomes choices, and `Vec`, sets and arrays of it become several of
    ///   them. `#[schemars(title = "…")]` on a variant is what a person reads, else the first
    ///   paragraph of its doc comment, else its name. Of an enum with both, `schemars` puts the
    ///   variants without attributes and comments first.
    /// - Doc comments become descriptions, line breaks included; one that starts with `# …` gives the
    ///   title as well. What stands at a field goes before what stands at its type.
    /// - `length`, `range`, `regex`, `email`, `url` and `extend` of `#[schemars(…)]` are kept, and so
    ///   are `rename`, `rename_all`, `flatten`, `skip` and `deny_unknown_fields` of `#[serde(…)]`.
    /// - `chrono::NaiveDate` and `chrono::DateTime` are dates, `url::Url` is a URI. For a type without
    ///   `JsonSchema`, such as `jiff::civil::Date`, say what it reads:
    ///   `#[schemars(with = "String", extend("format" = "date"))]`.
    ///
    /// # Errors
    ///
    /// What no form can ask for is an error that names each such field (R-FORM-02): nested structs,
    /// maps, tuples, lists of free values, enums with data, formats that forms do not have. What is
    /// refused where a form is built is refused here, too: secrets and links among others. A field
    /// with `#[serde(skip_serializing)]` counts as `writeOnly`, and so as a secret.
    ///
    /// What `T` refuses beyond what its schema says is found later, by
    /// [`Accepted::into`](super::Accepted::into): a `try_from` of its own, a `std::net::SocketAddr`,
    /// a URI that is none for `url::Url`.
    pub fn from_type<T: JsonSchema + ?Sized>() -> Result<Self, FormError> {
        let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
            settings.meta_schema = None;
            // `schemars` drops `length`, `range` and the like where a reference stands.
            settings.inline_subschemas = true;
        });
        root::form(settings.into_generator().into_root_schema_for::<T>().as_value())
    }
}

#[cfg(test)]
mod tests;
