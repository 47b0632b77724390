//! `usher connections revoke`: deletes what somebody connected.

use std::process::ExitCode;

use serde_json::json;
use usher_store::{ConnectionFilter, Leave, StoredConnection};

use super::{Which, find};
use crate::{
    clock::{Clock as _, SystemClock},
    commands::{
        ConfigArgs,
        change::{ChangeError, confirm, named, shown, tell},
        direct::Direct,
        let_go::Telling,
    },
    config::{Config, Provider},
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
    #[command(flatten)]
    telling: Telling,
    /// Go ahead without asking.
    #[arg(long)]
    yes: bool,
    /// Say what was done as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> Result<ExitCode, ChangeError> {
    let user = args.which.user()?;
    let direct = Direct::open(&args.config).await?;
    let filter = ConnectionFilter { id: args.id.as_deref(), ..args.which.filter(user.as_ref()) };
    let found = find(&direct.store, filter).await?;
    if found.is_empty() {
        return Err(ChangeError::NoConnection);
    }
    let granted = found.iter().filter(|one| was_granted(&direct.config, one));
    args.telling.check(&direct.config, granted.map(|one| one.provider.as_str()))?;
    for one in &found {
        eprintln!("{}  {} of {}", shown(&one.id), shown(&one.provider), named(&one.user));
    }
    confirm(args.yes, "Delete what is kept for each of these?")?;
    let (mut revoked, mut leaving) = (0, Vec::new());
    for one in &found {
        // Whoever disconnected meanwhile did the same.
        if was_granted(&direct.config, one) {
            let (one, lasts) = (Leave::One(&one.id), args.telling.lasts());
            leaving.extend(direct.store.leave_for(one, lasts, SystemClock.now()).await?);
        } else {
            revoked += usize::from(direct.store.revoke_connection(&one.id, SystemClock.now()).await?.is_some());
        }
    }
    let entered = revoked;
    let told = args.telling.tell(&direct, leaving).await?;
    for (one, revocation) in told.outcomes() {
        revoked += usize::from(direct.store.left(one, revocation.told(), SystemClock.now()).await?);
    }
    let code = told.code(tell(direct).await);
    if args.json {
        println!("{:#}", json!({ "revoked": revoked, "providers": told.json() }));
        return Ok(code);
    }
    println!("Revoked: {revoked}.");
    told.print();
    if entered > 0 {
        println!("What was entered stays valid at its provider: revoke it there.");
    }
    Ok(code)
}

/// Whether there may be something to end at a provider.
fn was_granted(config: &Config, one: &StoredConnection) -> bool {
    one.granted.is_some()
        || (one.approvals.is_none() && config.provider(&one.provider).is_some_and(Provider::is_account))
}
