//! `cargo xtask requirements`: which requirement is met by which test.
//!
//! A test names the requirements it proves: in the doc comment of a Rust test (or its name, as `r_url_01`), in
//! the title of a Node test. A requirement is covered when a test that names it passed in the last test run and
//! none that names it failed.

mod list;
mod named;
mod node;
mod number;
mod ran;
mod rust;

use std::collections::BTreeMap;

use crate::Fault;
use list::Requirement;
use named::Named;
use number::Number;
use ran::Ran;

/// What is known about one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Covered,
    /// A test that names it failed in the last run.
    Failed,
    /// Tests name it, and none of them ran.
    NotRun,
    /// No test names it.
    Open,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Failed => "FAILED",
            Self::NotRun => "named, not run",
            Self::Open => "open",
        }
    }
}

/// One row of the table.
struct Row {
    number: Number,
    state: State,
    tests: Vec<String>,
}

/// Prints the table; with `--check` fails when one of the given requirements is not covered.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    let check = parse(arguments)?;
    let requirements = list::read()?;
    let named = named::read()?;
    let ran = ran::read()?;
    let rows: Vec<Row> = requirements.iter().map(|requirement| row(requirement, &named, &ran)).collect();
    print(&rows, &ran);
    strangers(&requirements, &named);
    checked(&check, &rows)
}

fn parse(arguments: &[String]) -> Result<Vec<Number>, Fault> {
    match arguments {
        [] => Ok(Vec::new()),
        [flag, numbers] if flag == "--check" => numbers
            .split(',')
            .map(|word| Number::parse(word.trim()).ok_or_else(|| format!("{word:?} is no requirement's number")))
            .collect(),
        _ => Err("usage: cargo xtask requirements [--check R-CAP-01,R-CAP-02,…]".to_owned()),
    }
}

fn row(requirement: &Requirement, named: &[Named], ran: &Ran) -> Row {
    let mut tests: BTreeMap<String, Option<bool>> = BTreeMap::new();
    for test in named.iter().filter(|test| test.numbers.contains(&requirement.number)) {
        let outcomes = ran.outcomes(test);
        if outcomes.is_empty() && test.certain {
            tests.insert(test.show(), None);
        }
        tests.extend(outcomes.into_iter().map(|(name, passed)| (name.to_owned(), Some(passed))));
    }
    let state = if tests.values().any(|outcome| *outcome == Some(false)) {
        State::Failed
    } else if tests.values().any(|outcome| *outcome == Some(true)) {
        State::Covered
    } else if tests.is_empty() {
        State::Open
    } else {
        State::NotRun
    };
    // What failed is what a reader looks for.
    let (failed, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(|(_, outcome)| *outcome == Some(false));
    let tests = failed.into_iter().chain(others).map(|(name, _)| name).collect();
    Row { number: requirement.number.clone(), state, tests }
}

fn print(rows: &[Row], ran: &Ran) {
    println!("{}", ran.about());
    println!();
    for row in rows {
        let first = row.tests.first().map_or("", String::as_str);
        let more = match row.tests.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let line = format!("{:<11} {:<15} {first}{more}", row.number, row.state.as_str());
        println!("{}", line.trim_end());
    }
    println!();
    let count = |state: State| rows.iter().filter(|row| row.state == state).count();
    println!(
        "requirements: {} covered, {} failed, {} named but not run, {} open",
        count(State::Covered),
        count(State::Failed),
        count(State::NotRun),
        count(State::Open)
    );
}

/// Numbers that tests name and the list does not have: a typing mistake.
fn strangers(requirements: &[Requirement], named: &[Named]) {
    for test in named.iter().filter(|test| test.certain) {
        for number in &test.numbers {
            if !requirements.iter().any(|requirement| requirement.number == *number) {
                println!("unknown requirement {number} in {}", test.show());
            }
        }
    }
}

fn checked(check: &[Number], rows: &[Row]) -> Result<(), Fault> {
    let missing: Vec<String> = check
        .iter()
        .filter_map(|number| match rows.iter().find(|row| row.number == *number) {
            Some(row) if row.state == State::Covered => None,
            Some(row) => Some(format!("{number} ({})", row.state.as_str())),
            None => Some(format!("{number} (not in the list)")),
        })
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("not covered: {}", missing.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(text: &str) -> Requirement {
        Requirement { number: Number::parse(text).unwrap() }
    }

    fn named(text: &str) -> Named {
        Named::rust("elicit", "state/mod.rs", text, "R-URL-01", true)
    }

    #[test]
    fn a_requirement_is_covered_by_a_passed_test_and_by_no_other() {
        let state = |record: &str| row(&requirement("R-URL-01"), &[named("opens")], &Ran::parse(record)).state;
        assert_eq!(state("passed\trust\telicit state::tests::opens\n"), State::Covered);
        assert_eq!(state("failed\trust\telicit state::tests::opens\n"), State::Failed);
        assert_eq!(state("skipped\trust\telicit state::tests::opens\n"), State::NotRun);
        assert_eq!(state("passed\trust\telicit form::tests::opens\n"), State::NotRun);
        assert_eq!(state("passed\trust\tusher state::tests::opens\n"), State::NotRun);
        assert_eq!(state(""), State::NotRun);
    }

    #[test]
    fn one_failed_test_outweighs_a_passed_one() {
        let record = "passed\trust\telicit state::a::opens\nfailed\trust\telicit state::b::opens\n";
        assert_eq!(row(&requirement("R-URL-01"), &[named("opens")], &Ran::parse(record)).state, State::Failed);
    }

    #[test]
    fn a_requirement_that_no_test_names_is_open_and_fails_the_check() {
        let row = row(&requirement("R-URL-02"), &[named("opens")], &Ran::parse(""));
        assert_eq!(row.state, State::Open);
        let check = parse(&["--check".to_owned(), "R-URL-02,R-XYZ-09".to_owned()]).unwrap();
        assert_eq!(checked(&check, &[row]), Err("not covered: R-URL-02 (open), R-XYZ-09 (not in the list)".to_owned()));
    }
}
