//! Reading what cargo-nextest prints.

use super::tally::{Report, Verdict};

/// The reports in `lines`, one a test: the last word on a test counts, since failures are repeated at the end
/// and a retried test is named for each try.
pub(crate) fn read(lines: &[String]) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for report in lines.iter().filter_map(|line| read_line(line)) {
        match reports.iter_mut().find(|known| known.name == report.name) {
            Some(known) => known.verdict = report.verdict,
            None => reports.push(report),
        }
    }
    reports
}

/// `        PASS [   0.004s] (1/3) elicit state::tests::opens`
fn read_line(line: &str) -> Option<Report> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let status = status.trim();
    if status.is_empty() || !status.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let (time, rest) = rest.split_once(']')?;
    if !time.trim_start_matches('>').trim().trim_end_matches('s').parse::<f64>().is_ok_and(f64::is_finite) {
        return None;
    }
    let rest = rest.trim_start();
    let name = match rest.strip_prefix('(').and_then(|counted| counted.split_once(") ")) {
        Some((_, name)) => name,
        None => rest,
    };
    let name = name.trim();
    // A test is `binary path::name`; `Summary [ 0.1s] 3 tests run: …` is not.
    if name.is_empty() || !name.contains(' ') || status == "Summary" {
        return None;
    }
    Some(Report::new(verdict(status)?, name))
}

/// What a status word says; `None` for one that only announces ("SLOW", "TRY 1 FAIL").
fn verdict(status: &str) -> Option<Verdict> {
    let last = status.rsplit(' ').next().unwrap_or(status);
    match last {
        _ if status == "SLOW" || status.starts_with("TERMINATING") => None,
        "PASS" | "LEAK" => Some(Verdict::Passed),
        _ if status.starts_with("FLAKY") => Some(Verdict::Passed),
        "SKIP" => Some(Verdict::Skipped),
        // FAIL, TIMEOUT, ABORT, SIGSEGV, LEAK-FAIL …: all that is left of nextest's words is a failure.
        _ => Some(Verdict::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn passed_failed_and_skipped_are_read_and_repetitions_count_once() {
        let output = lines(
            "    Starting 4 tests across 2 binaries\n\
             \u{20}       PASS [   0.004s] (1/4) elicit state::tests::opens\n\
             \u{20}       FAIL [   1.250s] (2/4) usher::serve stops\n\
             \u{20}    SIGSEGV [   0.100s] (3/4) elicit crashes\n\
             \u{20}       SLOW [> 30.000s] (───) elicit waits\n\
             \u{20}       PASS [  31.000s] (4/4) elicit waits\n\
             \u{20}    Summary [  31.100s] 4 tests run: 2 passed, 2 failed, 0 skipped\n\
             \u{20}       FAIL [   1.250s] (2/4) usher::serve stops\n",
        );
        assert_eq!(
            read(&output),
            [
                Report::new(Verdict::Passed, "elicit state::tests::opens"),
                Report::new(Verdict::Failed, "usher::serve stops"),
                Report::new(Verdict::Failed, "elicit crashes"),
                Report::new(Verdict::Passed, "elicit waits"),
            ]
        );
    }

    #[test]
    fn a_test_that_passes_on_a_second_try_is_passed() {
        let output = lines(
            "  TRY 1 FAIL [   0.004s] (1/1) elicit a::b\n\
             \u{20} TRY 2 PASS [   0.004s] (1/1) elicit a::b\n\
             \u{20}  FLAKY 2/2 [   0.004s] (1/1) elicit a::b\n",
        );
        assert_eq!(read(&output), [Report::new(Verdict::Passed, "elicit a::b")]);
    }

    #[test]
    fn what_a_test_prints_is_not_taken_for_a_report() {
        let output = lines("thread 'a' panicked at src/a.rs:3: values [1, 2] differ\nNOTE [draft] two words\n");
        assert_eq!(read(&output), []);
    }
}
