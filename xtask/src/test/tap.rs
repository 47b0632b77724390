//! Reading the TAP that Node's test runner writes.

use super::tally::{Report, Verdict};

/// The reports in `text`: every test at any depth, without the suites that only group them.
pub(crate) fn read(text: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    // Indentation of the YAML block that we are in.
    let mut details: Option<usize> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(outer) = details {
            if indent == outer && trimmed == "..." {
                details = None;
            } else if indent == outer && trimmed == "type: 'suite'" {
                reports.pop();
            }
        } else if trimmed == "---" {
            details = Some(indent);
        } else if let Some(report) = read_line(trimmed) {
            reports.push(report);
        }
    }
    reports
}

/// `not ok 3 - title # SKIP reason`
fn read_line(line: &str) -> Option<Report> {
    let (good, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ")?),
    };
    let (number, title) = rest.split_once(" - ")?;
    number.parse::<u32>().ok()?;
    // A hash sign inside a title is escaped, so that this one starts a directive.
    let (title, directive) = title.split_once(" # ").unwrap_or((title, ""));
    // Node reports what a filter leaves out as skipped; other runners do not mention it.
    if directive == "SKIP test name does not match pattern" {
        return None;
    }
    let directive = directive.to_ascii_uppercase();
    let verdict = if directive.starts_with("SKIP") || directive.starts_with("TODO") {
        Verdict::Skipped
    } else if good {
        Verdict::Passed
    } else {
        Verdict::Failed
    };
    Some(Report::new(verdict, title.replace("\\#", "#").replace("\\\\", "\\")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_counts_once_and_suites_do_not() {
        let text = "\
TAP version 13
# Subtest: R-URL-01: a \\# sign
ok 1 - R-URL-01: a \\# sign
  ---
  duration_ms: 1.4
  ...
# Subtest: wrong
not ok 2 - wrong
  ---
  stack: |-
    ok 7 - is part of this text
  ...
ok 3 - later # SKIP no Chromium
  ---
  duration_ms: 0.2
  ...
ok 3 - filtered # SKIP test name does not match pattern
  ---
  duration_ms: 0.2
  ...
# Subtest: group
    # Subtest: inside
    ok 1 - inside
      ---
      duration_ms: 0.2
      ...
    1..1
ok 4 - group
  ---
  duration_ms: 0.3
  type: 'suite'
  ...
1..4
# tests 4
";
        assert_eq!(
            read(text),
            [
                Report::new(Verdict::Passed, "R-URL-01: a # sign"),
                Report::new(Verdict::Failed, "wrong"),
                Report::new(Verdict::Skipped, "later"),
                Report::new(Verdict::Passed, "inside"),
            ]
        );
    }
}
