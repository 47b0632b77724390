//! Fail points: places where a test has the process stand still, to kill it there and see what that leaves.
//!
//! Everything here, and every [`fail_point!`](crate::fail_point), is code only with the feature `fail-points`.

#[cfg(not(debug_assertions))]
compile_error!("the feature `fail-points` is for tests: a release build has no fail points");

use std::future::pending;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The one that is armed in this process.
static ARMED: OnceLock<Armed> = OnceLock::new();

struct Armed {
    point: FailPoint,
    /// How often it is still passed before it stops the process.
    passings_left: AtomicU32,
}

/// No fail point has this name, or one is armed already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailPointError {
    /// Neither `NAME` nor `NAME:NUMBER` with the name of a point and a number from 1 on.
    #[error("{0:?} is no fail point")]
    Unknown(String),
    /// A process stops once.
    #[error("a fail point is armed already")]
    Armed,
}

/// Defines the points and their names once.
macro_rules! points {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Where a process can be stopped, from the question to the delivery of the notice, in about that order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FailPoint {
            $($(#[$doc])* $variant,)*
        }

        impl FailPoint {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name by which it is armed.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

points! {
    /// Legacy: the row of a new session is committed, and `initialize` has no answer yet.
    SessionStored = "session-stored",
    /// Legacy: the upstream began its side of a session later, and our row does not say so yet.
    HandshakeDone = "handshake-done",
    /// Legacy: the same, once our row says so.
    HandshakeStored = "handshake-stored",
    /// Legacy: a session was ended by its client here, and the upstream does not know yet.
    SessionDeleted = "session-deleted",
    /// A question is written, and not committed.
    QuestionUncommitted = "question-uncommitted",
    /// A question is committed, and not yet sealed into a round, or sent.
    QuestionStored = "question-stored",
    /// Legacy: a question is on the stream of its call, which is held.
    QuestionSent = "question-sent",
    /// Modern: the answers of a retry were taken out of it, and it does not wait yet.
    RetryTaken = "retry-taken",
    /// A sign-in link is used up and the browser session committed, and the browser has no cookie yet.
    SignedIn = "signed-in",
    /// The page of a question counts as opened, and is not yet shown.
    PageOpened = "page-opened",
    /// A form was posted, and read.
    FormRead = "form-read",
    /// The consent is committed.
    Consented = "consented",
    /// OAuth: what the way back needs is committed, and the browser not yet sent to the provider.
    FlowStored = "flow-stored",
    /// OAuth: the flow is claimed, and its code not yet sent anywhere.
    FlowClaimed = "flow-claimed",
    /// The key is about to be sent to the provider's check.
    CheckSending = "check-sending",
    /// The provider found the key good.
    CheckAnswered = "check-answered",
    /// A code is about to be sent to its provider.
    ExchangeSending = "exchange-sending",
    /// The provider has answered it, and nothing of that is stored.
    ExchangeAnswered = "exchange-answered",
    /// The transaction that completes is about to begin.
    Completing = "completing",
    /// It has written everything, and is not committed.
    CompletionUncommitted = "completion-uncommitted",
    /// It is committed, and nobody was told.
    CompletionCommitted = "completion-committed",
    /// Everybody was told, and the page has no answer yet.
    CompletionTold = "completion-told",
    /// The question was declined on its page, which is committed, and nobody was told.
    DeclineCommitted = "decline-committed",
    /// Legacy: a held call woke because its question is completed, and has not claimed its notice.
    WaiterWoken = "waiter-woken",
    /// Legacy: it has claimed its notice, and not written it to its stream.
    NoticeClaimed = "notice-claimed",
    /// Legacy: the notice is on its stream.
    NoticeWritten = "notice-written",
    /// Legacy: a notice for a GET stream is claimed, and not written to it.
    StreamNoticeClaimed = "stream-notice-claimed",
    /// Legacy: a notice is on a GET stream.
    StreamNoticeWritten = "stream-notice-written",
    /// Modern: a held retry woke because its questions are completed.
    RetryWoken = "retry-woken",
    /// A call is about to go upstream.
    CallSending = "call-sending",
    /// The upstream has answered a call, and nothing of it was passed on.
    CallAnswered = "call-answered",
    /// The upstream refused a credential, and it is not marked as refused.
    CredentialRefused = "credential-refused",
    /// A refused credential is marked, and its owner not asked.
    CredentialRejected = "credential-rejected",
    /// The lease of a refresh is committed, and nothing sent to the provider.
    RefreshLeased = "refresh-leased",
    /// A provider has answered to a refresh, and nothing of it is written.
    RefreshAnswered = "refresh-answered",
    /// What a refresh brought is written, and not committed.
    RefreshUncommitted = "refresh-uncommitted",
    /// It is committed, and nobody was told.
    Refreshed = "refreshed",
    /// A credential is about to be deleted.
    Disconnecting = "disconnecting",
    /// It is deleted, and not committed.
    DisconnectUncommitted = "disconnect-uncommitted",
    /// Its deletion is committed, and nobody was told.
    Disconnected = "disconnected",
}

impl FailPoint {
    /// The point of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|point| point.as_str() == name)
    }

    /// Arms a point for this process: `NAME`, or `NAME:NUMBER` for its passing of that number.
    pub fn arm(text: &str) -> Result<(), FailPointError> {
        let (name, number) = text.split_once(':').unwrap_or((text, "1"));
        let unknown = || FailPointError::Unknown(text.to_owned());
        let point = Self::parse(name).ok_or_else(unknown)?;
        let number = number.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(unknown)?;
        let armed = Armed { point, passings_left: AtomicU32::new(number) };
        ARMED.set(armed).map_err(|_| FailPointError::Armed)
    }

    /// Passes the point. Where it is armed, says so on standard error, once, and does not return.
    pub async fn pass(self) {
        let Some(armed) = ARMED.get().filter(|armed| armed.point == self) else { return };
        if armed.passings_left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        // Whoever reads this line kills the process.
        let _ = writeln!(std::io::stderr(), "fail point reached: {}", self.as_str());
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::{FailPoint, FailPointError};

    fn passes(point: FailPoint) -> bool {
        pin!(point.pass()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn every_point_has_a_name_of_its_own() {
        for point in FailPoint::ALL {
            assert_eq!(FailPoint::parse(point.as_str()), Some(*point));
        }
        assert_eq!(FailPoint::parse("anywhere"), None);
    }

    /// All in one test: a process is armed once.
    #[test]
    fn the_armed_point_stops_whoever_passes_it_for_the_named_time() {
        for text in ["", "anywhere", "consented:0", "consented:x", "consented:"] {
            assert_eq!(FailPoint::arm(text), Err(FailPointError::Unknown(text.to_owned())));
        }
        assert!(passes(FailPoint::Consented), "none is armed");
        FailPoint::arm("consented:2").unwrap();
        assert_eq!(FailPoint::arm("consented"), Err(FailPointError::Armed));
        assert!(passes(FailPoint::Consented), "the first time");
        assert!(passes(FailPoint::FormRead), "another point");
        assert!(!passes(FailPoint::Consented), "the second time");
    }
}
