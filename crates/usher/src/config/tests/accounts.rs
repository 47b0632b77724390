//! Providers of the kinds oauth and mcp, and what a server needs of them.

use std::path::Path;

use secrecy::ExposeSecret as _;

use super::{faults, parse, with};
use crate::config::definition::{Iss, Pkce, catalogue};
use crate::config::{ClientAuthentication, Config, Faults, McpAuthorization, OAuth, ProviderKind, Registration};

const SHOP: &str = r#"
[[provider]]
name = "shop"
kind = "oauth"
client_id = "usher"
client_secret = "hunter2"
authorization_endpoint = "https://shop.example/authorize"
token_endpoint = "https://shop.example/token"
"#;

fn oauth(config: &Config, name: &str) -> OAuth {
    match &config.provider(name).unwrap().kind {
        ProviderKind::OAuth(oauth) => (**oauth).clone(),
        other => panic!("{other:?}"),
    }
}

fn mcp(lines: &str) -> McpAuthorization {
    let config = with(&format!("[[provider]]\nname = \"wiki\"\nkind = \"mcp\"\n{lines}")).unwrap();
    match &config.provider("wiki").unwrap().kind {
        ProviderKind::Mcp(mcp) => (**mcp).clone(),
        other => panic!("{other:?}"),
    }
}

/// Path, message and fix of each fault, one a line.
fn fixes(result: Result<Config, Faults>) -> Vec<(String, String, String)> {
    result.unwrap_err().0.into_iter().map(|fault| (fault.path, fault.message, fault.fix)).collect()
}

#[test]
fn two_endpoints_and_a_client_are_a_whole_definition_of_standard_oauth() {
    let config = with(SHOP).unwrap();
    let oauth = oauth(&config, "shop");
    let definition = &oauth.definition;
    assert_eq!(definition.authorization_endpoint.as_str(), "https://shop.example/authorize");
    assert_eq!(oauth.client_secret.unwrap().expose_secret(), "hunter2");
    assert_eq!(definition.client_authentication, ClientAuthentication::Basic);
    assert_eq!((definition.authorize.pkce, definition.iss), (Pkce::S256, Iss::Ignored));
    assert_eq!(definition.fields(), ["access_token"]);
    let provider = config.provider("shop").unwrap();
    assert!(provider.has_secrets() && provider.is_account() && !provider.is_typed() && !provider.is_per_call());
    assert!(provider.fields().is_empty(), "nobody types an access token");
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn mcp_authorization_needs_nothing_but_a_name() {
    let found = mcp("");
    assert!(found.client_id.is_none() && found.issuer.is_none() && found.scopes.is_empty());
    assert_eq!(found.registration, Registration::Automatic);
    let found = mcp(
        "client_id = \"usher\"\nclient_secret = \"s\"\nissuer = \"https://id.example/\"\nscopes = [\"a\"]\nregistration = \"static\"",
    );
    assert_eq!(found.issuer.unwrap().as_str(), "https://id.example/", "as it is written");
    assert_eq!((found.registration, found.scopes), (Registration::Static, vec!["a".to_owned()]));
}

/// An access token goes where RFC 6750 says, if nothing else is said; into a variable where it is told which.
#[test]
fn a_need_of_an_account_has_a_header_by_default() {
    let upstream = |target: &str, need: &str| {
        format!("{SHOP}[[upstream]]\nname = \"u\"\n{target}\n[[upstream.needs]]\nprovider = \"shop\"\n{need}")
    };
    let url = "url = \"https://u.example/mcp\"";
    let config = parse(&upstream(url, "scopes = [\"orders:read\"]")).unwrap();
    let need = &config.upstream("u").unwrap().needs[0];
    let secrets = [("access_token".to_owned(), "t".into())].into();
    let (name, template) = &need.headers[0];
    assert_eq!(
        (name.as_str(), template.header_value(&secrets).unwrap().to_str().unwrap()),
        ("authorization", "Bearer t")
    );
    assert_eq!(need.scopes, ["orders:read"]);
    let config = parse(&upstream(url, "header = { X-Token = \"{access_token}\" }")).unwrap();
    assert_eq!(config.upstream("u").unwrap().needs[0].headers[0].0, "x-token");
    let command = "command = [\"weather\"]\ntrusted = true";
    assert!(parse(&upstream(command, "env = { TOKEN = \"{access_token}\" }")).is_ok());
    let [(path, message, fix)] = &fixes(parse(&upstream(command, "")))[..] else { panic!("one fault") };
    assert_eq!((path.as_str(), message.as_str()), ("upstream[0].needs[0].env", "is missing"));
    assert_eq!(fix, "add env = { WEATHER_TOKEN = \"{access_token}\" }");
    assert_eq!(
        faults(parse(&upstream(url, "header = { X-Token = \"{api_key}\" }"))),
        "14:12 upstream[0].needs[0].header.X-Token: the provider shop has no field api_key"
    );

    let both = format!(
        "{SHOP}{}\n{}\n[[upstream.needs]]\nprovider = \"second\"\n",
        SHOP.replace("\"shop\"", "\"second\""),
        "[[upstream]]\nname = \"u\"\nurl = \"https://u.example/mcp\"\n[[upstream.needs]]\nprovider = \"shop\""
    );
    let [(path, message, _)] = &fixes(parse(&both))[..] else { panic!("one fault") };
    assert_eq!(path, "upstream[0].needs[1].header");
    assert_eq!(message, "the header authorization is set from the provider shop already");

    let secret = "[[provider]]\nname = \"k\"\nkind = \"secret\"\nfield = [{ name = \"k\" }]\n[[upstream]]\nname = \"u\"\n\
                  url = \"https://u.example/mcp\"\n[[upstream.needs]]\nprovider = \"k\"\nheader = { X-K = \"{k}\" }\n\
                  scopes = [\"a\"]";
    assert_eq!(faults(parse(secret)), "11:10 upstream[0].needs[0].scopes: the provider k has no scopes");
}

/// What people get wrong most often in a definition of their own is told with what to write.
#[test]
fn the_usual_mistakes_of_an_own_definition_are_told_how_to_mend() {
    for (wrong, path, message, fix) in [
        // 1. The kind is left out.
        (
            SHOP.replace("kind = \"oauth\"\n", ""),
            "kind",
            "is missing",
            "add kind = \"oauth\": the provider has endpoints of its own",
        ),
        // 2. Endpoints by the names that they have elsewhere.
        (
            format!("{SHOP}userinfo_url = \"https://shop.example/me\""),
            "userinfo_url",
            "unknown key",
            "it belongs in [provider.account], as url, with the member that says whose account it is",
        ),
        // 3. Scopes as one string.
        (
            format!("{SHOP}scopes = \"read write\""),
            "scopes",
            "expected an array, found a string",
            "write each scope by itself: [\"read\", \"write\"]",
        ),
        // 4. No secret, for a client that has none.
        (
            SHOP.replace("client_secret = \"hunter2\"\n", ""),
            "client_secret",
            "is missing",
            "add client_secret_file = \"…\" or client_secret_env; where your client has none, as a public one has, \
             client_authentication = \"none\"",
        ),
        // 5. A placeholder that nothing fills.
        (
            SHOP.replace("https://shop.example/token", "https://{shop}.shop.example/token"),
            "token_endpoint",
            "nothing fills {shop}",
            "add a table [[provider.input]] with name = \"shop\"",
        ),
        // 6. A parameter that the flow sets itself.
        (
            format!("{SHOP}[provider.authorize]\nparameters = {{ response_type = \"code\" }}"),
            "authorize.parameters.response_type",
            "the flow sets response_type itself",
            "remove it; what differs there has a key of its own",
        ),
        // 7. Scopes as a parameter.
        (
            format!("{SHOP}[provider.authorize]\nparameters = {{ scope = \"read\" }}"),
            "authorize.parameters.scope",
            "scopes are not written here",
            "scopes = [\"…\"] in [[provider]]",
        ),
        // 8. A JSON pointer where a member's name belongs.
        (
            format!("{SHOP}[provider.reply]\naccess_token = \"/authed_user/access_token\""),
            "reply.access_token",
            "\"/authed_user/access_token\" is no member",
            "names with dots between them, an index as a number: \"authed_user.access_token\", \"0.id\"",
        ),
        // 9. iss without an issuer.
        (
            format!("{SHOP}iss = \"required\""),
            "issuer",
            "is missing, and iss is compared with it",
            "add issuer = \"https://id.example\"",
        ),
        // 10. http.
        (
            SHOP.replace("https://shop.example/token", "http://shop.example/token"),
            "token_endpoint",
            "http would carry credentials in the open",
            "use https; http is for loopback and private addresses only",
        ),
    ] {
        let expected = (format!("provider[0].{path}"), message.to_owned(), fix.to_owned());
        assert_eq!(fixes(with(&wrong)), [expected], "{wrong}");
    }
}

/// R-SEC-05: whose word a name in a URL is decides how the URL is requested, so each name has one source.
#[test]
fn a_name_of_a_definition_is_filled_from_one_place() {
    let definition = |more: &str| {
        format!(
            "[[provider]]\nname = \"site\"\nkind = \"oauth\"\nclient_id = \"a\"\nclient_authentication = \"none\"\n\
             authorization_endpoint = \"https://id.example/{{host}}/authorize\"\ntoken_endpoint = \"https://id.example/token\"\n\
             input = [{{ name = \"host\" }}]\n{more}\n\
             [[upstream]]\nname = \"s\"\nurl = \"https://s.example/mcp\"\n[[upstream.needs]]\nprovider = \"site\"\n"
        )
    };
    let parse = |more: &str| {
        let path = Path::new("/srv/usher/usher.toml");
        Config::parse(&definition(more), path, &|_| None).map(drop).map_err(|faults| faults.to_string())
    };
    parse("reply = { fields = { site = \"site\" } }").unwrap();
    for more in [
        "reply = { fields = { host = \"host\" } }",
        "callback = { fields = { host = \"host\" } }",
        "reply = { fields = { site = \"site\" } }\ncallback = { fields = { site = \"site\" } }",
    ] {
        let faults = parse(more).unwrap_err();
        assert!(faults.contains("is filled from two places"), "{more}: {faults}");
    }
}

#[test]
fn all_faults_of_a_definition_are_told_at_once() {
    let found = faults(with(
        r##"
[[provider]]
name = "shop"
kind = "oauth"
client_id = "usher"
client_secret = "s"
client_authentication = "none"
field = [{ name = "k" }]
documentation = ["docs"]
read = "yesterday"
resource = "#a"
registration = "automatic"
authorization_endpoint = "https://{shp}.shop.example/authorize"
token_endpoint = "https://shop.example/token"
values = { shop = "a/b", other = "x" }
scope_text = { read = "" }
[[provider.input]]
name = "shop"
pattern = "["
default = "a b"
[provider.authorize]
pkce = "plain"
scope_separator = ";"
[provider.token]
request = "xml"
header = { X-Key = "{access_token}" }
[provider.reply]
expires_as = "minutes"
lifetime = "1s"
fields = { access_token = "a", Host = "b" }
[provider.refresh]
rotation = "sometimes"
grace = "2h30m"
[provider.revocation]
proof = "basic"
[provider.account]
url = "https://shop.example/{nothing}"
body = "{"
[provider.lookup]
"##,
    ));
    insta::assert_snapshot!(found, @r#"
    2:1 provider[0].account.url: nothing fills {nothing}
    2:1 provider[0].authorization_endpoint: nothing fills {shp}
    2:1 provider[0].client_secret: the provider takes no secret: client_authentication is none
    8:9 provider[0].field: field is for a provider of kind secret
    9:18 provider[0].documentation[0]: is no https URL
    10:8 provider[0].read: "yesterday" is no date
    11:12 provider[0].resource: is no absolute URI without a fragment
    12:16 provider[0].registration: there is no registration "automatic"
    15:12 provider[0].values.shop: the provider has no input shop
    15:26 provider[0].values.other: the provider has no input other
    16:16 provider[0].scope_text.read: is empty
    19:11 provider[0].input[0].pattern: is no regular expression
    22:8 provider[0].authorize.pkce: there is no pkce "plain"
    23:19 provider[0].authorize.scope_separator: there is no scope_separator ";"
    25:11 provider[0].token.request: there is no request "xml"
    26:12 provider[0].token.header.X-Key: no field is known at this point
    28:14 provider[0].reply.expires_as: there is no expires_as "minutes"
    29:12 provider[0].reply.lifetime: 1s is out of range
    30:12 provider[0].reply.fields.access_token: access_token is kept anyway
    30:32 provider[0].reply.fields.Host: "Host" is no field name
    32:12 provider[0].refresh.rotation: there is no rotation "sometimes"
    33:9 provider[0].refresh.grace: "2h30m" is no duration
    34:1 provider[0].revocation.endpoint: is missing
    35:9 provider[0].revocation.proof: there is no proof "basic"
    36:1 provider[0].account.member: is missing
    38:8 provider[0].account.body: is no JSON
    39:1 provider[0].lookup.fields: is missing
    39:1 provider[0].lookup.url: is missing
    "#);
}

/// Our client's secret goes to a host that the operator chose, or to one below a domain of the provider's.
#[test]
fn a_user_does_not_choose_where_the_secret_goes() {
    let shop = |endpoint: &str, lines: &str| {
        let text = SHOP.replace("https://shop.example/token", endpoint);
        with(&format!("{text}\n[[provider.input]]\nname = \"shop\"\n{lines}"))
    };
    assert!(shop("https://{shop}.myshop.example/token", "").is_ok());
    let found = fixes(shop("https://{shop}/token", ""));
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains("the client's secret goes there"), "{found:?}");
    assert!(found[0].2.contains("chosen_by = \"operator\""), "{found:?}");
    // The operator's own choice is to be made.
    let operator = "chosen_by = \"operator\"\nexample = \"gitlab.example\"";
    let found = fixes(shop("https://{shop}/token", operator));
    assert_eq!(
        found[0],
        (
            "provider[0].values".to_owned(),
            "the provider wants to know its shop".to_owned(),
            "add values = { shop = \"gitlab.example\" }: shop".to_owned()
        )
    );
    let config = shop("https://{shop}/token", &format!("{operator}\ndefault = \"gitlab.example\"")).unwrap();
    assert_eq!(oauth(&config, "shop").values["shop"], "gitlab.example");
    assert_eq!(oauth(&config, "shop").inputs().count(), 0);
    // A client without a secret has nothing to lose there.
    let public = SHOP.replace("client_secret = \"hunter2\"", "client_authentication = \"none\"");
    let public = public.replace("https://shop.example/token", "https://{shop}/token");
    assert!(with(&format!("{public}\n[[provider.input]]\nname = \"shop\"")).is_ok());
}

/// Kind 19: a client comes to be known in one of three ways.
#[test]
fn kind_19_a_client_registers_itself_where_the_definition_says_so() {
    let own = |lines: &str| {
        let text = SHOP.replace("client_id = \"usher\"\nclient_secret = \"hunter2\"\n", "");
        with(&format!("{text}{lines}"))
    };
    assert_eq!(faults(own("")), "2:1 provider[0].client_id: is missing\n2:1 provider[0].client_secret: is missing");
    let endpoint = "registration_endpoint = \"https://shop.example/register\"";
    let config = own(&format!("registration = \"dynamic\"\n{endpoint}")).unwrap();
    let found = oauth(&config, "shop");
    assert_eq!((found.definition.registration, found.client_id), (Registration::Dynamic, None));
    assert_eq!(faults(own("registration = \"dynamic\"")), "2:1 provider[0].registration_endpoint: is missing");
    let config = own("registration = \"metadata_document\"").unwrap();
    assert_eq!(oauth(&config, "shop").definition.registration, Registration::MetadataDocument);
}

/// Kind 24: a service without OAuth is a page with fields, whose request says whether they are right.
#[test]
fn kind_24_a_service_without_oauth_is_a_page_with_fields() {
    let config = with(
        r#"
[[provider]]
name = "tracker"
kind = "secret"
field = [{ name = "account" }, { name = "user" }, { name = "password" }]
[provider.check]
get = "https://tracker.example/me"
header = { Authorization = "Basic {basic(user, password)}", X-Account = "{account}" }
"#,
    )
    .unwrap();
    let provider = config.provider("tracker").unwrap();
    let secrets = [("user", "a"), ("password", "b"), ("account", "7")];
    let secrets = secrets.map(|(name, value)| (name.to_owned(), value.into())).into();
    let values: Vec<_> =
        provider.check().unwrap().headers.iter().map(|(_, made)| made.header_value(&secrets).unwrap()).collect();
    assert_eq!(values, ["Basic YTpi", "7"]);
    let wrong = "[[provider]]\nname = \"p\"\nkind = \"secret\"\nfield = [{ name = \"user\" }]\n[provider.check]\n\
                 get = \"https://p.example/me\"\nheader = { Authorization = \"Basic {basic(user, pass)}\" }";
    assert_eq!(faults(with(wrong)), "7:12 provider[0].check.header.Authorization: the provider p has no field pass");
}

/// R-OAUTH-05: a client that registers itself is an issuer's, so that no user chooses where without choosing the issuer.
#[test]
fn a_registration_belongs_to_an_issuer_that_users_choose_too() {
    let shop = |issuer: &str, register: &str, token: &str, input: &str| {
        with(&format!(
            "[[provider]]\nname = \"shop\"\nkind = \"oauth\"\nregistration = \"dynamic\"\n{issuer}\nregistration_endpoint = \"{register}\"\n\
             authorization_endpoint = \"https://shop.example/a\"\ntoken_endpoint = \"{token}\"\n\
             [[provider.input]]\nname = \"host\"\n{input}"
        ))
    };
    let (fixed, chosen) = ("issuer = \"https://shop.example\"", "issuer = \"https://{host}\"");
    let (token, evil) = ("https://shop.example/token", "https://{host}/x");
    for (issuer, register, token, key) in [
        (fixed, evil, token, "registration_endpoint"),
        (fixed, "https://shop.example/r", evil, "token_endpoint"),
        (fixed, "https://shop.example/r", "https://shop.example/{host}/token", "token_endpoint"),
        ("", evil, evil, "registration_endpoint"),
    ] {
        let found = fixes(shop(issuer, register, token, ""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, format!("provider[0].{key}"));
        assert!(found[0].1.contains("which a user writes") && found[0].2.contains("{host} into issuer"), "{found:?}");
    }
    assert!(shop(chosen, evil, evil, "").is_ok());
    let operator = "chosen_by = \"operator\"\ndefault = \"shop.example\"";
    assert!(shop(fixed, evil, evil, operator).is_ok());
}

#[test]
fn a_provider_of_kind_mcp_that_is_not_right_is_told_where() {
    let provider = |lines: &str| faults(with(&format!("[[provider]]\nname = \"p\"\nkind = \"mcp\"\n{lines}")));
    for (lines, expected) in [
        ("client_secret = \"s\"", "1:1 provider[0].client_id: is missing, and a client_secret is given"),
        ("registration = \"static\"", "1:1 provider[0].client_id: is missing"),
        ("registration = \"off\"", "4:16 provider[0].registration: there is no registration \"off\""),
        (
            "issuer = \"https://id.example?x\"",
            "4:10 provider[0].issuer: contains a query, which no issuer identifier has",
        ),
        ("field = [{ name = \"k\" }]", "4:9 provider[0].field: field is for a provider of kind secret"),
        ("catalogue = \"github\"", "4:13 provider[0].catalogue: catalogue is for a provider of kind oauth"),
        (
            "token_endpoint = \"https://id.example/t\"",
            "4:18 provider[0].token_endpoint: token_endpoint is for a provider of kind oauth with endpoints of its own",
        ),
    ] {
        assert_eq!(provider(lines), expected, "{lines}");
    }
}

#[test]
fn what_is_not_in_the_catalogue_is_told() {
    let found = fixes(with("[[provider]]\nname = \"p\"\ncatalogue = \"no-such-service\"\nclient_id = \"x\""));
    assert_eq!(found[0].1, "there is no \"no-such-service\" in the catalogue");
    let found = fixes(with("[[provider]]\nname = \"no-such-service\"\nclient_id = \"x\""));
    assert_eq!((found.len(), found[0].1.as_str()), (1, "is missing"), "{found:?}");
    let both = format!("{SHOP}catalogue = \"github\"\n");
    assert!(fixes(with(&both)).iter().any(|(_, message, _)| message.contains("endpoints of its own")));
}

/// A file of the catalogue says what it is of, and where that was read and when.
#[test]
fn a_file_of_the_catalogue_names_what_it_was_read_from() {
    let read = |text: &str| catalogue::parse(text, Path::new("providers/shop.toml"));
    let endpoints =
        "authorization_endpoint = \"https://shop.example/a\"\ntoken_endpoint = \"https://shop.example/t\"\n";
    let faults = read(endpoints).unwrap_err();
    let missing: Vec<&str> = faults.0.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(missing, ["provider.documentation", "provider.read", "provider.title"]);
    assert!(faults.to_string().contains("providers/shop.toml:1:1"));
    let head = "title = \"Shop\"\ndocumentation = [\"https://docs.shop.example/oauth\"]\nread = \"2026-11-30\"\n";
    let definition = read(&format!("{head}{endpoints}")).unwrap();
    assert_eq!(definition.title.unwrap().get("en"), "Shop");
    let faults = read(&format!("{head}{endpoints}client_id = \"x\"\nkind = \"oauth\"")).unwrap_err();
    assert_eq!(faults.0.len(), 2, "what is the operator's to say stands in no catalogue: {faults}");
}

/// Each file of the catalogue can be read.
#[test]
fn the_whole_catalogue_is_right() {
    for name in catalogue::names() {
        if let Err(faults) = catalogue::find(name).unwrap() {
            panic!("{faults}");
        }
    }
}
