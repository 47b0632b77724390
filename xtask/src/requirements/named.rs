//! Tests that name requirements, as the sources have them.

use super::number::{self, Number};
use super::{node, rust};
use crate::{Fault, workspace};

/// A test in the sources, with the requirements it names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) numbers: Vec<Number>,
    /// Surely a test. A documented function without a test attribute may be one that a macro turns into tests:
    /// it counts only when such a test ran.
    pub(crate) certain: bool,
    pub(crate) place: Place,
}

/// What the report of the test will look like.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Package, modules that the file's path stands for, function.
    Rust { package: String, modules: Vec<String>, function: String },
    /// The fixed parts of the title, around what a template literal puts in.
    Node { suite: String, title: Vec<String> },
}

impl Named {
    /// A Rust test in `file` (below `src/` or `tests/`).
    pub(crate) fn rust(package: &str, file: &str, function: &str, text: &str, certain: bool) -> Self {
        let mut modules: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if modules.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            modules.pop();
        }
        let place = Place::Rust { package: package.to_owned(), modules, function: function.to_owned() };
        let mut numbers = number::find(text);
        numbers.extend(number::find(function));
        Self { numbers, certain, place }
    }

    /// For the table.
    pub(crate) fn show(&self) -> String {
        match &self.place {
            Place::Rust { package, modules, function } => {
                format!("{package} {}::{function}", modules.join("::"))
            }
            Place::Node { suite, title } => format!("{suite} {}", title.join("…")),
        }
    }
}

/// Every test in the repository that names a requirement.
pub(crate) fn read() -> Result<Vec<Named>, Fault> {
    let mut all = Vec::new();
    for file in workspace::files()? {
        let name = file.to_string_lossy();
        let read = || {
            std::fs::read_to_string(workspace::root().join(&file))
                .map_err(|error| format!("{}: {error}", file.display()))
        };
        if let Some((package, rest)) = package(&name)
            && name.ends_with(".rs")
        {
            all.extend(rust::scan(package, rest, &read()?));
        } else if let Some(suite) = suite(&name) {
            all.extend(node::scan(suite, &read()?));
        }
    }
    all.retain(|test| !test.numbers.is_empty());
    Ok(all)
}

/// Package and path below `src/` or `tests/`: `crates/elicit/src/state/mod.rs` is `elicit`, `state/mod.rs`.
fn package(file: &str) -> Option<(&str, &str)> {
    let (package, rest) = file.strip_prefix("crates/")?.split_once('/')?;
    let rest = rest.strip_prefix("src/").or_else(|| rest.strip_prefix("tests/"))?;
    Some((package, rest))
}

fn suite(file: &str) -> Option<&str> {
    let (suite, name) = file.strip_prefix("tests/")?.split_once('/')?;
    name.ends_with(".test.mjs").then_some(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_package_and_modules() {
        assert_eq!(package("crates/elicit/src/state/mod.rs"), Some(("elicit", "state/mod.rs")));
        assert_eq!(package("crates/usher/tests/serve.rs"), Some(("usher", "serve.rs")));
        assert_eq!(package("docs/a.rs"), None);
        let test = Named::rust("elicit", "state/mod.rs", "r_url_01_opens", "R-URL-02", true);
        assert_eq!(test.show(), "elicit state::r_url_01_opens");
        assert_eq!(test.numbers.len(), 2);
    }
}
