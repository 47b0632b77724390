//! What an operator's command tells providers when it deletes what people connected, and what it says of that.

use std::{process::ExitCode, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use usher_store::Leaving;

use super::{
    change::{named, shown},
    direct::{Direct, DirectError},
};
use crate::{
    clock::SystemClock,
    credentials::{
        let_go::{BATCH_WAIT, LetGo},
        revoke::Revocation,
    },
    egress::Egress,
};

/// The exit code where everything is deleted here, and something may still be good at its provider.
const STILL_LISTED: u8 = 3;

/// How the providers are told.
#[derive(Debug, clap::Args)]
pub(super) struct Telling {
    /// Tell no provider: what was granted there stays listed, and good, until it is removed there.
    #[arg(long, conflicts_with = "wait")]
    offline: bool,
    /// How long to tell the providers, in seconds, in all. What was not told by then is deleted here all the same.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: Option<u64>,
}

/// What became of credentials at their providers.
pub(super) struct Told {
    outcomes: Vec<(Leaving, Revocation)>,
    /// Nobody was to be told.
    offline: bool,
}

impl Telling {
    /// Tells the providers of what nobody can use any more. What a running service keeps of it goes first.
    pub(super) async fn tell(&self, direct: &Direct, leaving: Vec<Leaving>) -> Result<Told, DirectError> {
        let Direct { store, config, .. } = direct;
        if !leaving.is_empty() {
            // It is told again at the end: what could not be said now is said then.
            let _ = direct.tell().await;
        }
        let egress = Egress::allowing(config.egress.clone())?;
        let wait = self.wait.map_or(BATCH_WAIT, Duration::from_secs);
        let deadline = (!self.offline).then(|| Instant::now() + wait);
        let let_go = LetGo { store, config, egress: &egress, clock: &SystemClock };
        Ok(Told { outcomes: let_go.many(leaving, deadline).await, offline: self.offline })
    }
}

impl Told {
    /// Each credential, and what became of it.
    pub(super) fn outcomes(&self) -> &[(Leaving, Revocation)] {
        &self.outcomes
    }

    /// The exit code of a command that has done all else.
    pub(super) fn code(&self, code: ExitCode) -> ExitCode {
        let listed = |(_, revocation): &(_, Revocation)| matches!(revocation, Revocation::StillListed { .. });
        if code == ExitCode::SUCCESS && !self.offline && self.outcomes.iter().any(listed) {
            return ExitCode::from(STILL_LISTED);
        }
        code
    }

    /// Says it to a person.
    pub(super) fn print(&self) {
        for (one, revocation) in &self.outcomes {
            let (provider, user) = (shown(&one.provider), named(&one.user));
            match revocation {
                Revocation::Nothing => {}
                Revocation::Ended { host } => println!("{provider} of {user}: ended at {} too.", shown(host)),
                Revocation::StillListed { host, why } => {
                    let host = host.as_deref().map_or_else(|| "the provider".to_owned(), shown);
                    println!(
                        "{provider} of {user}: may still be listed, and good, at {host}: {why}. Its owner removes it there, \
                         among the connected or authorized apps of their account."
                    );
                }
            }
        }
    }

    /// The same for programs: what was granted somewhere, each with what became of it there.
    pub(super) fn json(&self) -> Value {
        let object = |(one, revocation): &(Leaving, Revocation)| {
            let (outcome, host, why) = match revocation {
                Revocation::Nothing => return None,
                Revocation::Ended { host } => ("ended", Some(host.as_str()), None),
                Revocation::StillListed { host, why } => ("still-listed", host.as_deref(), Some(why.as_str())),
            };
            Some(json!({
                "id": one.id,
                "issuer": one.user.issuer(),
                "subject": one.user.subject(),
                "provider": one.provider,
                "outcome": outcome,
                "host": host,
                "why": why,
            }))
        };
        self.outcomes.iter().filter_map(object).collect()
    }
}
