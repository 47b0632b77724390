//! Providers and upstreams.

use std::path::Path;
use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::{faults, parse, with};
use crate::config::{AccessTokens, Config, Faults, Identity, Transport};

#[test]
fn a_provider_that_is_not_right_is_told_where() {
    let provider = |lines: &str| faults(with(&format!("[[provider]]\nname = \"p\"\n{lines}")));
    assert_eq!(provider(""), "1:1 provider[0].field: is missing\n1:1 provider[0].kind: is missing");
    assert_eq!(
        provider("kind = \"api\"\nfield = [{ name = \"K\" }]\nkey = 1"),
        "3:8 provider[0].kind: there is no kind \"api\"\n\
         4:19 provider[0].field[0].name: \"K\" is no field name\n5:1 provider[0].key: unknown key"
    );
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
fn a_provider_without_a_credential_that_is_not_right_is_told_where() {
    let provider = |lines: &str| faults(with(&format!("[[provider]]\nname = \"p\"\n{lines}")));
    assert_eq!(
        provider("kind = \"approval\"\nfield = [{ name = \"k\" }]\nper = \"call\"\ncheck = 1\nkey = 1"),
        "4:9 provider[0].field: field is for a provider of kind secret\n\
         5:7 provider[0].per: per is for a provider of kind external\n\
         6:9 provider[0].check: check is for a provider of kind secret\n7:1 provider[0].key: unknown key"
    );
    assert_eq!(provider("kind = \"external\""), "1:1 provider[0].about: is missing\n1:1 provider[0].url: is missing");
    let url = |url: &str| provider(&format!("kind = \"external\"\nabout = \"a\"\nurl = \"{url}\""));
    for (text, expected) in [
        ("https://pay.example/", "lacks {reference}, by which the other side knows the visit"),
        ("https://pay.example/{reference}/{user}", "there is no placeholder {user} here"),
        ("https://pay.example/{reference", "a brace is not closed"),
        ("https://{reference}.pay.example/", "a placeholder stands in the host"),
        ("https://pay.example{reference}/", "a placeholder stands in the host"),
        ("http://pay.example/{reference}", "is no https URL"),
        ("https://me@pay.example/{reference}", "is no https URL"),
        ("{reference}", "is no https URL"),
        ("javascript:{reference}", "is no https URL"),
    ] {
        assert_eq!(url(text), format!("5:7 provider[0].url: {expected}"), "{text}");
    }
    assert!(
        with(
            "[[provider]]\nname = \"p\"\nkind = \"external\"\nabout = \"a\"\nurl = \"http://127.0.0.1:1/{reference}\""
        )
        .is_ok()
    );
    let confirm = |lines: &str| {
        let url = "url = \"https://pay.example/{reference}\"";
        provider(&format!("kind = \"external\"\nabout = \"a\"\n{url}\n[provider.confirm]\n{lines}"))
    };
    let right = "get = \"https://pay.example/{reference}\"\nfield = \"status\"\nequals = \"paid\"\n";
    for (lines, expected) in [
        ("header = { A = \"{secret}\" }", "6:1 provider[0].confirm: a header uses {secret}, which is not given"),
        ("secret = \"s\"", "6:1 provider[0].confirm: no header uses the secret"),
        (
            "secret = \"é\"\nheader = { A = \"{secret}\" }",
            "6:1 provider[0].confirm: the secret cannot stand in a header",
        ),
        ("header = { A = \"{key}\" }", "10:12 provider[0].confirm.header.A: there is no field key here"),
        ("token = 1", "10:1 provider[0].confirm.token: unknown key"),
    ] {
        assert_eq!(confirm(&format!("{right}{lines}")), expected, "{lines}");
    }
    assert_eq!(
        confirm("get = \"https://pay.example/\""),
        "6:1 provider[0].confirm.equals: is missing\n6:1 provider[0].confirm.field: is missing\n\
         7:7 provider[0].confirm.get: lacks {reference}, by which the other side knows the visit"
    );
}

/// A need of what has no credential carries none, and is right without.
#[test]
fn a_need_without_a_credential_has_no_header() {
    let need = |keys: &str| {
        let head = "[[provider]]\nname = \"confirm\"\nkind = \"approval\"\n[[upstream]]\nname = \"u\"\nurl = \"https://u.example\"\n";
        parse(&format!("{head}needs = [{{ provider = \"confirm\"{keys} }}]"))
    };
    let config = need(", on = [\"tools/delete_*\"]").unwrap();
    assert!(config.provider("confirm").unwrap().is_per_call() && config.upstreams[0].needs[0].headers.is_empty());
    let has_none = "the provider confirm has no credential to send";
    assert_eq!(faults(need(", header = { A = \"b\" }")), format!("7:43 upstream[0].needs[0].header: {has_none}"));
    assert_eq!(faults(need(", env = { A = \"b\" }")), format!("7:40 upstream[0].needs[0].env: {has_none}"));
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
            "5:67 upstream[0].needs[1].provider: the provider p is needed twice",
        ),
        (
            "header = { A = \"{k}\" } }, { provider = \"q\", header = { A = \"{k}\" }",
            "5:83 upstream[0].needs[1].header.A: the header a is set from the provider p already",
        ),
        (
            "header = { A = \"{k}\" }, env = { A = \"{k}\" }",
            "5:58 upstream[0].needs[0].env: env is for upstreams that are commands",
        ),
    ] {
        assert_eq!(need(keys), expected, "{keys}");
    }
}

#[test]
fn a_command_that_is_not_right_is_told_where() {
    let provider = "{ name = \"p\", kind = \"secret\", field = [{ name = \"k\" }] }";
    let upstream =
        |lines: &str| faults(parse(&format!("provider = [{provider}]\n[[upstream]]\nname = \"u\"\n{lines}")));
    for (lines, expected) in [
        (
            "url = \"https://u.example\"\ncommand = [\"a\"]",
            "5:11 upstream[0].command: a server is reached by url or by command",
        ),
        (
            "url = \"https://u.example\"\nidle = \"1m\"",
            "5:8 upstream[0].idle: idle is for an upstream that is a command",
        ),
        ("command = [\" \"]", "4:11 upstream[0].command: the program's name is empty"),
        ("command = \"npx\"", "4:11 upstream[0].command: expected an array, found a string"),
        ("command = [\"a\"]\nwrapper = []", "5:11 upstream[0].wrapper: names no program"),
        ("command = [\"a\"]\nidle = \"25h\"", "5:8 upstream[0].idle: 25h is out of range"),
        ("command = [\"a\"]\ndirectory = \"\"", "5:13 upstream[0].directory: names no folder"),
        ("command = [\"a\"]\npass = [\"A B\"]", "5:9 upstream[0].pass[0]: \"A B\" is no name of a variable"),
        ("command = [\"a\"]\nreject = [401]", "5:10 upstream[0].reject: a command answers with no HTTP status"),
        (
            "command = [\"a\"]\nneeds = [{ provider = \"p\", header = { A = \"{k}\" } }]",
            "5:10 upstream[0].needs[0].env: is missing\n\
             5:37 upstream[0].needs[0].header: header is for upstreams that have a url",
        ),
        (
            "command = [\"a\"]\nneeds = [{ provider = \"p\", env = { LD_PRELOAD = \"{k}\" } }]",
            "5:36 upstream[0].needs[0].env.LD_PRELOAD: the variable LD_PRELOAD cannot carry a credential: programs load or run \
             what it names",
        ),
        (
            "command = [\"a\"]\nneeds = [{ provider = \"p\", env = { A = \"b\" } }]",
            "5:34 upstream[0].needs[0].env: no variable carries a field of the provider: users would connect for nothing",
        ),
        ("command = [\"a\"]\n[processes]\nper_user = 0", "6:12 processes.per_user: 0 is out of range"),
    ] {
        assert_eq!(upstream(lines), expected, "{lines}");
    }
}

#[test]
fn a_command_is_read_with_all_that_belongs_to_it() {
    let text = "[[upstream]]\nname = \"u\"\ncommand = [\"npx\", \"it's\"]\nwrapper = [\"box\", \"--\"]\n\
                env = { A = \"1\", HOME = \"/own\" }\npass = [\"HOME\", \"LANG\", \"NONE\"]\ndirectory = \"sub\"\nidle = \"1h\"";
    let env = |name: &str| ["HOME", "LANG"].contains(&name).then(|| format!("of the service: {name}"));
    let config = Config::parse(text, Path::new("/etc/usher/usher.toml"), &env).unwrap();
    let Transport::Process(command) = &config.upstreams[0].transport else { panic!("a command") };
    let variables: Vec<_> = command.env.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    assert_eq!(variables, [("LANG", "of the service: LANG"), ("A", "1"), ("HOME", "/own")]);
    assert_eq!(command.line(), "box -- npx 'it'\\''s'");
    assert_eq!((command.directory.as_path(), command.idle.as_secs()), (Path::new("/etc/usher/sub"), 3600));
    assert_eq!(config.upstreams[0].destination().target, command.line());
}

/// R-ID-01: what the issuer says a person is stays with that person.
#[test]
fn mode_oidc_needs_an_issuer_and_a_client_and_a_claim_that_lasts() {
    let oidc = |lines: &str| {
        let head = "public_url = \"https://usher.example\"\n[identity]\nmode = \"oidc\"\n";
        with(&format!("{head}{lines}"))
    };
    let whole = "issuer = \"https://id.example/\"\nclient_id = \"usher\"\n";
    let config = oidc(whole).unwrap();
    let Identity::Oidc(read) = &config.identity else { panic!("another mode") };
    assert_eq!((read.issuer.as_str(), read.issuer.url().as_str()), ("https://id.example/", "https://id.example/"));
    assert_eq!((read.client_id.as_str(), read.user_claim.as_str()), ("usher", "sub"));
    assert!(read.client_secret.is_none() && read.audience.is_none() && read.scopes.is_empty());
    assert_eq!(config.control_file, Path::new("/etc/usher/usher.control"));
    assert_eq!(config.listen.to_string(), "127.0.0.1:8420");

    let more =
        "client_secret = \"s\"\nuser_claim = \"oid\"\naudience = \"api://usher\"\nscopes = [\"mcp\", \"mcp:x\"]\n";
    let Identity::Oidc(read) = oidc(&format!("{whole}{more}")).unwrap().identity else { panic!("another mode") };
    assert_eq!((read.user_claim.as_str(), read.audience.as_deref()), ("oid", Some("api://usher")));
    assert_eq!(read.scopes, ["mcp", "mcp:x"]);
    assert_eq!(read.scopes_supported, read.scopes, "what clients are told, unless it is said");
    let more = "scopes = [\"mcp\"]\nscopes_supported = [\"api://usher/mcp\"]\n";
    let Identity::Oidc(read) = oidc(&format!("{whole}{more}")).unwrap().identity else { panic!("another mode") };
    assert_eq!((read.scopes, read.scopes_supported), (vec!["mcp".to_owned()], vec!["api://usher/mcp".to_owned()]));
    let hours = |duration: Duration| duration.as_secs() / 3600;
    assert_eq!((hours(read.session_idle), hours(read.session_lifetime), read.sign_in_scopes.len()), (8, 24, 0));
    let more = "sign_in_scopes = [\"profile\"]\nsession_idle = \"2h\"\nsession_lifetime = \"720h\"\n";
    let Identity::Oidc(read) = oidc(&format!("{whole}{more}")).unwrap().identity else { panic!("another mode") };
    assert_eq!((hours(read.session_idle), hours(read.session_lifetime)), (2, 720));
    assert_eq!(read.sign_in_scopes, ["profile"]);

    for (lines, expected) in [
        ("", "2:1 identity.client_id: is missing\n2:1 identity.issuer: is missing"),
        (&*format!("{whole}user_claim = \"email\""), "6:14 identity.user_claim: email can change"),
        (&*format!("{whole}scopes = [\"a b\"]"), "6:11 identity.scopes[0]: \"a b\" is no scope"),
        (&*format!("{whole}sign_in_scopes = [\"a b\"]"), "6:19 identity.sign_in_scopes[0]: \"a b\" is no scope"),
        (&*format!("{whole}session_idle = \"0s\""), "6:16 identity.session_idle: 0s is out of range"),
        (&*format!("{whole}session_lifetime = \"2161h\""), "6:20 identity.session_lifetime: 2161h is out of range"),
        (&*format!("{whole}tokens_file = \"t\""), "6:15 identity.tokens_file: tokens_file is for mode = \"local\""),
        ("issuer = \"http://id.example\"\nclient_id = \"u\"", "4:10 identity.issuer: http would carry"),
        ("issuer = \"https://id.example?x\"\nclient_id = \"u\"", "4:10 identity.issuer: contains a query"),
    ] {
        let found = faults(oidc(lines));
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(
        faults(with("[identity]\nissuer = \"https://id.example\"")),
        "2:10 identity.issuer: issuer is for mode = \"oidc\""
    );
}

#[test]
fn access_tokens_are_verified_by_keys_or_by_asking_the_issuer() {
    let tokens = |lines: &str| -> Result<String, Faults> {
        let head = "public_url = \"https://usher.example\"\n[identity]\nmode = \"oidc\"\n\
                    issuer = \"https://id.example\"\nclient_id = \"usher\"\n";
        let config = with(&format!("{head}{lines}"))?;
        let Identity::Oidc(oidc) = config.identity else { panic!("another mode") };
        Ok(match oidc.tokens {
            AccessTokens::Jwt => "jwt".to_owned(),
            AccessTokens::Introspection(asked) => {
                let endpoint = asked.endpoint.map(|url| url.to_string());
                format!("{endpoint:?} {} {}", asked.client_id, asked.client_secret.expose_secret())
            }
        })
    };
    for (lines, expected) in [
        ("", "jwt"),
        ("tokens = \"jwt\"", "jwt"),
        ("tokens = \"introspection\"\nclient_secret = \"s\"", "None usher s"),
        ("client_secret = \"s\"\n[identity.introspection]", "None usher s"),
        ("[identity.introspection]\nclient_secret = \"t\"", "None usher t"),
        (
            "client_secret = \"s\"\n[identity.introspection]\nurl = \"https://id.example/ask\"\nclient_id = \"rs\"\n\
             client_secret = \"t\"",
            "Some(\"https://id.example/ask\") rs t",
        ),
    ] {
        assert_eq!(tokens(lines).unwrap(), expected, "{lines}");
    }
    for (lines, expected) in [
        ("tokens = \"opaque\"", "6:10 identity.tokens: there is no way \"opaque\""),
        ("tokens = \"introspection\"", "6:10 identity.tokens: the issuer tells about tokens only to a client"),
        ("tokens = \"jwt\"\n[identity.introspection]", "6:10 identity.tokens: the issuer is asked about tokens or"),
        (
            "client_secret = \"s\"\n[identity.introspection]\nclient_id = \"rs\"",
            "7:1 identity.introspection: the issuer tells about tokens only to a client",
        ),
        ("[identity.introspection]\nsecret = \"s\"", "6:1 identity.introspection: the issuer tells"),
    ] {
        let found = tokens(lines).unwrap_err().0;
        let found = format!("{}:{} {}: {}", found[0].line, found[0].column, found[0].path, found[0].message);
        assert!(found.starts_with(expected), "{found}");
    }
    let local = faults(with("[identity]\ntokens = \"jwt\""));
    assert_eq!(local, "2:10 identity.tokens: tokens is for mode = \"oidc\"");
}

/// A program with our rights could read the keys of everybody.
#[test]
fn in_mode_oidc_a_command_stands_in_a_wrapper_or_is_trusted() {
    let upstream = |lines: &str| {
        let head = "public_url = \"https://usher.example\"\n[identity]\nmode = \"oidc\"\n\
                    issuer = \"https://id.example\"\nclient_id = \"usher\"\n[[upstream]]\nname = \"u\"\n";
        parse(&format!("{head}{lines}"))
    };
    for lines in
        ["command = [\"a\"]\nwrapper = [\"box\"]", "command = [\"a\"]\ntrusted = true", "url = \"https://a.example\""]
    {
        assert!(upstream(lines).is_ok(), "{lines}");
    }
    for lines in ["command = [\"a\"]", "command = [\"a\"]\ntrusted = false"] {
        let found = faults(upstream(lines));
        assert!(found.starts_with("8:11 upstream[0].command: without a wrapper"), "{found}");
    }
}

#[test]
fn whom_a_server_is_for_is_a_claim_and_its_values() {
    let upstream = |mode: &str, allow: &str| {
        let identity = format!(
            "public_url = \"http://127.0.0.1:9000\"\n[identity]\n{mode}[[upstream]]\nname = \"u\"\n\
             url = \"https://u.example\"\nallow = {allow}"
        );
        parse(&identity)
    };
    let oidc = "mode = \"oidc\"\nissuer = \"https://id.example\"\nclient_id = \"usher\"\n";
    let config = upstream(oidc, "{ claim = \"groups\", any = [\"a\", \"b\"] }").unwrap();
    let allow = config.upstreams[0].allow.clone().unwrap();
    assert_eq!((allow.claim.as_str(), &allow.any[..]), ("groups", &["a".to_owned(), "b".to_owned()][..]));
    for (mode, allow, expected) in [
        ("", "{ claim = \"groups\", any = [\"a\"] }", "6:9 upstream[0].allow: allow is for mode"),
        (oidc, "{ claim = \"groups\" }", "9:9 upstream[0].allow.any: is missing"),
        (oidc, "{ claim = \"groups\", any = [] }", "9:35 upstream[0].allow.any: an empty list lets nobody in"),
        (oidc, "{ claim = \"\", any = [\"a\"] }", "9:19 upstream[0].allow.claim: has to be 1 to 255"),
        (oidc, "{ claim = \"g\", any = [\"a\"], all = [] }", "9:37 upstream[0].allow.all: unknown key"),
        (oidc, "[\"a\"]", "9:9 upstream[0].allow: expected a table"),
    ] {
        let found = faults(upstream(mode, allow));
        assert!(found.starts_with(expected), "{found}");
    }
}

/// R-URL-02
#[test]
fn mode_oidc_is_reached_over_https_or_on_loopback() {
    let oidc = |lines: &str| {
        with(&format!("{lines}\n[identity]\nmode = \"oidc\"\nissuer = \"https://id.example\"\nclient_id = \"u\""))
    };
    let listens = |lines: &str| oidc(lines).unwrap().listen.to_string();
    assert_eq!(listens("public_url = \"https://usher.example\""), "127.0.0.1:8420");
    assert_eq!(listens("public_url = \"https://usher.example\"\n[listen]\naddress = \"0.0.0.0:9000\""), "0.0.0.0:9000");
    assert_eq!(listens("public_url = \"http://127.0.0.1:9000\""), "127.0.0.1:9000");
    for (lines, expected) in [
        ("", "1:1 public_url: is missing"),
        ("public_url = \"http://usher.example\"", "1:14 public_url: http would carry cookies"),
        ("public_url = \"http://localhost:9000\"", "1:14 public_url: localhost is two addresses"),
    ] {
        assert_eq!(&faults(oidc(lines))[..expected.len()], expected);
    }
}

/// R-SEC-05
#[test]
fn what_egress_allows_is_an_address_a_range_or_a_name() {
    let allowed = with("[egress]\nallow = [\"10.1.0.0/16\", \"::1\", \"ID.internal\"]").unwrap().egress;
    assert_eq!((allowed.networks.len(), &allowed.hosts[..]), (2, &["id.internal".to_owned()][..]));
    for wrong in ["10.1.0.1/16", "10.1", "https://a.example", "a..b", "*.example", ""] {
        let found = faults(with(&format!("[egress]\nallow = [\"{wrong}\"]")));
        assert!(found.starts_with("2:10 egress.allow[0]: "), "{found}");
    }
}
