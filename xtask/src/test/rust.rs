//! The Rust tests: one build, one run with PostgreSQL, and the examples in the documentation.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::options::Options;
use super::postgres::Server;
use super::tally::Tally;
use super::{libtest, nextest};
use crate::{Fault, process, workspace};

const BUILD_DEADLINE: Duration = Duration::from_mins(40);
const TEST_DEADLINE: Duration = Duration::from_mins(20);

/// What tests add to the programs under test: places where they are killed.
pub(crate) const FEATURES: [&str; 2] = ["--features", "usher/fail-points"];

/// Builds every test and the service; returns the path of the `usher` program.
pub(crate) fn build() -> Result<PathBuf, Fault> {
    // All targets in one command: a separate build of the program would choose other features of shared
    // dependencies (tests add some) and compile them a second time.
    let mut command = Command::new(workspace::cargo());
    command.args(["build", "--workspace", "--all-targets"]).args(FEATURES);
    process::show(&mut command, BUILD_DEADLINE)?.checked("build")?;
    Ok(workspace::target()?.join("debug").join("usher"))
}

/// Unit and integration tests, the ignored ones too.
pub(crate) fn unit(server: &Server, options: &Options, tally: &mut Tally) -> Result<(), Fault> {
    let with_nextest = workspace::cargo_command("nextest");
    let mut command = Command::new(workspace::cargo());
    if with_nextest {
        command
            .args(["nextest", "run", "--workspace", "--run-ignored", "all", "--no-fail-fast"])
            .args(["--no-tests", "pass", "--status-level", "pass", "--final-status-level", "fail"])
            .args(["--show-progress", "none", "--no-input-handler"])
            .args(FEATURES)
            .arg("--")
            .args(&options.filters);
    } else {
        command
            .args(["test", "--workspace", "--all-targets", "--no-fail-fast"])
            .args(FEATURES)
            .args(["--", "--include-ignored"])
            .args(&options.filters);
    }
    command.env("USHER_TEST_POSTGRES", server.url());
    let ended = process::tee(&command, TEST_DEADLINE)?;
    let reports = if with_nextest { nextest::read(&ended.lines) } else { libtest::read(&ended.lines) };
    tally.add("rust", reports, ended.success, !options.filters.is_empty())
}

/// The examples in the documentation.
pub(crate) fn documentation(options: &Options, tally: &mut Tally) -> Result<(), Fault> {
    let mut command = Command::new(workspace::cargo());
    command.args(["test", "--workspace", "--doc", "--no-fail-fast"]).args(FEATURES).arg("--").args(&options.filters);
    let ended = process::tee(&command, TEST_DEADLINE)?;
    tally.add("doc", libtest::read(&ended.lines), ended.success, !options.filters.is_empty())
}
