//! The arguments of `cargo xtask test`.

use crate::Fault;

/// What to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) browser: bool,
    pub(crate) interop: bool,
    /// Parts of test names; a test that contains one of them runs. Empty: every test.
    pub(crate) filters: Vec<String>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Fault> {
        let mut options = Self { browser: true, interop: true, filters: Vec::new() };
        for argument in arguments {
            match argument.as_str() {
                "--no-browser" => options.browser = false,
                "--no-interop" => options.interop = false,
                flag if flag.starts_with('-') => {
                    return Err(format!("test: {flag} is unknown; there are --no-browser and --no-interop"));
                }
                filter => options.filters.push(filter.to_owned()),
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
    fn everything_runs_when_nothing_is_said() {
        let all = Options { browser: true, interop: true, filters: Vec::new() };
        assert_eq!(parse(""), Ok(all));
    }

    #[test]
    fn words_are_filters_and_flags_switch_parts_off() {
        let some = Options { browser: false, interop: true, filters: vec!["state".to_owned()] };
        assert_eq!(parse("--no-browser state"), Ok(some));
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        assert!(parse("--no-browsr").is_err_and(|fault| fault.contains("--no-browsr")));
    }
}
