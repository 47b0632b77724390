//! Templates of header values: `"Bearer {api_key}"`.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::field::is_field_name;

/// A text with fields of a provider in braces. `{{` and `}}` stand for the braces themselves; `{basic(user, password)}` for
/// the two fields as `Basic` authentication wants them (RFC 7617).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field(String),
    /// `user:password` in base64; nothing behind the colon where there is one field.
    Basic(Vec<String>),
}

/// Why a template cannot be read or rendered. Never shows a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A `{` without its `}`.
    #[error("a brace is not closed")]
    Unclosed,
    /// A `}` without its `{`.
    #[error("a brace is closed that was not opened")]
    Unopened,
    /// What stands in braces is not the name of a field.
    #[error("{{{0}}} is no field name")]
    FieldName(String),
    /// The secrets at hand lack a field of the template.
    #[error("there is no value for the field {0}")]
    MissingField(String),
    /// The rendered text has characters that a header cannot carry: a line break, a control character, or no ASCII.
    #[error("the value contains characters that a header cannot carry")]
    HeaderValue,
    /// The rendered text has characters that a variable should not carry: a line break or another control character.
    #[error("the value contains control characters, which a variable cannot carry safely")]
    VariableValue,
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..];
            rest = if let Some(after) = brace.strip_prefix("{{") {
                literal.push('{');
                after
            } else if let Some(after) = brace.strip_prefix("}}") {
                literal.push('}');
                after
            } else if let Some(after) = brace.strip_prefix('{') {
                let (field, after) = after.split_once('}').ok_or(TemplateError::Unclosed)?;
                let part = part(field).ok_or_else(|| TemplateError::FieldName(field.to_owned()))?;
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(part);
                after
            } else {
                return Err(TemplateError::Unopened);
            };
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// A text without fields, braces and all.
    pub(super) fn literal(text: String) -> Self {
        Self { parts: vec![Part::Literal(text)] }
    }

    /// `Bearer {access_token}` (RFC 6750, section 2.1).
    pub(crate) fn bearer() -> Self {
        let field = Part::Field("access_token".to_owned());
        Self { parts: vec![Part::Literal("Bearer ".to_owned()), field] }
    }

    /// The fields of the template, in order, repeated where the template repeats them.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Field(name) => std::slice::from_ref(name),
                Part::Basic(names) => names,
                Part::Literal(_) => &[],
            })
            .map(String::as_str)
    }

    /// The text with the secrets in place; `None` if one is missing.
    pub fn render(&self, secrets: &BTreeMap<String, SecretString>) -> Option<SecretString> {
        let text = self.text(secrets).ok()?;
        Some(SecretString::from(text.as_str()))
    }

    /// The text as the value of a header, marked as sensitive so that no log shows it. A secret with a line
    /// break or a control character is refused: it would be another header.
    pub fn header_value(&self, secrets: &BTreeMap<String, SecretString>) -> Result<HeaderValue, TemplateError> {
        let text = self.text(secrets)?;
        // The type would take bytes above ASCII and tabs, which servers read differently (RFC 9110, 5.5).
        if !is_visible(&text) {
            return Err(TemplateError::HeaderValue);
        }
        let mut value = HeaderValue::from_str(&text).map_err(|_| TemplateError::HeaderValue)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The text as the value of a variable. Control characters are refused: programs write variables into files and
    /// command lines where a line break begins something else, and NUL would end it.
    pub fn variable_value(&self, secrets: &BTreeMap<String, SecretString>) -> Result<SecretString, TemplateError> {
        let text = self.text(secrets)?;
        if text.chars().any(char::is_control) {
            return Err(TemplateError::VariableValue);
        }
        Ok(SecretString::from(text.as_str()))
    }

    fn text(&self, secrets: &BTreeMap<String, SecretString>) -> Result<Zeroizing<String>, TemplateError> {
        let value = |name: &String| {
            let secret = secrets.get(name).ok_or_else(|| TemplateError::MissingField(name.clone()))?;
            Ok(secret.expose_secret())
        };
        let mut pairs = Vec::new();
        for part in &self.parts {
            if let Part::Basic(names) = part {
                pairs.push(basic(&names.iter().map(value).collect::<Result<Vec<_>, _>>()?)?);
            }
        }
        let mut pairs = pairs.iter();
        let mut values = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            values.push(match part {
                Part::Literal(text) => text.as_str(),
                Part::Field(name) => value(name)?,
                Part::Basic(_) => pairs.next().map_or("", |pair| pair.as_str()),
            });
        }
        // Sized at once: a text that grows leaves copies of itself in memory.
        let mut text = Zeroizing::new(String::with_capacity(values.iter().map(|value| value.len()).sum()));
        for value in values {
            text.push_str(value);
        }
        Ok(text)
    }

    /// Whether the literal parts can stand in a header, and the whole does not start or end with a space,
    /// which a receiver would drop.
    pub(super) fn is_header_value(&self) -> bool {
        let literal = |part: &Part| match part {
            Part::Literal(text) => is_visible(text),
            Part::Field(_) | Part::Basic(_) => true,
        };
        let starts = |part: &Part| matches!(part, Part::Literal(text) if text.starts_with(' '));
        let ends = |part: &Part| matches!(part, Part::Literal(text) if text.ends_with(' '));
        !self.parts.is_empty()
            && self.parts.iter().all(literal)
            && !self.parts.first().is_some_and(starts)
            && !self.parts.last().is_some_and(ends)
    }
}

/// What stands in braces.
fn part(text: &str) -> Option<Part> {
    let Some(names) = text.strip_prefix("basic(").and_then(|rest| rest.strip_suffix(')')) else {
        return is_field_name(text).then(|| Part::Field(text.to_owned()));
    };
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    (names.len() <= 2 && names.iter().all(|name| is_field_name(name))).then_some(Part::Basic(names))
}

/// User and password as `Basic` wants them. A control character, which nobody would see in it, is refused.
fn basic(values: &[&str]) -> Result<Zeroizing<String>, TemplateError> {
    let [user, rest @ ..] = values else { return Ok(Zeroizing::default()) };
    let password = rest.first().copied().unwrap_or_default();
    if [user, password].iter().any(|value| value.chars().any(char::is_control)) {
        return Err(TemplateError::HeaderValue);
    }
    let mut pair = Zeroizing::new(String::with_capacity(user.len() + password.len() + 1));
    pair.push_str(user);
    pair.push(':');
    pair.push_str(password);
    Ok(Zeroizing::new(STANDARD.encode(pair.as_bytes())))
}

/// Whether there are only visible ASCII characters and spaces.
fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(entries: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), SecretString::from(*value));
        entries.iter().map(own).collect()
    }

    #[test]
    fn fields_are_replaced_and_doubled_braces_are_braces() {
        let template = Template::parse("{{{user}}}:{key}{user}").unwrap();
        assert_eq!(template.fields().collect::<Vec<_>>(), ["user", "key", "user"]);
        let secrets = secrets(&[("user", "u{key}"), ("key", "k"), ("other", "o")]);
        let text = template.render(&secrets).unwrap();
        assert_eq!(text.expose_secret(), "{u{key}}:ku{key}", "a value is not a template");
    }

    #[test]
    fn a_text_without_fields_is_itself() {
        let template = Template::parse("v1").unwrap();
        assert_eq!(template.render(&BTreeMap::new()).unwrap().expose_secret(), "v1");
        assert_eq!(template.fields().count(), 0);
    }

    /// Kind 24: user and password, or a key in the place of the user.
    #[test]
    fn kind_24_user_and_password_are_what_basic_wants() {
        let template = Template::parse("Basic {basic(user, password)}").unwrap();
        assert_eq!(template.fields().collect::<Vec<_>>(), ["user", "password"]);
        assert!(template.is_header_value());
        let value = template.header_value(&secrets(&[("user", "Aladdin"), ("password", "open sesame")])).unwrap();
        assert_eq!(value, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        let international = template.header_value(&secrets(&[("user", "test"), ("password", "123£")])).unwrap();
        assert_eq!(international, "Basic dGVzdDoxMjPCow==", "RFC 7617, section 2.1");
        let missing = template.header_value(&secrets(&[("user", "a")])).unwrap_err();
        assert_eq!(missing, TemplateError::MissingField("password".to_owned()));
        let hidden = template.header_value(&secrets(&[("user", "a"), ("password", "b\r\nX: 1")])).unwrap_err();
        assert_eq!(hidden, TemplateError::HeaderValue);
        let key = Template::parse("Basic {basic(api_key)}").unwrap();
        assert_eq!(key.header_value(&secrets(&[("api_key", "k")])).unwrap(), "Basic azo=");
        for wrong in ["{basic()}", "{basic(a,b,c)}", "{basic(a, B)}", "{basic(a}", "{basic a}", "{basic(a)x}"] {
            assert!(matches!(Template::parse(wrong), Err(TemplateError::FieldName(_))), "{wrong}");
        }
    }

    #[test]
    fn a_missing_field_renders_nothing() {
        let template = Template::parse("Bearer {api_key}").unwrap();
        assert!(template.render(&BTreeMap::new()).is_none());
        let error = template.header_value(&BTreeMap::new()).unwrap_err();
        assert_eq!(error, TemplateError::MissingField("api_key".to_owned()));
    }

    #[test]
    fn a_header_value_is_marked_sensitive() {
        let template = Template::parse("Bearer {api_key}").unwrap();
        let value = template.header_value(&secrets(&[("api_key", "abc")])).unwrap();
        assert_eq!(value, "Bearer abc");
        assert!(value.is_sensitive());
        assert!(!format!("{value:?}").contains("abc"));
    }

    #[test]
    fn a_secret_that_would_break_out_of_its_header_is_refused() {
        let template = Template::parse("Bearer {api_key}").unwrap();
        for secret in ["a\r\nX-Admin: 1", "key\n", "key\r", "key\0", "key\t", "key\u{7f}", "schlüssel"] {
            let error = template.header_value(&secrets(&[("api_key", secret)])).unwrap_err();
            assert_eq!(error, TemplateError::HeaderValue, "{secret:?}");
            assert!(!error.to_string().contains(secret));
        }
    }

    #[test]
    fn a_variable_carries_no_control_characters() {
        let template = Template::parse("{api_key}").unwrap();
        for secret in ["a\nb", "a\0", "\u{1b}[0m", "a\u{85}b"] {
            let error = template.variable_value(&secrets(&[("api_key", secret)])).unwrap_err();
            assert_eq!(error, TemplateError::VariableValue, "{secret:?}");
        }
        let value = template.variable_value(&secrets(&[("api_key", "schlüssel €")])).unwrap();
        assert_eq!(value.expose_secret(), "schlüssel €");
    }

    #[test]
    fn braces_that_do_not_pair_are_refused() {
        use TemplateError::{FieldName, Unclosed, Unopened};
        for (text, error) in [
            ("{api_key", Unclosed),
            ("a}", Unopened),
            ("{a}}", Unopened),
            ("{}", FieldName(String::new())),
            ("{a b}", FieldName("a b".to_owned())),
            ("{a{b}", FieldName("a{b".to_owned())),
        ] {
            assert_eq!(Template::parse(text), Err(error), "{text}");
        }
    }
}
