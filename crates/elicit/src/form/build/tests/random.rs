//! Random builders, beside the fields that they have to become.

use super::*;

/// Texts that are hard to write and harmless to read: no word in them is a secret or a link.
fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "a", "bd", "Xe", " ", "\"", "\\", "/", "~", "é", "ß", "日", "😀", "'", "<b>", "&", "1",
        ]),
        0..6,
    )
    .prop_map(|parts| format!("a{}", parts.concat().trim_end()))
}

fn maybe<T: std::fmt::Debug + Clone>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::of(value)
}

/// Two bounds in order, of which each may be missing.
fn bounds<T: Ord + std::fmt::Debug + Clone>(
    value: impl Strategy<Value = T> + Clone,
) -> impl Strategy<Value = (Option<T>, Option<T>)> {
    (maybe(value.clone()), maybe(value)).prop_map(|(one, other)| match (one, other) {
        (Some(one), Some(other)) => (Some(one.clone().min(other.clone())), Some(one.max(other))),
        pair => pair,
    })
}

fn text() -> impl Strategy<Value = (FieldDraft, Kind)> {
    let format = prop::sample::select(vec![None, Some(Format::Email), Some(Format::Uri), Some(Format::Date)]);
    let default = maybe(words());
    (bounds(0_u64..4), maybe(8_u64..20), any::<bool>(), format, default).prop_map(
        |((least, _), most, pattern, format, default)| {
            let mut field = match format {
                None => Field::text(),
                Some(Format::Email) => Field::email(),
                Some(Format::Uri) => Field::uri(),
                Some(_) => Field::date(),
            };
            field = match (least, most) {
                (Some(least), Some(most)) => field.length(least..=most),
                (Some(least), None) => field.length(least..),
                (None, Some(most)) => field.length(..=most),
                (None, None) => field,
            };
            let pattern = if pattern {
                field = field.pattern(r#"^[^"]?\S"#);
                Some(Pattern::parse(r#"^[^"]?\S"#).unwrap())
            } else {
                None
            };
            let mut kind = Text { min_length: least, max_length: most, pattern, format, ..Text::default() };
            let fits = |default: &String| {
                let kind = Kind::Text(kind.clone());
                let field = Field { name: String::new(), title: None, description: None, required: false, kind };
                field.check(&default.as_str().into()).is_empty()
            };
            if let Some(default) = default.filter(fits) {
                field = field.default(default.clone());
                kind.default = Some(default);
            }
            (field.into(), Kind::Text(kind))
        },
    )
}

fn integer() -> impl Strategy<Value = (FieldDraft, Kind)> {
    (bounds(any::<i64>()), any::<i64>(), any::<bool>()).prop_map(|((least, most), value, default)| {
        let mut field = match (least, most) {
            (Some(least), Some(most)) => Field::integer().range(least..=most),
            (Some(least), None) => Field::integer().range(least..),
            (None, Some(most)) => Field::integer().range(..=most),
            (None, None) => Field::integer(),
        };
        let default = default.then(|| value.clamp(least.unwrap_or(i64::MIN), most.unwrap_or(i64::MAX)));
        if let Some(default) = default {
            field = field.default(default);
        }
        let number = |value: Option<i64>| value.map(Number::from);
        (
            field.into(),
            Kind::Integer(Numeric { minimum: number(least), maximum: number(most), default: number(default) }),
        )
    })
}

fn number() -> impl Strategy<Value = (FieldDraft, Kind)> {
    (maybe(prop::num::f64::NORMAL), prop::num::f64::NORMAL, any::<bool>()).prop_map(|(least, value, default)| {
        let mut field = least.map_or(Field::number(), |least| Field::number().range(least..));
        let default = default.then(|| least.map_or(value, |least| value.max(least)));
        if let Some(default) = default {
            field = field.default(default);
        }
        let number = |value: Option<f64>| value.map(|value| Number::try_from(value).unwrap());
        (field.into(), Kind::Number(Numeric { minimum: number(least), maximum: None, default: number(default) }))
    })
}

fn boolean() -> impl Strategy<Value = (FieldDraft, Kind)> {
    any::<Option<bool>>().prop_map(|default| {
        let field = default.map_or(Field::boolean(), |default| Field::boolean().default(default));
        (field.into(), Kind::Boolean(Boolean { default }))
    })
}

/// Choices that differ in value and title, all with titles or none.
fn choices() -> impl Strategy<Value = Vec<Choice>> {
    (prop::collection::vec((words(), words()), 1..24), any::<bool>()).prop_map(|(words, titled)| {
        let choice = |(index, (value, title)): (usize, (String, String))| {
            let value = format!("{value} {index}");
            if titled { Choice::titled(value, format!("{title} {index}")) } else { Choice::new(value) }
        };
        words.into_iter().enumerate().map(choice).collect()
    })
}

fn select() -> impl Strategy<Value = (FieldDraft, Kind)> {
    (choices(), any::<Option<prop::sample::Index>>()).prop_map(|(choices, default)| {
        let default = default.map(|index| index.get(&choices).value.clone());
        let mut field = Field::select(choices.clone());
        if let Some(default) = &default {
            field = field.default(default);
        }
        (field.into(), Kind::Select(Select { choices: Choices::new(choices).unwrap(), default }))
    })
}

fn multi_select() -> impl Strategy<Value = (FieldDraft, Kind)> {
    (choices(), any::<Option<bool>>()).prop_map(|(choices, default)| {
        let count = choices.len() as u64;
        let mut field = Field::multi_select(choices.clone()).items(..=count);
        let default = default
            .map(|all| choices.iter().filter(|_| all).map(|choice| choice.value.clone()).collect::<Vec<String>>());
        if let Some(default) = &default {
            field = field.default(default);
        }
        let choices = Choices::new(choices).unwrap();
        let kind = MultiSelect { choices, min_items: None, max_items: Some(count), unique: false, default };
        (field.into(), Kind::MultiSelect(kind))
    })
}

/// A field under a name, with title and description, and what has to come of it.
fn field() -> impl Strategy<Value = (FieldDraft, Field)> {
    let kind = prop_oneof![text(), integer(), number(), boolean(), select(), multi_select()];
    (words(), maybe(words()), maybe(words()), any::<bool>(), kind).prop_map(
        |(name, title, description, required, (mut draft, kind))| {
            for (keyword, words) in [("title", &title), ("description", &description)] {
                if let Some(words) = words {
                    draft.set_text(keyword, words);
                }
            }
            (draft, Field { name, title, description, required, kind })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// R-FORM-01, R-FORM-03, R-FORM-10: names, order, kinds, constraints and defaults come back as they were given, and
    /// the text is plain JSON.
    #[test]
    fn what_is_built_is_what_is_read(fields in prop::collection::vec(field(), 0..24)) {
        let mut builder = Form::builder();
        let mut expected = Vec::new();
        for (index, (draft, mut field)) in fields.into_iter().enumerate() {
            field.name = format!("{} {index}", field.name);
            builder = builder.with(field.name.clone(), field.required, draft);
            expected.push(field);
        }
        let form = builder.build().unwrap();
        prop_assert_eq!(form.fields(), expected.as_slice());
        prop_assert!(form.findings().is_empty() && !form.is_closed());
        let again = Form::parse(form.as_str()).unwrap();
        prop_assert_eq!(again.fields(), expected.as_slice());
        prop_assert_eq!(again.as_str(), form.as_str());
        prop_assert!(again.strict().is_ok());
    }
}
