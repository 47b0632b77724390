use serde_json::{Map, Value};

use super::refusal::Refusal;

/// A schema without references and without the null that an `Option` adds.
pub(super) struct Shape {
    /// The keywords; what is said at a field goes before what its type says.
    words: Map<String, Value>,
    /// Whether the value may be null.
    pub(super) nullable: bool,
}

/// As many references and nested `Option`s as nobody has who has no recursion.
const STEPS: usize = 64;

impl Shape {
    /// `root` is the whole schema, which references point into.
    pub(super) fn of(schema: &Value, root: &Value) -> Result<Self, Refusal> {
        let mut shape = Self { words: Map::new(), nullable: false };
        let mut next = schema;
        for _ in 0..STEPS {
            let object = match next {
                Value::Object(object) => object,
                Value::Bool(false) => return Err(Refusal::Nothing),
                _ => return Err(Refusal::Anything),
            };
            match shape.take(object, root)? {
                Some(inner) => next = inner,
                None => return shape.without_null(),
            }
        }
        Err(Refusal::Recursion)
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Value> {
        self.words.get(keyword)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.words.iter().map(|(keyword, value)| (keyword.as_str(), value))
    }

    /// The one type; `None` where there is none, as beside choices.
    pub(super) fn type_name(&self) -> Option<&str> {
        self.get("type").and_then(Value::as_str)
    }

    /// Takes the keywords of one schema, and gives the schema that stands in place of it, if any.
    fn take<'s>(&mut self, object: &'s Map<String, Value>, root: &'s Value) -> Result<Option<&'s Value>, Refusal> {
        let mut inner = None;
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) if inner.is_none() => inner = Some(resolve(reference, root)?),
                ("allOf", Value::Array(schemas)) if inner.is_none() && schemas.len() == 1 => inner = schemas.first(),
                ("anyOf" | "oneOf", Value::Array(schemas)) if inner.is_none() && schemas.iter().any(is_null) => {
                    self.nullable = true;
                    let rest: Vec<&Value> = schemas.iter().filter(|schema| !is_null(schema)).collect();
                    if let [only] = rest[..] {
                        inner = Some(only);
                    } else {
                        self.add(keyword, Value::Array(rest.into_iter().cloned().collect()));
                    }
                }
                _ => self.add(keyword, value.clone()),
            }
        }
        Ok(inner)
    }

    fn add(&mut self, keyword: &str, value: Value) {
        self.words.entry(keyword).or_insert(value);
    }

    fn without_null(mut self) -> Result<Self, Refusal> {
        if let Some(Value::Array(choices)) = self.words.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        match self.words.get("type") {
            Some(Value::String(name)) if name == "null" => return Err(Refusal::Null),
            Some(Value::Array(names)) => {
                let rest: Vec<&str> = names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
                let one = match rest[..] {
                    [] => return Err(Refusal::Null),
                    [one] => Value::from(one),
                    _ => return Err(Refusal::SeveralTypes(rest.join(", "))),
                };
                self.nullable |= rest.len() < names.len();
                self.words.insert("type".to_owned(), one);
            }
            _ => {}
        }
        Ok(self)
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn resolve<'s>(reference: &str, root: &'s Value) -> Result<&'s Value, Refusal> {
    match reference.strip_prefix('#') {
        Some("") => Err(Refusal::Recursion),
        Some(pointer) => root.pointer(pointer).ok_or_else(|| Refusal::Unresolved(reference.to_owned())),
        None => Err(Refusal::Unresolved(reference.to_owned())),
    }
}
