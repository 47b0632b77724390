//! Presenters: how a host shows a question to a person, and what it does with what comes of it.

mod asker;
mod outcome;
mod present;
mod question;
mod wait;

pub use asker::Asker;
pub use outcome::{NotShown, Outcome, Unanswered};
pub use present::{MAX_ATTEMPTS, present};
pub use question::{FormQuestion, UrlQuestion};
pub use wait::{AfterConsent, wait};

use std::future::Future;
use std::pin::Pin;

use crate::{Answer, Consent, Modes};

/// What a [`Presenter`] is doing. Nothing happens before it is polled, and to drop it is to withdraw the question.
pub type Presenting<'a, T> = Pin<Box<dyn Future<Output = Result<T, NotShown>> + Send + 'a>>;

/// Shows questions to a person: a terminal, a page, a window.
///
/// A host does not call it but through [`present`] and [`wait`], which hold the rules that do not depend on how a question
/// looks. What only the presenter can keep:
///
/// - The person sees which server asks, what, and why, with Decline and Cancel in reach at any time (R-ACT-04, R-SEC-02).
///   Every text of the server goes through [`text`](crate::text) before it is drawn, and no URL in it can be clicked
///   (R-FORM-09).
/// - The presenter says what the person did. Dismissed is cancel; what no person was shown is [`NotShown`]; a decline is
///   never invented (R-ACT-01).
/// - **A dropped future withdraws its question**: the server cancelled it, or its time is over. The dialog closes, and what
///   the person does with it afterwards counts for nothing. Whoever keeps state beside the future (a window, a row in a
///   queue) lets go of it in a [`Drop`] of its own.
///
/// Questions may come while others are shown; whether they wait or stand side by side is up to the presenter.
pub trait Presenter: Send + Sync {
    /// The modes that this presenter handles, here and now: what the host declares
    /// ([`ClientCapabilities::with_modes`](crate::ClientCapabilities::with_modes), R-CAP-01).
    fn modes(&self) -> Modes;

    /// Shows a form and returns what the person did.
    ///
    /// Each field begins with its [initial value](FormQuestion::initial) (R-FORM-03). The person sees and can change all
    /// answers before they are sent (R-FORM-04). Where [`faults`](FormQuestion::faults) are given it is shown again, with
    /// the person's answers and each fault beside its field.
    fn form<'a>(&'a self, question: &'a FormQuestion<'a>) -> Presenting<'a, Answer>;

    /// Shows a URL and returns whether the person agreed to open it: at once, not when they are done there (R-URL-10).
    ///
    /// The whole URL, its host and the findings of its review are shown before (R-URL-06, R-URL-07, R-URL-08). Until the
    /// person agrees nothing is opened and nothing fetched (R-URL-04, R-URL-05); then the presenter opens it, where neither
    /// host nor model can look in (R-URL-09). A browser that does not start is no decline: the URL is offered to be copied.
    fn url<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, Consent>;

    /// After consent: shows that the host waits for the person, who can say at any time that they have finished, want to
    /// open the page again, or give up (R-URL-11).
    fn after_consent<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, AfterConsent>;
}

#[cfg(test)]
mod tests;
