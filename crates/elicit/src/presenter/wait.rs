use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use super::{NotShown, Presenter, UrlQuestion};

/// What the person wants after they agreed to open a page (R-URL-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterConsent {
    /// They are done there: the host goes on, and may send its call again.
    Finished,
    /// The page was closed, or did not load: it is to be shown and opened once more.
    Again,
    /// They give up: the host ends its call.
    GivenUp,
}

/// Waits until the person says what they want, or `completed` comes: a
/// [notice](crate::Completions::complete), or the result of the call. Then the presenter's step is withdrawn, and it counts
/// as finished.
///
/// Nothing waits for the notice alone (R-URL-11): where the step cannot be shown that is an error, and the host ends the
/// call. A deadline is the host's: it drops the future.
pub async fn wait(
    presenter: &dyn Presenter,
    question: &UrlQuestion<'_>,
    completed: impl Future<Output = ()>,
) -> Result<AfterConsent, NotShown> {
    let mut completed = pin!(completed);
    let mut shown = presenter.after_consent(question);
    poll_fn(move |context| {
        if completed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(AfterConsent::Finished));
        }
        shown.as_mut().poll(context)
    })
    .await
}
