//! `usher demo`: being written.

use std::process::ExitCode;

/// Options of the demo.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Play the app and the person too, in both eras, and say whether all went right.
    #[arg(long)]
    pub auto: bool,
}

/// Runs the command.
pub async fn run(_args: Args) -> ExitCode {
    ExitCode::FAILURE
}
