//! The arguments of `cargo xtask fuzz`.

use crate::Fault;

const USAGE: &str = "usage: cargo xtask fuzz [--seconds N] [TARGET…]";

/// What to run, and for how long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// For each target.
    pub(super) seconds: u32,
    /// Names of targets. Empty: every target.
    pub(super) targets: Vec<String>,
}

impl Options {
    pub(super) fn parse(arguments: &[String]) -> Result<Self, Fault> {
        let mut options = Self { seconds: 60, targets: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let number = arguments.next().and_then(|number| number.parse().ok()).filter(|seconds| *seconds > 0);
                options.seconds = number.ok_or_else(|| format!("fuzz: --seconds needs a number from 1\n{USAGE}"))?;
            } else if argument.starts_with('-') {
                return Err(format!("fuzz: {argument} is unknown\n{USAGE}"));
            } else {
                options.targets.push(argument.to_owned());
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Fault> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_target_runs_for_a_minute_when_nothing_is_said() {
        assert_eq!(parse(""), Ok(Options { seconds: 60, targets: Vec::new() }));
    }

    #[test]
    fn targets_and_time_may_come_in_any_order() {
        let expected = Options { seconds: 5, targets: vec!["form".to_owned(), "url".to_owned()] };
        assert_eq!(parse("form --seconds 5 url"), Ok(expected));
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        for line in ["--seconds", "--seconds 0", "--seconds -1", "--seconds form", "--second 1"] {
            assert!(parse(line).is_err_and(|fault| fault.contains(USAGE)), "{line}");
        }
    }
}
