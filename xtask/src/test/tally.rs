//! Adding up what the runners report.

use std::fmt::Write as _;

use crate::Fault;

/// What became of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Skipped,
}

impl Verdict {
    /// The word in the record file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One test and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) verdict: Verdict,
    /// Crate (or test binary) and path for Rust, the title for Node.
    pub(crate) name: String,
}

impl Report {
    pub(crate) fn new(verdict: Verdict, name: impl Into<String>) -> Self {
        Self { verdict, name: name.into() }
    }
}

/// All reports of one `cargo xtask test`.
#[derive(Default)]
pub(crate) struct Tally {
    reports: Vec<(&'static str, Report)>,
}

impl Tally {
    /// Adds what `runner` reported. An error when that is not trustworthy: it ran no test although
    /// nothing was filtered out, or it failed without naming a failed test.
    pub(crate) fn add(
        &mut self,
        runner: &'static str,
        reports: Vec<Report>,
        succeeded: bool,
        filtered: bool,
    ) -> Result<(), Fault> {
        let ran = reports.iter().filter(|report| report.verdict != Verdict::Skipped).count();
        let failed = reports.iter().any(|report| report.verdict == Verdict::Failed);
        self.reports.extend(reports.into_iter().map(|report| (runner, report)));
        match (succeeded, ran) {
            (true, 0) if !filtered => Err(format!("{runner}: no test ran")),
            (true, _) => Ok(()),
            (false, _) if failed => Ok(()),
            (false, 0) if !filtered => Err(format!("{runner}: the runner failed before any test ran (see above)")),
            (false, _) => Err(format!("{runner}: the runner failed without a failed test (see above)")),
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.reports.iter().filter(|(_, report)| report.verdict == verdict).count()
    }

    pub(crate) fn failed(&self) -> usize {
        self.count(Verdict::Failed)
    }

    pub(crate) fn ran(&self) -> usize {
        self.count(Verdict::Passed) + self.count(Verdict::Failed)
    }

    pub(crate) fn failed_names(&self) -> impl Iterator<Item = String> {
        self.reports
            .iter()
            .filter(|(_, report)| report.verdict == Verdict::Failed)
            .map(|(runner, report)| format!("{runner} {}", report.name))
    }

    /// `tests: 3 passed, 0 failed`, and `, 1 skipped` when there was one.
    pub(crate) fn summary(&self) -> String {
        let mut line = format!("tests: {} passed, {} failed", self.count(Verdict::Passed), self.failed());
        let skipped = self.count(Verdict::Skipped);
        if skipped > 0 {
            write!(line, ", {skipped} skipped").ok();
        }
        line
    }

    /// The record for `cargo xtask requirements`: `passed<tab>runner<tab>name` lines.
    pub(crate) fn record(&self, filters: &[String]) -> String {
        let mut text = String::new();
        if !filters.is_empty() {
            writeln!(text, "# only: {}", filters.join(" ")).ok();
        }
        for (runner, report) in &self.reports {
            writeln!(text, "{}\t{runner}\t{}", report.verdict.as_str(), report.name).ok();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdict: Verdict) -> Report {
        Report::new(verdict, "name")
    }

    #[test]
    fn the_summary_names_skipped_tests_only_when_there_are_some() {
        let mut tally = Tally::default();
        tally.add("rust", vec![report(Verdict::Passed), report(Verdict::Failed)], false, false).unwrap();
        assert_eq!(tally.summary(), "tests: 1 passed, 1 failed");
        tally.add("doc", vec![report(Verdict::Passed), report(Verdict::Skipped)], true, false).unwrap();
        assert_eq!(tally.summary(), "tests: 2 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_runner_that_ran_none_is_a_fault_unless_a_filter_was_given() {
        let mut tally = Tally::default();
        assert_eq!(tally.add("doc", vec![], true, false), Err("doc: no test ran".to_owned()));
        assert_eq!(tally.add("doc", vec![report(Verdict::Skipped)], true, false), Err("doc: no test ran".to_owned()));
        assert_eq!(tally.add("doc", vec![], true, true), Ok(()));
        let crashed = tally.add("doc", vec![], false, false);
        assert!(crashed.is_err_and(|fault| fault.contains("before any test ran")));
        assert!(tally.add("doc", vec![], false, true).is_err());
    }

    #[test]
    fn a_crash_after_passed_tests_is_a_fault() {
        let mut tally = Tally::default();
        let fault = tally.add("rust", vec![report(Verdict::Passed)], false, false);
        assert!(fault.is_err_and(|fault| fault.contains("without a failed test")));
    }

    #[test]
    fn the_record_has_one_line_a_test() {
        let mut tally = Tally::default();
        tally.add("rust", vec![Report::new(Verdict::Passed, "elicit a::b")], true, false).unwrap();
        assert_eq!(tally.record(&["a".to_owned()]), "# only: a\npassed\trust\telicit a::b\n");
    }
}
