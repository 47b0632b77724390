//! The reply through the browser: kinds 17, 18 and 21.

use proptest::prelude::*;
use usher_testkit::oauth::ReplyIssuer;

use super::*;

fn query(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn read(server: &Server, pairs: &[(&str, &str)]) -> Result<Code, ReplyFault> {
    Reply::of(&query(pairs)).read(server)
}

/// R-OAUTH-02, R-OAUTH-05, RFC 9207: the whole table, of codes and of errors alike.
#[tokio::test]
async fn kind_21_the_issuer_of_a_reply() {
    let right = || ReplyIssuer::Right;
    let other = || ReplyIssuer::Other("https://evil.example".to_owned());
    let slash = |issuer: &str| ReplyIssuer::Other(format!("{issuer}/"));
    for (rule, sent, fine) in [
        ("required", Some(right()), true),
        ("required", Some(other()), false),
        ("required", None, false),
        ("optional", Some(right()), true),
        ("optional", Some(other()), false),
        ("optional", None, true),
        ("ignored", Some(right()), true),
        ("ignored", Some(other()), true),
        ("ignored", None, true),
    ] {
        for error in [None, Some("temporarily_unavailable")] {
            let sent = sent.clone();
            let differ = move |settings: &mut Settings| {
                settings.callback.issuer = sent.unwrap_or(ReplyIssuer::Missing);
                settings.authorization.error = error;
            };
            let issuer = if rule == "ignored" { "" } else { "issuer = \"@issuer\"\n" };
            let scene = Scene::new(differ, &format!("{issuer}iss = \"{rule}\"")).await;
            let found = scene.code().await;
            match (&found, fine, error) {
                (Err(ReplyFault::OtherIssuer), false, _)
                | (Ok(_), true, None)
                | (Err(ReplyFault::Unavailable { .. }), true, Some(_)) => {}
                _ => panic!("{rule} {fine} {error:?}: {found:?}"),
            }
        }
    }
    let scene = Scene::new(|_| {}, "issuer = \"@issuer\"").await;
    let issuer = scene.provider.issuer();
    scene.provider.set(|settings| settings.callback.issuer = slash(&issuer));
    assert_eq!(scene.code().await.unwrap_err(), ReplyFault::OtherIssuer, "compared byte by byte");
}

/// R-OAUTH-05: what was discovered names itself where it promised to, in errors as well.
#[test]
fn kind_21_a_discovered_server_names_itself_as_it_promised() {
    let server = |promises_iss| {
        Server::discovered(Discovered {
            issuer: "https://id.example".to_owned(),
            authorization_endpoint: None,
            token_endpoint: Url::parse("https://id.example/token").unwrap(),
            revocation_endpoint: None,
            promises_iss,
            resource: None,
        })
    };
    for what in [("code", "c"), ("error", "access_denied")] {
        let right = |found: Result<Code, ReplyFault>| !matches!(found, Err(ReplyFault::OtherIssuer));
        let iss = |value| [("state", "s"), what, ("iss", value)];
        assert!(!right(read(&server(true), &[("state", "s"), what])));
        assert!(right(read(&server(false), &[("state", "s"), what])));
        for promises in [true, false] {
            assert!(right(read(&server(promises), &iss("https://id.example"))));
            for wrong in ["https://evil.example", "https://id.example/", "https://ID.example", ""] {
                assert!(!right(read(&server(promises), &iss(wrong))), "{promises} {wrong}");
            }
        }
    }
}

/// R-OAUTH-02
#[tokio::test]
async fn a_reply_is_either_a_code_or_an_error() {
    let server = Scene::standard().await.server;
    for wrong in [
        &[("state", "s")][..],
        &[("state", "s"), ("code", "")],
        &[("state", "s"), ("code", "c"), ("error", "e")],
        &[("state", "s"), ("code", "c"), ("code", "d")],
        &[("state", "s"), ("state", "t"), ("code", "c")],
        &[("state", "s"), ("error", "e"), ("error", "f")],
        &[],
    ] {
        assert_eq!(read(&server, wrong).unwrap_err(), ReplyFault::NoReply, "{wrong:?}");
    }
    let long = "c".repeat(5_000);
    assert_eq!(read(&server, &[("state", "s"), ("code", &long)]).unwrap_err(), ReplyFault::NoReply);
    let twice = query(&[("state", "s"), ("state", "s")]);
    assert_eq!(Reply::of(&twice).state(server.definition()), None);
}

/// A person's "no" is told from a mistake of ours, and that from a bad moment.
#[tokio::test]
async fn kind_18_a_no_is_told_from_a_mistake() {
    let lines = "[provider.callback]\nerror = \"fault\"\nstate = \"opaque\"\ndeclined = [\"user_denied\"]";
    let oauth = oauth(&Provider::start().await, lines);
    let server = Server::of(&oauth, &BTreeMap::new()).unwrap();
    let fault = |code: &str| read(&server, &[("opaque", "s"), ("fault", code)]).unwrap_err();
    assert_eq!(fault("access_denied"), ReplyFault::Declined);
    assert_eq!(fault("user_denied"), ReplyFault::Declined);
    assert_eq!(fault("server_error"), ReplyFault::Unavailable { code: "server_error".to_owned() });
    let ReplyFault::Misconfigured { code, description } =
        read(&server, &[("opaque", "s"), ("fault", "invalid\u{202e}_scope"), ("error_description", "<b>no\u{0}</b>")])
            .unwrap_err()
    else {
        panic!("another fault")
    };
    assert_eq!((code.as_str(), description.as_deref()), ("invalid‹U+202E›_scope", Some("<b>no‹U+0000›</b>")));
    let query = query(&[("opaque", "s"), ("fault", "x")]);
    assert_eq!(Reply::of(&query).state(server.definition()), Some("s"));
}

#[tokio::test]
async fn kind_17_what_comes_with_the_code_belongs_to_the_connection() {
    let differ = |settings: &mut Settings| settings.callback.extra = vec![("realmId", "9130-357".to_owned())];
    let lines = "[provider.callback]\nfields = { realm_id = \"realmId\" }";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    assert_eq!(field(&tokens, "realm_id"), "9130-357");
    assert_eq!(tokens.values["realm_id"], "9130-357");
    assert!(scene.server.definition().fields().contains(&"realm_id"));
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert_eq!((field(&fresh, "realm_id"), &fresh.values), ("9130-357", &tokens.values), "a refresh keeps it");

    let scene = Scene::new(|_| {}, lines).await;
    assert_eq!(scene.code().await.unwrap_err(), ReplyFault::Missing("realm_id".to_owned()));
    for wrong in ["", "a\r\nX-Admin: 1", "a b", "schlüssel"] {
        let found = read(&scene.server, &[("state", "s"), ("code", "c"), ("realmId", wrong)]).unwrap_err();
        assert_eq!(found, ReplyFault::Missing("realm_id".to_owned()), "{wrong:?}");
    }
}

proptest! {
    /// Whatever a browser is sent with, it is read or refused.
    #[test]
    fn no_reply_does_harm(pairs in proptest::collection::vec(("(code|state|iss|error|[a-z]{1,4})", ".{0,40}"), 0..8)) {
        let server = Server::discovered(Discovered {
            issuer: "https://id.example".to_owned(),
            authorization_endpoint: None,
            token_endpoint: Url::parse("https://id.example/token").unwrap(),
            revocation_endpoint: None,
            promises_iss: true,
            resource: None,
        });
        let found = Reply::of(&pairs).read(&server);
        let named = pairs.iter().any(|(name, value)| name == "iss" && value == "https://id.example");
        prop_assert!(found.is_err() || named);
    }
}
