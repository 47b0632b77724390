//! `usher users`: of whom something is stored, and forgetting somebody who has left.

mod forget;
mod list;

use std::process::ExitCode;

use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};
use usher_store::{Holdings, StoredUser};

use super::{fail, keys::named_count};

/// What to do with them.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show everybody of whom something is stored, and how much.
    List(list::Args),
    /// Delete all that is stored of somebody, and sign them out everywhere. The audit log stays.
    Forget(forget::Args),
}

/// Runs the command.
pub(super) async fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::List(args) => list::run(args).await,
        Command::Forget(args) => forget::run(args).await,
    };
    done.unwrap_or_else(|error| fail(&error))
}

/// What is stored of a user, in words: what there is of it.
fn described(holdings: &Holdings) -> String {
    let Holdings { connections, questions, sessions, browser_sessions, login_links } = *holdings;
    let counts = [
        (connections, "connection", "connections"),
        (questions, "question of the last 30 days", "questions of the last 30 days"),
        (sessions, "session of a host", "sessions of hosts"),
        (browser_sessions, "signed-in browser", "signed-in browsers"),
        (login_links, "sign-in link", "sign-in links"),
    ];
    let there = counts.into_iter().filter(|(count, ..)| *count > 0);
    let words: Vec<_> = there.map(|(count, one, many)| named_count(count, one, many)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn holdings(holdings: &Holdings) -> Value {
    json!({
        "connections": holdings.connections,
        "questions": holdings.questions,
        "sessions": holdings.sessions,
        "browser_sessions": holdings.browser_sessions,
        "login_links": holdings.login_links,
    })
}

fn object(user: &StoredUser) -> Value {
    json!({
        "issuer": user.user.issuer(),
        "subject": user.user.subject(),
        "stored": holdings(&user.holdings),
        "last_seen_at": user.last_seen_at.as_ref().map(Timestamp::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_told_in_words() {
        assert_eq!(described(&Holdings::default()), "nothing");
        let some = Holdings { connections: 1, browser_sessions: 2, ..Holdings::default() };
        assert_eq!(described(&some), "1 connection, 2 signed-in browsers");
    }
}
