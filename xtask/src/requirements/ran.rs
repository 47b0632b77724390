//! What ran, and how it ended: the record of the last `cargo xtask test`.

use super::named::{Named, Place};
use crate::test::RAN_FILE;
use crate::{Fault, workspace};

/// The record of one test run.
pub(crate) struct Ran {
    /// `None`: there was no run.
    about: Option<String>,
    tests: Vec<Test>,
}

struct Test {
    passed: bool,
    runner: String,
    name: String,
}

/// The record of the last run; an empty one when there was none.
pub(crate) fn read() -> Result<Ran, Fault> {
    let path = workspace::target()?.join(RAN_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Ran::parse(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ran { about: None, tests: Vec::new() }),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

impl Ran {
    /// Skipped tests did not run.
    pub(crate) fn parse(record: &str) -> Self {
        let mut tests = Vec::new();
        for line in record.lines() {
            let mut parts = line.splitn(3, '\t');
            let (verdict, runner, name) = (parts.next(), parts.next(), parts.next());
            if let (Some(verdict @ ("passed" | "failed")), Some(runner), Some(name)) = (verdict, runner, name) {
                tests.push(Test { passed: verdict == "passed", runner: runner.to_owned(), name: name.to_owned() });
            }
        }
        let only = record.lines().find_map(|line| line.strip_prefix("# only: "));
        let only = only.map_or_else(String::new, |filter| format!(", only those named {filter}"));
        Self { about: Some(format!("last test run: {} tests{only}", tests.len())), tests }
    }

    /// One line about the run.
    pub(crate) fn about(&self) -> &str {
        self.about.as_deref().unwrap_or("no test run yet: cargo xtask test")
    }

    /// Names of the tests that ran for `named`, and whether each passed. A macro may have made several.
    pub(crate) fn outcomes(&self, named: &Named) -> Vec<(&str, bool)> {
        self.tests
            .iter()
            .filter(|test| match &named.place {
                Place::Rust { package, modules, function } => {
                    test.runner == "rust" && rust_matches(&test.name, package, modules, function)
                }
                Place::Node { suite, title } => test.runner == *suite && title_matches(&test.name, title),
            })
            .map(|test| (test.name.as_str(), test.passed))
            .collect()
    }
}

/// `elicit state::tests::opens`, or `usher::serve flows::opens` for an integration test.
fn rust_matches(name: &str, package: &str, modules: &[String], function: &str) -> bool {
    let Some((binary, path)) = name.split_once(' ') else { return false };
    let (owner, binary) = binary.split_once("::").unwrap_or((binary, ""));
    // The standard harness names an integration test's binary without its package.
    if owner != package && modules.first().is_none_or(|first| first.replace('_', "-") != owner) {
        return false;
    }
    let mut segments: Vec<&str> = path.split("::").collect();
    let mut expected: &[String] = modules;
    // The first module of an integration test's file is its binary.
    if let Some((first, rest)) = expected.split_first()
        && (first == binary || first.replace('_', "-") == owner)
        && segments.first() != Some(&first.as_str())
    {
        expected = rest;
    }
    // A macro makes one test for each database out of a function: `opens::sqlite`, `sqlite::opens`.
    let Some(position) = segments.iter().rposition(|segment| *segment == function) else { return false };
    if segments.len() - position > 2 {
        return false;
    }
    segments.truncate(position);
    let starts = segments.len() >= expected.len() && segments.iter().zip(expected).all(|(a, b)| a == b);
    // In an integration test a macro may also have put the functions of several modules below its own.
    let integration = !binary.is_empty() || owner != package;
    starts || (integration && expected.iter().all(|module| segments.contains(&module.as_str())))
}

fn title_matches(title: &str, parts: &[String]) -> bool {
    let mut rest = title;
    for (index, part) in parts.iter().enumerate() {
        match rest.find(part.as_str()) {
            Some(0) if index == 0 => rest = rest.get(part.len()..).unwrap_or_default(),
            Some(start) if index > 0 => rest = rest.get(start + part.len()..).unwrap_or_default(),
            _ => return false,
        }
    }
    rest.is_empty() || parts.last().is_some_and(String::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(name: &str, modules: &[&str]) -> bool {
        let modules: Vec<String> = modules.iter().map(|module| (*module).to_owned()).collect();
        rust_matches(name, "usher", &modules, "opens")
    }

    #[test]
    fn a_unit_test_stands_below_its_files_modules() {
        assert!(matches("usher pages::connect::tests::opens", &["pages", "connect"]));
        assert!(!matches("usher pages::done::tests::opens", &["pages", "connect"]));
        assert!(!matches("usher pages::connect::tests::opens_twice", &["pages", "connect"]));
        assert!(!matches("elicit pages::connect::tests::opens", &["pages", "connect"]));
    }

    #[test]
    fn an_integration_test_is_named_after_its_binary() {
        assert!(matches("usher::serve opens", &["serve"]));
        assert!(matches("usher::it flows::opens", &["it", "flows"]));
        assert!(matches("usher::contract sqlite::opens", &["contract"]));
        assert!(matches("usher::contract sqlite::notice::opens", &["contract", "notice"]));
        assert!(matches("contract sqlite::notice::opens", &["contract", "notice"]));
        assert!(matches("serve opens", &["serve"]));
        assert!(!matches("usher::it other::opens", &["it", "flows"]));
    }

    #[test]
    fn a_template_matches_whatever_was_put_in() {
        let parts = ["R-URL-02: ".to_owned(), " client".to_owned()];
        assert!(title_matches("R-URL-02: modern client", &parts));
        assert!(!title_matches("R-URL-02: modern server", &parts));
        assert!(!title_matches("R-URL-02: modern client twice", &parts));
    }
}
