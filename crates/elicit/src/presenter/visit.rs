use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use super::{NotShown, Presenter, Presenting, UrlQuestion};

/// A page that the person agreed to open. Made by [`present`](super::present) alone, with that consent (R-URL-05).
#[derive(Clone, Debug)]
pub struct Visit<'a> {
    question: UrlQuestion<'a>,
}

/// What the person wants after they agreed to open a page (R-URL-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterConsent {
    /// They are done there.
    Finished,
    /// The page was closed, or did not load: it is to be opened once more.
    Again,
    /// They give up.
    GivenUp,
}

/// How a visit ended. The server is told nothing more: it had its answer with the consent (R-URL-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visited {
    /// The person says that they are done, or the server does: the host goes on, and may send its call again.
    Finished,
    /// The person gave up: the host ends its call.
    GivenUp,
}

impl<'a> Visit<'a> {
    pub(super) fn new(question: UrlQuestion<'a>) -> Self {
        Self { question }
    }

    /// The page, and who asked for it.
    pub fn question(&self) -> &UrlQuestion<'a> {
        &self.question
    }

    /// Waits until the person says that they are done or give up, or `completed` comes: a
    /// [notice](crate::Completions::complete), or the result of the call. Then what the presenter shows is withdrawn, and it
    /// counts as finished. As often as the person wants, the page is [opened again](Presenter::reopen), without a second
    /// answer to the server (R-URL-11).
    ///
    /// Nothing waits for the notice alone (R-URL-11): where the step cannot be shown that is an error, and the host ends the
    /// call. A deadline is the host's: it drops the future.
    pub async fn wait(
        &self,
        presenter: &dyn Presenter,
        completed: impl Future<Output = ()>,
    ) -> Result<Visited, NotShown> {
        let mut completed = pin!(completed);
        loop {
            match unless(completed.as_mut(), presenter.after_consent(&self.question)).await? {
                None | Some(AfterConsent::Finished) => return Ok(Visited::Finished),
                Some(AfterConsent::GivenUp) => return Ok(Visited::GivenUp),
                Some(AfterConsent::Again) => {}
            }
            if unless(completed.as_mut(), presenter.reopen(&self.question)).await?.is_none() {
                return Ok(Visited::Finished);
            }
        }
    }
}

/// What comes of a step; `None` where `completed` is first.
async fn unless<T>(
    mut completed: Pin<&mut impl Future<Output = ()>>,
    mut step: Presenting<'_, T>,
) -> Result<Option<T>, NotShown> {
    poll_fn(move |context| {
        if completed.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(None));
        }
        step.as_mut().poll(context).map_ok(Some)
    })
    .await
}
