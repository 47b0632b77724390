use std::collections::VecDeque;

/// What a host knows of the url elicitations of one server connection (2025-11-25): which it was asked, which the person
/// agreed to, which are complete. Ids of another server are others, so each connection has its own.
///
/// It remembers the latest 256 ids; an older one is unknown again.
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

impl Completions {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the person is about to be asked, before anything is shown, so that a notice which comes early counts.
    /// Says how far it had come before, if it is known: what was accepted is not asked again (R-ERR-02).
    pub fn ask(&mut self, id: &str) -> Option<Progress> {
        let progress = self.progress(id);
        if progress.is_none() {
            if self.known.len() >= REMEMBERED {
                self.known.pop_front();
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

    /// Takes a [notice](crate::CompleteNotice). Whether it says something new: unknown ids and those that are complete
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
