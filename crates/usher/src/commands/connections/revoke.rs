//! `usher connections revoke`: deletes what somebody connected.

use std::process::ExitCode;

use jiff::Timestamp;
use usher_store::ConnectionFilter;

use super::{Which, find};
use crate::commands::{
    ConfigArgs,
    change::{ChangeError, confirm, named, shown, tell},
    direct::Direct,
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("target").required(true).multiple(true).args(["id", "user", "provider", "upstream"])))]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// The connection's id.
    #[arg(conflicts_with_all = ["user", "provider", "upstream"])]
    id: Option<String>,
    #[command(flatten)]
    which: Which,
    /// Go ahead without asking.
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(args: &Args, now: Timestamp) -> Result<ExitCode, ChangeError> {
    let user = args.which.user()?;
    let direct = Direct::open(&args.config).await?;
    let filter = ConnectionFilter { id: args.id.as_deref(), ..args.which.filter(user.as_ref()) };
    let found = find(&direct.store, filter).await?;
    if found.is_empty() {
        return Err(ChangeError::NoConnection);
    }
    for one in &found {
        eprintln!("{}  {} of {}", shown(&one.id), shown(&one.provider), named(&one.user));
    }
    confirm(args.yes, "Delete what is kept for each of these?")?;
    let mut revoked = 0;
    for one in &found {
        // Whoever disconnected meanwhile did the same.
        revoked += usize::from(direct.store.revoke_connection(&one.id, now).await?.is_some());
    }
    let code = tell(direct).await;
    println!("Revoked: {revoked}. What was entered stays valid at its provider: revoke it there.");
    Ok(code)
}
