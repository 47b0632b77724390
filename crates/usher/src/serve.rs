//! Starts and stops the service.

mod lock;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use elicit::Random;
use http::Method;
use jiff::Timestamp;
use secrecy::ExposeSecret;
use tokio::{net::TcpListener, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;
use usher_store::{KeyFile, KeyFileError, KeyRing, Store, StoreError, Vault};

use lock::{LockError, StoreLock};

use crate::{
    app::App,
    broker::{Broker, Limits, Waiting},
    clock::Clock,
    config::{Config, Identity},
    connections,
    credentials::{
        Credentials,
        fresh::{Fresh, Means},
        servers::AuthorizationServers,
    },
    egress::Egress,
    identity::{
        Door,
        control::{ControlError, ControlFile, ControlToken},
        oidc::{OpenIdProvider, sign_in::Underway},
        tokens::{Tokens, TokensError},
    },
    jobs::{
        self,
        keys::{Keys, Stamp},
    },
    relay::{Pace, Relay},
    router::router,
};

/// How long calls may take to finish after the service was asked to stop.
pub const DRAIN: Duration = Duration::from_secs(10);

/// How long to wait before a store that was not there is tried again.
const STORE_AGAIN: Duration = Duration::from_millis(500);

/// How long a service that may run already has to answer.
const HEALTH: Duration = Duration::from_secs(2);

/// Why the service does not start. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The key file, which tells its path itself.
    #[error(transparent)]
    Keys(KeyFileError),
    /// What the key file says.
    #[error("{}: {error}", path.display())]
    KeyText {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: KeyFileError,
    },
    /// A service of this very configuration runs.
    #[error(
        "Usher already runs here ({url}); to sign in: usher login. To run another one beside it, give that one its own \
         store.url and listen.address"
    )]
    Running {
        /// Where it is reached.
        url: String,
    },
    /// Another service uses the SQLite file.
    #[error("another usher serve uses this store ({}); stop it first, or give this one its own store.url", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The folder of the SQLite file, or the lock in it, cannot be made.
    #[error("{} cannot be made or locked: {error}; let the user that runs the service write there, or change store.url", path.display())]
    Lock {
        /// The folder or the file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// With PostgreSQL a key file is never made by itself, since each replica would make its own.
    #[error("there is no key file {path}; make one with `usher keys init` and give the same file to every replica")]
    NoKeys {
        /// Where it was looked for.
        path: String,
    },
    /// There is no key file, and what is stored was sealed with one. A new one would open nothing of it.
    #[error(
        "there is no key file {path}, and the store needs its keys ({}): put the file back from its backup, \
         or name another store", ids.join(", ")
    )]
    LostKeys {
        /// Where it was looked for.
        path: String,
        /// Ids of the keys that the store needs.
        ids: Vec<String>,
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
    #[error(
        "cannot listen on {address}: {error}; change `listen.address` and `public_url`, or stop what listens there"
    )]
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
    /// Goes last: from then on another service may use the store.
    _lock: Option<StoreLock>,
}

/// Starts the service on the address of `config`, or on `listener` where the caller has one (then `config.public_url` must
/// name its port). `program` is our own executable, which runs the guard of processes; without one a killed service may
/// leave some behind.
pub async fn start(
    config: Config,
    listener: Option<TcpListener>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    program: Option<&Path>,
) -> Result<Running, StartError> {
    start_at(Pace::default(), config, listener, clock, random, program).await
}

/// The same with streams that wait for other times than the usual ones.
pub async fn start_at(
    pace: Pace,
    config: Config,
    listener: Option<TcpListener>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    program: Option<&Path>,
) -> Result<Running, StartError> {
    // Before anything is written: what is there may be another's.
    let lock = lock(&config).await?;
    let stamp = Stamp::of(&config.keys_file);
    let ring = Arc::new(KeyRing::new(key_file(&config, &*random, clock.now()).await?));
    let vault = Arc::new(Vault::new(Arc::clone(&ring) as _, Arc::clone(&random)));
    let store = open_store(&config, vault, &random).await?;
    let egress = Egress::allowing(config.egress.clone())?;
    let identity = match &config.identity {
        Identity::Local { tokens_file } => Door::Local(Tokens::load_or_create(tokens_file, &*random)?),
        Identity::Oidc(oidc) => {
            let provider = OpenIdProvider::new((**oidc).clone(), egress.clone(), Arc::clone(&clock));
            Door::Oidc(Arc::new(provider))
        }
    };
    let listener = match listener {
        Some(listener) => listener,
        None => match TcpListener::bind(config.listen).await {
            Ok(listener) => listener,
            Err(error) => {
                store.close().await;
                return Err(already_running(&config)
                    .await
                    .unwrap_or(StartError::Listen { address: config.listen, error }));
            }
        },
    };
    let listening = listener.local_addr().unwrap_or(config.listen);
    let control = ControlToken::issue(&config.control_file, &config.public_url, listening, &*random)?;
    for name in unneeded(&config) {
        tracing::warn!(
            provider = name,
            "no upstream needs this provider, so nobody is asked for it: name it in an [[upstream.needs]], or remove it"
        );
    }
    let config = Arc::new(config);
    let servers = AuthorizationServers::new(Arc::clone(&config), store.clone(), Arc::clone(&clock), egress.clone());
    let fresh = Fresh::new(Means {
        config: Arc::clone(&config),
        store: store.clone(),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
        egress: egress.clone(),
        servers: servers.clone(),
    });
    let broker = Broker {
        config: Arc::clone(&config),
        store: store.clone(),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
        egress: egress.clone(),
        credentials: Credentials::new(store.clone(), Arc::clone(&clock)),
        fresh,
        servers,
        limits: Arc::new(Limits::new(&config.limits, &clock)),
        waiting: Waiting::default(),
        looks: Arc::default(),
    };
    let relay = Relay::new(Arc::clone(&ring), store.clone(), &config, pace, program);
    let keys = Keys::new(ring, config.keys_file.clone(), stamp);
    let stopping = CancellationToken::new();
    let underway = Underway::default();
    let app = Arc::new(App {
        config,
        store,
        keys,
        clock,
        random,
        egress,
        identity,
        underway,
        control,
        broker,
        relay,
        stopping,
    });
    let jobs = jobs::start(&app);
    let most = app.config.limits.connections;
    let patience = connections::Patience { drain: DRAIN, slow_reader: pace.slow_reader };
    let serving = connections::serve(listener, router(Arc::clone(&app)), app.stopping.clone(), patience, most);
    let server = tokio::spawn(serving);
    tracing::info!(url = app.config.public_url.origin(), store = ?app.store.kind(), "service started");
    Ok(Running { app, server, jobs, _lock: lock })
}

/// Opens the store. A server that is not up yet is waited for, for as long as the configuration says: what starts together
/// starts in any order.
async fn open_store(config: &Config, vault: Arc<Vault>, random: &Arc<dyn Random>) -> Result<Store, StoreError> {
    let until = Instant::now() + config.store_wait;
    let mut told = false;
    loop {
        let error = match Store::open(&config.store, Arc::clone(&vault), Arc::clone(random)).await {
            Err(error @ (StoreError::Unreachable { .. } | StoreError::Unavailable(_))) => error,
            opened => return opened,
        };
        // A file is there or not.
        if config.database.is_some() || Instant::now() + STORE_AGAIN > until {
            return Err(error);
        }
        if !told {
            tracing::warn!(%error, "the store is not there yet; trying for {} s", config.store_wait.as_secs());
            told = true;
        }
        tokio::time::sleep(STORE_AGAIN).await;
    }
}

/// Takes the SQLite file for this service alone. PostgreSQL is for several.
async fn lock(config: &Config) -> Result<Option<StoreLock>, StartError> {
    let Some(path) = &config.database else { return Ok(None) };
    match StoreLock::take(path) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Taken) => {
            Err(already_running(config).await.unwrap_or_else(|| StartError::InUse { path: path.clone() }))
        }
        Err(LockError::Unusable(path, error)) => Err(StartError::Lock { path, error }),
    }
}

/// The error for a second start of one configuration: its control file leads to a service that answers at this address.
async fn already_running(config: &Config) -> Option<StartError> {
    let control = ControlFile::load(&config.control_file).ok()?;
    let url = control.url.origin();
    if url != config.public_url.origin() {
        return None;
    }
    let request = control.request(&Egress::new().ok()?, Method::GET, "/healthz");
    let answer = request.timeout(HEALTH).send().await.ok()?;
    answer.status().is_success().then(|| StartError::Running { url: url.to_owned() })
}

/// Providers that stand in the configuration for nothing.
fn unneeded(config: &Config) -> impl Iterator<Item = &str> {
    let needed =
        |name: &str| config.upstreams.iter().flat_map(|upstream| &upstream.needs).any(|need| need.provider == name);
    config.providers.iter().map(|provider| provider.name.as_str()).filter(move |name| !needed(name))
}

async fn key_file(config: &Config, random: &dyn Random, now: Timestamp) -> Result<KeyFile, StartError> {
    let file = &config.keys_file;
    match KeyFile::load(file) {
        Err(KeyFileError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        Err(error @ (KeyFileError::File { .. } | KeyFileError::Exposed { .. })) => return Err(StartError::Keys(error)),
        loaded => return loaded.map_err(|error| StartError::KeyText { path: file.clone(), error }),
    }
    let shared = config.store.expose_secret().starts_with("postgres");
    let path = file.display().to_string();
    // The store is asked first: a file that is made now would stand where the right one's backup belongs.
    match Store::needed_keys(&config.store).await {
        Ok(ids) if !ids.is_empty() => Err(StartError::LostKeys { path, ids }),
        // Whether or not the server answers, the file comes first.
        _ if shared => Err(StartError::NoKeys { path }),
        Ok(_) => {
            let made = KeyFile::create(file, random, now).map_err(StartError::Keys)?;
            tracing::info!(path, "made a key file: keep a copy of it, apart from the store");
            Ok(made)
        }
        Err(error) => Err(error.into()),
    }
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
        self.app.relay.close().await;
        self.app.broker.fresh.close().await;
        self.app.control.withdraw();
        self.app.store.close().await;
        tracing::info!("service stopped");
    }

    /// Resolves when the server ends by itself, which it does only by a fault.
    pub async fn ended(&mut self) {
        let _ = (&mut self.server).await;
    }
}

#[cfg(test)]
mod tests;
