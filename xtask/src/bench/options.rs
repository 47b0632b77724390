//! The arguments of `cargo xtask bench`.

use crate::Fault;

/// What to run, and what to do with the result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Put the table into the page about performance.
    pub(super) write: bool,
    /// Fail where a target is missed.
    pub(super) check: bool,
    /// Parts of names; a benchmark that contains one of them runs. Empty: every benchmark.
    pub(super) filters: Vec<String>,
}

impl Options {
    pub(super) fn parse(arguments: &[String]) -> Result<Self, Fault> {
        let mut options = Self { write: false, check: false, filters: Vec::new() };
        for argument in arguments {
            match argument.as_str() {
                "--write" => options.write = true,
                "--check" => options.check = true,
                flag if flag.starts_with('-') => {
                    return Err(format!("bench: {flag} is unknown; there are --write and --check"));
                }
                filter => options.filters.push(filter.to_owned()),
            }
        }
        if options.write && !options.filters.is_empty() {
            return Err("bench: --write puts the whole table into the page, so it takes no filter".to_owned());
        }
        Ok(options)
    }

    /// The filters as the one regular expression that criterion takes.
    pub(super) fn expression(&self) -> Option<String> {
        let escaped = |filter: &String| -> String {
            filter
                .chars()
                .flat_map(|character| {
                    let plain = character.is_alphanumeric() || " /_-".contains(character);
                    (!plain).then_some('\\').into_iter().chain(std::iter::once(character))
                })
                .collect()
        };
        let filters: Vec<String> = self.filters.iter().map(escaped).collect();
        (!filters.is_empty()).then(|| filters.join("|"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, Fault> {
        Options::parse(&words.iter().copied().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn everything_runs_when_nothing_is_said() {
        let all = parse(&[]).unwrap();
        assert_eq!(all, Options { write: false, check: false, filters: Vec::new() });
        assert_eq!(all.expression(), None);
    }

    #[test]
    fn filters_mean_their_own_letters() {
        let some = parse(&["--check", "state", "form/parse + check"]).unwrap();
        assert!(some.check && !some.write);
        assert_eq!(some.expression().as_deref(), Some(r"state|form/parse \+ check"));
    }

    #[test]
    fn a_part_of_the_table_is_not_written() {
        assert!(parse(&["--write", "state"]).is_err());
        assert!(parse(&["--write"]).is_ok_and(|options| options.write));
        assert!(parse(&["--wirte"]).is_err_and(|fault| fault.contains("--wirte")));
    }
}
