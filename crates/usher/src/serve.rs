//! Starts and stops the service.

use std::{io, sync::Arc, time::Duration};

use elicit::Random;
use secrecy::ExposeSecret;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use usher_store::{KeyFile, KeyFileError, Store, StoreError, Vault};

use crate::{
    app::App,
    broker::{Broker, Limits, Waiting},
    clock::Clock,
    config::{Config, Identity},
    connections,
    credentials::Credentials,
    egress::Egress,
    identity::{
        control::{ControlError, ControlToken},
        tokens::{Tokens, TokensError},
    },
    jobs,
    relay::Relay,
    router::router,
};

/// How long calls may take to finish after the service was asked to stop.
pub const DRAIN: Duration = Duration::from_secs(10);

/// Why the service does not start. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The key file.
    #[error(transparent)]
    Keys(#[from] KeyFileError),
    /// With PostgreSQL a key file is never made by itself, since each replica would make its own.
    #[error("there is no key file {path}; make one with `usher keys init` and give the same file to every replica")]
    NoKeys {
        /// Where it was looked for.
        path: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file with the clients' tokens.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// The control file.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The address is taken or cannot be used.
    #[error("cannot listen on {address}: {error}; change `listen.address` and `public_url`, or stop what listens there")]
    Listen {
        /// The address of the configuration.
        address: std::net::SocketAddr,
        /// The system's reason.
        error: io::Error,
    },
    /// The HTTP client.
    #[error("the HTTP client cannot be made: {0}")]
    Egress(#[from] reqwest::Error),
}

/// A running service.
pub struct Running {
    /// Its parts.
    pub app: Arc<App>,
    server: JoinHandle<()>,
    jobs: Vec<JoinHandle<()>>,
}

/// Starts the service on the address of `config`, or on `listener` where the caller has one (then `config.public_url` must
/// name its port).
pub async fn start(
    config: Config,
    listener: Option<TcpListener>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
) -> Result<Running, StartError> {
    let keys = Arc::new(key_file(&config, &*random)?);
    let state_keys = Arc::new(keys.state_keys());
    let vault = Arc::new(Vault::new(keys, Arc::clone(&random)));
    let store = Store::open(&config.store, vault, Arc::clone(&random)).await?;
    let Identity::Local { tokens_file, control_file } = &config.identity;
    let tokens = Tokens::load_or_create(tokens_file, &*random)?;
    let listener = match listener {
        Some(listener) => listener,
        None => TcpListener::bind(config.listen).await.map_err(|error| StartError::Listen { address: config.listen, error })?,
    };
    let control = ControlToken::issue(control_file, &config.public_url, &*random)?;
    let egress = Egress::new()?;
    let config = Arc::new(config);
    let broker = Broker {
        config: Arc::clone(&config),
        store: store.clone(),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
        egress: egress.clone(),
        credentials: Credentials::new(store.clone(), Arc::clone(&clock)),
        limits: Arc::new(Limits::default()),
        waiting: Waiting::default(),
    };
    let relay = Relay::new(state_keys, store.clone());
    let stopping = CancellationToken::new();
    let app = Arc::new(App { config, store, clock, random, egress, tokens, control, broker, relay, stopping });
    let jobs = jobs::start(&app);
    let server = tokio::spawn(connections::serve(listener, router(Arc::clone(&app)), app.stopping.clone(), DRAIN));
    tracing::info!(url = app.config.public_url.origin(), store = ?app.store.kind(), "service started");
    Ok(Running { app, server, jobs })
}

fn key_file(config: &Config, random: &dyn Random) -> Result<KeyFile, StartError> {
    let path = &config.keys_file;
    if path.exists() {
        return Ok(KeyFile::load(path)?);
    }
    if config.store.expose_secret().starts_with("postgres") {
        return Err(StartError::NoKeys { path: path.display().to_string() });
    }
    Ok(KeyFile::create(path, random)?)
}

impl Running {
    /// Stops: held calls are answered at once with their question's error, calls under way get [`DRAIN`] to finish.
    pub async fn stop(self) {
        self.app.stopping.cancel();
        if let Err(error) = self.server.await {
            tracing::error!(%error, "the server ended with a panic");
        }
        for job in self.jobs {
            job.abort();
        }
        self.app.control.withdraw();
        self.app.store.close().await;
        tracing::info!("service stopped");
    }

    /// Resolves when the server ends by itself, which it does only by a fault.
    pub async fn ended(&mut self) {
        let _ = (&mut self.server).await;
    }
}
