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
}

/// Starts the service on the address of `config`, or on `listener` where the caller has one (then `config.public_url` must
/// name its port).
pub async fn start(
    config: Config,
    listener: Option<TcpListener>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
) -> Result<Running, StartError> {
    let keys = Arc::new(key_file(&config, &*random).await?);
    let state_keys = Arc::new(keys.state_keys());
    let vault = Arc::new(Vault::new(keys, Arc::clone(&random)));
    let store = Store::open(&config.store, vault, Arc::clone(&random)).await?;
    let Identity::Local { tokens_file, control_file } = &config.identity;
    let tokens = Tokens::load_or_create(tokens_file, &*random)?;
    let listener = match listener {
        Some(listener) => listener,
        None => TcpListener::bind(config.listen)
            .await
            .map_err(|error| StartError::Listen { address: config.listen, error })?,
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

async fn key_file(config: &Config, random: &dyn Random) -> Result<KeyFile, StartError> {
    let file = &config.keys_file;
    match KeyFile::load(file) {
        Err(KeyFileError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        loaded => return Ok(loaded?),
    }
    let shared = config.store.expose_secret().starts_with("postgres");
    let path = file.display().to_string();
    // The store is asked first: a file that is made now would stand where the right one's backup belongs.
    match Store::needed_keys(&config.store).await {
        Ok(ids) if !ids.is_empty() => Err(StartError::LostKeys { path, ids }),
        // Whether or not the server answers, the file comes first.
        _ if shared => Err(StartError::NoKeys { path }),
        Ok(_) => Ok(KeyFile::create(file, random)?),
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
mod tests {
    use std::collections::BTreeMap;

    use elicit::{ClientId, Principal, SystemRandom, UserId};
    use jiff::{SignedDuration, Timestamp};
    use usher_store::{Advanced, AskReason, Completion, Destination, InteractionId, NewInteraction, Step};

    use super::*;
    use crate::config::folder::Folder;

    fn config(folder: &Folder) -> Config {
        let text = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n";
        Config::parse(text, &folder.path("usher.toml"), &|_| None).unwrap()
    }

    async fn connect(store: &Store) {
        let now = Timestamp::UNIX_EPOCH;
        let new = NewInteraction {
            id: InteractionId::new(&SystemRandom),
            principal: Principal {
                user: UserId::new("urn:usher:local", "owner").unwrap(),
                client: ClientId::new("default").unwrap(),
            },
            client_claim: None,
            provider: "weather".into(),
            destination: Destination { upstream: "a".into(), target: "https://a.example".into() },
            reason: AskReason::Missing,
            expires_at: now + SignedDuration::from_mins(15),
        };
        let mut interaction = store.ask(&[new], None, now).await.unwrap().remove(0);
        for step in [Step::Open, Step::Consent] {
            let Advanced::Done(next) = store.advance(interaction, step, now).await.unwrap() else { panic!("{step:?}") };
            interaction = next;
        }
        let secrets = BTreeMap::from([("api_key".to_owned(), "k-1".into())]);
        let completed = store.complete(interaction, Completion::Connect { secrets }, now).await.unwrap();
        assert!(matches!(completed, Advanced::Done(_)));
    }

    async fn open(config: &Config) -> Store {
        let keys = Arc::new(key_file(config, &SystemRandom).await.unwrap());
        let vault = Arc::new(Vault::new(keys, Arc::new(SystemRandom)));
        Store::open(&config.store, vault, Arc::new(SystemRandom)).await.unwrap()
    }

    /// R-SEC-07: a key file is made where nothing needs another one, and nowhere else.
    #[tokio::test]
    async fn no_key_file_is_made_where_the_lost_one_belongs() {
        let folder = Folder::new();
        let config = config(&folder);
        let store = open(&config).await;
        store.close().await;
        std::fs::remove_file(&config.keys_file).unwrap();
        // Nothing lasting was sealed yet: a new one is as good.
        let store = open(&config).await;
        connect(&store).await;
        store.close().await;
        let kept = KeyFile::load(&config.keys_file).unwrap().key_ids();
        let backup = folder.path("backup");
        std::fs::rename(&config.keys_file, &backup).unwrap();

        let Err(error) = key_file(&config, &SystemRandom).await else { panic!("it was made") };

        assert!(matches!(&error, StartError::LostKeys { ids, .. } if *ids == kept), "{error}");
        assert!(error.to_string().contains("put the file back from its backup"), "{error}");
        assert!(!config.keys_file.exists(), "the place is free");
        std::fs::rename(&backup, &config.keys_file).unwrap();
        open(&config).await.close().await;
    }

    /// A file that is there and wrong is never taken for none.
    #[tokio::test]
    async fn a_key_file_that_is_there_is_left_alone() {
        let folder = Folder::new();
        let config = config(&folder);
        crate::config::private_file::create(&config.keys_file, "").unwrap();
        let Err(error) = key_file(&config, &SystemRandom).await else { panic!("it was used") };
        assert!(matches!(error, StartError::Keys(KeyFileError::Active(0))), "{error}");
        assert_eq!(std::fs::read_to_string(&config.keys_file).unwrap(), "");
    }
}
