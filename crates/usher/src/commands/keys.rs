//! `usher keys init`: makes the key file that several replicas share.

use std::process::ExitCode;

use clap::Subcommand;
use elicit::SystemRandom;
use usher_store::KeyFile;

use super::{ConfigArgs, environment, fail};
use crate::config::Paths;

/// What to do with the keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the key file once; hand the same file to every replica.
    Init(ConfigArgs),
}

/// Runs the command.
pub fn run(command: &Command) -> ExitCode {
    let Command::Init(args) = command;
    let paths = match Paths::load(&args.config, &environment) {
        Ok(paths) => paths,
        Err(faults) => return fail(&faults),
    };
    match KeyFile::create(&paths.keys_file, &SystemRandom) {
        Ok(_) => {
            println!(
                "{} is made. Keep a copy apart from the store's: without it nothing stored opens.",
                paths.keys_file.display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}
