//! `usher api-keys list`.

use jiff::Timestamp;
use serde_json::{Value, json};
use usher_store::{ApiScope, ListedApiKey};

use super::ApiKeysError;
use crate::commands::{ConfigArgs, change::shown, direct::Direct, table};

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

fn row(ListedApiKey { id, key, genuine }: &ListedApiKey, now: Timestamp) -> [String; 6] {
    let Some(key) = key else {
        let state = "no key of Usher's: revoke it".to_owned();
        return [shown(id), String::new(), String::new(), String::new(), state, String::new()];
    };
    let state = match key.expires_at {
        _ if !genuine => "changed outside of Usher, or its master key is gone: revoke it".to_owned(),
        Some(end) if end <= now => format!("expired {end:.0}"),
        Some(end) => format!("until {end:.0}"),
        None => "valid".to_owned(),
    };
    let used = key.last_used_at.map_or_else(|| "never".to_owned(), |used| format!("{used:.0}"));
    [key.id.to_string(), shown(&key.server), shown(&key.name), key.scopes.to_string(), state, used]
}

fn object(ListedApiKey { id, key, genuine }: &ListedApiKey, now: Timestamp) -> Value {
    let Some(key) = key else { return json!({ "id": id, "valid": false }) };
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

#[cfg(test)]
mod tests {
    use usher_store::{ApiKey, ApiScopes};

    use super::*;

    /// Whoever writes to the database does not write to the operator's terminal.
    #[test]
    fn what_the_store_holds_moves_nothing_at_the_terminal() {
        const HOSTILE: &str = "\u{1b}[2J\u{9b}1A\u{202e}x";
        let now = Timestamp::UNIX_EPOCH;
        let key = ApiKey {
            id: "aaaaaaaaaaaa".parse().unwrap(),
            server: HOSTILE.into(),
            name: HOSTILE.into(),
            scopes: ApiScope::ALL.into_iter().collect::<ApiScopes>(),
            created_at: now,
            rotated_at: None,
            former_until: None,
            expires_at: None,
            last_used_at: None,
        };
        let listed = ListedApiKey { id: key.id.to_string(), key: Some(key), genuine: false };
        let impossible = ListedApiKey { id: HOSTILE.into(), key: None, genuine: false };
        for one in [listed, impossible] {
            let line = row(&one, now).join(" ");
            assert!(!line.chars().any(|char| char.is_control() || char == '\u{202e}'), "{line:?}");
            assert!(line.contains("revoke it"), "{line}");
        }
    }
}
