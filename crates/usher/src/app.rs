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
    identity::{control::ControlToken, tokens::Tokens},
    jobs::keys::Keys,
    relay::Relay,
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
    /// The bearer tokens of MCP clients on this machine.
    pub tokens: Tokens,
    /// The token by which a command on this machine proves that it may ask for sign-in links.
    pub control: ControlToken,
    /// What to ask, and what became of it.
    pub broker: Broker,
    /// The MCP data plane.
    pub relay: Relay,
    /// Cancelled when the service begins to stop: whoever waits answers at once.
    pub stopping: CancellationToken,
}
