//! `usher api-keys` as an operator uses it, beside a service that runs.

use serde_json::Value;

use super::{Server, stage};
use crate::{
    harness::{Folder, Stage},
    serve_command::{config, run, text_of_both},
};

/// Runs `usher api-keys …`, which must end with this code: what it prints, and what it says beside it.
async fn api_keys(stage: &Stage, arguments: &[&str], code: i32) -> (String, String) {
    let arguments: Vec<_> = ["api-keys"].iter().chain(arguments).copied().collect();
    let output = run(stage.folder.path(), &arguments).await;
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text_of_both(&output));
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (stdout, stderr)
}

/// Whether a key opens the running service.
async fn opens(stage: &Stage, text: &str) -> bool {
    let server = Server::weather(stage).await;
    let server = Server { text: text.to_owned().into(), ..server };
    server.ask("claude").await.status != 401
}

/// Made, used, listed, rotated and revoked beside a service that runs; each counts at once.
#[tokio::test]
async fn keys_are_made_rotated_and_revoked_beside_the_service() {
    let stage = stage("").await;
    let (empty, _) = api_keys(&stage, &["list"], 0).await;
    assert!(empty.contains("usher api-keys create"), "{empty}");

    let (first, told) = api_keys(&stage, &["create", "weather", "--name", "production", "--expires", "90d"], 0).await;
    let first = first.strip_suffix('\n').unwrap();
    assert!(first.starts_with("usher_") && first.len() == 62, "the key alone, to be piped");
    assert!(told.contains("It is not shown again") && !told.contains(first), "{told}");
    let id = &first[6..18];
    assert!(opens(&stage, first).await);

    let (listed, _) = api_keys(&stage, &["list"], 0).await;
    let row = listed.lines().find(|line| line.starts_with(id)).unwrap();
    assert!(row.contains("weather") && row.contains("production") && row.contains("until 20"), "{row}");
    let (json, _) = api_keys(&stage, &["list", "--json"], 0).await;
    let json: Value = serde_json::from_str(&json).unwrap();
    let key = json.as_array().unwrap().iter().find(|key| key["id"] == id).unwrap();
    assert_eq!((&key["valid"], &key["server"]), (&Value::from(true), &Value::from("weather")));
    assert!(key["last_used_at"].is_string() && key["expires_at"].is_string(), "{key}");
    assert!(!listed.contains(&first[19..]) && !json.to_string().contains(&first[19..]));

    let (second, told) = api_keys(&stage, &["rotate", id], 0).await;
    assert!(told.contains("The key before works until"), "{told}");
    assert!(opens(&stage, first).await && opens(&stage, second.trim()).await);
    let (third, told) = api_keys(&stage, &["rotate", id, "--keep", "0s"], 0).await;
    assert!(told.contains("works no longer"), "{told}");
    assert!(!opens(&stage, first).await && !opens(&stage, second.trim()).await && opens(&stage, third.trim()).await);

    api_keys(&stage, &["revoke", id], 0).await;
    assert!(!opens(&stage, third.trim()).await);
    for command in [&["revoke", id][..], &["rotate", id]] {
        let (_, told) = api_keys(&stage, command, 1).await;
        assert!(told.contains("usher api-keys list"), "{told}");
    }
}

#[tokio::test]
async fn what_is_wrong_says_what_to_do() {
    let stage = stage("").await;
    let (_, told) = api_keys(&stage, &["create", "nobody"], 1).await;
    assert!(told.contains("there is no server nobody in the configuration; it has weather, other"), "{told}");
    for (arguments, text) in [
        (&["create", "weather", "--scope", "admin"][..], "interactions:read and interactions:write"),
        (&["create", "weather", "--expires", "1w"], "such as 24h or 90d"),
        (&["create", "weather", "--expires", "0s"], "ended already"),
        (&["create", "weather", "--name", "a\nb"], "in one line"),
        (&["revoke", "nothing"], "12 lower-case letters and digits"),
    ] {
        let (_, told) = api_keys(&stage, arguments, 2).await;
        assert!(told.contains(text), "{arguments:?}: {told}");
    }
    let (read, _) = api_keys(&stage, &["create", "weather", "--scope", "interactions:read"], 0).await;
    let server = Server { text: read.trim().to_owned().into(), ..Server::weather(&stage).await };
    server.ask("claude").await.problem(403, "insufficient-scope");

    let folder = Folder::new();
    config(folder.path(), usher_testkit::free_port(), "http://127.0.0.1:9/mcp", "");
    let output = run(folder.path(), &["api-keys", "create", "weather"]).await;
    assert!(text_of_both(&output).contains("no service has run with this configuration"), "{}", text_of_both(&output));
    assert!(!folder.path().join("usher.db").exists(), "nothing is made");
}
