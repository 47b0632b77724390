//! `cargo xtask lint`: everything that can be said about the code without running it.

mod length;
mod words;

use std::process::Command;
use std::time::Duration;

use crate::clock::Clock;
use crate::test::rust::FEATURES;
use crate::{Fault, process, workspace};

const DEADLINE: Duration = Duration::from_mins(30);

/// One check: its name, and what does it.
type Check = (&'static str, fn() -> Result<(), Fault>);

const CHECKS: &[Check] = &[
    ("words", words::check),
    ("length", length::check),
    ("lock", || cargo(&["metadata", "--locked", "--format-version=1", "--no-deps"], true)),
    ("format", || cargo(&["fmt", "--all", "--", "--check"], false)),
    ("clippy", clippy),
    ("docs", docs),
    ("dependencies", dependencies),
];

/// Runs every check, also after one has failed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    if let Some(argument) = arguments.first() {
        return Err(format!("lint takes no arguments, and got {argument:?}"));
    }
    let mut clock = Clock::default();
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        if let Err(fault) = clock.time(name, check) {
            println!("{name}: {fault}");
            failed.push(*name);
        }
    }
    println!("{}", clock.report());
    if failed.is_empty() {
        println!("lint: no complaints");
        return Ok(());
    }
    Err(format!("lint: {}", failed.join(", ")))
}

fn cargo(arguments: &[&str], quiet: bool) -> Result<(), Fault> {
    let mut command = Command::new(workspace::cargo());
    command.args(arguments).current_dir(workspace::root());
    if quiet {
        return process::output(&mut command).map(drop);
    }
    process::show(&mut command, DEADLINE)?.checked("cargo")
}

/// With the features that the tests are built with: more code is seen.
fn clippy() -> Result<(), Fault> {
    let [flag, features] = FEATURES;
    let before = ["clippy", "--workspace", "--all-targets", "--keep-going", flag, features, "--", "--deny=warnings"];
    cargo(&before, false)
}

fn docs() -> Result<(), Fault> {
    let mut command = Command::new(workspace::cargo());
    command
        .args(["doc", "--workspace", "--no-deps"])
        .current_dir(workspace::root())
        .env("RUSTDOCFLAGS", "--deny=warnings");
    process::show(&mut command, DEADLINE)?.checked("cargo doc")
}

/// Licences, bans, sources and known vulnerabilities. The tool is optional, and so is the network that the last needs.
fn dependencies() -> Result<(), Fault> {
    if !workspace::cargo_command("deny") {
        println!("dependencies: not checked, cargo-deny is not installed (cargo install --locked cargo-deny)");
        return Ok(());
    }
    cargo(&["deny", "check", "bans", "licenses", "sources"], false)?;
    let mut command = Command::new(workspace::cargo());
    command.args(["deny", "check", "advisories"]).current_dir(workspace::root());
    let ended = process::tee(&command, DEADLINE)?;
    if ended.lines.iter().any(|line| line.contains("failed to fetch advisory database")) {
        println!("dependencies: vulnerabilities not checked, their database cannot be reached");
        return Ok(());
    }
    ended.checked("cargo deny check advisories")
}
