//! One visit to our pages for one url-mode question, from asked to done.

mod advance;
mod ask;
mod client;
mod complete;
mod decline;
mod find;
mod flow;
mod id;
mod lock;
mod once;
mod operation;
mod returns;
mod row;
mod seal;
mod state;
mod withdraw;

use elicit::Principal;
use jiff::Timestamp;

pub use self::ask::{Asked, OPEN_AT_MOST, OpenLimits};
pub use self::client::AskingClient;
pub use self::decline::{DECLINE_RESTS, Resting};
pub use self::flow::{FLOW_LASTS, Flow};
pub use self::id::{InteractionId, InvalidId};
pub(crate) use self::lock::lock_of_user;
pub use self::once::{APPROVAL_LASTS, Claim, Claimed, ExactCall, VISIT_LASTS};
pub use self::operation::{OPERATION_AT_MOST, Operation, OperationError};
pub use self::state::{
    DeclinedBy, EXCHANGE_LASTS, FailureReason, InteractionState, Obstacle, StateName, Step, TransitionError,
};
pub(crate) use self::withdraw::withdraw_of_client;
#[cfg(test)]
pub(crate) use self::{
    advance::ADVANCE,
    ask::{EXPIRE, FIRST_END, INSERT_WITHIN},
    client::APPROVALS_OF,
    decline::{DECLINED, RELEASE, REST_OF, RESTS},
    find::{CLAIM, FIND, WAITING, find_several},
    flow::{CLAIM_FLOW, FIND_FLOW, KEEP_FLOW},
    once::{MOVE, PROVED},
    returns::TAKE as TAKE_RETURN,
    seal::find_operations,
    withdraw::{WITHDRAW, WITHDRAW_APPROVALS},
};

/// Where a credential will be sent: what the person sees at consent (R-GW-04).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Destination {
    /// The upstream's name in the configuration.
    pub upstream: String,
    /// The origin of its URL.
    pub target: String,
}

/// Why the question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AskReason {
    /// No credential is stored.
    Missing,
    /// The stored one was rejected.
    Rejected,
    /// The user has not yet allowed this client to use it (R-OAUTH-04).
    NewClient,
    /// The user has not yet allowed it to be sent there (R-GW-04).
    NewDestination,
    /// The stored grant lacks scopes that are needed.
    MoreScopes,
}

impl AskReason {
    /// The name in rows and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Rejected => "rejected",
            Self::NewClient => "new-client",
            Self::NewDestination => "new-destination",
            Self::MoreScopes => "more-scopes",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Missing, Self::Rejected, Self::NewClient, Self::NewDestination, Self::MoreScopes]
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

/// A question that is about to be asked.
#[derive(Debug, Clone)]
pub struct NewInteraction {
    /// Its id, if it is not already being asked.
    pub id: InteractionId,
    /// The verified user and client that it is bound to (R-ID-01).
    pub principal: Principal,
    /// What the client says of itself. Shown as a claim only.
    pub client_claim: Option<String>,
    /// The key of the API that it was asked with; `None` where the client called through the gateway. Only there is the client
    /// verified by us: else it is the server's word (R-ID-02).
    pub asked_by: Option<String>,
    /// The provider whose credential is needed.
    pub provider: String,
    /// Where it will be sent.
    pub destination: Destination,
    /// Why it is asked.
    pub reason: AskReason,
    /// The call that it is asked for. Where the whole call is given, the answer is good for that call alone, and another
    /// call is another question.
    pub operation: Option<Operation>,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// A question that was asked, as the store knows it.
///
/// Times have microseconds; what is finer is cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// Its id, which the link carries.
    pub id: InteractionId,
    /// The verified user and client that it is bound to (R-ID-01).
    pub principal: Principal,
    /// What the client says of itself. Shown as a claim only.
    pub client_claim: Option<String>,
    /// The key of the API that it was asked with; `None` where the client called through the gateway. Only there is the client
    /// verified by us: else it is the server's word (R-ID-02).
    pub asked_by: Option<String>,
    /// The provider whose credential is needed.
    pub provider: String,
    /// Where it will be sent.
    pub destination: Destination,
    /// Why it is asked.
    pub reason: AskReason,
    /// When it was asked first.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// How far it has come.
    pub state: InteractionState,
    /// Counts the changes of state. A change takes place only on the version that was read.
    pub version: i64,
}

/// What became of an attempt to change an interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[allow(clippy::large_enum_variant, reason = "made one at a time, and matched at once")]
pub enum Advanced {
    /// It took place, and is committed.
    Done(Interaction),
    /// Somebody else changed the interaction first. Read it again.
    Lost,
    /// It is not possible in the state that the interaction is in.
    Refused(TransitionError),
}
