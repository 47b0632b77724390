//! No source file is longer than 500 lines.

use std::path::Path;

use crate::{Fault, workspace};

const LIMIT: usize = 500;

/// Kinds of files that somebody writes and reads by hand.
const SOURCES: &[&str] = &["rs", "mjs", "js", "css", "html", "sql", "sh"];

/// Files that may be longer, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Names every file that is too long, and every exception that is none.
pub(crate) fn check() -> Result<(), Fault> {
    let mut faults = Vec::new();
    for file in workspace::files()? {
        if !file.extension().is_some_and(|kind| SOURCES.iter().any(|source| kind == *source)) {
            continue;
        }
        let text = std::fs::read_to_string(workspace::root().join(&file))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = text.lines().count();
        faults.extend(fault(&file, lines, EXCEPTIONS));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn fault(file: &Path, lines: usize, exceptions: &[(&str, &str)]) -> Option<Fault> {
    let excepted = exceptions.iter().any(|(name, _)| file == Path::new(name));
    match (lines > LIMIT, excepted) {
        (true, false) => {
            Some(format!("{} has {lines} lines, and wants to be two files (limit {LIMIT})", file.display()))
        }
        (false, true) => Some(format!("{} has {lines} lines: take it off the exceptions", file.display())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_needs_an_exception_and_a_short_one_may_have_none() {
        let exceptions = [("a.rs", "a table")];
        assert_eq!(fault(Path::new("b.rs"), 500, &exceptions), None);
        assert!(fault(Path::new("b.rs"), 501, &exceptions).is_some_and(|fault| fault.contains("b.rs has 501")));
        assert_eq!(fault(Path::new("a.rs"), 501, &exceptions), None);
        assert!(fault(Path::new("a.rs"), 20, &exceptions).is_some());
    }
}
