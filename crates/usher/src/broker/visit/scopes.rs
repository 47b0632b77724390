//! Which permissions a person is asked for at a provider, and which they gave before.

use std::collections::BTreeSet;

use usher_store::Grant;

use crate::config::{Need, Provider};

/// Scopes, as sets: their order says nothing (RFC 6749, section 3.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes {
    /// All that are asked for now.
    pub asked: BTreeSet<String>,
    /// Those that the person gave before.
    pub given: BTreeSet<String>,
}

impl Scopes {
    /// What is asked for beyond what was given.
    pub fn more(&self) -> BTreeSet<String> {
        self.asked.difference(&self.given).cloned().collect()
    }

    /// What is asked of a person who has `grant`: nothing of what they gave is lost by asking for more.
    pub(super) fn of(provider: &Provider, need: &Need, grant: Option<&Grant>) -> Self {
        let mut asked = wanted(provider, need);
        let given = grant.map(|grant| grant.scopes.clone()).unwrap_or_default();
        asked.extend(given.iter().cloned());
        asked.extend(grant.into_iter().flat_map(|grant| grant.demanded.iter().cloned()));
        Self { asked, given }
    }
}

/// What a server needs, and what its provider is asked for by whomever.
fn wanted(provider: &Provider, need: &Need) -> BTreeSet<String> {
    provider.scopes().iter().chain(&need.scopes).cloned().collect()
}

/// Whether `grant` was made without being asked for what is needed now. What a provider was asked for and did not
/// grant, or calls otherwise, is not asked for again and again: its server says whether it can do without (RFC 6750,
/// section 3.1).
pub(crate) fn lacks(provider: &Provider, need: &Need, grant: &Grant) -> bool {
    let is_there = |scope: &String| grant.scopes.contains(scope) || grant.asked.contains(scope);
    !wanted(provider, need).iter().all(is_there)
}
