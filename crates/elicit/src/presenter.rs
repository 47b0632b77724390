//! Presenters: how a host shows a question to a person, and what it does with what comes of it.

mod asker;
mod confirmation;
mod outcome;
mod policy;
mod present;
mod question;
mod url_question;
mod visit;

pub use asker::Asker;
pub use confirmation::{Confirmation, Refusal};
pub use outcome::{NotShown, Outcome, Unanswered};
pub use policy::{Policy, SecretPolicy};
pub use present::{MAX_ATTEMPTS, Presented, present};
pub use question::{FormQuestion, SecretQuestion};
pub use url_question::UrlQuestion;
pub use visit::{AfterConsent, Visit, Visited};

use std::future::Future;
use std::pin::Pin;

use crate::{Answer, Consent, Modes};

/// What a [`Presenter`] is doing. Nothing happens before it is polled, and to drop it is to withdraw the question.
pub type Presenting<'a, T> = Pin<Box<dyn Future<Output = Result<T, NotShown>> + Send + 'a>>;

/// Shows questions to a person: a terminal, a page, a window.
///
/// A host does not call it but through [`present`] and [`Visit::wait`], which hold the rules that do not depend on how a question
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
    /// answers before they are sent (R-FORM-04). Of a field that seems to ask for a [secret](FormQuestion::fields) they are
    /// warned, and what they type there is masked. Where [`faults`](FormQuestion::faults) are given it is shown again, with
    /// the person's answers and each fault beside its field.
    fn form<'a>(&'a self, question: &'a FormQuestion<'a>) -> Presenting<'a, Answer>;

    /// Tells the person that a server asked for a [secret](FormQuestion::secrets) in a form, which MCP forbids (R-FORM-07):
    /// which server, for what, and why in its words. No field is shown and no input taken. Decline is offered first; whoever
    /// dismisses the notice cancels.
    fn forbidden<'a>(&'a self, question: &'a FormQuestion<'a>) -> Presenting<'a, Refusal>;

    /// Asks whether answers that look like a secret are really to be sent (R-FORM-07), naming the server and what each of
    /// them looks like. To change them is offered first.
    fn confirm_secret<'a>(&'a self, question: &'a SecretQuestion<'a>) -> Presenting<'a, Confirmation>;

    /// Shows a URL and returns whether the person agreed to open it: at once, not when they are done there (R-URL-10).
    ///
    /// The whole URL, its host and the findings of its review are shown before (R-URL-06, R-URL-07, R-URL-08). Until the
    /// person agrees nothing is opened and nothing fetched (R-URL-04, R-URL-05); then the presenter opens it, where neither
    /// host nor model can look in (R-URL-09). A browser that does not start is no decline: the URL is offered to be copied.
    fn url<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, Consent>;

    /// Opens a page once more that the person [agreed](Visit) to open and wants to see [again](AfterConsent::Again), as
    /// after consent. The question is not put a second time.
    fn reopen<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, ()>;

    /// After consent: shows that the host waits for the person, who can say at any time that they have finished, want to
    /// open the page again, or give up (R-URL-11).
    fn after_consent<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, AfterConsent>;
}

#[cfg(test)]
mod tests;
