//! `usher connections`: what people connected, without its secrets, and ending it.

mod list;
mod revoke;

use std::process::ExitCode;

use clap::Subcommand;
use elicit::{IdentityError, UserId};
use usher_store::{ConnectionFilter, Store, StoreError, StoredConnection};

use super::fail;

/// Rows a query.
const PAGE: u32 = 200;

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what is connected: whose, at which provider, where it may be sent. Never a secret.
    List(list::Args),
    /// Delete what somebody connected. They are asked anew at the next use.
    Revoke(revoke::Args),
}

/// Which connections.
#[derive(Debug, clap::Args)]
struct Which {
    /// Those of this user.
    #[arg(long, num_args = 2, value_names = ["ISSUER", "SUBJECT"])]
    user: Option<Vec<String>>,
    /// Those for this provider.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Those that may be sent to this server.
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
}

/// Runs the command.
pub(super) async fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::List(args) => list::run(args).await,
        Command::Revoke(args) => revoke::run(args).await,
    };
    done.unwrap_or_else(|error| fail(&error))
}

impl Which {
    /// The user, if one is named.
    fn user(&self) -> Result<Option<UserId>, IdentityError> {
        match self.user.as_deref() {
            Some([issuer, subject]) => UserId::new(issuer.as_str(), subject.as_str()).map(Some),
            _ => Ok(None),
        }
    }

    fn filter<'a>(&'a self, user: Option<&'a UserId>) -> ConnectionFilter<'a> {
        ConnectionFilter { id: None, user, provider: self.provider.as_deref(), upstream: self.upstream.as_deref() }
    }
}

/// All that a filter finds, page by page.
async fn find(store: &Store, filter: ConnectionFilter<'_>) -> Result<Vec<StoredConnection>, StoreError> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_connections(filter, after.as_deref(), PAGE).await?;
        found.extend(page.connections);
        after = page.after;
        if after.is_none() {
            return Ok(found);
        }
    }
}
