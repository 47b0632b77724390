//! What an operator's command does to people's data: it is asked for first, and the running service is told afterwards.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};

use super::{
    direct::{Direct, DirectError, Told},
    fail,
};

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChangeError {
    #[error(transparent)]
    Direct(#[from] DirectError),
    #[error(transparent)]
    Store(#[from] usher_store::StoreError),
    #[error("{0}")]
    NoUser(#[from] elicit::IdentityError),
    #[error("nothing is stored of {0}; issuer and subject must be exactly as usher users list --json prints them")]
    NothingOf(String),
    #[error("there is no such connection; see which there are: usher connections list")]
    NoConnection,
    #[error(
        "{provider} ends nothing without the secret of our client, which cannot be had here: {why}. Nothing was changed; give \
         this command what the service has, or say --offline to tell nobody"
    )]
    NoSecret {
        /// The provider's name.
        provider: String,
        /// Why.
        why: String,
    },
    #[error("nobody can be asked here, so nothing was changed; say --yes to go ahead")]
    NobodyToAsk,
    #[error("nothing was changed")]
    Refused,
    #[error("the terminal cannot be read ({0}), so nothing was changed; say --yes to go ahead")]
    Terminal(#[from] io::Error),
}

/// Has the person at the terminal say whether to go ahead, unless `yes` says so.
pub(super) fn confirm(yes: bool, question: &str) -> Result<(), ChangeError> {
    if yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(ChangeError::NobodyToAsk);
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    agreed(&answer).then_some(()).ok_or(ChangeError::Refused)
}

fn agreed(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// Has the service on this machine use what was changed. Other replicas hear of it from the store.
pub(super) async fn tell(direct: Direct) -> ExitCode {
    match direct.close().await {
        Told::Yes | Told::NotRunning => ExitCode::SUCCESS,
        Told::No(why) => fail(&format!(
            "it is done, but the running service does not know: {why}. It may use what it keeps in memory for a minute; \
             restart it to be sure"
        )),
    }
}

/// Somebody else's text for the terminal: one line, in which nothing is hidden.
pub(super) fn shown(text: &str) -> String {
    elicit::text::line(text, 200).into_owned()
}

/// A user for the terminal.
pub(super) fn named(user: &elicit::UserId) -> String {
    format!("{} of {}", shown(user.subject()), shown(user.issuer()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_goes_ahead() {
        for answer in ["y", "yes\n", " YES \r\n"] {
            assert!(agreed(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n", "no", "yess", "j"] {
            assert!(!agreed(answer), "{answer:?}");
        }
    }

    #[test]
    fn a_user_is_named_in_one_line_that_hides_nothing() {
        let user = elicit::UserId::new("https://issuer.example", "ada\u{202e}\u{2028}x").unwrap();
        assert_eq!(named(&user), "ada‹U+202E›‹U+2028›x of https://issuer.example");
    }
}
