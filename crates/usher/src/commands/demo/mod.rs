//! `usher demo`: the main job, from a tool call without a key to its result, with everything that it needs made on the spot.
//!
//! `guided` is for a person at a terminal, `auto` plays the person too and checks what happened. Both run the same
//! `stage`: a sample MCP server with its provider, and this very Usher in front of it, over real HTTP.

mod auto;
mod client;
mod folder;
mod guided;
mod html;
mod journal;
mod person;
mod stage;
mod steps;
mod trouble;
mod weather;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use elicit::Era;

use self::{
    stage::{Stage, demo_key},
    trouble::step,
};
use super::{colours, environment, fail, stop::asked_to_stop};
use crate::telemetry;

/// What a shell expects of a command that was interrupted.
const INTERRUPTED: u8 = 130;

/// What a command returns that was not used as it can be.
const USAGE: u8 = 2;

/// Options of the demo.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Play the app and the person too, in both eras, and say whether all went right.
    #[arg(long)]
    pub auto: bool,
    /// Play an app that speaks the older protocol (2025-11-25).
    #[arg(long, conflicts_with = "auto")]
    pub legacy: bool,
}

/// Runs the command.
pub async fn run(args: Args) -> ExitCode {
    // Steps are printed; the log is for what should not be.
    telemetry::install(Some(environment("USHER_LOG").as_deref().unwrap_or("warn,sqlx=off")), colours());
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !args.auto && !at_terminal {
        eprintln!(
            "usher: the demo talks with a person at a terminal, and this is none; usher demo --auto plays the person too"
        );
        return ExitCode::from(USAGE);
    }
    let keys = [demo_key(), demo_key()];
    let mut interrupted = std::pin::pin!(asked_to_stop(true));
    let stage = tokio::select! {
        stage = step("the start", Box::pin(Stage::open(keys.to_vec()))) => stage,
        () = &mut interrupted => return ExitCode::from(INTERRUPTED),
    };
    let stage = match stage {
        Ok(stage) => stage,
        Err(trouble) => return fail(&trouble),
    };
    let code = tokio::select! {
        code = Box::pin(play(&args, &stage, &keys)) => code,
        () = &mut interrupted => {
            // The terminal may be gone; that is no reason to leave anything behind.
            let _ = writeln!(io::stdout(), "\nThe demo was ended.");
            ExitCode::from(INTERRUPTED)
        }
    };
    stage.close().await;
    code
}

async fn play(args: &Args, stage: &Stage, keys: &[String; 2]) -> ExitCode {
    if args.auto {
        return auto::play(stage, keys).await;
    }
    let era = if args.legacy { Era::Legacy } else { Era::Modern };
    guided::play(stage, era, &keys[0]).await
}
