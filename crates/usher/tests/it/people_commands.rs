//! `usher users` and `usher connections`, beside a service that runs and one that does not.

use std::{collections::BTreeMap, path::Path, time::Duration};

use elicit::{ClientId, Principal, SystemRandom, UserId};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use usher::clock::Clock as _;
use usher_store::{Advanced, AskReason, AuditAction, Completion, InteractionId, NewInteraction, Step};
use usher_testkit::{client::Modern, free_port};

use crate::{
    harness::{ACCEPT, CALLS, Folder, KEY, Setup, Stage, answered},
    processes::{gone, said, stage as with_process},
    serve_command::{config, run, text_of_both},
};

pub(crate) const LOCAL: [&str; 2] = ["urn:usher:local", "owner"];

/// How a terminal shows the other user's name.
const SHOWN: &str = "mallory‹U+202E›7";

/// Runs a command, which must end with this code, and gives what it said.
pub(crate) async fn says(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(!told.contains(KEY), "{told}");
    told
}

pub(crate) async fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments).await;
    assert!(output.status.success(), "{}", text_of_both(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text_of_both(&output)))
}

/// Another user's connection, as the service would store it.
async fn of_mallory(stage: &Stage) {
    let (store, now) = (&stage.app().store, stage.clock.now());
    let new = NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal {
            user: UserId::new("https://accounts.example", "mallory\u{202e}7").unwrap(),
            client: ClientId::new("client-of-mallory").unwrap(),
        },
        client_claim: None,
        asked_by: None,
        provider: "weather".to_owned(),
        destination: stage.app().config.upstreams[0].destination(),
        operation: None,
        reason: AskReason::Missing,
        expires_at: now + Duration::from_mins(15),
    };
    let mut interaction = store.ask(&[new], None, now).await.unwrap().remove(0);
    for step in [Step::Open, Step::Consent] {
        let Advanced::Done(next) = store.advance(interaction, step, now).await.unwrap() else { panic!("a step") };
        interaction = next;
    }
    let secrets = BTreeMap::from([("api_key".to_owned(), KEY.into())]);
    let done = store.complete(interaction, Completion::Connect { secrets }, now).await.unwrap();
    assert!(matches!(done, Advanced::Done(_)));
}

/// Offboarding: beside a running service all of a person goes at once; the next call asks, the page needs a sign-in, and
/// nobody else loses anything.
#[tokio::test]
async fn a_person_who_is_forgotten_is_gone_from_the_running_service() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    of_mallory(&stage).await;
    let session = stage.ready().await;
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await));
    let folder = stage.folder.path();
    let listed = says(folder, &["users", "list"], 0).await;
    assert!(listed.contains("owner") && listed.contains(SHOWN), "{listed}");
    let [issuer, subject] = LOCAL;
    let told = says(folder, &["users", "forget", issuer, subject], 1).await;
    assert!(told.contains("1 connection") && told.contains("--yes"), "{told}");
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await), "nobody said yes");

    let removed = json(folder, &["users", "forget", issuer, subject, "--yes", "--json"]).await;

    assert_eq!(removed["subject"], "owner");
    for what in ["connections", "sessions", "browser_sessions"] {
        assert_eq!(removed["removed"][what], 1, "{what}: {removed}");
    }
    let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    assert_eq!(session.call(CALLS[0].0, CALLS[0].1).await.status, 404, "their session is over");
    assert_eq!(person.get("/").await.heading().as_deref(), Some("Sign in"));
    assert_eq!(stage.audited(AuditAction::UserForgotten).await, 1);
    assert!(stage.audited(AuditAction::CredentialConnected).await > 0, "what was done can still be said");
    let left = json(folder, &["connections", "list", "--json"]).await;
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["subject"], "mallory\u{202e}7", "exactly as stored");
    let told = says(folder, &["users", "forget", issuer, "nobody", "--yes"], 1).await;
    assert!(told.contains("nothing is stored of nobody of urn:usher:local"), "{told}");
}

/// R-GW-04: what an operator revokes is gone at once, also from the environment of a process.
#[tokio::test]
async fn a_process_that_was_started_with_it_goes_with_a_revoked_connection() {
    let stage = with_process("", true).await;
    let person = stage.person().await;
    let client = stage.local_legacy().await;
    let mut stream = client.open_tool("env", r#"{"name":"WEATHER_KEY"}"#).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    person.connect(&question.string(&["params", "url"]).unwrap(), &[("api_key", KEY)]).await;
    assert_eq!(said(&stream.reply().await), serde_json::json!(KEY));
    let before = said(&client.tool("whoami", "{}").await)["pid"].as_u64().unwrap();
    let [issuer, subject] = LOCAL;
    let which = ["connections", "revoke", "--user", issuer, subject, "--provider", "weather", "--yes"];

    let told = says(stage.folder.path(), &which, 0).await;

    assert!(told.contains("Revoked: 1."), "{told}");
    gone(before).await;
    let mut stream = client.open_tool("env", r#"{"name":"WEATHER_KEY"}"#).await;
    stream.expect("elicitation/create").await;
    assert_eq!(stage.audited(AuditAction::CredentialRevoked).await, 1);
    assert!(says(stage.folder.path(), &which, 1).await.contains("no such connection"));
}

/// R-SEC-08: a command tells the service where it listens on this machine, whatever stands before it in the world. The name of
/// the latter leads nowhere here.
#[tokio::test]
async fn a_service_behind_a_proxy_is_told_on_this_machine() {
    let stage = Stage::oidc(Setup { behind: true, ..Setup::default() }).await;
    let client = Modern::new(format!("http://{}/mcp/weather", stage.app().config.listen)).token(&stage.token);
    let client = client.elicitation(&["form", "url"]);
    let call = async || client.request(CALLS[0].0, CALLS[0].1).header("host", "usher.example").send().await;
    stage.connect_elsewhere(&call().await.url(), KEY).await;
    assert!(answered(&call().await));
    let issuer = stage.idp().issuer();
    let which = ["connections", "revoke", "--user", &issuer, "user-1", "--provider", "weather", "--yes"];

    says(stage.folder.path(), &which, 0).await;

    let asked = call().await;
    assert!(asked.is_input_required(), "{}", asked.text());
}

/// A process goes with its session, and the session with its user.
#[tokio::test]
async fn a_process_of_a_person_who_is_forgotten_is_stopped() {
    let stage = with_process("", false).await;
    let client = stage.local_legacy().await;
    let before = said(&client.tool("whoami", "{}").await)["pid"].as_u64().unwrap();
    let [issuer, subject] = LOCAL;
    says(stage.folder.path(), &["users", "forget", issuer, subject, "--yes"], 0).await;
    gone(before).await;
}

/// Connections are listed without their secrets, by user, provider and server, and one is revoked by its id.
#[tokio::test]
async fn connections_are_listed_and_one_is_revoked() {
    let stage = Stage::new().await;
    stage.connected().await;
    of_mallory(&stage).await;
    let folder = stage.folder.path();
    let listed = says(folder, &["connections", "list"], 0).await;
    assert!(listed.contains("owner of urn:usher:local") && listed.contains(SHOWN), "{listed}");
    let count = async |more: &[&str]| {
        let arguments: Vec<_> = ["connections", "list", "--json"].iter().chain(more).copied().collect();
        json(folder, &arguments).await.as_array().unwrap().len()
    };
    let [issuer, subject] = LOCAL;
    for (more, found) in [
        (&[][..], 2),
        (&["--user", issuer, subject], 1),
        (&["--user", issuer, "nobody"], 0),
        (&["--provider", "weather"], 2),
        (&["--provider", "nothing"], 0),
        (&["--upstream", "weather"], 2),
        (&["--upstream", "nothing"], 0),
    ] {
        assert_eq!(count(more).await, found, "{more:?}");
    }
    let mine = json(folder, &["connections", "list", "--json", "--user", issuer, subject]).await;
    assert_eq!((mine[0]["provider"].as_str(), mine[0]["state"].as_str()), (Some("weather"), Some("working")));
    assert_eq!(mine[0]["approvals"][0]["client"], "default");
    let id = mine[0]["id"].as_str().unwrap().to_owned();
    assert!(says(folder, &["connections", "revoke", &id], 1).await.contains("--yes"));
    assert!(stage.credential().await.is_some());
    says(folder, &["connections", "revoke", &id, "--yes"], 0).await;
    assert!(stage.credential().await.is_none());
    says(folder, &["connections", "revoke"], 2).await;
    says(folder, &["connections", "revoke", &id, "--provider", "weather", "--yes"], 2).await;
    assert_eq!(count(&[]).await, 1);
}

/// Without a service, and without a store.
#[tokio::test]
async fn the_commands_need_no_running_service() {
    let mut stage = Stage::new().await;
    stage.connected().await;
    stage.stop().await;
    let [issuer, subject] = LOCAL;
    let told = says(stage.folder.path(), &["users", "forget", issuer, subject, "--yes"], 0).await;
    assert!(told.contains("Removed: 1 connection"), "{told}");
    assert!(says(stage.folder.path(), &["users", "list"], 0).await.contains("Nothing is stored of anybody yet."));
    let empty = Folder::new();
    config(empty.path(), free_port(), "http://127.0.0.1:9/mcp", "");
    for command in [&["users", "list"][..], &["connections", "list"], &["users", "forget", "a", "b", "--yes"]] {
        assert!(says(empty.path(), command, 1).await.contains("there is no store at"), "{command:?}");
    }
    assert!(!empty.path().join("usher.db").exists(), "looking makes nothing");
}

/// A newer version's command beside a service of an earlier one does not bring the schema up to date: replicas could not start
/// again.
#[tokio::test]
async fn an_older_schema_is_left_as_it_is() {
    let stage = Stage::new().await;
    sqlx::any::install_default_drivers();
    let mut raw = AnyConnection::connect(stage.app().config.store.expose_secret()).await.unwrap();
    let newest = "DELETE FROM _sqlx_migrations WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
    assert_eq!(raw.execute(newest).await.unwrap().rows_affected(), 1);
    for command in ["users", "connections", "api-keys"] {
        let told = says(stage.folder.path(), &[command, "list"], 1).await;
        assert!(told.contains("start the service of this version first"), "{told}");
    }
    raw.close().await.unwrap();
}
