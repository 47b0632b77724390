//! The catalogue: the files of `providers/`, which are part of the program.

use std::path::Path;
use std::sync::Arc;

use super::{Definition, read};
use crate::config::Faults;
use crate::config::reader::{Document, Reader, Secrets};

/// A file of `providers/`, as it is when this is compiled.
macro_rules! definition {
    ($name:literal) => {
        ($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../providers/", $name, ".toml")))
    };
}

/// Name and text of each file, by name. A test compares it with the folder.
const FILES: &[(&str, &str)] = &[
    definition!("airtable"),
    definition!("atlassian"),
    definition!("box"),
    definition!("cloudflare"),
    definition!("discord"),
    definition!("dropbox"),
    definition!("github"),
    definition!("gitlab"),
    definition!("google"),
    definition!("linear"),
    definition!("microsoft"),
    definition!("notion"),
    definition!("okta"),
    definition!("reddit"),
    definition!("slack"),
    definition!("spotify"),
    definition!("zoom"),
];

/// The names in the catalogue, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether a name is in the catalogue.
pub fn has(name: &str) -> bool {
    names().any(|known| known == name)
}

/// The definition of this name. `None` if there is none; faults only while somebody edits a file.
pub fn find(name: &str) -> Option<Result<Arc<Definition>, Faults>> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(parse(text, Path::new(&format!("providers/{name}.toml"))).map(Arc::new))
}

/// Reads the text of a file of the catalogue: the keys of an own definition at its top, with `title`, `documentation` and
/// `read` among them. `path` is what its faults name.
pub fn parse(text: &str, path: &Path) -> Result<Definition, Faults> {
    let document = Document::parse(text);
    let reader = Reader::new(path, text, &|_| None, Secrets::Needed);
    // Its keys are those of a [[provider]], and so are the hints about them.
    let definition = document.read_as(&reader, "provider", |table| {
        for (key, example) in [
            ("title", "title = \"Weather\""),
            ("documentation", "documentation = [\"https://docs.example/oauth\"]"),
            ("read", "read = \"2026-11-30\", the day on which that was read"),
        ] {
            table.require(key, example);
        }
        read(table)
    });
    reader.finish(definition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{
        Template,
        definition::{Address, ChosenBy, Iss, Pkce},
    };

    fn all() -> impl Iterator<Item = (&'static str, Arc<Definition>)> {
        names().map(|name| (name, find(name).unwrap().unwrap_or_else(|faults| panic!("{faults}"))))
    }

    /// Each address that something is sent to, or a person.
    fn addresses(definition: &Definition) -> Vec<&Address> {
        let mut addresses = vec![&definition.authorization_endpoint, &definition.token_endpoint];
        addresses.extend(&definition.introspection_endpoint);
        addresses.extend(&definition.registration_endpoint);
        addresses.extend(&definition.issuer);
        addresses.extend(&definition.refresh.endpoint);
        addresses.extend(definition.revocation.iter().map(|revocation| &revocation.endpoint));
        addresses.extend(definition.account.iter().filter_map(|account| Some(&account.call.as_ref()?.url)));
        addresses.extend(definition.lookup.iter().map(|lookup| &lookup.call.url));
        addresses
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_catalogue_and_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../providers");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
            .collect();
        files.sort();
        assert_eq!(names().collect::<Vec<_>>(), files);
        assert_eq!(all().count(), files.len());
        assert!(files.len() >= 5);
    }

    #[test]
    fn a_file_names_the_documentation_that_it_was_read_in_and_the_day() {
        for (name, definition) in all() {
            assert!(definition.title.is_some(), "{name}");
            assert!(definition.register_at.is_some(), "{name}");
            assert!(definition.read.is_some(), "{name}");
            assert!(!definition.documentation.is_empty(), "{name}");
            for link in definition.documentation.iter().chain(&definition.register_at) {
                assert_eq!(link.scheme(), "https", "{name} {link}");
            }
        }
    }

    /// R-SEC-05
    #[test]
    fn tokens_and_secrets_travel_by_https_alone() {
        for (name, definition) in all() {
            for address in addresses(&definition) {
                assert!(address.as_str().starts_with("https://"), "{name} {}", address.as_str());
            }
        }
    }

    /// R-SEC-05: a client is known at one host, so that a person chooses none of them.
    #[test]
    fn a_part_of_a_host_is_the_operators_to_choose() {
        for (name, definition) in all() {
            let host_of = |address: &&Address| address.as_str().split('/').nth(2).unwrap().to_owned();
            let hosts: Vec<String> = addresses(&definition).iter().map(host_of).collect();
            for input in definition.inputs.iter().filter(|input| input.chosen_by == ChosenBy::User) {
                assert!(!hosts.iter().any(|host| host.contains(&format!("{{{}}}", input.name))), "{name}");
            }
        }
    }

    /// R-OAUTH-02
    #[test]
    fn pkce_is_left_out_only_where_it_is_not_known() {
        let without: Vec<&str> =
            all().filter(|(_, definition)| definition.authorize.pkce == Pkce::Off).map(|(name, _)| name).collect();
        assert_eq!(without, ["atlassian", "box", "dropbox", "notion", "reddit", "slack"]);
    }

    /// R-OAUTH-05
    #[test]
    fn an_issuer_that_is_known_is_compared() {
        for (name, definition) in all() {
            assert_eq!(definition.issuer.is_some(), definition.iss != Iss::Ignored, "{name}");
        }
    }

    #[test]
    fn scopes_are_in_words_in_both_languages() {
        for (name, definition) in all() {
            for (scope, text) in &definition.scope_text {
                for language in ["en", "zh-CN"] {
                    assert_eq!(text.other_language(language), None, "{name} {scope} {language}");
                    assert!(!text.get(language).ends_with(['.', '。']), "{name} {scope}");
                }
                let chinese = text.get("zh-CN");
                assert!(
                    chinese.chars().all(|c| !matches!(c, ',' | ';' | '(' | ')' | '你')),
                    "{name} {scope} {chinese}"
                );
            }
        }
    }

    /// What a file of the catalogue offers to templates can be written into one.
    #[test]
    fn what_templates_may_use_can_stand_in_them() {
        for (name, definition) in all() {
            for field in definition.fields() {
                assert!(Template::parse(&format!("{{{field}}}")).is_ok(), "{name} {field}");
            }
        }
    }

    #[test]
    fn a_file_without_its_documentation_is_no_file_of_the_catalogue() {
        let text = "authorization_endpoint = \"https://id.example/a\"\ntoken_endpoint = \"https://id.example/t\"\n";
        let faults = parse(text, Path::new("providers/x.toml")).unwrap_err().to_string();
        for key in ["title", "documentation", "read"] {
            assert!(faults.contains(&format!("provider.{key}")), "{faults}");
        }
    }
}
