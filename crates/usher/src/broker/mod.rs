//! What to ask and what became of it. Returns decisions; touches no stream, knows no HTML and no MCP framing.

mod ask;
mod decide;
mod disconnect;
mod external;
mod limits;
mod looks;
mod needs;
mod own_account;
mod readable;
mod refused;
mod servers;
mod visit;
mod waiting;

use std::sync::Arc;

use elicit::Random;
use usher_store::Store;

pub use self::{
    ask::Refusal,
    decide::{Decision, Examined, INTERACTION_LIVES, Missing, Patience, Waited},
    external::{ConfirmError, Departed, Looked, NotCompleted},
    limits::{Limits, Question},
    looks::Looks,
    needs::Call,
    own_account::Narrowed,
    servers::{AskedFor, Followed, ServerQuestion, Withdrawn},
    visit::*,
    waiting::Waiting,
};
use crate::{
    clock::Clock,
    config::Config,
    credentials::{Credentials, fresh::Fresh, servers::AuthorizationServers},
    egress::Egress,
};

/// The broker: one per service, shared by the relay and the pages.
#[derive(Clone)]
pub struct Broker {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) egress: Egress,
    pub(crate) credentials: Credentials,
    pub(crate) fresh: Fresh,
    pub(crate) servers: AuthorizationServers,
    pub(crate) limits: Arc<Limits>,
    pub(crate) waiting: Waiting,
    pub(crate) looks: Arc<Looks>,
}
