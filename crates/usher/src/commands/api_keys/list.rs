//! `usher api-keys list`.

use jiff::Timestamp;
use serde_json::{Value, json};
use usher_store::{ApiScope, ListedApiKey};

use super::ApiKeysError;
use crate::commands::{ConfigArgs, direct::Direct, table};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// As JSON: an array of objects.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, now: Timestamp) -> Result<(), ApiKeysError> {
    let store = Direct::open(&args.config).await?.store;
    let keys = store.api_keys().await;
    store.close().await;
    let keys = keys?;
    if args.json {
        let keys: Vec<_> = keys.iter().map(|key| object(key, now)).collect();
        println!("{:#}", Value::from(keys));
    } else if keys.is_empty() {
        println!("There is no key. Make one: usher api-keys create SERVER");
    } else {
        let head = ["ID", "SERVER", "NAME", "SCOPES", "STATE", "LAST USED"].map(str::to_owned);
        print!(
            "{}",
            table::text(&std::iter::once(head).chain(keys.iter().map(|key| row(key, now))).collect::<Vec<_>>())
        );
    }
    Ok(())
}

fn row(ListedApiKey { key, genuine }: &ListedApiKey, now: Timestamp) -> [String; 6] {
    let state = match key.expires_at {
        _ if !genuine => "changed outside of Usher, or its master key is gone: revoke it".to_owned(),
        Some(end) if end <= now => format!("expired {end:.0}"),
        Some(end) => format!("until {end:.0}"),
        None => "valid".to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), |used| format!("{used:.0}"));
    [key.id.to_string(), key.server.clone(), key.name.clone(), key.scopes.to_string(), state, used]
}

fn object(ListedApiKey { key, genuine }: &ListedApiKey, now: Timestamp) -> Value {
    let at = |time: Option<Timestamp>| time.map(|time| time.to_string());
    json!({
        "id": key.id.as_str(),
        "server": key.server,
        "name": key.name,
        "scopes": key.scopes.iter().map(ApiScope::as_str).collect::<Vec<_>>(),
        "created_at": key.created_at.to_string(),
        "rotated_at": at(key.rotated_at),
        "former_until": at(key.former_until),
        "expires_at": at(key.expires_at),
        "last_used_at": at(key.last_used_at),
        "valid": *genuine && !key.is_expired(now),
    })
}
