//! The schema and the readers say the same. Every configuration that a test of this crate reads is put to both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use super::*;
use crate::config::{Config, Faults, places};

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| jsonschema::validator_for(&schema()).unwrap());

thread_local! {
    /// Keys that readers asked for on this thread, by section.
    static ASKED: RefCell<BTreeMap<String, BTreeSet<&'static str>>> = RefCell::default();
}

/// For each text that is read in a test: what the reader takes is valid, and a key that it does not know is not.
pub(crate) fn agree<T>(text: &str, read: &Result<T, Faults>) {
    let Ok(value) = toml::from_str::<Value>(text) else { return };
    let faults: Vec<_> =
        SCHEMA.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    match read {
        Ok(_) => assert!(faults.is_empty(), "the reader takes what the schema refuses:\n{text}\n{faults:#?}"),
        Err(found) if found.0.iter().any(|fault| fault.message == "unknown key") => {
            assert!(!faults.is_empty(), "the reader refuses a key that the schema takes:\n{text}");
        }
        Err(_) => {}
    }
}

/// A reader asked for these keys in the section at `path`.
pub(crate) fn asked(path: &str, keys: &[&'static str]) {
    ASKED.with_borrow_mut(|asked| asked.entry(places::section(path)).or_default().extend(keys));
}

/// The keys of each section of the schema.
fn sections(schema: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let schema = schema.get("items").unwrap_or(schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    found.insert(path.to_owned(), properties.keys().cloned().collect());
    for (key, value) in properties {
        let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        sections(value, &inner, found);
    }
}

/// Every section there is, so that every reader runs.
const WHOLE: &str = r#"
public_url = "http://127.0.0.1:8420"
[listen]
[store]
[keys]
[identity]
mode = "oidc"
issuer = "https://id.example"
client_id = "usher"
[identity.introspection]
client_secret = "s"
[limits]
[processes]
[egress]
[[provider]]
name = "weather"
kind = "secret"
[[provider.field]]
name = "api_key"
[provider.check]
get = "https://weather.example/me"
header = { X-Key = "{api_key}" }
[[provider]]
name = "pay"
kind = "external"
about = "Pays one euro."
url = "https://pay.example/{reference}"
[provider.confirm]
get = "https://pay.example/api/{reference}"
field = "status"
equals = "paid"
[[provider]]
name = "wiki"
kind = "mcp"
[[provider]]
name = "shop"
kind = "oauth"
authorization_endpoint = "https://{shop}.shop.example/authorize"
token_endpoint = "https://{shop}.shop.example/token"
client_id = "usher"
client_secret = "s"
values = { shop = "acme" }
scope_text = { read = { en = "Read orders", "zh-CN" = "读取订单" } }
[[provider.input]]
name = "shop"
[provider.authorize]
[provider.callback]
[provider.token]
[provider.reply]
[provider.refresh]
[provider.refresh.reply]
[provider.errors]
[provider.revocation]
endpoint = "https://{shop}.shop.example/revoke"
[provider.account]
url = "https://{shop}.shop.example/me"
member = ["name", "id"]
[provider.lookup]
url = "https://{shop}.shop.example/sites"
fields = { site = "0.id" }
[[upstream]]
name = "weather"
url = "https://weather.example/mcp"
allow = { claim = "groups", any = ["engineering"] }
[[upstream.needs]]
provider = "weather"
header = { X-Key = "{api_key}" }
"#;

#[test]
fn each_key_that_is_read_stands_in_the_schema_and_no_other() {
    ASKED.take();
    Config::parse(WHOLE, Path::new("/srv/usher/usher.toml"), &|_| None).unwrap();
    let asked = ASKED.take();
    let mut found = BTreeMap::new();
    sections(&schema(), "", &mut found);
    let read: BTreeMap<_, BTreeSet<_>> =
        asked.into_iter().map(|(path, keys)| (path, keys.into_iter().map(str::to_owned).collect())).collect();
    assert_eq!(read, found, "left: what the readers ask for; right: the schema");
}

/// The help for a misplaced key knows the same sections.
#[test]
fn the_help_for_misplaced_keys_knows_each_section() {
    let mut found = BTreeMap::new();
    sections(&schema(), "", &mut found);
    let told: BTreeMap<_, BTreeSet<_>> = places::sections()
        .map(|(path, keys)| (path.to_owned(), keys.iter().map(|key| (*key).to_owned()).collect()))
        .collect();
    assert_eq!(told, found);
}

/// Each key says what it is, and its default is one that it allows.
#[test]
fn each_key_is_described_and_its_default_is_valid() {
    fn look(path: &str, schema: &Value) {
        let described =
            |value: &Value| value.get("description").is_some_and(|text| text.as_str().unwrap().ends_with('.'));
        assert!(described(schema) || schema.get("items").is_some_and(described), "{path}");
        if let Some(default) = schema.get("default") {
            assert!(jsonschema::is_valid(schema, default), "{path}: {default}");
        }
        let inner = schema.get("items").unwrap_or(schema);
        for (key, value) in inner.get("properties").and_then(Value::as_object).into_iter().flatten() {
            look(&format!("{path}.{key}"), value);
        }
    }
    look("", &schema());
    assert!(jsonschema::meta::is_valid(&schema()));
}

/// What an editor offers is what this version reads: `usher config schema > docs/usher.schema.json`.
#[test]
fn the_published_schema_is_this_one() {
    let published = include_str!("../../../../../docs/usher.schema.json");
    assert_eq!(published, text(), "run: usher config schema > docs/usher.schema.json");
}

#[test]
fn the_documented_configurations_are_valid() {
    for text in [include_str!("../../../../../docs/usher.example.toml"), WHOLE] {
        let value: Value = toml::from_str(text).unwrap();
        assert!(SCHEMA.is_valid(&value));
    }
}

#[test]
fn what_is_wrong_by_itself_is_refused() {
    for (right, wrong) in [
        ("[keys]", "[keys]\nfiles = \"a\""),
        ("[listen]", "[listen]\naddress = 8420"),
        ("[store]", "[store]\nurl = \"mysql://a\""),
        ("[store]", "[store]\nurl = \"sqlite:a\"\nurl_env = \"B\""),
        ("name = \"weather\"\nkind", "name = \"Weather\"\nkind"),
        ("kind = \"secret\"", "kind = \"oauth\""),
        ("kind = \"mcp\"", "kind = \"mcp\"\ntoken_endpoint = \"https://id.example/token\""),
        ("kind = \"mcp\"", "kind = \"mcp\"\nregistration = \"off\""),
        ("[provider.authorize]", "[provider.authorize]\npkce = \"plain\""),
        ("[provider.authorize]", "[provider.authorize]\nscopes = [\"a\"]"),
        ("[provider.reply]", "[provider.reply]\naccess_token = \"/authed_user/access_token\""),
        ("name = \"api_key\"", "name = \"csrf\""),
        ("url = \"https://weather.example/mcp\"", "url = \"ftp://weather.example\""),
        ("url = \"https://weather.example/mcp\"", "url = \"https://weather.example/mcp\"\nhold = 40"),
        ("url = \"https://weather.example/mcp\"", "url = \"https://weather.example/mcp\"\nreject = [500]"),
        ("url = \"https://weather.example/mcp\"", ""),
        ("provider = \"weather\"\n", "provider = \"weather\"\non = [\"tools\"]\n"),
    ] {
        let text = WHOLE.replacen(right, wrong, 1);
        let value: Value = toml::from_str(&text).unwrap();
        assert!(!SCHEMA.is_valid(&value), "{wrong}");
        assert!(Config::parse(&text, Path::new("/srv/usher/usher.toml"), &|_| None).is_err(), "{wrong}");
    }
}
