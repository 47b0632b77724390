//! `usher login`: asks the running service for a one-time link, and opens it.
//!
//! Whoever can read the control file is the owner of this machine's service (R-SEC-07, R-SEC-08).

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::{ConfigArgs, environment, fail, forward};
use crate::config::{Faults, Paths};
use crate::egress::{Egress, is_refused, reason};
use crate::identity::control::{ControlError, ControlFile};

/// How long the service on this machine may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// The longest answer that is read.
const LONGEST: usize = 16 * 1024;

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print the link instead of opening a browser.
    #[arg(long)]
    no_browser: bool,
}

/// A link that signs its first visitor in.
struct Link {
    url: SecretString,
    lives: Duration,
}

/// What the service answers.
#[derive(Deserialize)]
struct Answer {
    url: String,
    expires_in: u64,
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
enum LoginError {
    #[error("{0}")]
    Config(#[from] Faults),
    #[error("there is no {}; run it in the folder of the running service's usher.toml, or name it with --config", .0.display())]
    NoConfig(PathBuf),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error("nothing answers at {0}: the service is not running; start it with usher serve")]
    NotRunning(String),
    #[error("{0} cannot be reached: {1}; look at the service's log, and at listen.address")]
    Unreachable(String, String),
    #[error("{0} does not answer within 10 seconds; look at the service's log")]
    Silent(String),
    #[error(
        "the service at {0} does not accept this control file: it was started with another configuration, or again \
         just now; name its configuration with --config, or try once more"
    )]
    Refused(String),
    #[error("the service at {0} cannot make a link; its log says why")]
    Failed(String),
    #[error(
        "the service at {0} has its people sign in by an OpenID provider (identity mode oidc), so there is no link to \
         make: open {0}/ in a browser"
    )]
    AtIssuer(String),
    #[error("what answers at {0} is not this service ({1}); another program may have taken its port")]
    Stranger(String, String),
    #[error("the HTTP client cannot start: {0}")]
    Client(#[source] reqwest::Error),
}

/// Runs the command.
pub async fn run(args: Args) -> ExitCode {
    match login(&args, &|page| forward::show(page, &environment)).await {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

/// Gets a link and has `show` open the page that leads to it. The result is for the terminal: it holds the link
/// only where no browser could be opened.
async fn login(args: &Args, show: &(dyn Fn(&std::path::Path) -> bool + Sync)) -> Result<String, LoginError> {
    let config = &args.config.config;
    if !config.try_exists().unwrap_or(true) {
        return Err(LoginError::NoConfig(config.clone()));
    }
    let Paths { control_file, .. } = &Paths::load(config, &environment)?;
    let link = ask(&ControlFile::load(control_file)?).await?;
    let mut text = String::new();
    if !args.no_browser {
        let page = forward::page(control_file);
        match forward::write(&page, &link.url) {
            Ok(()) if show(&page) => {
                text.push_str(
                    "The sign-in page opens in your browser.\nIf it does not, run: usher login --no-browser\n",
                );
                return Ok(text);
            }
            Ok(()) => {
                // Nobody will open it, and it holds the link.
                let _ = std::fs::remove_file(&page);
                text.push_str("No browser could be opened here.\n");
            }
            Err(error) => {
                // Writing into a string cannot fail.
                let _ = writeln!(text, "{} cannot be written ({error}), so no browser was opened.", page.display());
            }
        }
    }
    let minutes = link.lives.as_secs() / 60;
    let _ = writeln!(
        text,
        "Open this link in a browser on this machine. It works once, within {minutes} minutes, for whoever opens it:\n\n  {}\n",
        link.url.expose_secret(),
    );
    Ok(text)
}

/// Asks the service for a link.
async fn ask(control: &ControlFile) -> Result<Link, LoginError> {
    let origin = || control.url.origin().to_owned();
    let trouble = |error: reqwest::Error| {
        if error.is_timeout() {
            LoginError::Silent(control.place())
        } else if is_refused(&error) {
            LoginError::NotRunning(control.place())
        } else if error.is_connect() {
            LoginError::Unreachable(control.place(), reason(&error))
        } else {
            LoginError::Stranger(origin(), "it does not speak HTTP".to_owned())
        }
    };
    let mut response = control
        .command(&Egress::new().map_err(LoginError::Client)?, Method::POST, "/login/links")
        .header(http::header::ACCEPT, "application/json")
        .timeout(DEADLINE)
        .send()
        .await
        .map_err(trouble)?;
    match response.status().as_u16() {
        201 => {}
        401 | 403 => return Err(LoginError::Refused(origin())),
        409 => return Err(LoginError::AtIssuer(origin())),
        500..=599 => return Err(LoginError::Failed(origin())),
        status => return Err(LoginError::Stranger(origin(), format!("HTTP {status}"))),
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(trouble)? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST {
            return Err(LoginError::Stranger(origin(), "its answer is too long".to_owned()));
        }
    }
    let answer: Answer = serde_json::from_slice(&body)
        .map_err(|_| LoginError::Stranger(origin(), "its answer is no link".to_owned()))?;
    // A browser is about to be sent there: nowhere but to the service itself.
    if !answer.url.starts_with(&control.url.join("/")) {
        return Err(LoginError::Stranger(origin(), "its link leads elsewhere".to_owned()));
    }
    Ok(Link { url: SecretString::from(answer.url), lives: Duration::from_secs(answer.expires_in) })
}

#[cfg(test)]
mod tests;
