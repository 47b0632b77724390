//! `usher keys init`: makes the key file that several replicas share.

use std::process::ExitCode;

use clap::Subcommand;
use elicit::SystemRandom;
use usher_store::KeyFile;

use super::{ConfigArgs, environment, fail};
use crate::config::Config;

/// What to do with the keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the key file once; hand the same file to every replica.
    Init(ConfigArgs),
}

/// Runs the command.
pub fn run(command: &Command) -> ExitCode {
    let Command::Init(args) = command;
    let config = match Config::load(&args.config, &environment) {
        Ok(config) => config,
        Err(faults) => return fail(&faults),
    };
    match KeyFile::create(&config.keys_file, &SystemRandom) {
        Ok(_) => {
            println!("{} is made. Keep a copy apart from the store's: without it nothing stored opens.", config.keys_file.display());
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}
