//! Reading what the standard test harness prints (`cargo test`, doc tests).

use super::tally::{Report, Verdict};

/// The reports in `lines`. Names get the crate in front that cargo announced last.
pub(crate) fn read(lines: &[String]) -> Vec<Report> {
    let mut binary = String::new();
    let mut reports = Vec::new();
    for line in lines {
        if let Some(name) = binary_name(line) {
            binary = name;
        } else if let Some((verdict, name)) = read_line(line) {
            reports.push(Report::new(verdict, format!("{binary} {name}").trim_start()));
        }
    }
    reports
}

/// `     Running unittests src/lib.rs (target/debug/deps/usher_store-0123456789abcdef)` and `   Doc-tests elicit`.
fn binary_name(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(name.trim().replace('_', "-"));
    }
    let path = line.strip_prefix("Running ")?.split_once('(')?.1.strip_suffix(')')?;
    let file = path.rsplit('/').next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name).replace('_', "-"))
}

/// `test state::tests::opens ... ok`
fn read_line(line: &str) -> Option<(Verdict, &str)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let verdict = match outcome.split([',', ' ']).next()? {
        "ok" => Verdict::Passed,
        "FAILED" => Verdict::Failed,
        "ignored" => Verdict::Skipped,
        _ => return None,
    };
    Some((verdict, name.trim_end_matches(" - should panic").trim_end_matches(" - compile fail")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_with_the_crate_they_belong_to() {
        let output: Vec<String> = "\
\u{20}    Running unittests src/lib.rs (target/debug/deps/usher_store-0123456789abcdef)

running 3 tests
test keys::tests::opens ... ok
test keys::tests::closes ... FAILED
test keys::tests::slow ... ignored, needs a database

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out
   Doc-tests elicit
test crates/elicit/src/lib.rs - (line 5) ... ok
test crates/elicit/src/lib.rs - Wrong (line 9) - compile fail ... ok
"
        .lines()
        .map(str::to_owned)
        .collect();
        assert_eq!(
            read(&output),
            [
                Report::new(Verdict::Passed, "usher-store keys::tests::opens"),
                Report::new(Verdict::Failed, "usher-store keys::tests::closes"),
                Report::new(Verdict::Skipped, "usher-store keys::tests::slow"),
                Report::new(Verdict::Passed, "elicit crates/elicit/src/lib.rs - (line 5)"),
                Report::new(Verdict::Passed, "elicit crates/elicit/src/lib.rs - Wrong (line 9)"),
            ]
        );
    }
}
