//! Domains that others pretend to be, prepared for comparison.

use std::collections::{HashMap, HashSet};

use super::skeleton;

/// A registrable domain that a profile knows.
#[derive(Clone, Debug)]
pub(super) struct KnownDomain {
    /// In ASCII.
    pub(super) domain: String,
    /// Its first label, in ASCII.
    pub(super) label: String,
    pub(super) skeleton: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct KnownDomains {
    domains: Vec<KnownDomain>,
    names: HashSet<String>,
    by_skeleton: HashMap<String, usize>,
    by_label: HashMap<String, usize>,
}

/// Shorter labels are words too often: `go-live` is no lookalike of `go`.
pub(super) const SHORTEST_EMBEDDED: usize = 4;

impl KnownDomains {
    /// `domain` is a registrable domain in ASCII, `suffix` its public suffix.
    pub(super) fn add(&mut self, domain: &str, suffix: &str) {
        if !self.names.insert(domain.to_owned()) {
            return;
        }
        let label = domain.strip_suffix(suffix).unwrap_or(domain).trim_end_matches('.');
        let index = self.domains.len();
        let skeleton = skeleton::of(&super::international::to_unicode(domain));
        if label.len() >= SHORTEST_EMBEDDED {
            let label_skeleton = skeleton::of(&super::international::to_unicode(label));
            self.by_label.entry(label_skeleton).or_insert(index);
        }
        self.by_skeleton.entry(skeleton.clone()).or_insert(index);
        self.domains.push(KnownDomain { domain: domain.to_owned(), label: label.to_owned(), skeleton });
    }

    pub(super) fn contains(&self, domain: &str) -> bool {
        self.names.contains(domain)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &KnownDomain> {
        self.domains.iter()
    }

    pub(super) fn with_skeleton(&self, skeleton: &str) -> Option<&KnownDomain> {
        self.by_skeleton.get(skeleton).and_then(|index| self.domains.get(*index))
    }

    /// The domain whose first label has the skeleton.
    pub(super) fn with_label(&self, skeleton: &str) -> Option<&KnownDomain> {
        self.by_label.get(skeleton).and_then(|index| self.domains.get(*index))
    }
}
