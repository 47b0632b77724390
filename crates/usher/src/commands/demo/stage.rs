//! All that the demo runs: the weather server with its provider, and Usher in front of it, on free ports of this machine.

use std::{path::PathBuf, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::{Random, SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use tokio::net::TcpListener;

use super::{
    client::{Received, Wire},
    folder::Folder,
    journal::Journal,
    trouble::Trouble,
    weather::Weather,
};
use crate::{
    clock::SystemClock,
    config::{Config, private_file},
    identity::{
        browser::Place,
        tokens::{local_user, new_token},
    },
    pages,
    serve::{Running, start},
};

/// By what name Usher knows the demo's client: the name of its token.
pub(super) const CLIENT: &str = "demo-app";

/// How long requests under way may take when the demo ends. Shorter than the service's own patience: nobody loses anything.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Everything that is running.
pub(super) struct Stage {
    /// What happens.
    pub(super) journal: Arc<Journal>,
    /// The configuration of Usher, as it would stand in a file.
    pub(super) config: String,
    running: Running,
    token: SecretString,
    /// Runs as long as this value lives.
    _weather: Weather,
    /// The last to go: the files of the parts above.
    folder: Folder,
}

impl Stage {
    /// Starts all of it. The provider knows `keys`.
    pub(super) async fn open(keys: Vec<String>) -> Result<Self, Trouble> {
        let folder = Folder::new(&SystemRandom)?;
        let journal = Arc::<Journal>::default();
        let weather = Weather::start(keys, Arc::clone(&journal)).await?;
        // Taken before the configuration is written, which names its port.
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let config = config(&format!("http://{}", listener.local_addr()?), &format!("http://{}", weather.address));
        let parsed = Config::parse(&config, &folder.path().join("usher.toml"), &|_| None)?;
        // By default the one token is called "default", which would say little on the page.
        let token = new_token(&SystemRandom);
        let tokens = format!("{CLIENT} = \"{}\"\n", token.expose_secret());
        private_file::create(&folder.path().join("usher.tokens"), &tokens)?;
        let running = start(parsed, Some(listener), Arc::new(SystemClock), Arc::new(SystemRandom), None).await?;
        Ok(Self { journal, config, running, token, _weather: weather, folder })
    }

    /// Where Usher is: its origin.
    pub(super) fn origin(&self) -> &str {
        self.running.app.config.public_url.origin()
    }

    /// The HTTP client of the app and of the person; follows no redirect.
    pub(super) fn http(&self) -> reqwest::Client {
        self.running.app.egress.operator().clone()
    }

    /// The app's way to the weather server, through Usher.
    pub(super) fn wire(&self) -> Wire {
        Wire {
            http: self.http(),
            endpoint: format!("{}/mcp/weather", self.origin()),
            token: self.token.clone(),
            received: Received::default(),
        }
    }

    /// A link that signs the person in, once, and leads on to `place`.
    pub(super) async fn sign_in_link(&self, place: &Place) -> Result<String, Trouble> {
        Ok(pages::login::link_to(&self.running.app, &local_user(), place).await?)
    }

    /// Whether a text stands readable in any file of Usher's.
    pub(super) fn keeps_readable(&self, text: &str) -> Result<bool, Trouble> {
        Ok(self.folder.holds(text)?)
    }

    /// A file in the demo's folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Stops all of it, and removes what it left.
    pub(super) async fn close(self) {
        // Past the deadline the process ends anyway, and with it what hangs.
        let _ = tokio::time::timeout(LAST_WORDS, self.running.stop()).await;
    }
}

/// A key such as a provider hands out. Random, so that it can be looked for.
pub(super) fn demo_key() -> String {
    let mut bytes = [0; 12];
    SystemRandom.fill(&mut bytes);
    format!("demo-key-{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The configuration: ten lines, and a server's users can connect their keys.
fn config(usher: &str, weather: &str) -> String {
    format!(
        r#"public_url = "{usher}"

[[provider]]
name = "weather"
kind = "secret"
field = [{{ name = "api_key", label = "API key" }}]
check = {{ get = "{weather}/me", header = {{ X-Api-Key = "{{api_key}}" }} }}

[[upstream]]
name = "weather"
url = "{weather}/mcp"
needs = [{{ provider = "weather", header = {{ X-Api-Key = "{{api_key}}" }} }}]
"#
    )
}
