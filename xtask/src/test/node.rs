//! The tests that run on Node: the official client against us, and the pages in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::options::Options;
use super::tally::Tally;
use super::tap;
use crate::{Fault, process, workspace};

const INSTALL_DEADLINE: Duration = Duration::from_mins(5);
const TEST_DEADLINE: Duration = Duration::from_mins(10);
const NODE_AT_LEAST: u32 = 20;
const NEEDED: &str = "Node.js 20 or newer with npm is needed for the interop and browser tests \
                      (--no-interop --no-browser leaves them out)";

/// One folder under `tests/` with a `package.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    Interop,
    Browser,
}

impl Suite {
    /// The suites that `options` asks for.
    pub(crate) fn chosen(options: &Options) -> Vec<Self> {
        let mut suites = Vec::new();
        if options.browser {
            suites.push(Self::Browser);
        }
        if options.interop {
            suites.push(Self::Interop);
        }
        suites
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interop => "interop",
            Self::Browser => "browser",
        }
    }

    fn folder(self) -> PathBuf {
        workspace::root().join("tests").join(self.name())
    }

    /// Makes sure of Node, and installs the pinned packages unless they are there already.
    pub(crate) fn install(self) -> Result<(), Fault> {
        check_node()?;
        let folder = self.folder();
        let locked = std::fs::read_to_string(folder.join("package-lock.json"))
            .map_err(|error| format!("{}: package-lock.json: {error}", self.name()))?;
        let stamp = folder.join("node_modules/.usher-installed");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == locked) {
            return Ok(());
        }
        process::show(
            Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder),
            INSTALL_DEADLINE,
        )?
        .checked("npm ci")?;
        std::fs::write(&stamp, locked).map_err(|error| format!("{}: {error}", stamp.display()))
    }

    /// Runs the suite against the built `usher`.
    pub(crate) fn run(
        self,
        usher: &Path,
        chromium: Option<&Path>,
        options: &Options,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let target = workspace::target()?;
        let report = target.join(format!("usher-{}.tap", self.name()));
        std::fs::remove_file(&report).ok();
        let mut command = Command::new("node");
        command
            .args(["--test", "--test-reporter=spec", "--test-reporter-destination=stdout"])
            .arg("--test-reporter=tap")
            .arg(format!("--test-reporter-destination={}", report.display()))
            .args(options.filters.iter().map(|filter| format!("--test-name-pattern={}", literal(filter))))
            .args(test_files(&self.folder())?)
            .current_dir(self.folder())
            .env("USHER_BIN", usher);
        if let Some(chromium) = chromium {
            command.env("CHROMIUM", chromium);
        }
        let ended = process::show(&mut command, TEST_DEADLINE)?;
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        tally.add(self.name(), tap::read(&text), ended.success, !options.filters.is_empty())
    }
}

fn check_node() -> Result<(), Fault> {
    if workspace::program(&["node"]).is_none() || workspace::program(&["npm"]).is_none() {
        return Err(NEEDED.to_owned());
    }
    let version = process::output(Command::new("node").arg("--version"))?;
    match major(&version) {
        Some(major) if major >= NODE_AT_LEAST => Ok(()),
        _ => Err(format!("{NEEDED}; found {}", version.trim())),
    }
}

/// `20` of `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// The `*.test.mjs` files of a folder, sorted.
fn test_files(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no *.test.mjs", folder.display()));
    }
    Ok(files)
}

/// `filter` as a pattern that matches only itself.
fn literal(filter: &str) -> String {
    let mut pattern = String::new();
    for character in filter.chars() {
        if !character.is_alphanumeric() && !"_- :,".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_compared_by_their_major_number() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("v9.1.0"), Some(9));
        assert_eq!(major("node"), None);
    }

    #[test]
    fn a_filter_is_no_pattern() {
        assert_eq!(literal("R-URL-01: a.b (c)"), "R-URL-01: a\\.b \\(c\\)");
    }
}
