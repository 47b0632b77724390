use std::collections::VecDeque;
use std::time::Duration;

use crate::provider::Behaviour;
use crate::upstream::Gate;

/// What is wrong with an endpoint.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// It behaves so, and does not do its work but for [`Behaviour::Wait`], where it does it afterwards: an outage is
    /// `Behaviour::Status(503)`, slowness `Behaviour::Wait(gate)`.
    Instead(Behaviour),
    /// 429 with this `Retry-After` (seconds, or a date); no header for the empty text. The work is not done.
    Limited(String),
    /// The same with 503.
    Unavailable(String),
    /// It does its work, and the connection is cut before the reply.
    ReplyLost,
    /// It does its work, and replies once the gate is open.
    ReplyHeld(Gate),
    /// It does its work, and replies after so long, as one that is far away.
    ReplyLate(Duration),
}

/// What awaits the next requests.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) next: VecDeque<Option<Trouble>>,
    pub(super) always: Option<Trouble>,
}

impl Ahead {
    pub(super) fn take(&mut self) -> Option<Trouble> {
        self.next.pop_front().unwrap_or_else(|| self.always.clone())
    }
}
