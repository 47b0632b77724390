//! `usher keys retire`: takes a key out of the file, if nothing needs it.

use std::{fmt::Write as _, path::Path, process::ExitCode, time::Duration};

use jiff::Timestamp;
use secrecy::SecretString;
use usher_store::{KeyEntry, KeyFileEdit, KeyFileError, KeyRole, KeyUses, Store, StoreError};

use super::{
    list::{described, needs},
    named,
};
use crate::{
    commands::{ConfigArgs, environment, fail},
    config::Paths,
    relay::STATE_LIVES,
};

/// How long after its time a key may still have sealed: until the service read the file again.
const LATE: Duration = Duration::from_mins(1);

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// The key's id. One that is not in the file any more is dropped from what the store asks for.
    id: String,
    /// Go ahead although the store needs the key: for one that is lost. What needs it stays unreadable, and its owners
    /// are asked to connect anew.
    #[arg(long)]
    lose: bool,
}

#[derive(Debug, thiserror::Error)]
enum RetireError {
    #[error(
        "store.url stands where this command cannot read it, so it is not known what needs the key; run it where it can"
    )]
    NoStore,
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Needed(String),
}

pub(super) async fn run(args: &Args, now: Timestamp) -> ExitCode {
    let (paths, store) = match Paths::load_with_store(&args.config.config, &environment) {
        Ok(found) => found,
        Err(faults) => return fail(&faults),
    };
    match retire(&paths.keys_file, store, args, now).await {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

async fn retire(file: &Path, store: Option<SecretString>, args: &Args, now: Timestamp) -> Result<String, RetireError> {
    let told = |error: KeyFileError| RetireError::File(named(file, &error));
    let store = store.ok_or(RetireError::NoStore)?;
    // Held until the end, so that nobody makes the key active meanwhile.
    let edit = KeyFileEdit::begin(file).map_err(told)?;
    let entry = edit.keys().entry(&args.id).cloned();
    if entry.as_ref().is_some_and(|entry| entry.role == KeyRole::Active) {
        return Err(told(KeyFileError::IsActive { id: args.id.clone() }));
    }
    let needs = needs(&store, std::slice::from_ref(&args.id), now).await?;
    if entry.is_none() && !needs.noted.contains(&args.id) {
        return Err(told(KeyFileError::NoSuchKey { id: args.id.clone(), known: edit.keys().key_ids() }));
    }
    let uses = needs.uses.get(&args.id).copied().unwrap_or_default();
    let states = entry.as_ref().and_then(|entry| states_until(entry, file)).filter(|until| *until > now);
    if args.lose {
        Store::give_up_key(&store, &args.id).await?;
    } else {
        let needed = refusal(&args.id, &uses, states);
        if needed.is_some() || !Store::forget_key(&store, &args.id).await? {
            return Err(RetireError::Needed(needed.unwrap_or_else(|| changed(&args.id))));
        }
    }
    // The note goes first: a crash in between leaves a key that nothing asks for.
    if entry.is_some() {
        edit.remove(&args.id).map_err(told)?;
    }
    Ok(said(&args.id, file, entry.is_some()))
}

/// Until when a request state that the key sealed may be alive. One that was never active sealed none, but only a file
/// that no hand has changed says so for certain: then its last change counts.
fn states_until(entry: &KeyEntry, file: &Path) -> Option<Timestamp> {
    let until = entry.until.or_else(|| {
        let changed = std::fs::metadata(file).ok()?.modified().ok()?;
        Timestamp::try_from(changed).ok()
    })?;
    until.checked_add(STATE_LIVES.saturating_add(LATE)).ok()
}

/// What stands against it. `None` if nothing does.
fn refusal(id: &str, uses: &KeyUses, states: Option<Timestamp>) -> Option<String> {
    let states = states.map(|until| ("questions on their way to hosts".to_owned(), Some(until)));
    let reasons: Vec<_> = described(uses).into_iter().chain(states).collect();
    if reasons.is_empty() {
        return None;
    }
    let mut text = format!("{id} is still needed and stays in the file:");
    for (what, until) in &reasons {
        // Writing into a string cannot fail.
        let _ = match until {
            Some(until) => write!(text, "\n  {what}, until {until:.0} at the latest"),
            None => write!(text, "\n  {what}"),
        };
    }
    let wrapped =
        uses.credentials + uses.sessions.count + uses.browser_sessions.count + uses.api_keys + uses.oauth_clients;
    if wrapped > 0 {
        text.push_str(
            "\nA running service wraps credentials, sessions, browsers and API keys with the active key within minutes; its log \
             names what it cannot open.",
        );
    }
    text.push_str("\nRun this again later.");
    Some(text)
}

/// Between looking and forgetting somebody stored something.
fn changed(id: &str) -> String {
    format!("{id} has just been used by a service whose key file is an older one; hand the file to every replica first")
}

fn said(id: &str, file: &Path, was_there: bool) -> String {
    if was_there {
        format!("{id} is taken out of {}. Copy the file to its backup and to every replica.", file.display())
    } else {
        format!("The store does not ask for {id} any more.")
    }
}

#[cfg(test)]
mod tests {
    use usher_store::Ending;

    use super::*;

    #[test]
    fn a_refusal_says_what_how_many_and_until_when() {
        let at = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap();
        assert_eq!(refusal("k1", &KeyUses::default(), None), None);
        let uses =
            KeyUses { credentials: 12, questions: Ending { count: 1, until: Some(at(60)) }, ..KeyUses::default() };
        let text = refusal("k1", &uses, Some(at(0))).unwrap();
        for line in [
            "k1 is still needed and stays in the file:",
            "  12 credentials",
            "  1 open question, until 2027-01-15T08:01:00Z at the latest",
            "  questions on their way to hosts, until 2027-01-15T08:00:00Z at the latest",
            "Run this again later.",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.contains("wraps credentials"), "{text}");
        assert!(!refusal("k1", &KeyUses::default(), Some(at(0))).unwrap().contains("wraps"));
    }
}
