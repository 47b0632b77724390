//! How a command works on the store: directly, whether or not the service runs, and then it tells the service.
//!
//! Both databases take a second process. What the service keeps in memory would stay, so it is told to read again; on
//! PostgreSQL other replicas hear of it from the store itself.

use std::{path::PathBuf, sync::Arc, time::Duration};

use elicit::SystemRandom;
use http::Method;
use secrecy::ExposeSecret as _;
use usher_store::{KeyFile, KeyFileError, Store, StoreError, Vault};

use super::{ConfigArgs, environment};
use crate::{
    config::{Config, Faults},
    egress::{Egress, is_refused, reason},
    identity::control::{ControlError, ControlFile},
};

/// How long the service may take to read again.
const DEADLINE: Duration = Duration::from_secs(10);

/// The store that a configuration names, open.
pub(crate) struct Direct {
    /// The store.
    pub(crate) store: Store,
    /// The configuration. Secrets that cannot be had here are empty in it.
    pub(crate) config: Config,
}

/// Why the store cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DirectError {
    #[error(transparent)]
    Config(#[from] Faults),
    #[error("the store's URL cannot be had here; give this command what the service has: its file or its variable")]
    NoUrl,
    #[error("there is no store at {}: no service has run with this configuration", .0.display())]
    NoStore(PathBuf),
    #[error("{}: {error}", path.display())]
    Keys { path: PathBuf, error: KeyFileError },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the HTTP client cannot be made: {0}")]
    Egress(#[from] reqwest::Error),
}

/// Whether the service on this machine knows what was changed.
#[derive(Debug)]
pub(crate) enum Told {
    /// It has read again.
    Yes,
    /// None runs here with this configuration.
    NotRunning,
    /// It may still use what it keeps in memory, for a minute at most. Says why.
    No(String),
}

impl Direct {
    /// Opens the store of this configuration. Makes neither a store nor a key file, and leaves the schema as it is.
    pub(crate) async fn open(args: &ConfigArgs) -> Result<Self, DirectError> {
        let config = Config::load_beside(&args.config, &environment)?;
        if config.store.expose_secret().is_empty() {
            return Err(DirectError::NoUrl);
        }
        if let Some(file) = config.database.as_ref().filter(|file| !file.try_exists().unwrap_or(true)) {
            return Err(DirectError::NoStore(file.clone()));
        }
        let keys = KeyFile::load(&config.keys_file)
            .map_err(|error| DirectError::Keys { path: config.keys_file.clone(), error })?;
        let random = Arc::new(SystemRandom);
        let vault = Arc::new(Vault::new(Arc::new(keys), random.clone()));
        let store = Store::open_as_is(&config.store, vault, random).await?;
        Ok(Self { store, config })
    }

    /// Closes the store, and has the running service read again what was changed.
    pub(crate) async fn close(self) -> Told {
        self.store.close().await;
        self.tell().await
    }

    /// Has the running service read again what was changed so far.
    pub(crate) async fn tell(&self) -> Told {
        let control = match ControlFile::load(&self.config.control_file) {
            Ok(control) => control,
            Err(ControlError::Missing { .. }) => return Told::NotRunning,
            Err(error) => return Told::No(error.to_string()),
        };
        let egress = match Egress::new() {
            Ok(egress) => egress,
            Err(error) => return Told::No(error.to_string()),
        };
        match control.command(&egress, Method::POST, "/control/reread").timeout(DEADLINE).send().await {
            Ok(answer) if answer.status().is_success() => Told::Yes,
            Ok(answer) => Told::No(format!("{} answered {}", control.place(), answer.status().as_u16())),
            Err(error) if is_refused(&error) => Told::NotRunning,
            Err(error) => Told::No(format!("{}: {}", control.place(), reason(&error))),
        }
    }
}
