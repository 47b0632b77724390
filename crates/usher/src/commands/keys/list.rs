//! `usher keys list`: the keys of the file, and what needs each.

use std::{collections::BTreeMap, process::ExitCode};

use jiff::Timestamp;
use secrecy::SecretString;
use usher_store::{Ending, KeyEntry, KeyFile, KeyUses, Schema, Store, StoreError};

use super::named;
use crate::{
    commands::{ConfigArgs, environment, fail, table},
    config::Paths,
};

/// What the store says of the keys.
#[derive(Default)]
pub(super) struct Needs {
    /// Ids of the keys that stored credentials need, as noted.
    pub(super) noted: Vec<String>,
    /// What needs each key that was asked for.
    pub(super) uses: BTreeMap<String, KeyUses>,
}

pub(super) async fn run(args: &ConfigArgs, now: Timestamp) -> ExitCode {
    let (paths, store) = match Paths::load_with_store(&args.config, &environment) {
        Ok(found) => found,
        Err(faults) => return fail(&faults),
    };
    let keys = match KeyFile::load(&paths.keys_file) {
        Ok(keys) => keys,
        Err(error) => return fail(&named(&paths.keys_file, &error)),
    };
    let needs = match store {
        Some(store) => needs(&store, &keys.key_ids(), now).await.map_err(|error| error.to_string()),
        None => Err("store.url stands where this command cannot read it".to_owned()),
    };
    println!("{}\n", paths.keys_file.display());
    print!("{}", shown(keys.entries(), needs.as_ref().ok()));
    match needs {
        Ok(needs) => {
            let lacking: Vec<_> = needs.noted.into_iter().filter(|id| keys.entry(id).is_none()).collect();
            if lacking.is_empty() {
                return ExitCode::SUCCESS;
            }
            fail(&StoreError::MissingKey { ids: lacking })
        }
        Err(why) => {
            eprintln!("usher: what needs the keys is not known: {why}");
            ExitCode::SUCCESS
        }
    }
}

/// Asks a store that a service may be using.
pub(super) async fn needs(store: &SecretString, ids: &[String], now: Timestamp) -> Result<Needs, StoreError> {
    let Some(mut inspection) = Store::inspect(store).await? else { return Ok(none(ids)) };
    let found = async {
        match inspection.schema().await? {
            Schema::None => Ok(none(ids)),
            Schema::Older { found, known } => Err(StoreError::OlderSchema { found, known }),
            Schema::Newer { found, known } => Err(StoreError::NewerSchema { found, known }),
            Schema::Current { .. } => {
                Ok(Needs { noted: inspection.needed_keys().await?, uses: inspection.key_uses(ids, now).await? })
            }
        }
    }
    .await;
    inspection.close().await;
    found
}

/// A store that is not there needs nothing.
fn none(ids: &[String]) -> Needs {
    Needs { noted: Vec::new(), uses: ids.iter().map(|id| (id.clone(), KeyUses::default())).collect() }
}

fn shown<'a>(entries: impl Iterator<Item = &'a KeyEntry>, needs: Option<&Needs>) -> String {
    let rows = entries.map(|entry| {
        let made = entry.made.map_or_else(|| "unknown".to_owned(), |made| format!("{made:.0}"));
        let needed = match needs.and_then(|needs| needs.uses.get(&entry.id)) {
            None => "not known".to_owned(),
            Some(uses) if uses.is_empty() => "nothing".to_owned(),
            Some(uses) => described(uses).into_iter().map(|(what, _)| what).collect::<Vec<_>>().join(", "),
        };
        [entry.id.clone(), entry.role.as_str().to_owned(), made, needed]
    });
    let head = ["ID", "ROLE", "MADE", "NEEDED BY"].map(str::to_owned);
    table::text(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// What needs a key, in words, and until when where that ends by itself.
pub(super) fn described(uses: &KeyUses) -> Vec<(String, Option<Timestamp>)> {
    let ending =
        |ending: Ending, one: &str, many: &str| (ending.count, named_count(ending.count, one, many), ending.until);
    [
        (uses.credentials, named_count(uses.credentials, "credential", "credentials"), None),
        ending(uses.sessions, "session of a host", "sessions of hosts"),
        ending(uses.browser_sessions, "signed-in browser", "signed-in browsers"),
        (uses.api_keys, named_count(uses.api_keys, "API key", "API keys"), None),
        (
            uses.oauth_clients,
            named_count(uses.oauth_clients, "registration at a provider", "registrations at providers"),
            None,
        ),
        ending(uses.questions, "open question", "open questions"),
        ending(uses.approvals, "approved call", "approved calls"),
        ending(uses.flows, "sign-in at a provider", "sign-ins at providers"),
        ending(uses.login_links, "sign-in link", "sign-in links"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(_, what, until)| (what, until))
    .collect()
}

/// A number of things, in words.
pub(in crate::commands) fn named_count(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_key_is_told_in_words() {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let uses =
            KeyUses { credentials: 2, browser_sessions: Ending { count: 1, until: Some(at) }, ..KeyUses::default() };
        assert_eq!(
            described(&uses),
            [("2 credentials".to_owned(), None), ("1 signed-in browser".to_owned(), Some(at))]
        );
    }
}
