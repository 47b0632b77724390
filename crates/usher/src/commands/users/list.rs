//! `usher users list`.

use std::process::ExitCode;

use serde_json::Value;

use super::{described, object};
use crate::commands::{
    ConfigArgs,
    change::{ChangeError, shown},
    direct::Direct,
    table,
};

/// Users a query.
const PAGE: u32 = 200;

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// As JSON: an array of objects, with names exactly as they are stored.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> Result<ExitCode, ChangeError> {
    let Direct { store, .. } = Direct::open(&args.config).await?;
    let (mut users, mut after) = (Vec::new(), None);
    loop {
        let page = store.users(after.as_deref(), PAGE).await?;
        users.extend(page.users);
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    store.close().await;
    users.sort_by(|one, other| one.user.cmp(&other.user));
    if args.json {
        println!("{:#}", Value::from(users.iter().map(object).collect::<Vec<_>>()));
    } else if users.is_empty() {
        println!("Nothing is stored of anybody yet.");
    } else {
        let mut rows = vec![["SUBJECT", "ISSUER", "LAST SEEN", "STORED"].map(str::to_owned)];
        rows.extend(users.iter().map(|one| {
            let seen = one.last_seen_at.map_or_else(|| "not yet".to_owned(), |seen| format!("{seen:.0}"));
            [shown(one.user.subject()), shown(one.user.issuer()), seen, described(&one.holdings)]
        }));
        print!("{}", table::text(&rows));
    }
    Ok(ExitCode::SUCCESS)
}
