//! `usher keys`: the master keys that everything is sealed with.

mod list;
mod retire;

use std::{path::Path, process::ExitCode};

use clap::Subcommand;
use elicit::SystemRandom;
use jiff::Timestamp;
use usher_store::{KeyFile, KeyFileEdit, KeyFileError};

pub(super) use self::list::named_count;
use super::{ConfigArgs, environment, fail};
use crate::{
    clock::{Clock, SystemClock},
    config::Paths,
};

/// What to do with the keys.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the key file once; hand the same file to every replica.
    Init(ConfigArgs),
    /// Show the keys of the file, and what in the store still needs each.
    List(ConfigArgs),
    /// Add a new key, which seals from now on. A running service takes it up by itself.
    Rotate(RotateArgs),
    /// Seal with a key that was added, once every replica has it.
    Activate(ActivateArgs),
    /// Take a key out of the file for ever, if nothing in the store needs it.
    Retire(retire::Args),
}

/// The arguments of `usher keys rotate`.
#[derive(Debug, clap::Args)]
pub struct RotateArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Only add it, to be handed to every replica before one of them seals with it: usher keys activate.
    #[arg(long)]
    add_only: bool,
}

/// The arguments of `usher keys activate`.
#[derive(Debug, clap::Args)]
pub struct ActivateArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The key's id.
    id: String,
}

/// Runs the command.
pub async fn run(command: &Command) -> ExitCode {
    let now = SystemClock.now();
    let done = match command {
        Command::Init(args) => with_file(args, |file| init(file, now)),
        Command::List(args) => return list::run(args, now).await,
        Command::Rotate(args) => {
            with_file(&args.config, |file| if args.add_only { add(file, now) } else { rotate(file, now) })
        }
        Command::Activate(args) => with_file(&args.config, |file| activate(file, &args.id, now)),
        Command::Retire(args) => return retire::run(args, now).await,
    };
    match done {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(code) => code,
    }
}

/// What is to be said, or that the failure was said.
fn with_file(args: &ConfigArgs, work: impl FnOnce(&Path) -> Result<String, KeyFileError>) -> Result<String, ExitCode> {
    let paths = Paths::load(&args.config, &environment).map_err(|faults| fail(&faults))?;
    let file = &paths.keys_file;
    work(file).map_err(|error| fail(&named(file, &error)))
}

/// An error of a key file, with its path.
pub(super) fn named(file: &Path, error: &KeyFileError) -> String {
    match error {
        KeyFileError::File { .. } | KeyFileError::Exists { .. } | KeyFileError::Exposed { .. } => error.to_string(),
        other => format!("{}: {other}", file.display()),
    }
}

fn init(file: &Path, now: Timestamp) -> Result<String, KeyFileError> {
    KeyFile::create(file, &SystemRandom, now)?;
    Ok(format!("{} is made. Keep a copy apart from the store's: without it nothing stored opens.", file.display()))
}

fn rotate(file: &Path, now: Timestamp) -> Result<String, KeyFileError> {
    let edit = KeyFileEdit::begin(file)?;
    let before = edit.keys().key_ids().into_iter().next().unwrap_or_default();
    let id = edit.rotate(&SystemRandom, now)?;
    Ok(format!(
        "{id} is the active key of {} now; {before} opens what it sealed.\n\
         A running service takes it up within seconds and wraps what is stored with it. Copy the file to its backup.\n\
         See what still needs {before}: usher keys list",
        file.display()
    ))
}

fn add(file: &Path, now: Timestamp) -> Result<String, KeyFileError> {
    let id = KeyFileEdit::begin(file)?.add(&SystemRandom, now)?;
    Ok(format!(
        "{id} stands in {} and does not seal yet. Copy the file to its backup and to every replica; each takes it up\n\
         within seconds, and says so in its log. Then: usher keys activate {id}",
        file.display()
    ))
}

fn activate(file: &Path, id: &str, now: Timestamp) -> Result<String, KeyFileError> {
    if KeyFileEdit::begin(file)?.activate(id, now)? {
        return Ok(format!(
            "{id} is the active key of {} now. Copy the file to its backup and to every replica.",
            file.display()
        ));
    }
    Ok(format!("{id} is the active key already."))
}
