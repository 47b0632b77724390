//! The configuration file: read once at start, all faults reported together.
//!
//! Each section has its own file. A reader returns its value or leaves a [`Fault`] with line, key and
//! fix; nothing listens before the whole file is right. Keys that nobody asked for are faults too.

mod allow;
mod check;
mod command;
pub mod definition;
mod duration;
mod egress;
mod external;
mod fault;
mod field;
mod file;
#[cfg(test)]
pub(crate) mod folder;
mod header;
mod identity;
mod introspection;
mod keys;
mod limits;
pub(crate) mod link;
mod listen;
mod name;
mod need;
mod oauth;
mod oidc;
mod pattern;
mod places;
pub(crate) mod private_file;
mod processes;
mod provider;
mod public_url;
mod reader;
pub mod schema;
mod secret;
mod size;
mod store;
mod suggest;
mod target;
mod template;
mod text;
mod upstream;
mod variable;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

pub use allow::Allow;
pub use check::Check;
pub use command::Command;
pub use definition::{ClientAuthentication, Definition, Registration};
pub(crate) use duration::parse_long;
pub use external::{Confirm, External, Per};
pub use fault::{Fault, Faults};
pub use field::Field;
pub use identity::Identity;
pub use introspection::{AccessTokens, Introspection};
pub use limits::Limits;
pub use link::Link;
pub(crate) use name::is_name;
pub use need::Need;
pub use oauth::{McpAuthorization, OAuth};
pub use oidc::{Issuer, Oidc};
pub use pattern::{Pattern, PatternError};
pub use processes::Processes;
pub use provider::{Provider, ProviderKind};
pub use public_url::{PublicUrl, PublicUrlError};
pub(crate) use suggest::closest;
pub(crate) use target::{is_loopback, is_private};
pub use template::{Template, TemplateError};
pub use text::Text;
pub use upstream::{Fallback, Transport, Upstream};

use crate::egress::Allowed;
use reader::{Document, Reader, Secrets};

/// Everything the service is told by its operator.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where browsers and clients reach the service. Default `http://127.0.0.1:8420`.
    pub public_url: PublicUrl,
    /// The address the service listens on; loopback in identity mode local (R-SEC-08).
    pub listen: SocketAddr,
    /// The URL of the store, `sqlite:…` with an absolute path or `postgres://…`. Holds a password at times.
    pub store: SecretString,
    /// How long a start waits for a store that is a server and not up yet.
    pub store_wait: Duration,
    /// The database file, where the store is one.
    pub database: Option<PathBuf>,
    /// The file with the master keys.
    pub keys_file: PathBuf,
    /// How users and clients prove who they are.
    pub identity: Identity,
    /// How commands reach the running service. Default `usher.control` beside the database, else beside the configuration;
    /// rewritten at each start.
    pub control_file: PathBuf,
    /// How much is served.
    pub limits: Limits,
    /// The services whose credentials users connect, in the order of the file.
    pub providers: Vec<Provider>,
    /// The MCP servers behind the gateway, in the order of the file; at least one.
    pub upstreams: Vec<Upstream>,
    /// How many servers that are commands may run.
    pub processes: Processes,
    /// Where requests may go whose URL somebody else chose.
    pub egress: Allowed,
    /// The folder of the configuration file, where relative paths start.
    pub directory: PathBuf,
    /// Which of the servers is the first one at a URL that needs a provider.
    first_at_url: HashMap<String, usize>,
}

impl Config {
    /// Reads the file at `path`. `env` looks up an environment variable (for `…_env` keys).
    pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, Faults> {
        Self::parse(&text_of(path)?, path, env)
    }

    /// The same for a command beside the service. A secret that the file names and that cannot be had here, an environment
    /// variable of the service for example, is no fault but empty.
    pub fn load_beside(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, Faults> {
        Self::read(&text_of(path)?, path, env, Secrets::Spared)
    }

    /// Reads `text` as the file at `path`, which names the faults and is where relative paths start.
    pub fn parse(text: &str, path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, Faults> {
        Self::read(text, path, env, Secrets::Needed)
    }

    fn read(text: &str, path: &Path, env: &dyn Fn(&str) -> Option<String>, secrets: Secrets) -> Result<Self, Faults> {
        let document = Document::parse(text);
        let reader = Reader::new(path, text, env, secrets);
        let config = document.read(&reader, |root| {
            let identity = root.take("identity");
            let mode = identity::mode(identity.as_ref());
            let public_url = public_url::read(root.take("public_url"), mode);
            let addresses = listen::agree(public_url, listen::read(root.take("listen"), mode), mode, root);
            let store = store::read(root.take("store"), &reader);
            let keys = keys::read(root.take("keys"), &reader);
            let store_wait = store.as_ref().map_or(store::WAIT, |store| store.wait);
            let (store, database) = store.map_or((None, None), |store| (Some(store.url), store.file));
            let folder = file::folder_or(database.as_ref(), reader.directory());
            let (control, kind) =
                identity::read(identity, folder).map(|section| (section.control, section.kind)).unzip();
            let (tokens, oidc) = match kind {
                Some(identity::Kind::Local { tokens }) => (Some(tokens), None),
                Some(identity::Kind::Oidc(oidc)) => (None, Some(oidc)),
                None => (None, None),
            };
            let paths = [&keys, &control, &tokens].map(|file| file.as_ref().map(|file| file.path.clone()));
            let database_path = database.as_ref().map(|file| file.path.clone());
            let files = [database, keys, tokens, control];
            file::check_distinct(&files.into_iter().flatten().collect::<Vec<_>>(), &reader);
            let providers = provider::read_all(root.take("provider"));
            let upstreams = upstream::read_all(root, &providers, mode);
            let limits = limits::read(root, upstreams.as_deref().unwrap_or_default());
            let processes = processes::read(root.take("processes"));
            let egress = egress::read(root.take("egress"));
            // Only here may a section that failed end the reading: all faults are found by now.
            let (public_url, listen) = addresses?;
            let [keys_file, control_file, tokens_file] = paths;
            let upstreams = upstreams?;
            let local = tokens_file.map(|tokens_file| Identity::Local { tokens_file });
            Some(Self {
                public_url,
                listen,
                store: store?,
                store_wait,
                database: database_path,
                keys_file: keys_file?,
                identity: oidc.map(Identity::Oidc).or(local)?,
                control_file: control_file?,
                limits,
                providers: providers.into_complete(),
                first_at_url: first_at_url(&upstreams),
                upstreams,
                processes: processes?,
                egress: egress?,
                directory: reader.directory().to_owned(),
            })
        });
        let read = reader.finish(config);
        #[cfg(test)]
        schema::tests::agree(text, &read);
        read
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// The server at a URL that a provider of kind `mcp` is for: there is one.
    pub fn protected(&self, provider: &Provider) -> Option<(&Upstream, &url::Url)> {
        // Asked with each call.
        let upstream = self.upstreams.get(*self.first_at_url.get(&provider.name)?)?;
        match &upstream.transport {
            Transport::Http(url) => Some((upstream, url)),
            Transport::Process(_) => None,
        }
    }

    /// The origins at which a provider of kind `mcp` is what the operator wrote: its server's and its issuer's (R-SEC-05).
    pub fn chosen_origins(&self, provider: &Provider) -> Vec<url::Origin> {
        let ProviderKind::Mcp(mcp) = &provider.kind else { return Vec::new() };
        let server = self.protected(provider).map(|(_, url)| url.origin());
        server.into_iter().chain(mcp.issuer.as_ref().map(|issuer| issuer.url().origin())).collect()
    }

    /// The upstream of this name.
    pub fn upstream(&self, name: &str) -> Option<&Upstream> {
        self.upstreams.iter().find(|upstream| upstream.name == name)
    }
}

fn first_at_url(upstreams: &[Upstream]) -> HashMap<String, usize> {
    let mut first = HashMap::new();
    let at_url = |(_, upstream): &(usize, &Upstream)| matches!(upstream.transport, Transport::Http(_));
    for (number, upstream) in upstreams.iter().enumerate().filter(at_url) {
        for need in &upstream.needs {
            first.entry(need.provider.clone()).or_insert(number);
        }
    }
    first
}

/// Where the files of the configuration are, and what its servers are called: enough for commands beside the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The file with the master keys.
    pub keys_file: PathBuf,
    /// The file by which commands reach the running service.
    pub control_file: PathBuf,
    /// The database file, where the store is one.
    pub database: Option<PathBuf>,
    /// The names of the servers behind the gateway.
    pub servers: Vec<String>,
}

impl Paths {
    /// Reads the file at `path`. A secret that it names and that cannot be had here, an environment variable of the
    /// service for example, is no fault; all others are.
    pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, Faults> {
        Self::load_with_store(path, env).map(|(paths, _)| paths)
    }

    /// The same with the URL of the store, if it can be had here.
    pub fn load_with_store(
        path: &Path,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Option<SecretString>), Faults> {
        let config = Config::load_beside(path, env)?;
        // What was spared is empty.
        let store = Some(config.store).filter(|url| !url.expose_secret().is_empty());
        let Config { keys_file, control_file, database, upstreams, .. } = config;
        let servers = upstreams.into_iter().map(|upstream| upstream.name).collect();
        Ok((Self { keys_file, control_file, database, servers }, store))
    }
}

fn text_of(path: &Path) -> Result<String, Faults> {
    let bytes = std::fs::read(path).map_err(|error| Faults::unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| Faults::not_utf8(path, &error))
}

#[cfg(test)]
mod tests;
