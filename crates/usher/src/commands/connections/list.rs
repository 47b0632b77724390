//! `usher connections list`.

use std::{collections::BTreeSet, process::ExitCode};

use jiff::Timestamp;
use serde_json::{Value, json};
use usher_store::{Approval, Granted, StoredConnection};

use super::{Which, find};
use crate::{
    commands::{
        ConfigArgs,
        change::{ChangeError, named, shown},
        direct::Direct,
        table,
    },
    config::{Config, ProviderKind},
};

const HEAD: [&str; 10] =
    ["ID", "USER", "PROVIDER", "KIND", "ACCOUNT", "STATE", "EXPIRES", "SCOPES", "LAST USED", "SENT TO"];

/// What stands where there is nothing to say.
const NONE: &str = "-";

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
    let Direct { store, config } = Direct::open(&args.config).await?;
    let found = find(&store, args.which.filter(user.as_ref())).await?;
    store.close().await;
    if args.json {
        println!("{:#}", Value::from(found.iter().map(|one| object(&config, one)).collect::<Vec<_>>()));
    } else if found.is_empty() {
        println!("There is no such connection.");
    } else {
        let mut rows = vec![HEAD.map(str::to_owned)];
        rows.extend(found.iter().map(|one| row(&config, one)));
        print!("{}", table::text(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(config: &Config, one: &StoredConnection) -> [String; 10] {
    let used = one.last_used_at.map_or_else(|| "not yet".to_owned(), |used| format!("{used:.0}"));
    let targets: BTreeSet<_> = approvals(one).iter().map(|one| shown(&one.destination.upstream)).collect();
    let sent_to = targets.into_iter().collect::<Vec<_>>().join(", ");
    let granted = one.granted.as_ref();
    let account = granted.and_then(|granted| granted.account.as_deref()).map_or_else(|| NONE.to_owned(), shown);
    let scopes = granted.map(|granted| granted.scopes.iter().map(|scope| shown(scope)).collect::<Vec<_>>().join(" "));
    [
        shown(&one.id),
        named(&one.user),
        shown(&one.provider),
        kind(config, one).unwrap_or("not configured").to_owned(),
        account,
        state(one).to_owned(),
        granted.map_or_else(|| NONE.to_owned(), expires),
        scopes.filter(|scopes| !scopes.is_empty()).unwrap_or_else(|| NONE.to_owned()),
        used,
        sent_to,
    ]
}

/// What its provider is; `None` where it is not in the configuration any more, so that nothing is sent anywhere.
fn kind(config: &Config, one: &StoredConnection) -> Option<&'static str> {
    config.provider(&one.provider).map(|provider| match provider.kind {
        ProviderKind::Secret { .. } => "secret",
        ProviderKind::OAuth(_) => "oauth",
        ProviderKind::Mcp(_) => "mcp",
        ProviderKind::External(_) => "external",
        ProviderKind::Approval => "approval",
    })
}

fn expires(granted: &Granted) -> String {
    match granted.expires_at {
        _ if granted.renewed => "renewed".to_owned(),
        Some(at) => format!("{at:.0}"),
        None => NONE.to_owned(),
    }
}

fn approvals(one: &StoredConnection) -> &[Approval] {
    one.approvals.as_deref().unwrap_or_default()
}

fn state(one: &StoredConnection) -> &'static str {
    if one.approvals.is_none() { "cannot be read" } else { one.status.as_str() }
}

fn object(config: &Config, one: &StoredConnection) -> Value {
    let approval = |approval: &Approval| {
        json!({
            "client": approval.client.as_str(),
            "upstream": approval.destination.upstream,
            "target": approval.destination.target,
        })
    };
    let granted = one.granted.as_ref().map(|granted| {
        json!({
            "account": granted.account,
            "issuer": granted.issuer,
            "scopes": granted.scopes,
            "demanded": granted.demanded,
            "expires_at": granted.expires_at.as_ref().map(Timestamp::to_string),
            "renewed": granted.renewed,
        })
    });
    json!({
        "id": one.id,
        "issuer": one.user.issuer(),
        "subject": one.user.subject(),
        "provider": one.provider,
        "kind": kind(config, one),
        "granted": granted,
        "state": state(one),
        "created_at": one.created_at.to_string(),
        "updated_at": one.updated_at.to_string(),
        "last_used_at": one.last_used_at.as_ref().map(Timestamp::to_string),
        "approvals": one.approvals.as_ref().map(|all| all.iter().map(approval).collect::<Vec<_>>()),
    })
}
