//! What happened in which order, as the demo's own parts saw it: the app, the person, the provider, the weather server.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// The app is about to call the tool.
    Called,
    /// The app got a question with a link.
    Asked,
    /// The person agreed to open the link, and the app is about to say so.
    Agreed,
    /// The person sees the page of the question.
    PageShown,
    /// The provider was asked about a key that it does not know.
    WrongKeyChecked,
    /// The page says that the key is no good.
    WrongKeyRefused,
    /// The provider was asked about a key that it knows.
    KeyChecked,
    /// The page says that all is done.
    PageDone,
    /// The app was told that the page is done.
    Noticed,
    /// The weather server ran the tool.
    ToolRan,
    /// The app got the forecast.
    Answered,
}

/// The demo's diary.
#[derive(Debug, Default)]
pub(super) struct Journal(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    moments: Vec<Moment>,
    keys: Vec<String>,
}

impl Journal {
    /// Notes what happens now.
    pub(super) fn note(&self, moment: Moment) {
        self.entries().moments.push(moment);
    }

    /// Notes a key that the weather server received.
    pub(super) fn note_key(&self, key: &str) {
        self.entries().keys.push(key.to_owned());
    }

    /// Takes out all that was noted, for a new beginning: the moments, and the keys that the weather server received.
    pub(super) fn take(&self) -> (Vec<Moment>, Vec<String>) {
        let entries = std::mem::take(&mut *self.entries());
        (entries.moments, entries.keys)
    }

    /// A panic while the lock is held leaves lists that are still whole.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the moments of `order` happened, each once and in this order; others do not count.
pub(super) fn in_order(moments: &[Moment], order: &[Moment]) -> bool {
    moments.iter().filter(|moment| order.contains(moment)).eq(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_holds_only_where_each_moment_came_once_and_in_its_place() {
        use Moment::{Answered, Called, KeyChecked, PageDone, ToolRan};
        let order = [Called, KeyChecked, ToolRan, Answered];
        assert!(in_order(&[Called, KeyChecked, PageDone, ToolRan, Answered], &order));
        for wrong in [
            &[][..],
            &[Called, KeyChecked, ToolRan],
            &[Called, ToolRan, KeyChecked, Answered],
            &[Called, KeyChecked, ToolRan, ToolRan, Answered],
        ] {
            assert!(!in_order(wrong, &order), "{wrong:?}");
        }
    }

    #[test]
    fn taking_begins_anew() {
        let journal = Journal::default();
        journal.note(Moment::Called);
        journal.note_key("k");
        assert_eq!(journal.take(), (vec![Moment::Called], vec!["k".to_owned()]));
        assert_eq!(journal.take(), (Vec::new(), Vec::new()));
    }
}
