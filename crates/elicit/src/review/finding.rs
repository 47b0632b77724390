use std::fmt;

use super::{Profile, Reason, Verdict};

/// One thing that is to be said about a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    reason: Reason,
    verdict: Verdict,
}

impl Finding {
    /// What was found.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// How bad it is under the profile that the URL was reviewed with; [`Verdict::Ok`] informs only.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The name without its data, in `snake_case`. The whole (`skeleton_match:apple.com`) is what
    /// [`Display`](fmt::Display) writes.
    pub fn name(&self) -> &'static str {
        self.reason.name()
    }

    /// One sentence for a person: what is odd, and what to do. Nothing in it comes from the URL.
    pub fn message(&self) -> String {
        self.reason.message()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

/// The findings of a review while it goes on.
pub(super) struct Findings<'p> {
    profile: &'p Profile,
    trusted: bool,
    found: Vec<Finding>,
}

impl<'p> Findings<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile, trusted: false, found: Vec::new() }
    }

    pub(super) fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// The profile trusts the host that is reviewed.
    pub(super) fn trust(&mut self) {
        self.trusted = true;
    }

    /// Adds what was found, once.
    pub(super) fn add(&mut self, reason: Reason) {
        let verdict = self.profile.verdict(&reason, self.trusted);
        self.add_as(verdict, reason);
    }

    pub(super) fn add_if(&mut self, condition: bool, reason: Reason) {
        if condition {
            self.add(reason);
        }
    }

    /// Adds what is worse or better than it usually is.
    pub(super) fn add_as(&mut self, verdict: Verdict, reason: Reason) {
        if !self.has(&reason) {
            self.found.push(Finding { reason, verdict });
        }
    }

    pub(super) fn has(&self, reason: &Reason) -> bool {
        self.found.iter().any(|finding| finding.reason == *reason)
    }

    /// Whether the host passes for another as a whole, so that single letters are no news.
    pub(super) fn disguises(&self) -> bool {
        let disguise = |reason: &Reason| {
            matches!(
                reason,
                Reason::MixedScript | Reason::WholeScriptConfusable | Reason::SkeletonMatch(_) | Reason::SlashLookalike
            )
        };
        self.found.iter().any(|finding| disguise(&finding.reason))
    }

    pub(super) fn blocks(&self) -> bool {
        self.found.iter().any(|finding| finding.verdict == Verdict::Block)
    }

    /// The worst first; in the order of the review where they are as bad.
    pub(super) fn finish(mut self) -> (Verdict, Vec<Finding>) {
        self.found.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        (self.found.first().map_or(Verdict::Ok, Finding::verdict), self.found)
    }
}
