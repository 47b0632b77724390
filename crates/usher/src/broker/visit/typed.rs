//! What a person typed: bounded, complete, and fit for the headers that it will stand in.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Config, Field, Provider};

/// The longest value of a field, in bytes.
pub const FIELD_AT_MOST: usize = 8 * 1024;

/// What is wrong with the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A required field is empty.
    Missing(String),
    /// A field is longer than [`FIELD_AT_MOST`].
    TooLong(String),
    /// A field has characters that a header cannot carry: control characters, or no ASCII.
    Characters(String),
    /// A field is not written as its provider wants it.
    Form(String),
    /// There are fields that nobody asked for.
    Unknown,
}

impl Fault {
    /// The field it is about.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Missing(field) | Self::TooLong(field) | Self::Characters(field) | Self::Form(field) => Some(field),
            Self::Unknown => None,
        }
    }
}

/// Takes what was typed: only fields that were asked for, without the spaces that copying leaves around a key.
pub(super) fn read(
    fields: &[Field],
    typed: &BTreeMap<String, SecretString>,
) -> Result<BTreeMap<String, SecretString>, Vec<Fault>> {
    let mut faults = Vec::new();
    if typed.keys().any(|name| !fields.iter().any(|field| field.name == *name)) {
        faults.push(Fault::Unknown);
    }
    let mut secrets = BTreeMap::new();
    for field in fields {
        let value = typed.get(&field.name).map_or("", |value| value.expose_secret().trim());
        if value.is_empty() {
            if field.required {
                faults.push(Fault::Missing(field.name.clone()));
            }
        } else if value.len() > FIELD_AT_MOST {
            faults.push(Fault::TooLong(field.name.clone()));
        } else if value.chars().any(char::is_control) {
            faults.push(Fault::Characters(field.name.clone()));
        } else {
            secrets.insert(field.name.clone(), SecretString::from(value));
        }
    }
    if faults.is_empty() { Ok(secrets) } else { Err(faults) }
}

/// Whether the secrets can be sent as the headers that any upstream makes of them. Found here, where a person can mend
/// it, rather than in each call later.
pub(super) fn fits(
    config: &Config,
    provider: &Provider,
    secrets: BTreeMap<String, SecretString>,
) -> Result<BTreeMap<String, SecretString>, Vec<Fault>> {
    let needs = config.upstreams.iter().flat_map(|upstream| &upstream.needs);
    let headers = needs.filter(|need| need.provider == provider.name).flat_map(|need| &need.headers);
    let mut faults = Vec::new();
    for (_, template) in headers {
        // What is required is there by now.
        if provider.header(template, &secrets).is_err() {
            let unsendable = |field: &&str| secrets.get(*field).is_some_and(|value| !value.expose_secret().is_ascii());
            for field in template.fields().filter(unsendable) {
                let fault = Fault::Characters(field.to_owned());
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
    if faults.is_empty() { Ok(secrets) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Text;

    fn typed(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
    }

    fn field(name: &str, required: bool) -> Field {
        Field { name: name.into(), label: Text::from(name), description: None, help_url: None, masked: true, required }
    }

    #[test]
    fn what_was_typed_is_kept_without_the_spaces_around_it() {
        let fields = [field("key", true), field("team", false)];
        let secrets = read(&fields, &typed(&[("key", " abc def\n"), ("team", "")])).unwrap();
        assert_eq!(secrets["key"].expose_secret(), "abc def");
        assert!(!secrets.contains_key("team"));
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let fields = [field("key", true), field("team", true), field("note", false)];
        let long = "x".repeat(FIELD_AT_MOST + 1);
        let faults = read(&fields, &typed(&[("team", &long), ("note", "a\u{0}b"), ("admin", "yes")])).unwrap_err();
        assert_eq!(
            faults,
            [
                Fault::Unknown,
                Fault::Missing("key".into()),
                Fault::TooLong("team".into()),
                Fault::Characters("note".into())
            ]
        );
    }

    /// What one server takes and another cannot get is said before it is stored; an empty optional field is no fault.
    #[test]
    fn what_was_typed_must_fit_every_server_that_gets_it() {
        let config = Config::parse(
            "[[provider]]\nname = \"w\"\nkind = \"secret\"\n\
             field = [{ name = \"key\" }, { name = \"team\", required = false }]\n\
             [[upstream]]\nname = \"a\"\nurl = \"https://a.example/mcp\"\n\
             needs = [{ provider = \"w\", header = { X-Key = \"{key}\" } }]\n\
             [[upstream]]\nname = \"b\"\nurl = \"https://b.example/mcp\"\n\
             needs = [{ provider = \"w\", header = { X-Key = \"{key}\", X-Team = \"{key}/{team}\" } }]\n",
            Path::new("/srv/usher/usher.toml"),
            &|_| None,
        )
        .unwrap();
        let provider = config.provider("w").unwrap();
        assert!(fits(&config, provider, typed(&[("key", "abc")])).is_ok());
        let faults = fits(&config, provider, typed(&[("key", "abc"), ("team", "синие")])).unwrap_err();
        assert_eq!(faults, [Fault::Characters("team".into())]);
    }
}
