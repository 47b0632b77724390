//! `usher users forget`: all that is stored of somebody goes, but the audit log.

use std::process::ExitCode;

use elicit::UserId;
use serde_json::json;
use usher_store::Leave;

use super::{described, holdings};
use crate::{
    clock::{Clock as _, SystemClock},
    commands::{
        ConfigArgs,
        change::{ChangeError, confirm, named, tell},
        direct::Direct,
        let_go::Telling,
    },
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Who vouches for the user, exactly as stored.
    issuer: String,
    /// The issuer's name for the user, exactly as stored.
    subject: String,
    #[command(flatten)]
    telling: Telling,
    /// Go ahead without asking.
    #[arg(long)]
    yes: bool,
    /// Say what was removed as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> Result<ExitCode, ChangeError> {
    let user = UserId::new(args.issuer.as_str(), args.subject.as_str())?;
    let direct = Direct::open(&args.config).await?;
    let stored = direct.store.holdings(&user).await?;
    if stored.is_empty() {
        return Err(ChangeError::NothingOf(named(&user)));
    }
    let connected = direct.store.connections(&user).await?.readable;
    let granted = connected.iter().filter(|one| one.grant.is_some());
    args.telling.check(&direct.config, granted.map(|one| one.provider.as_str()))?;
    eprintln!("Stored of {}: {}.", named(&user), described(&stored));
    confirm(args.yes, "Delete all of it, and sign them out everywhere? The audit log stays.")?;
    // First nobody can use any of it, then its providers are told, then it goes with all else: killed in between, the command
    // is run again, or the service ends what it finds.
    let leaving = direct.store.leave_for(Leave::All(&user), args.telling.lasts(), SystemClock.now()).await?;
    let told = args.telling.tell(&direct, leaving).await?;
    for (one, revocation) in told.outcomes() {
        if let Some(entry) = revocation.told().entry(one) {
            direct.store.audit(entry, SystemClock.now()).await?;
        }
    }
    let forgotten = direct.store.forget_user(&user, SystemClock.now()).await?;
    let code = told.code(tell(direct).await);
    if args.json {
        let (removed, providers) = (holdings(&forgotten), told.json());
        println!(
            "{:#}",
            json!({ "issuer": user.issuer(), "subject": user.subject(), "removed": removed, "providers": providers })
        );
    } else {
        println!("Removed: {}.", described(&forgotten));
        told.print();
        println!(
            "Who can still sign in at the issuer can begin anew: close the account there. \
             Keys that were entered stay valid at their providers: revoke them there."
        );
    }
    Ok(code)
}
