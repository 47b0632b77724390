//! `usher doctor` and `usher config`, beside a service that runs and without one.

use std::{net::TcpListener, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;
use usher_testkit::{
    free_port,
    idp::Endpoint,
    provider::Behaviour,
    upstream::{Eras, Refusal, Upstream},
};

use crate::{
    harness::{Folder, Setup, Stage},
    serve_command::{config, run, text_of_both},
};

/// What `usher doctor` says, a line a finding, and its code.
async fn doctor(folder: &Path) -> (String, Option<i32>) {
    let output = run(folder, &["doctor"]).await;
    (text_of_both(&output), output.status.code())
}

/// The line of a check.
fn line<'a>(told: &'a str, verdict: &str, check: &str) -> &'a str {
    let found = told.lines().find(|line| line.starts_with(verdict) && line[9..].starts_with(check));
    found.unwrap_or_else(|| panic!("no {verdict} of {check} in:\n{told}"))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_service_that_runs_is_found_in_order() {
    let stage = Stage::new().await;
    stage.connected().await;
    let before = names(stage.folder.path());
    let (told, code) = doctor(stage.folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    for (check, found) in [
        ("configuration", "1 upstream, 1 provider"),
        ("service", &*format!("it runs at {}", stage.origin)),
        ("store", "SQLite, "),
        ("schema", "the newest that is known here"),
        ("keys", "is active"),
        ("upstream weather", "speaks 2025-06-18, 2025-11-25, 2026-07-28"),
        ("hosts", "has a token for default"),
        ("host for weather", &*stage.endpoint()),
    ] {
        assert!(line(&told, "ok", check).contains(found), "{check}: {told}");
    }
    line(&told, "warning", "browser");
    assert!(!told.contains(&stage.token), "no token is shown");
    assert_eq!(names(stage.folder.path()), before, "nothing is made");
    assert_eq!(stage.upstream.requests_of("initialize").len(), 1);
    assert_eq!(stage.upstream.http_requests(&http::Method::DELETE).len(), 1, "no session is left behind");
    stage.upstream.assert_clean();

    let mut stage = stage;
    stage.stop().await;
    let before = names(stage.folder.path());
    let (told, code) = doctor(stage.folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(line(&told, "ok", "service").contains("it does not run"), "{told}");
    assert!(line(&told, "ok", "keys").contains("is active"), "{told}");
    assert_eq!(names(stage.folder.path()), before, "nothing is left beside the store");
}

/// Before the first start: what will be made, and nothing is made.
#[tokio::test]
async fn before_the_first_start_nothing_is_made() {
    let upstream = Upstream::builder().eras(Eras::Legacy).start().await;
    let folder = Folder::new();
    config(folder.path(), free_port(), &upstream.url(), "");
    let (told, code) = doctor(folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    for (check, found) in [
        ("service", "it does not run"),
        ("store", "made at the first start"),
        ("keys", "made at the first start"),
        ("hosts", "made at the first start"),
        ("upstream weather", "speaks 2025-11-25"),
    ] {
        assert!(line(&told, "ok", check).contains(found), "{check}: {told}");
    }
    assert_eq!(names(folder.path()), ["usher.toml"]);
}

/// Each fault is one line with what to do, and the command fails.
#[tokio::test]
async fn what_is_wrong_is_told_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new();
    let nobody = free_port();
    config(folder.path(), taken.local_addr().unwrap().port(), &format!("http://127.0.0.1:{nobody}/mcp"), "");
    let private = |name: &str, text: &str, mode| {
        std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::set_permissions(folder.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    private("usher.db", "no database, but a text of some length", 0o600);
    private("usher.keys", "", 0o600);
    private("usher.tokens", "default = \"a-token-that-others-can-read-0123456789\"\n", 0o644);
    let (told, code) = doctor(folder.path()).await;
    assert_eq!(code, Some(1), "{told}");
    for (check, found) in [
        ("service", "another program listens"),
        ("store", "is not a SQLite database; restore it"),
        ("keys", "exactly one active key, and has 0"),
        ("upstream weather", &*format!("127.0.0.1:{nobody}: connection refused; see that it runs")),
        ("hosts", "chmod 600"),
    ] {
        assert!(line(&told, "fault", check).contains(found), "{check}: {told}");
    }
    assert!(!told.contains("a-token-that"), "{told}");
    assert_eq!(std::fs::read_to_string(folder.path().join("usher.keys")).unwrap(), "");
}

/// A demand for a credential is what the gateway is there for.
#[tokio::test]
async fn an_upstream_that_demands_a_credential_is_no_fault() {
    let upstream = Upstream::builder().require("x-api-key", "k", Refusal::unauthorized()).start().await;
    let stage = Stage::with(Setup::default(), upstream).await;
    let (told, code) = doctor(stage.folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(line(&told, "ok", "upstream weather").contains("demands a credential (HTTP 401)"), "{told}");
    let output = run(stage.folder.path(), &["doctor", "--json"]).await;
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = findings["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| one["check"] == "upstream weather" && one["verdict"] == "ok"), "{findings:?}");
}

/// The issuer is asked what everybody who comes in depends on.
#[tokio::test]
async fn the_issuer_is_examined() {
    let stage = Stage::oidc(Setup::default()).await;
    let (told, code) = doctor(stage.folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    for (check, found) in [
        ("issuer", &*format!("{} is there", stage.idp().issuer())),
        ("issuer keys", "1 to verify tokens with, for ES256"),
        ("issuer PKCE", "S256 is advertised"),
        ("issuer users", "the claim sub"),
        ("clock", "issuer"),
    ] {
        assert!(
            told.lines().any(|line| line.starts_with("ok") && line[9..].starts_with(check) && line.contains(found)),
            "{check}: {told}"
        );
    }

    let settings = |metadata: serde_json::Value| stage.idp().set(|settings| settings.metadata = metadata);
    for (metadata, verdict, check, found) in [
        (json!({ "issuer": "https://other.example" }), "fault", "issuer", "of the issuer \"https://other.example\""),
        (json!({ "token_endpoint": null }), "fault", "issuer", "it has no token_endpoint"),
        (json!({ "jwks_uri": "file:///etc/passwd" }), "fault", "issuer", "its jwks_uri is neither"),
        (json!({ "jwks_uri": "https://169.254.169.254/jwks" }), "fault", "issuer keys", "its address is not public"),
        (json!({ "code_challenge_methods_supported": ["plain"] }), "warning", "issuer PKCE", "does not name S256"),
        (json!({ "subject_types_supported": ["pairwise"] }), "warning", "issuer users", "would not be found"),
        (json!({ "subject_types_supported": ["public", "pairwise"] }), "warning", "issuer users", "may be another"),
        (json!({ "id_token_signing_alg_values_supported": ["HS256"] }), "warning", "issuer keys", "fit none"),
    ] {
        settings(metadata);
        let (told, code) = doctor(stage.folder.path()).await;
        assert!(line(&told, verdict, check).contains(found), "{found}: {told}");
        assert_eq!(code, Some(i32::from(verdict == "fault")), "{told}");
    }
    settings(json!({}));
    stage.idp().set(|settings| settings.jwks = Some(json!({ "keys": [] })));
    let (told, _) = doctor(stage.folder.path()).await;
    assert!(line(&told, "fault", "issuer keys").contains("none can verify"), "{told}");
    stage.idp().behave(Endpoint::Discovery, Behaviour::Status(502));
    let (told, _) = doctor(stage.folder.path()).await;
    assert!(line(&told, "fault", "issuer").contains("HTTP 502"), "{told}");
}

/// R-ID-04: the audience of access tokens should not be that of our ID tokens.
#[tokio::test]
async fn an_audience_that_is_our_client_is_doubtful() {
    let identity = format!("audience = \"{}\"", usher_testkit::idp::CLIENT);
    let stage = Stage::oidc(Setup { identity, ..Setup::default() }).await;
    let (told, code) = doctor(stage.folder.path()).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(line(&told, "warning", "issuer audience").contains("identity.audience is client_id"), "{told}");
    let checked = run(stage.folder.path(), &["config", "check"]).await;
    assert!(text_of_both(&checked).contains("A doubt: identity.audience is client_id"), "{}", text_of_both(&checked));
}

#[tokio::test]
async fn a_configuration_is_checked_without_a_start() {
    let folder = Folder::new();
    let secret = "[store]\nurl = \"postgres://ada:secret-password@127.0.0.1:9/none\"";
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp?key=secret-key", secret);
    let output = run(folder.path(), &["config", "check"]).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    for said in ["The configuration is right", "PostgreSQL", "weather: http://127.0.0.1:9/mcp, needs no credential"] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!told.contains("secret-"), "{told}");
    config(folder.path(), free_port(), "ftp://a.example", "colour = \"red\"");
    for arguments in [&["config", "check"][..], &["doctor"]] {
        let output = run(folder.path(), arguments).await;
        let told = text_of_both(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("unknown key") && told.contains("usher.toml:7:"), "{told}");
    }
    assert_eq!(names(folder.path()), ["usher.toml"]);
}

/// A server that is a command is started to be asked, and ended.
#[tokio::test]
async fn a_command_is_started_and_asked() {
    for (command, verdict, found) in [
        (format!("{:?}", [crate::processes::program()]), "ok", "speaks 2025-11-25, 2026-07-28"),
        ("[\"/no/such/program\"]".to_owned(), "fault", "/no/such/program cannot be started"),
        ("[\"true\"]".to_owned(), "fault", "it ended without an answer"),
    ] {
        let folder = Folder::new();
        let text = format!("[[upstream]]\nname = \"local\"\ncommand = {command}\n");
        std::fs::write(folder.path().join("usher.toml"), text).unwrap();
        let (told, _) = doctor(folder.path()).await;
        assert!(line(&told, verdict, "upstream local").contains(found), "{told}");
    }
}
