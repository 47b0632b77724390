//! The states of an interaction, and which follows which. No store in here.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::Interaction;
use crate::time::whole_micros;

/// How long a code may take to be exchanged at the provider. What takes longer was cut off: longer than the deadline of
/// the requests of an exchange, all together.
pub const EXCHANGE_LASTS: SignedDuration = SignedDuration::from_secs(60);

/// How far an interaction has come.
///
/// ```text
/// Created → Opened → Consented → Exchanging → Completed           (Exchanging: OAuth only)
///        ↘ Declined   ↘ Failed (may be started again)   ↘ Expired
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InteractionState {
    /// Stored, before the client hears of it.
    Created,
    /// The verified user opened the page.
    Opened {
        /// When.
        at: Timestamp,
    },
    /// The user agreed.
    Consented {
        /// When.
        at: Timestamp,
    },
    /// The browser came back from the provider, and what it brought is being exchanged for a grant. For longer than
    /// [`EXCHANGE_LASTS`] it is none: the process that did it is gone, see [`Interaction::at`].
    Exchanging {
        /// Since when.
        at: Timestamp,
    },
    /// The credential is stored, in the same transaction.
    Completed {
        /// When.
        at: Timestamp,
    },
    /// The person refused.
    Declined {
        /// When.
        at: Timestamp,
    },
    /// It did not work out. The page offers to start again.
    Failed {
        /// When.
        at: Timestamp,
        /// Why.
        reason: FailureReason,
    },
    /// Its time ran out.
    Expired,
}

/// The name of a state, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they are those of `InteractionState`
pub enum StateName {
    Created,
    Opened,
    Consented,
    Exchanging,
    Completed,
    Declined,
    Failed,
    Expired,
}

/// Why an interaction failed. All of them can be started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureReason {
    /// The provider did not answer.
    ProviderUnreachable,
    /// The provider answered with an error or with garbage.
    ProviderRefused,
    /// The person said no at the provider.
    ProviderDeclined,
    /// The provider refuses our registration: the operator has to put the configuration right.
    Misconfigured,
    /// Our store could not keep the credential.
    StoreTrouble,
    /// We stopped in the middle.
    Interrupted,
}

/// What is done to an interaction. [`Store::complete`](crate::Store::complete) is the step that is not in here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The verified user opened the page. Nothing changes if it is already open.
    Open,
    /// The user agreed. Nothing changes if they already did.
    Consent,
    /// The person refused.
    Decline {
        /// Where they did.
        by: DeclinedBy,
    },
    /// It did not work out.
    Fail(FailureReason),
    /// From failed back to opened.
    Restart,
    /// It is taken back before its time, and nobody refused it: nothing rests, and it may be asked anew at once.
    Withdraw,
}

/// Where the person refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeclinedBy {
    /// On our page.
    Page,
    /// In the client.
    Client,
}

/// A step that cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an interaction that is {from} cannot become {to}: {obstacle}")]
pub struct TransitionError {
    /// The state that it is in.
    pub from: StateName,
    /// The state that the step leads to.
    pub to: StateName,
    /// What stands in the way.
    pub obstacle: Obstacle,
}

/// What stands in the way of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// The one state does not follow the other.
    Order,
    /// A newer interaction asks the same, and is open.
    Superseded,
    /// There is no stored credential that could be allowed.
    NoCredential,
    /// The call that would be approved is not kept (any more).
    NoOperation,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Order => "the one does not follow the other",
            Self::Superseded => "a newer one asks the same and is open",
            Self::NoCredential => "no credential is stored that could be allowed",
            Self::NoOperation => "the call that would be approved is not kept",
        })
    }
}

impl InteractionState {
    /// Whether somebody may still go on with it.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Created | Self::Opened { .. } | Self::Consented { .. } | Self::Exchanging { .. })
    }

    /// Its name.
    pub fn name(&self) -> StateName {
        match self {
            Self::Created => StateName::Created,
            Self::Opened { .. } => StateName::Opened,
            Self::Consented { .. } => StateName::Consented,
            Self::Exchanging { .. } => StateName::Exchanging,
            Self::Completed { .. } => StateName::Completed,
            Self::Declined { .. } => StateName::Declined,
            Self::Failed { .. } => StateName::Failed,
            Self::Expired => StateName::Expired,
        }
    }
}

impl StateName {
    /// The name in rows and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Opened => "opened",
            Self::Consented => "consented",
            Self::Exchanging => "exchanging",
            Self::Completed => "completed",
            Self::Declined => "declined",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FailureReason {
    /// The name in rows and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderUnreachable => "provider-unreachable",
            Self::ProviderRefused => "provider-refused",
            Self::ProviderDeclined => "provider-declined",
            Self::Misconfigured => "misconfigured",
            Self::StoreTrouble => "store-trouble",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [
            Self::ProviderUnreachable,
            Self::ProviderRefused,
            Self::ProviderDeclined,
            Self::Misconfigured,
            Self::StoreTrouble,
            Self::Interrupted,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == text)
    }
}

impl Interaction {
    /// The same, with the state that it has at `now`: past its end, what is not answered is expired, and an exchange
    /// that takes longer than [`EXCHANGE_LASTS`] was cut off. Completed and declined stay what they are.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        use InteractionState as S;
        if self.expires_at <= now {
            self.state = match self.state {
                S::Created | S::Opened { .. } | S::Consented { .. } | S::Exchanging { .. } | S::Failed { .. } => {
                    S::Expired
                }
                end @ (S::Completed { .. } | S::Declined { .. } | S::Expired) => end,
            };
        }
        if let S::Exchanging { at } = self.state
            && let Ok(until) = at.checked_add(EXCHANGE_LASTS)
            && until <= now
        {
            self.state = S::Failed { at: until, reason: FailureReason::Interrupted };
        }
        self
    }

    /// Takes a step. Pure: [`Store::advance`](crate::Store::advance) is what makes it last.
    ///
    /// The version grows with the state; a step that changes nothing keeps both.
    pub fn step(self, step: Step, now: Timestamp) -> Result<Self, TransitionError> {
        use InteractionState as S;
        let current = self.at(now);
        let at = whole_micros(now);
        let next = match (step, &current.state) {
            (Step::Open, S::Created) | (Step::Restart, S::Failed { .. }) => S::Opened { at },
            (Step::Open, S::Opened { .. } | S::Consented { .. } | S::Exchanging { .. })
            | (Step::Consent, S::Consented { .. } | S::Exchanging { .. }) => return Ok(current),
            (Step::Consent, S::Opened { .. }) => S::Consented { at },
            (Step::Fail(reason), open) if open.is_open() => S::Failed { at, reason },
            (Step::Decline { .. }, state) if state.is_open() || matches!(state, S::Failed { .. }) => S::Declined { at },
            (Step::Withdraw, state) if state.is_open() || matches!(state, S::Failed { .. }) => S::Expired,
            (step, state) => return Err(TransitionError::order(state, step.target())),
        };
        Ok(current.become_state(next))
    }

    /// The last step: only what was consented to completes, and a grant only once it was exchanged for.
    pub(crate) fn completed(self, from: StateName, now: Timestamp) -> Result<Self, TransitionError> {
        let current = self.at(now);
        if current.state.name() != from {
            return Err(TransitionError::order(&current.state, StateName::Completed));
        }
        Ok(current.become_state(InteractionState::Completed { at: whole_micros(now) }))
    }

    fn become_state(mut self, state: InteractionState) -> Self {
        self.state = state;
        self.version += 1;
        self
    }
}

impl Step {
    pub(crate) fn target(self) -> StateName {
        match self {
            Self::Open | Self::Restart => StateName::Opened,
            Self::Consent => StateName::Consented,
            Self::Decline { .. } => StateName::Declined,
            Self::Fail(_) => StateName::Failed,
            Self::Withdraw => StateName::Expired,
        }
    }
}

impl TransitionError {
    fn order(from: &InteractionState, to: StateName) -> Self {
        Self { from: from.name(), to, obstacle: Obstacle::Order }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
