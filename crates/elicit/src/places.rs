//! Where things with names stand in a list.

use std::collections::HashMap;

/// So few names are found faster by looking at each.
const FEW: usize = 16;

/// The places of a list's names, kept where there are many of them. The names differ, and are added at the end alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(HashMap<String, usize>);

impl Places {
    pub(crate) fn of<T>(list: &[T], name: impl Fn(&T) -> &str) -> Self {
        let mut places = Self::default();
        places.note(list, name);
        places
    }

    /// Notes those at the end that it does not know of yet.
    pub(crate) fn note<T>(&mut self, list: &[T], name: impl Fn(&T) -> &str) {
        if list.len() > FEW {
            let new = list.iter().enumerate().skip(self.0.len());
            self.0.extend(new.map(|(place, item)| (name(item).to_owned(), place)));
        }
    }

    /// The place of `wanted` in the list that was noted.
    pub(crate) fn find<T>(&self, list: &[T], name: impl Fn(&T) -> &str, wanted: &str) -> Option<usize> {
        if self.0.is_empty() { list.iter().position(|item| name(item) == wanted) } else { self.0.get(wanted).copied() }
    }
}
