use std::fmt;

use super::{Asker, Unanswered};
use crate::UrlElicitation;
use crate::review::{Finding, Profile, UrlReview, Verdict};

/// A URL as a presenter gets it: reviewed, and not blocked. One that is dangerous never becomes a question (R-URL-08).
#[derive(Clone)]
pub struct UrlQuestion<'a> {
    asker: &'a Asker,
    elicitation: &'a UrlElicitation,
    review: UrlReview,
}

impl<'a> UrlQuestion<'a> {
    /// Reviews the elicitation's URL. [`Unanswered::Blocked`] where nobody should go there.
    pub fn new(asker: &'a Asker, elicitation: &'a UrlElicitation, profile: &Profile) -> Result<Self, Unanswered> {
        let review = UrlReview::of(elicitation.url(), profile);
        if review.openable().is_some() {
            return Ok(Self { asker, elicitation, review });
        }
        let blocking = review.findings().iter().filter(|finding| finding.verdict() == Verdict::Block);
        let names: Vec<&str> = blocking.map(Finding::name).collect();
        Err(Unanswered::Blocked(names.join(", ")))
    }

    /// Who asks.
    pub fn asker(&self) -> &'a Asker {
        self.asker
    }

    /// Where to and why, in the server's words.
    pub fn elicitation(&self) -> &'a UrlElicitation {
        self.elicitation
    }

    /// What to show beside the URL, and what to warn of (R-URL-07, R-URL-08).
    pub fn review(&self) -> &UrlReview {
        &self.review
    }

    /// The URL: the very text that is shown is the one that is opened, after consent (R-URL-06, R-URL-09).
    pub fn url(&self) -> &str {
        // Never absent: `new` lets nothing else through.
        self.review.openable().unwrap_or_default()
    }
}

/// Who asks and what is odd about the URL, which is itself between the server and the person.
impl fmt::Debug for UrlQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings: Vec<&str> = self.review.findings().iter().map(Finding::name).collect();
        f.debug_struct("UrlQuestion").field("asker", &self.asker).field("findings", &findings).finish_non_exhaustive()
    }
}
