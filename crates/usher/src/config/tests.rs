//! The whole file: defaults, and every fault at once.

mod accounts;
mod addresses;
mod files;
mod limits;
mod mcp;
mod sections;

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::*;

fn parse(text: &str) -> Result<Config, Faults> {
    Config::parse(text, Path::new("/etc/usher/usher.toml"), &|_| None)
}

/// A whole file with this upstream and these lines before it.
fn with(lines: &str) -> Result<Config, Faults> {
    let upstream = "[[upstream]]\nname = \"weather\"\nurl = \"https://weather-mcp.example/mcp\"\n";
    parse(&format!("{lines}\n{upstream}"))
}

/// The path and message of each fault, one a line.
fn faults(result: Result<Config, Faults>) -> String {
    let faults = result.unwrap_err().0;
    let line = |fault: &Fault| format!("{}:{} {}: {}", fault.line, fault.column, fault.path, fault.message);
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_upstream_alone_is_a_whole_file() {
    let config = with("").unwrap();
    assert_eq!(config.public_url.origin(), "http://127.0.0.1:8420");
    assert_eq!(config.listen.to_string(), "127.0.0.1:8420");
    assert_eq!(config.store.expose_secret(), "sqlite:/etc/usher/usher.db");
    assert_eq!(config.keys_file, Path::new("/etc/usher/usher.keys"));
    assert!(
        matches!(&config.identity, Identity::Local { tokens_file } if tokens_file == Path::new("/etc/usher/usher.tokens"))
    );
    assert_eq!(config.control_file, Path::new("/etc/usher/usher.control"));
    assert_eq!(config.directory, Path::new("/etc/usher"));
    assert!(config.providers.is_empty());

    let upstream = config.upstream("weather").unwrap();
    assert_eq!(upstream.title.get("en"), "weather");
    assert!(matches!(&upstream.transport, Transport::Http(url) if url.as_str() == "https://weather-mcp.example/mcp"));
    assert_eq!(upstream.hold, Duration::from_secs(40));
    assert_eq!(upstream.timeout, Duration::from_mins(1));
    assert_eq!(upstream.fallback, Fallback::Error);
    assert_eq!(upstream.reject, [401]);
    assert!(upstream.needs.is_empty());
    assert!(config.upstream("other").is_none());
    assert!(config.provider("weather").is_none());
}

#[test]
fn a_provider_and_a_need_have_defaults() {
    let config = with(
        r#"
        [[provider]]
        name = "weather"
        kind = "secret"
        field = [{ name = "api_key" }]
        "#,
    )
    .unwrap();
    let provider = config.provider("weather").unwrap();
    assert_eq!(provider.title.get("en"), "weather");
    assert_eq!(provider.about, None);
    assert!(provider.check().is_none());
    let [field] = provider.fields() else { panic!("one field") };
    assert_eq!(field.label.get("en"), "api_key");
    assert_eq!((field.masked, field.required), (true, true));
    assert_eq!((&field.description, &field.help_url), (&None, &None));

    let config = parse(
        r#"
        provider = [{ name = "p", kind = "secret", field = [{ name = "k" }] }]
        [[upstream]]
        name = "u"
        url = "https://u.example"
        needs = [{ provider = "p", header = { X-K = "{k}" } }]
        "#,
    )
    .unwrap();
    let upstream = config.upstream("u").unwrap();
    let need = &upstream.needs[0];
    for (method, name) in [("tools/call", "x"), ("prompts/get", "x"), ("resources/read", "x:y")] {
        assert!(need.asks(method, name), "{method}");
    }
    assert!(!need.asks("tools/list", ""));
    assert_eq!(upstream.destination().upstream, "u");
    assert_eq!(upstream.destination().target, "https://u.example");
}

/// The file in the documentation is right and says what the documentation says.
#[test]
fn the_example_file_is_right() {
    let text = include_str!("../../../../docs/usher.example.toml");
    let config = parse(text).unwrap();
    let provider = config.provider("weather").unwrap();
    assert_eq!(provider.title.get("zh-CN"), "示例天气");
    assert_eq!(provider.check().unwrap().headers[0].0, "authorization");
    let weather = config.upstream("weather").unwrap();
    assert_eq!(weather.reject, [401, 403]);
    let need = &weather.needs[0];
    assert!(need.asks("tools/call", "get_forecast") && !need.asks("tools/call", "list_cities"));
    let secrets = [("api_key".to_owned(), SecretString::from("k"))].into();
    assert_eq!(need.headers[0].1.header_value(&secrets).unwrap(), "k");
    assert_eq!(config.upstreams.len(), 2);
}

/// What the example file shows as defaults are the defaults.
#[test]
fn the_example_file_shows_the_defaults() {
    let text = include_str!("../../../../docs/usher.example.toml");
    let shown = text.split("\n\n").nth(1).unwrap();
    let lines: Vec<&str> = shown.lines().skip(1).map(|line| line.strip_prefix("# ").unwrap()).collect();
    assert_eq!(format!("{:?}", with(&lines.join("\n")).unwrap()), format!("{:?}", with("").unwrap()));
    let config = with(&lines.join("\n")).unwrap();
    assert_eq!(config.store.expose_secret(), with("").unwrap().store.expose_secret());
}

/// A line in which a secret stands where its file or its variable stood.
fn with_secret(line: &str) -> String {
    let stands_elsewhere = ["client_secret_file = ", "client_secret_env = "].iter().any(|key| line.starts_with(key));
    if stands_elsewhere { "client_secret = \"s\"".to_owned() } else { line.to_owned() }
}

/// The guide to definitions names each key that there is.
#[test]
fn every_key_of_a_definition_stands_in_the_guide() {
    let guide = include_str!("../../../../docs/providers.md");
    let schema: serde_json::Value = serde_json::from_str(&schema::text()).unwrap();
    let provider = &schema["properties"]["provider"]["items"]["properties"];
    let mut count = 0;
    for key in definition::KEYS {
        let shape = &provider[key];
        let inner = if shape["type"] == "array" { &shape["items"]["properties"] } else { &shape["properties"] };
        let more = inner.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for name in more.chain([key]) {
            let named = [format!("`{name}`"), format!("`[provider.{name}]`"), format!("`[[provider.{name}]]`")];
            assert!(named.iter().any(|named| guide.contains(named)), "{key}: {name}");
            count += 1;
        }
    }
    assert!(count > 70, "{count}");
}

/// Every example of the handbook is right; those that show a section alone get an upstream.
#[test]
fn the_examples_of_the_handbook_are_right() {
    // There is no file with a secret here.
    let approvals =
        include_str!("../../../../docs/approvals.md").replace("secret_file = \"pay.secret\"", "secret = \"s\"");
    let providers = include_str!("../../../../docs/providers.md");
    let providers: Vec<String> = providers.lines().map(with_secret).collect();
    let text = format!("{}\n{approvals}\n{}", include_str!("../../../../docs/configuration.md"), providers.join("\n"));
    let examples: Vec<&str> = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 10);
    for example in examples {
        let result = if example.contains("[[upstream]]") { parse(example) } else { with(example) };
        assert!(result.is_ok(), "{example}\n{}", result.unwrap_err());
    }
}

#[test]
fn all_faults_are_reported_at_once_by_line_with_their_fix() {
    let faults = parse(
        r#"public_url = "https://usher.example.com"
lisen = { address = "127.0.0.1:8420" }
[listen]
address = "0.0.0.0:8420"
[store]
url = "mysql://root:hunter2@db/usher"
[identity]
mode = "saml"
issuer = "https://id.example"

[[provider]]
name = "weather"
kind = "secret"
[[provider.field]]
name = "api_key"
labl = "API key"
[provider.check]
get = "http://api.weather.example/me"
header = { Authorization = "Bearer {api_kee}" }

[[provider]]
name = "git hub"
kind = "oauth"
client_id = "x"

[[provider]]
name = "weather"
kind = "secret"
field = [{ name = "Key", secret = "yes" }]

[[upstream]]
name = "weather"
hold = 40
fallback = "inbox"
reject = [401, 500]
[[upstream.needs]]
provider = "wether"
on = ["tool/get_*", "resources/logs"]
header = { Host = "{api_key}", "X Key" = "a", X-Key = "{api_key" }
[[upstream.needs]]
provider = "weather"

[[upstream]]
name = "local"
command = []
env = { 1A = "b" }

[[upstream]]
name = "more"
url = "https://me:pw@more.example/mcp#top"
timeout = "2 minutes"
[[upstream.needs]]
provider = "weather"
header = { Mcp-Session-Id = "{api_key}", Cookie = "{api_key}" }
"#,
    )
    .unwrap_err();
    insta::assert_snapshot!(faults.to_string(), @r#"
    /etc/usher/usher.toml:1:14: public_url: identity mode local serves one person on this machine, over http on loopback; https and public hosts need mode oidc
      fix: use "http://127.0.0.1:8420", or mode = "oidc" in [identity]
    /etc/usher/usher.toml:2:1: lisen: unknown key
      fix: did you mean listen?
    /etc/usher/usher.toml:4:11: listen.address: 0.0.0.0 is not loopback: in identity mode local nobody else may reach the service
      fix: use 127.0.0.1 or [::1], or mode = "oidc"
    /etc/usher/usher.toml:6:7: store.url: is neither a sqlite: nor a postgres:// URL
      fix: for example url = "sqlite:usher.db" or "postgres://usher@db.example.com/usher"; encode special characters of a password
    /etc/usher/usher.toml:8:8: identity.mode: there is no mode "saml"
      fix: use mode = "local" or mode = "oidc"
    /etc/usher/usher.toml:16:1: provider[0].field[0].labl: unknown key
      fix: did you mean label?
    /etc/usher/usher.toml:18:7: provider[0].check.get: http would carry credentials in the open
      fix: use https; http is for loopback and private addresses only
    /etc/usher/usher.toml:19:12: provider[0].check.header.Authorization: the provider weather has no field api_kee
      fix: did you mean {api_key}?
    /etc/usher/usher.toml:21:1: provider[1].authorization_endpoint: is missing
      fix: add authorization_endpoint = "https://id.example/authorize"
    /etc/usher/usher.toml:21:1: provider[1].token_endpoint: is missing
      fix: add token_endpoint = "https://id.example/token"
    /etc/usher/usher.toml:22:8: provider[1].name: "git hub" is no name
      fix: use 1 to 64 lower-case letters, digits and hyphens
    /etc/usher/usher.toml:27:8: provider[2].name: the name weather is used twice
      fix: give each its own name
    /etc/usher/usher.toml:29:19: provider[2].field[0].name: "Key" is no field name
      fix: start with a lower-case letter, then lower-case letters, digits and _
    /etc/usher/usher.toml:29:35: provider[2].field[0].secret: expected true or false, found a string
      fix: write true or false, without quotes
    /etc/usher/usher.toml:31:1: upstream[0].url: is missing
      fix: add url = "https://weather-mcp.example/mcp", or command = ["npx", "-y", "weather-mcp"]
    /etc/usher/usher.toml:33:8: upstream[0].hold: expected a string, found an integer
      fix: write it in quotes, for example "40s"
    /etc/usher/usher.toml:34:12: upstream[0].fallback: the inbox is not available in this version
      fix: use fallback = "error"
    /etc/usher/usher.toml:35:16: upstream[0].reject[1]: status 500 does not say that a credential is bad
      fix: use 401, 403 or both
    /etc/usher/usher.toml:37:12: upstream[0].needs[0].provider: there is no provider "wether"
      fix: did you mean weather?
    /etc/usher/usher.toml:38:7: upstream[0].needs[0].on[0]: "tool/get_*" does not start with tools/, prompts/ or resources/
      fix: for example ["tools/get_*", "resources/*"]
    /etc/usher/usher.toml:38:21: upstream[0].needs[0].on[1]: "resources/logs" is no start of a URI, which is what names a resource, and could never match
      fix: for example ["tools/get_*", "resources/*"]
    /etc/usher/usher.toml:39:12: upstream[0].needs[0].header.Host: the header host cannot be set: it names the server, and comes from the URL
      fix: send the credential in another header, Authorization or X-Api-Key for example
    /etc/usher/usher.toml:39:32: upstream[0].needs[0].header."X Key": "X Key" is no header name
      fix: use letters, digits and hyphens, for example X-Api-Key
    /etc/usher/usher.toml:39:47: upstream[0].needs[0].header.X-Key: a brace is not closed
      fix: write a field as {api_key}, and a brace itself as {{ or }}
    /etc/usher/usher.toml:40:1: upstream[0].needs[1].header: is missing
      fix: add header = { X-Api-Key = "{api_key}" }
    /etc/usher/usher.toml:45:11: upstream[1].command: names no program
      fix: for example command = ["npx", "-y", "weather-mcp"]
    /etc/usher/usher.toml:46:9: upstream[1].env.1A: "1A" is no name of a variable
      fix: use letters, digits and underscores: WEATHER_KEY
    /etc/usher/usher.toml:50:7: upstream[2].url: contains a user name or password
      fix: remove it; credentials are sent in headers
    /etc/usher/usher.toml:50:7: upstream[2].url: contains a fragment, which is never sent
      fix: remove the # and what follows
    /etc/usher/usher.toml:51:11: upstream[2].timeout: "2 minutes" is no duration
      fix: write a whole number and s, m or h: "40s", "2m", "1h"
    /etc/usher/usher.toml:54:12: upstream[2].needs[0].header.Mcp-Session-Id: the header mcp-session-id cannot be set: it belongs to the protocol, and the gateway sets it
      fix: send the credential in another header, Authorization or X-Api-Key for example
    /etc/usher/usher.toml:54:42: upstream[2].needs[0].header.Cookie: the header cookie cannot be set: cookies belong to a browser, and the server may set its own
      fix: send the credential in another header, Authorization or X-Api-Key for example
    "#);
    assert!(!faults.to_string().contains("hunter2"), "no fault shows a secret");
}

#[test]
fn a_file_without_an_upstream_is_a_fault() {
    for (text, expected) in [
        ("", "1:1 upstream: is missing"),
        ("upstream = []", "1:12 upstream: there is no upstream, and nothing to do"),
        ("[upstream]\nname = \"a\"", "1:1 upstream: expected an array of tables, found a table"),
        ("upstream = \"https://a.example\"", "1:12 upstream: expected an array, found a string"),
        ("upstream = [1]", "1:13 upstream[0]: expected a table, found an integer"),
    ] {
        assert_eq!(faults(parse(text)), expected);
    }
}

/// A key given twice is told with the other faults; other errors of syntax stand alone.
#[test]
fn errors_of_syntax_have_their_place_and_quote_nothing() {
    let text = "[store]\nurl = \"sqlite:a\"\nurl = \"postgres://me:hunter2@db/a\"\nlisten = 1\n";
    assert_eq!(faults(with(text)), "3:1 : duplicate key\n4:1 store.listen: unknown key");

    let shown = with("[store]\nurl = postgres://me:hunter2@db/a\nx =\nfoo = 1").unwrap_err();
    let lines: Vec<usize> = shown.0.iter().map(|fault| fault.line).collect();
    assert!(lines.contains(&2) && lines.contains(&3), "{shown}");
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    assert!(!shown.to_string().contains("unknown key"), "{shown}");
}

#[test]
fn columns_count_characters_after_a_byte_order_mark_too() {
    assert_eq!(faults(with("\u{feff}x = 1")), "1:1 x: unknown key");
    assert_eq!(faults(with("keys = { \"密\" = 1, y = 2 }")), "1:10 keys.\"密\": unknown key\n1:19 keys.y: unknown key");
}

proptest! {
    /// Whatever stands in a file, the answer is a configuration or at least one fault, by line.
    #[test]
    fn every_text_is_a_configuration_or_has_faults(lines in prop::collection::vec(prop::sample::select(LINES), 0..12)) {
        if let Err(Faults(faults)) = parse(&lines.join("\n")) {
            prop_assert!(!faults.is_empty());
            prop_assert!(faults.is_sorted_by_key(|fault| fault.line));
            prop_assert!(faults.iter().all(|fault| !fault.message.is_empty() && !fault.fix.is_empty()));
        }
    }
}

/// Lines that make right files and wrong ones.
const LINES: &[&str] = &[
    "[[provider]]",
    "name = \"a\"",
    "kind = \"secret\"",
    "kind = \"oauth\"",
    "[[provider.field]]",
    "[provider.check]",
    "get = \"https://a.example\"",
    "header = { A = \"{a}\" }",
    "[[upstream]]",
    "url = \"https://a.example\"",
    "url = \"sqlite:a\"",
    "command = [\"a\"]",
    "[[upstream.needs]]",
    "provider = \"a\"",
    "on = [\"tools/a\"]",
    "on = [\"a\"]",
    "[store]",
    "[listen]",
    "address = \"127.0.0.1:1\"",
    "public_url = \"http://127.0.0.1:1\"",
    "[identity]",
    "mode = \"oidc\"",
    "[keys]",
    "file = \"a\"",
    "x = [",
    "\u{feff}",
    "title = { en = \"a\" }",
    "title = {}",
    "hold = \"1s\"",
    "= =",
];
