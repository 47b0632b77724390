use std::collections::VecDeque;

/// What a host knows of the url elicitations of one server connection (2025-11-25): which it was asked, which the person
/// agreed to, which are complete. Ids of another server are others, so each connection has its own.
///
/// It remembers 256 ids. One more takes the place of the oldest that is complete, else of the oldest, which then is unknown
/// again.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    known: VecDeque<(String, Progress)>,
}

/// How far a url elicitation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// The person is asked.
    Asked,
    /// The person agreed to open the page.
    Accepted,
    /// The server said that it is complete.
    Complete,
}

const REMEMBERED: usize = 256;

/// The longest `elicitationId`, in bytes: 1 KiB. An elicitation with a longer one is refused, so that what is remembered of
/// a server is bounded.
pub const MAX_ELICITATION_ID_BYTES: usize = 1024;

impl Completions {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the person is about to be asked, before anything is shown, so that a notice which comes early counts.
    /// Says how far it had come before, if it is known: what was accepted is not asked again (R-ERR-02). An id that is longer
    /// than [`MAX_ELICITATION_ID_BYTES`] belongs to no elicitation, and is not remembered.
    pub fn ask(&mut self, id: &str) -> Option<Progress> {
        let progress = self.progress(id);
        if progress.is_none() && id.len() <= MAX_ELICITATION_ID_BYTES {
            if self.known.len() >= REMEMBERED {
                let complete = self.known.iter().position(|(_, progress)| *progress == Progress::Complete);
                self.known.remove(complete.unwrap_or(0));
            }
            self.known.push_back((id.to_owned(), Progress::Asked));
        }
        progress
    }

    /// Notes that the person agreed to open the page.
    pub fn accept(&mut self, id: &str) {
        if let Some(progress) = self.entry(id)
            && *progress == Progress::Asked
        {
            *progress = Progress::Accepted;
        }
    }

    /// Forgets what the person declined, dismissed or gave up: it may be asked again.
    pub fn forget(&mut self, id: &str) {
        self.known.retain(|(known, _)| known != id);
    }

    /// Takes a [notice](crate::CompleteNotice); or the person's word that they are done, since nothing waits for a notice
    /// alone (R-URL-11). Whether it says something new: unknown ids and those that are complete
    /// already are ignored (R-DONE-02).
    pub fn complete(&mut self, id: &str) -> bool {
        match self.entry(id) {
            Some(progress) if *progress != Progress::Complete => {
                *progress = Progress::Complete;
                true
            }
            _ => false,
        }
    }

    /// How far the elicitation has come; `None` for an unknown one.
    pub fn progress(&self, id: &str) -> Option<Progress> {
        self.known.iter().find(|(known, _)| known == id).map(|(_, progress)| *progress)
    }

    fn entry(&mut self, id: &str) -> Option<&mut Progress> {
        self.known.iter_mut().find(|(known, _)| known == id).map(|(_, progress)| progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-DONE-02: a notice counts once, and only for what was asked.
    #[test]
    fn unknown_and_complete_ids_are_ignored() {
        let mut completions = Completions::new();
        assert!(!completions.complete("a"), "nobody asked");
        assert_eq!(completions.progress("a"), None);
        assert_eq!(completions.ask("a"), None);
        completions.accept("a");
        assert_eq!(completions.progress("a"), Some(Progress::Accepted));
        assert!(completions.complete("a"));
        assert!(!completions.complete("a"), "it was complete");
        completions.accept("a");
        assert_eq!(completions.progress("a"), Some(Progress::Complete), "complete stays complete");
        completions.accept("b");
        assert_eq!(completions.progress("b"), None, "what was not asked was not accepted");
    }

    /// R-ERR-02: what the person agreed to is not asked again; what was dismissed may be.
    #[test]
    fn an_accepted_id_is_known_when_it_comes_again() {
        let mut completions = Completions::new();
        completions.ask("a");
        completions.accept("a");
        assert_eq!(completions.ask("a"), Some(Progress::Accepted));
        completions.forget("a");
        assert_eq!(completions.ask("a"), None);
    }

    /// R-DONE-02: a notice that comes while the person still reads is not lost.
    #[test]
    fn a_notice_before_the_answer_counts() {
        let mut completions = Completions::new();
        completions.ask("a");
        assert!(completions.complete("a"));
        assert_eq!(completions.ask("a"), Some(Progress::Complete));
    }

    /// R-DONE-02, R-ERR-02: what still matters stays longer than what is over, and no id is remembered at any length.
    #[test]
    fn complete_ids_go_first_and_long_ones_are_not_kept() {
        let mut completions = Completions::new();
        for id in 0..REMEMBERED {
            completions.ask(&id.to_string());
        }
        completions.complete("7");
        completions.accept("0");
        completions.ask("one more");
        assert_eq!(completions.progress("7"), None);
        assert_eq!(completions.progress("0"), Some(Progress::Accepted));
        let (longest, longer) = ("i".repeat(MAX_ELICITATION_ID_BYTES), "i".repeat(MAX_ELICITATION_ID_BYTES + 1));
        completions.ask(&longest);
        completions.ask(&longer);
        assert_eq!((completions.progress(&longest), completions.progress(&longer)), (Some(Progress::Asked), None));
        assert_eq!(completions.known.len(), REMEMBERED);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut completions = Completions::new();
        for id in 0..=REMEMBERED {
            completions.ask(&id.to_string());
        }
        assert_eq!(completions.progress("0"), None);
        assert_eq!(completions.progress("1"), Some(Progress::Asked));
        assert_eq!(completions.known.len(), REMEMBERED);
    }
}
