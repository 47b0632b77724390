//! What every handler shares: the running service's parts, made once at start.

use std::sync::Arc;

use elicit::Random;
use tokio_util::sync::CancellationToken;
use usher_store::Store;

use crate::{
    broker::Broker,
    clock::Clock,
    config::Config,
    egress::Egress,
    identity::{Door, control::ControlToken},
    jobs::keys::Keys,
    relay::{self, Relay},
};

/// The parts of a running Usher. Handlers get it as `State<Arc<App>>`.
pub struct App {
    /// The configuration, checked.
    pub config: Arc<Config>,
    /// Durable state.
    pub store: Store,
    /// The master keys.
    pub keys: Keys,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub random: Arc<dyn Random>,
    /// Outbound HTTP.
    pub egress: Egress,
    /// Who may come in.
    pub identity: Door,
    /// The token by which a command on this machine proves that it may speak to the service.
    pub control: ControlToken,
    /// What to ask, and what became of it.
    pub broker: Broker,
    /// The MCP data plane.
    pub relay: Relay,
    /// Cancelled when the service begins to stop: whoever waits answers at once.
    pub stopping: CancellationToken,
}

impl App {
    /// The store has changed in ways that nobody told: forgets what is kept in memory, and catches up.
    pub(crate) async fn reread(self: &Arc<Self>) {
        self.forget();
        self.catch_up().await;
    }

    /// Drops what is kept in memory, and wakes whoever waits, to look for themselves.
    pub(crate) fn forget(&self) {
        self.broker.credentials.forget_all();
        self.relay.forget_sessions();
        self.broker.waiting.wake_all();
    }

    /// Delivers notices that are due, and replaces what runs with credentials that have changed.
    pub(crate) async fn catch_up(self: &Arc<Self>) {
        relay::catch_up(self).await;
        relay::credentials_changed(self, None).await;
    }
}
