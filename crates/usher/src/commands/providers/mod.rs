//! `usher providers`: the services at which people connect accounts, those of the configuration and those of the catalogue.

mod described;
mod list;
mod probe;
mod server;
mod show;
mod test;

use std::{path::Path, process::ExitCode};

use clap::Subcommand;

use super::environment;
use crate::config::{Config, Faults, ProviderKind};

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show which there are: those of the configuration, and those that the catalogue knows.
    List(list::Args),
    /// Show what is known of one, and what has to be set up for it.
    Show(show::Args),
    /// Ask a configured one whether it is there and knows our client. No account is connected.
    Test(test::Args),
}

/// Runs the command.
pub(super) async fn run(command: &Command) -> ExitCode {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Test(args) => test::run(args).await,
    }
}

/// The configuration, if there is one: the catalogue can be read before anything is configured. Secrets that it names need not
/// be there.
fn configured(path: &Path) -> Result<Option<Config>, Faults> {
    if path.try_exists().is_ok_and(|there| !there) {
        return Ok(None);
    }
    Config::load_beside(path, &environment).map(Some)
}

/// What a kind is called in the configuration.
fn kind(kind: &ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Secret { .. } => "secret",
        ProviderKind::OAuth(_) => "oauth",
        ProviderKind::Mcp(_) => "mcp",
        ProviderKind::External(_) => "external",
        ProviderKind::Approval => "approval",
    }
}
