//! `usher api-keys`: the keys by which servers beside Usher ask through its API. The service reads a key from the store at
//! each request, so what is done here counts at once, also beside a running service.

mod list;

use std::{process::ExitCode, time::Duration};

use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{ApiKey, ApiKeyId, ApiScope, NewApiKey, StoreError};

use super::{
    ConfigArgs,
    direct::{Direct, DirectError},
    fail,
};
use crate::{
    clock::{Clock as _, SystemClock},
    config::parse_long,
};

/// The longest name of a key, in characters.
const NAME_AT_MOST: usize = 64;

/// What to do with the keys.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make a key for a server, and print it; it is shown this once.
    Create(CreateArgs),
    /// Show the keys: whose they are, what they may do, when they were used. Their secrets are not kept.
    List(list::Args),
    /// Give a key another secret, and print it; the one before works for a while still.
    Rotate(RotateArgs),
    /// End a key at once.
    Revoke(RevokeArgs),
}

/// The arguments of `usher api-keys create`.
#[derive(Debug, clap::Args)]
pub(super) struct CreateArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The server that asks with it: the name of an [[upstream]] of the configuration.
    server: String,
    /// What the key is for, to tell it from others.
    #[arg(long, default_value = "", value_parser = name)]
    name: String,
    /// What it may do; both where none is given: interactions:read, interactions:write.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<ApiScope>,
    /// When it ends by itself: 90d, 12h. Never, where it is left out.
    #[arg(long, value_name = "DURATION", value_parser = lasting)]
    expires: Option<Duration>,
}

/// The arguments of `usher api-keys rotate`.
#[derive(Debug, clap::Args)]
pub(super) struct RotateArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The key's id.
    id: ApiKeyId,
    /// How long the secret before works still; 0s for not at all.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_long)]
    keep: Duration,
}

/// The arguments of `usher api-keys revoke`.
#[derive(Debug, clap::Args)]
pub(super) struct RevokeArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The key's id.
    id: ApiKeyId,
}

#[derive(Debug, thiserror::Error)]
enum ApiKeysError {
    #[error(transparent)]
    Direct(#[from] DirectError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no server {name} in the configuration; it has {}", servers.join(", "))]
    NoServer { name: String, servers: Vec<String> },
    #[error("there is no key {0} that could be rotated: see usher api-keys list")]
    NotRotated(ApiKeyId),
    #[error("there is no key {0}: see usher api-keys list")]
    NoKey(ApiKeyId),
    #[error("this lasts beyond the end of time")]
    TooLong,
}

/// Runs the command.
pub(super) async fn run(command: &Command) -> ExitCode {
    let now = SystemClock.now();
    let done = match command {
        Command::Create(args) => create(args, now).await,
        Command::List(args) => list::run(args, now).await,
        Command::Rotate(args) => rotate(args, now).await,
        Command::Revoke(args) => revoke(args, now).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

async fn create(args: &CreateArgs, now: Timestamp) -> Result<(), ApiKeysError> {
    let expires_at = args.expires.map(|expires| now.checked_add(expires)).transpose();
    let Direct { store, config } = Direct::open(&args.config).await?;
    if config.upstream(&args.server).is_none() {
        let servers = config.upstreams.into_iter().map(|upstream| upstream.name).collect();
        return Err(ApiKeysError::NoServer { name: args.server.clone(), servers });
    }
    let all = args.scopes.is_empty().then_some(ApiScope::ALL).into_iter().flatten();
    let new = NewApiKey {
        server: args.server.clone(),
        name: args.name.clone(),
        scopes: args.scopes.iter().copied().chain(all).collect(),
        expires_at: expires_at.map_err(|_| ApiKeysError::TooLong)?,
    };
    let made = store.create_api_key(new, now).await;
    store.close().await;
    let (key, text) = made?;
    told(&key, &text);
    Ok(())
}

async fn rotate(args: &RotateArgs, now: Timestamp) -> Result<(), ApiKeysError> {
    let keep = SignedDuration::try_from(args.keep).map_err(|_| ApiKeysError::TooLong)?;
    let store = Direct::open(&args.config).await?.store;
    let rotated = store.rotate_api_key(&args.id, keep, now).await;
    store.close().await;
    let (key, text) = rotated?.ok_or_else(|| ApiKeysError::NotRotated(args.id.clone()))?;
    told(&key, &text);
    match key.former_until {
        Some(until) => eprintln!("The key before works until {until:.0}."),
        None => eprintln!("The key before works no longer."),
    }
    Ok(())
}

async fn revoke(args: &RevokeArgs, now: Timestamp) -> Result<(), ApiKeysError> {
    let store = Direct::open(&args.config).await?.store;
    let revoked = store.revoke_api_key(&args.id, now).await;
    store.close().await;
    if !revoked? {
        return Err(ApiKeysError::NoKey(args.id.clone()));
    }
    println!("{} is revoked, and opens nothing any more.", args.id);
    Ok(())
}

/// The key alone on standard output, so that it can be piped to where it is kept; what it is on standard error.
fn told(key: &ApiKey, text: &SecretString) {
    println!("{}", text.expose_secret());
    let until = key.expires_at.map(|end| format!(", until {end:.0}")).unwrap_or_default();
    eprintln!("The key {} of the server {}: {}{until}. It is not shown again.", key.id, key.server, key.scopes);
}

fn name(text: &str) -> Result<String, String> {
    if text.chars().count() > NAME_AT_MOST || text.chars().any(char::is_control) {
        return Err(format!("at most {NAME_AT_MOST} characters, in one line"));
    }
    Ok(text.to_owned())
}

fn lasting(text: &str) -> Result<Duration, String> {
    parse_long(text)
        .and_then(|span| if span.is_zero() { Err("it would have ended already".to_owned()) } else { Ok(span) })
}
