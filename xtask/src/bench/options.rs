//! The arguments of `cargo xtask bench`.

use crate::Fault;

/// The filter for all of the library.
const LIBRARY: &str = "library";
/// The filter for all of the service, and the beginning of the names of what is measured there.
pub(super) const SERVICE: &str = "service";

/// The tables of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Library,
    Service,
    Both,
}

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
        if options.write && options.part().is_none() {
            return Err(
                "bench: --write puts a whole table into the page: it takes no filter but library or service".to_owned()
            );
        }
        Ok(options)
    }

    /// Which tables are whole; `None` where the filters choose single benchmarks.
    pub(super) fn part(&self) -> Option<Part> {
        match self.filters.as_slice() {
            [] => Some(Part::Both),
            [one] if one == LIBRARY => Some(Part::Library),
            [one] if one == SERVICE => Some(Part::Service),
            _ => None,
        }
    }

    /// The filters for the benchmarks of the library: those that name none of the service. `None`: nothing of it is to run.
    pub(super) fn of_library(&self) -> Option<Vec<&str>> {
        match self.part() {
            Some(Part::Both | Part::Library) => Some(Vec::new()),
            _ => chosen(&self.filters, |filter| !filter.starts_with(SERVICE)),
        }
    }

    /// The filters for what is measured of the service. `None`: nothing of it is to run.
    pub(super) fn of_service(&self) -> Option<Vec<&str>> {
        match self.part() {
            Some(Part::Both | Part::Service) => Some(Vec::new()),
            _ => chosen(&self.filters, |filter| filter.starts_with(SERVICE)),
        }
    }

    /// Filters as the one regular expression that criterion takes.
    pub(super) fn expression(filters: &[&str]) -> Option<String> {
        let escaped = |filter: &&str| -> String {
            filter
                .chars()
                .flat_map(|character| {
                    let plain = character.is_alphanumeric() || " /_-".contains(character);
                    (!plain).then_some('\\').into_iter().chain(std::iter::once(character))
                })
                .collect()
        };
        let filters: Vec<String> = filters.iter().map(escaped).collect();
        (!filters.is_empty()).then(|| filters.join("|"))
    }
}

fn chosen(filters: &[String], like: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let chosen: Vec<&str> = filters.iter().map(String::as_str).filter(|filter| like(filter)).collect();
    (!chosen.is_empty()).then_some(chosen)
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
        assert_eq!((all.part(), all.of_library(), all.of_service()), (Some(Part::Both), Some(vec![]), Some(vec![])));
        assert_eq!(Options::expression(&[]), None);
    }

    #[test]
    fn filters_mean_their_own_letters() {
        let some = parse(&["--check", "state", "form/parse + check"]).unwrap();
        assert!(some.check && !some.write);
        let filters = some.of_library().unwrap();
        assert_eq!(Options::expression(&filters).as_deref(), Some(r"state|form/parse \+ check"));
        assert_eq!(some.of_service(), None);
    }

    #[test]
    fn a_part_of_the_table_is_not_written() {
        assert!(parse(&["--write", "state"]).is_err());
        assert!(parse(&["--write"]).is_ok_and(|options| options.write));
        let service = parse(&["--write", "service"]).unwrap();
        assert_eq!((service.part(), service.of_library()), (Some(Part::Service), None));
        assert!(parse(&["--write", "service/call"]).is_err());
        assert!(parse(&["--wirte"]).is_err_and(|fault| fault.contains("--wirte")));
    }
}
