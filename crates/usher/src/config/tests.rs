//! The whole file: defaults, and every fault at once.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::folder::Folder;
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
    assert_eq!(
        config.identity,
        Identity::Local {
            tokens_file: "/etc/usher/usher.tokens".into(),
            control_file: "/etc/usher/usher.control".into(),
        }
    );
    assert_eq!(config.directory, Path::new("/etc/usher"));
    assert!(config.providers.is_empty());

    let upstream = config.upstream("weather").unwrap();
    assert_eq!(upstream.title.get("en"), "weather");
    assert_eq!(upstream.url.as_str(), "https://weather-mcp.example/mcp");
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
mode = "oidc"
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
command = ["npx"]
env = { A = "b" }

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
    insta::assert_snapshot!(faults.to_string());
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

/// R-URL-02, R-SEC-08: both addresses are loopback and one place.
#[test]
fn public_url_and_listen_follow_each_other_or_agree() {
    let both = |lines: &str| {
        let config = with(lines).unwrap();
        (config.public_url.origin().to_owned(), config.listen.to_string())
    };
    let pair = |url: &str, listen: &str| (url.to_owned(), listen.to_owned());
    let url = |url: &str| format!("public_url = \"{url}\"\n");
    let listen = |listen: &str| format!("[listen]\naddress = \"{listen}\"\n");
    assert_eq!(both(&url("http://127.0.0.1:9000")), pair("http://127.0.0.1:9000", "127.0.0.1:9000"));
    assert_eq!(both(&url("http://localhost:9000/")), pair("http://localhost:9000", "127.0.0.1:9000"));
    assert_eq!(both(&url("http://[::1]:9000")), pair("http://[::1]:9000", "[::1]:9000"));
    assert_eq!(both(&url("http://127.0.0.1")), pair("http://127.0.0.1", "127.0.0.1:80"));
    assert_eq!(both(&listen("[::1]:9000")), pair("http://[::1]:9000", "[::1]:9000"));
    assert_eq!(both(&listen("127.0.0.1:80")), pair("http://127.0.0.1", "127.0.0.1:80"));
    let named = url("http://localhost:9000") + &listen("[::1]:9000");
    assert_eq!(both(&named), pair("http://localhost:9000", "[::1]:9000"));

    let fault = |lines: &str, expected: &str| {
        let found = faults(with(lines));
        assert!(found.contains(expected), "{lines}\n{found}");
        assert!(!found.contains('\n'), "one fault: {found}");
    };
    let agree = |a: &str, b: &str| url(a) + &listen(b);
    fault(&agree("http://127.0.0.1:9000", "127.0.0.1:9001"), "3:11 listen.address: port 9001 is not the port of");
    fault(&agree("http://127.0.0.1", "127.0.0.1:8080"), "port 8080 is not the port of public_url, 80");
    fault(&agree("http://[::1]:9000", "127.0.0.1:9000"), "127.0.0.1 is not the address of public_url, ::1");
    for wrong in
        ["https://127.0.0.1:8420", "http://usher.example:8420", "http://192.168.0.2:8420", "https://usher.example"]
    {
        fault(&url(wrong), "public_url: identity mode local serves one person");
    }
    fault(&url("http://127.0.0.1:0"), "port 0");
    fault(&url("http://127.0.0.1:8420/usher"), "has more than scheme, host and port");
    fault(&url("8420"), "is no http or https URL");
    fault(&listen("127.0.0.1:0"), "port 0");
    fault(&listen("192.168.0.2:8420"), "192.168.0.2 is not loopback");
    fault(&listen("[::]:8420"), ":: is not loopback");
    fault(&listen("localhost:8420"), "is no address and port");
    fault("public_url = 1", "expected a string, found an integer");
    fault("listen = \"127.0.0.1:8420\"", "listen: expected a table, found a string");
}

#[test]
fn files_of_ours_stand_beside_the_database_by_default() {
    let config = with("[store]\nurl = \"sqlite:state/usher.db\"\n[keys]\nfile = \"/run/keys\"").unwrap();
    assert_eq!(config.store.expose_secret(), "sqlite:/etc/usher/state/usher.db");
    assert_eq!(config.keys_file, Path::new("/run/keys"));
    let Identity::Local { tokens_file, control_file } = config.identity;
    assert_eq!(tokens_file, Path::new("/etc/usher/state/usher.tokens"));
    assert_eq!(control_file, Path::new("/etc/usher/state/usher.control"));

    let lines = "[store]\nurl = \"postgres:///usher\"\n[identity]\nmode = \"local\"\ncontrol_file = \"c\"";
    let config = with(lines).unwrap();
    let Identity::Local { tokens_file, control_file } = config.identity;
    assert_eq!(tokens_file, Path::new("/etc/usher/usher.tokens"));
    assert_eq!(control_file, Path::new("/etc/usher/c"));
}

/// The control file is overwritten at each start: it must not be a file that holds anything.
#[test]
fn no_file_serves_two_purposes() {
    for (lines, expected) in [
        ("[identity]\ncontrol_file = \"usher.keys\"", "2:16 identity.control_file: is the file of keys.file too"),
        ("[identity]\ncontrol_file = \"usher.db\"", "2:16 identity.control_file: is the file of store.url too"),
        ("[identity]\ncontrol_file = \"usher.toml\"", "2:16 identity.control_file: is this very file"),
        ("[identity]\ntokens_file = \"usher.keys\"", "2:15 identity.tokens_file: is the file of keys.file too"),
        ("[keys]\nfile = \"usher.db\"", "2:8 keys.file: is the file of store.url too"),
        ("[keys]\nfile = \"./usher.tokens\"", "2:8 keys.file: is the file of identity.tokens_file too"),
        ("[keys]\nfile = \"\"", "2:8 keys.file: names no file"),
        ("[store]\nurl = \"sqlite:/etc/usher/usher.keys\"", "2:7 store.url: is the file of keys.file too"),
    ] {
        assert_eq!(faults(with(lines)), expected, "{lines}");
    }
}

#[test]
fn a_store_is_a_file_or_a_postgresql_server() {
    let store = |url: &str| with(&format!("[store]\nurl = \"{url}\""));
    assert_eq!(store("sqlite:///var/usher.db").unwrap().store.expose_secret(), "sqlite:/var/usher.db");
    assert_eq!(store("sqlite://usher.db").unwrap().store.expose_secret(), "sqlite:/etc/usher/usher.db");
    let url = "postgres://me:hunter2@db.example/usher?sslmode=verify-full";
    let config = store(url).unwrap();
    assert_eq!(config.store.expose_secret(), url);
    assert!(!format!("{config:?}").contains("hunter2"));
    for wrong in ["sqlite::memory:", "sqlite:", "sqlite:folder/", "sqlite:a.db?mode=ro", "usher.db", "mysql://db/a", ""]
    {
        let found = faults(store(wrong));
        assert!(found.starts_with("2:7 store.url: "), "{wrong}: {found}");
    }

    let path = Path::new("/srv/100% #1?/usher.toml");
    let text = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"";
    let config = Config::parse(text, path, &|_| None).unwrap();
    assert_eq!(config.store.expose_secret(), "sqlite:/srv/100%25 %231%3F/usher.db");
}

/// R-SEC-07: a secret comes from one place, and a file with it is not for everybody.
#[test]
fn a_secret_comes_from_a_value_a_file_or_the_environment() {
    let folder = Folder::new();
    let parse = |lines: &str| {
        let text = format!("[store]\n{lines}\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"");
        let env = |name: &str| match name {
            "STORE" => Some("postgres:///from-env".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        Config::parse(&text, &folder.path("usher.toml"), &env)
    };
    private_file::create(&folder.path("url"), "postgres:///from-file\n").unwrap();
    private_file::create(&folder.path("empty"), "\n").unwrap();
    let store = |lines: &str| parse(lines).unwrap().store.expose_secret().to_owned();
    assert_eq!(store("url_file = \"url\""), "postgres:///from-file");
    assert_eq!(store("url_env = \"STORE\""), "postgres:///from-env");

    for (lines, expected) in [
        ("url_file = \"none\"", "2:12 store.url_file: "),
        ("url_file = \"empty\"", "2:12 store.url_file: "),
        ("url_env = \"NONE\"", "2:11 store.url_env: the environment variable NONE is not set"),
        ("url_env = \"EMPTY\"", "2:11 store.url_env: the environment variable EMPTY is not set"),
        ("url_env = \"STORE\"\nurl_file = \"url\"", "2:11 store.url_env: the same secret is given twice"),
        ("url = \"sqlite:a\"\nurl_file = \"url\"", "3:12 store.url_file: the same secret is given twice"),
        ("url_fil = \"url\"", "2:1 store.url_fil: unknown key"),
    ] {
        let found = faults(parse(lines));
        assert!(found.starts_with(expected), "{lines}\n{found}");
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path("url");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let fault = &parse("url_file = \"url\"").unwrap_err().0[0];
        assert!(fault.message.ends_with("can be read by others (mode 644)"), "{fault}");
        assert_eq!(fault.fix, format!("chmod 600 {}", path.display()));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_one_fault() {
    let folder = Folder::new();
    let path = folder.path("usher.toml");
    let fault = Config::load(&path, &|_| None).unwrap_err().to_string();
    assert!(fault.starts_with(&format!("{}: cannot be read: ", path.display())), "{fault}");
    assert!(fault.contains("--config"), "{fault}");
    std::fs::write(&path, b"# one\n# \xff\n").unwrap();
    let fault = Config::load(&path, &|_| None).unwrap_err().to_string();
    assert!(fault.contains("is not UTF-8 from line 2 on"), "{fault}");
    std::fs::write(&path, "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"").unwrap();
    assert_eq!(Config::load(&path, &|_| None).unwrap().directory, path.parent().unwrap());
}

#[test]
fn a_provider_that_is_not_right_is_told_where() {
    let provider = |lines: &str| faults(with(&format!("[[provider]]\nname = \"p\"\n{lines}")));
    for kind in ["oauth", "mcp", "external", "approval"] {
        let found = provider(&format!("kind = \"{kind}\"\nclient_id = \"x\""));
        assert_eq!(found, format!("3:8 provider[0].kind: kind {kind} is not available in this version"));
    }
    assert_eq!(provider(""), "1:1 provider[0].kind: is missing");
    assert_eq!(provider("kind = \"api\""), "3:8 provider[0].kind: there is no kind \"api\"");
    for (lines, expected) in [
        ("", "1:1 provider[0].field: is missing"),
        ("field = []", "4:9 provider[0].field: the page would ask for nothing"),
        ("[provider.field]\nname = \"k\"", "4:1 provider[0].field: expected an array of tables, found a table"),
        ("field = [{ name = \"k\" }, { name = \"k\" }]", "4:35 provider[0].field[1].name: the field k stands twice"),
        (
            "field = [{ name = \"k\", help_url = \"javascript:x\" }]",
            "4:35 provider[0].field[0].help_url: is no https URL",
        ),
        ("field = [{ name = \"k\", label = { en = \"\" } }]", "4:34 provider[0].field[0].label.en: is empty"),
        (
            "field = [{ name = \"k\", label = { english = \"K\" } }]",
            "4:34 provider[0].field[0].label.english: \"english\" is no language tag",
        ),
        ("title = \"a\\u0007\"\nfield = [{ name = \"k\" }]", "4:9 provider[0].title: contains a control character"),
        (
            "field = [{ name = \"k\" }]\n[provider.check]",
            "5:1 provider[0].check.get: is missing\n5:1 provider[0].check.header: is missing",
        ),
    ] {
        assert_eq!(provider(&format!("kind = \"secret\"\n{lines}")), expected, "{lines}");
    }
}

#[test]
fn an_upstream_that_is_not_right_is_told_where() {
    let upstream = |lines: &str| {
        let provider = |name: &str| format!("{{ name = \"{name}\", kind = \"secret\", field = [{{ name = \"k\" }}] }}");
        let head = format!("provider = [{}, {}]", provider("p"), provider("q"));
        faults(parse(&format!("{head}\n[[upstream]]\nname = \"u\"\nurl = \"https://u.example\"\n{lines}")))
    };
    for (lines, expected) in [
        ("hold = \"11m\"", "5:8 upstream[0].hold: 11m is out of range"),
        ("timeout = \"0s\"", "5:11 upstream[0].timeout: 0s is out of range"),
        ("reject = 401", "5:10 upstream[0].reject: expected an array, found an integer"),
        ("reject = [401, 401]", "5:16 upstream[0].reject[1]: 401 stands twice"),
        ("reject = [-401]", "5:11 upstream[0].reject[0]: expected a positive integer, found another"),
        ("fallback = \"page\"", "5:12 upstream[0].fallback: there is no fallback \"page\""),
        ("[[upstream]]\nname = \"u\"\nurl = \"https://v.example\"", "6:8 upstream[1].name: the name u is used twice"),
        ("[[upstream]]\nname = \"v\"\nurl = \"ftp://v.example\"", "7:7 upstream[1].url: is no http or https URL"),
        ("[[upstream]]\nname = \"v\"\nurl = \"/mcp\"", "7:7 upstream[1].url: is no URL: relative URL without a base"),
        (
            "[[upstream]]\nname = \"v\"\nurl = \"http://me@v.example:0/#a\"",
            "7:7 upstream[1].url: contains a user name or password\n\
             7:7 upstream[1].url: contains a fragment, which is never sent\n\
             7:7 upstream[1].url: port 0 cannot be reached\n\
             7:7 upstream[1].url: http would carry credentials in the open",
        ),
        (
            "needs = [{}]",
            "5:10 upstream[0].needs[0].header: is missing\n5:10 upstream[0].needs[0].provider: is missing",
        ),
        ("needs = [{ provider = \"p\", header = {} }]", "5:37 upstream[0].needs[0].header: names no header"),
    ] {
        assert_eq!(upstream(lines), expected, "{lines}");
    }

    let need = |keys: &str| upstream(&format!("needs = [{{ provider = \"p\", {keys} }}]"));
    for (keys, expected) in [
        (
            "header = { A = \"b\" }",
            "5:37 upstream[0].needs[0].header: no header carries a field of the provider: users would connect for nothing",
        ),
        ("on = [], header = { A = \"{k}\" }", "5:33 upstream[0].needs[0].on: an empty list matches nothing"),
        (
            "header = { A = \"{k}\", a = \"{k}\" }",
            "5:50 upstream[0].needs[0].header.a: the header a stands twice; case does not matter",
        ),
        ("header = { A = \"{k}\\r\\nB: c\" }", "5:39 upstream[0].needs[0].header.A: cannot stand in a header"),
        ("header = { A = \" {k}\" }", "5:39 upstream[0].needs[0].header.A: cannot stand in a header"),
        ("header = { A = \"{k}{l}\" }", "5:39 upstream[0].needs[0].header.A: the provider p has no field l"),
        (
            "header = { A = \"{k}\" } }, { provider = \"p\", header = { B = \"{k}\" }",
            "5:65 upstream[0].needs[1].provider: the provider p is needed twice",
        ),
        (
            "header = { A = \"{k}\" } }, { provider = \"q\", header = { A = \"{k}\" }",
            "5:81 upstream[0].needs[1].header.A: the header a is set from the provider p already",
        ),
        (
            "header = { A = \"{k}\" }, env = { A = \"{k}\" }",
            "5:59 upstream[0].needs[0].env: env is for upstreams that are commands, \
             which are not available in this version",
        ),
    ] {
        assert_eq!(need(keys), expected, "{keys}");
    }
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
