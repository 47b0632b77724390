//! `usher connections list`.

use std::{collections::BTreeSet, process::ExitCode};

use jiff::Timestamp;
use serde_json::{Value, json};
use usher_store::{Approval, StoredConnection};

use super::{Which, find};
use crate::commands::{
    ConfigArgs,
    change::{ChangeError, named, shown},
    direct::Direct,
    table,
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    which: Which,
    /// As JSON: an array of objects, with names exactly as they are stored.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> Result<ExitCode, ChangeError> {
    let user = args.which.user()?;
    let Direct { store, .. } = Direct::open(&args.config).await?;
    let found = find(&store, args.which.filter(user.as_ref())).await?;
    store.close().await;
    if args.json {
        println!("{:#}", Value::from(found.iter().map(object).collect::<Vec<_>>()));
    } else if found.is_empty() {
        println!("There is no such connection.");
    } else {
        let mut rows = vec![["ID", "USER", "PROVIDER", "STATE", "LAST USED", "SENT TO"].map(str::to_owned)];
        rows.extend(found.iter().map(row));
        print!("{}", table::text(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(one: &StoredConnection) -> [String; 6] {
    let used = one.last_used_at.map_or_else(|| "not yet".to_owned(), |used| format!("{used:.0}"));
    let targets: BTreeSet<_> = approvals(one).iter().map(|one| shown(&one.destination.upstream)).collect();
    let sent_to = targets.into_iter().collect::<Vec<_>>().join(", ");
    [shown(&one.id), named(&one.user), shown(&one.provider), state(one).to_owned(), used, sent_to]
}

fn approvals(one: &StoredConnection) -> &[Approval] {
    one.approvals.as_deref().unwrap_or_default()
}

fn state(one: &StoredConnection) -> &'static str {
    if one.approvals.is_none() { "cannot be read" } else { one.status.as_str() }
}

fn object(one: &StoredConnection) -> Value {
    let approval = |approval: &Approval| {
        json!({
            "client": approval.client.as_str(),
            "upstream": approval.destination.upstream,
            "target": approval.destination.target,
        })
    };
    json!({
        "id": one.id,
        "issuer": one.user.issuer(),
        "subject": one.user.subject(),
        "provider": one.provider,
        "state": state(one),
        "created_at": one.created_at.to_string(),
        "updated_at": one.updated_at.to_string(),
        "last_used_at": one.last_used_at.as_ref().map(Timestamp::to_string),
        "approvals": one.approvals.as_ref().map(|all| all.iter().map(approval).collect::<Vec<_>>()),
    })
}
