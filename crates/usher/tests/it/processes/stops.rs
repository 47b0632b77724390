//! However a process ends: nothing of it stays.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use usher_testkit::client::Legacy;

use super::{gone, pid, program, running, said, stage, stage_of};
use crate::harness::{Folder, USHER};

/// A server that heeds neither the end of its input nor SIGTERM.
fn stubborn() -> String {
    let script = "trap '' TERM; exec \"$0\" --stubborn";
    format!("{:?}", ["/bin/sh", "-c", script, program().to_str().unwrap()])
}

#[tokio::test]
async fn an_idle_process_is_stopped_and_its_session_goes_on() {
    let stage = stage("[[upstream]]\nidle = \"1s\"", false).await;
    let client = stage.local_legacy().await;
    let before = pid(&client).await;
    gone(before).await;
    assert_ne!(pid(&client).await, before);
}

/// The end of the service is the end of all, with all that they started.
#[tokio::test]
async fn the_end_of_the_service_leaves_nothing_behind() {
    let mut stage = stage_of(&stubborn(), "", false).await;
    let client = stage.local_legacy().await;
    let server = pid(&client).await;
    let child = said(&client.tool("child", "{}").await).as_u64().unwrap();
    running(server).await;
    running(child).await;
    stage.stop().await;
    gone(server).await;
    gone(child).await;
}

/// R-SEC-01: a user's processes are limited; an idle one makes room, a busy one does not.
#[tokio::test]
async fn an_idle_process_makes_room_for_another_and_a_busy_one_does_not() {
    let stage = stage("[processes]\nper_user = 1\n", false).await;
    let one = stage.local_legacy().await;
    let first = pid(&one).await;
    let other = stage.local_legacy().await;
    gone(first).await;
    let hanging = other.open_tool("sleep", r#"{"ms":600}"#);
    let refused = async {
        // The call is under way once the server has it; a call on the same session is served meanwhile.
        pid(&other).await;
        one.tool("whoami", "{}").await
    };
    let (slept, refused) = tokio::join!(hanging, refused);
    let text = refused.error_message();
    assert!(text.contains("too many servers run for you"), "{text}");
    assert_eq!(said(&slept.reply().await), "slept");
    assert!(pid(&one).await > 0, "there is room again");
}

/// A killed service leaves nothing behind either, not even a server that heeds nothing.
#[tokio::test]
async fn a_killed_service_leaves_nothing_behind() {
    let folder = Folder::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(
        "public_url = \"http://127.0.0.1:{port}\"\n[listen]\naddress = \"127.0.0.1:{port}\"\n\
         [[upstream]]\nname = \"local\"\ncommand = {}\n",
        stubborn()
    );
    std::fs::write(folder.path().join("usher.toml"), text).unwrap();
    let mut service = Command::new(USHER)
        .args(["serve", "--show-token", "--config"])
        .arg(folder.path().join("usher.toml"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(service.stdout.take().unwrap()).lines();
    let token = lines.map_while(Result::ok).find_map(|line| {
        let token = line.split("Bearer ").nth(1)?;
        Some(token.trim_end_matches('"').to_owned())
    });
    let client = Legacy::new(format!("http://127.0.0.1:{port}/mcp/local")).token(token.unwrap());
    client.initialize().await;
    let server = pid(&client).await;
    let child = said(&client.tool("child", "{}").await).as_u64().unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    gone(server).await;
    gone(child).await;
}
