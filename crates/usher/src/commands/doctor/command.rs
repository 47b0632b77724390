//! Asks an upstream that is a command what it speaks: it is started for each era, without any user's credential, asked, and
//! ended.

use std::{process::Stdio, time::Duration};

use serde_json::Value;
use tokio::io::{AsyncWriteExt as _, BufReader};

use super::{
    probe::{DEADLINE, LONGEST, discover, initialize, response_of, said_in_discovery, said_in_handshake},
    upstream::{Probed, Said},
};
use crate::{
    config::Command,
    group::{self, Signal},
    mcp::lines::{Line, next_line},
};

/// Programs that fetch a package before they start take their time.
const START: Duration = Duration::from_secs(20);

/// The program's answers, or why it cannot be asked.
pub(super) async fn probe(command: &Command) -> Result<Probed, String> {
    let begun = ask(command, &initialize(), START).await;
    let legacy = match &begun {
        Ok(message) => said_in_handshake(message),
        Err(Failed::NotStarted(why)) => return Err(why.clone()),
        Err(Failed::Other(words)) => Said::Other(words.clone()),
    };
    let modern = match ask(command, &discover(), DEADLINE).await {
        Ok(message) => said_in_discovery(&message),
        Err(Failed::NotStarted(words) | Failed::Other(words)) => Said::Other(words),
    };
    Ok(Probed { modern, legacy, clock: None })
}

enum Failed {
    NotStarted(String),
    Other(String),
}

async fn ask(command: &Command, message: &Value, within: Duration) -> Result<Value, Failed> {
    let spawned = group::program(command, &[]).and_then(|mut program| program.stderr(Stdio::null()).spawn());
    let mut child = spawned.map_err(|error| {
        let program = command.argv.first().map_or("the program", String::as_str);
        Failed::NotStarted(format!("{program} cannot be started: {error}"))
    })?;
    let group = child.id();
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let asking = async {
        let mut stdin = stdin?;
        stdin.write_all(format!("{message}\n").as_bytes()).await.ok()?;
        let mut reader = BufReader::new(stdout?);
        while let Ok(Line::Whole(line)) = next_line(&mut reader, LONGEST).await {
            if let Some(response) = response_of(&line) {
                return Some(response);
            }
        }
        None
    };
    let answer = tokio::time::timeout(within, asking).await;
    if let Some(group) = group {
        group::signal(group, Signal::KILL);
    }
    let _ = child.wait().await;
    match answer {
        Ok(Some(response)) => Ok(response),
        Ok(None) => Err(Failed::Other("it ended without an answer".to_owned())),
        Err(_) => Err(Failed::Other(format!("no answer within {} s", within.as_secs()))),
    }
}
