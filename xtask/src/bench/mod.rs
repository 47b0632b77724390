//! `cargo xtask bench`: runs the benchmarks, and tells which of them are as fast as they have to be.

mod estimates;
mod found;
mod machine;
mod options;
mod page;
mod service;
mod table;
mod target;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Fault, process, workspace};
use estimates::Measured;
use found::Bench;
use options::{Options, SERVICE};

const BUILD_DEADLINE: Duration = Duration::from_mins(40);
const RUN_DEADLINE: Duration = Duration::from_mins(30);

/// Folder in the target directory that holds what criterion measured in the last run, and nothing older.
const MEASURED: &str = "usher-bench";

/// Runs the command. The tables are the last that it prints on standard output.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    let options = Options::parse(arguments)?;
    let mut missed = Vec::new();
    if let Some(filters) = options.of_library() {
        missed.extend(tell(&options, "library", &library(&filters)?)?);
    }
    if let Some(filters) = options.of_service() {
        missed.extend(tell(&options, "service", &service::run(&filters)?)?);
    }
    for line in &missed {
        println!("{line}");
    }
    if options.check && !missed.is_empty() { Err("bench: not as fast as it has to be".to_owned()) } else { Ok(()) }
}

/// Prints the table of one part, and puts it into the page where that is wanted; returns what misses its target.
fn tell(options: &Options, part: &str, measured: &[Measured]) -> Result<Vec<String>, Fault> {
    if measured.is_empty() {
        return Err(format!("bench: nothing was measured, by the filter {:?}", options.filters.join(" ")));
    }
    let whole = |name: &str| options.part().is_some() && name.starts_with(SERVICE) == (part == SERVICE);
    let judged = target::judge(measured, whole);
    let text = format!("{}\n\n{}", machine::describe()?, table::markdown(measured, &judged));
    println!("\n{text}");
    if options.write {
        page::write(part, &text)?;
    }
    Ok(judged.iter().filter(|judged| judged.verdict.fails()).map(target::Judged::show).collect())
}

/// Runs the benchmarks of the crates.
fn library(filters: &[&str]) -> Result<Vec<Measured>, Fault> {
    let benches = found::read()?;
    let mut build = cargo(&benches);
    build.arg("--no-run");
    process::show(&mut build, BUILD_DEADLINE)?.checked("build")?;

    let folder = workspace::target()?.join(MEASURED);
    empty(&folder)?;
    let mut command = cargo(&benches);
    command.args(["--", "--noplot"]).args(Options::expression(filters)).env("CRITERION_HOME", &folder);
    process::show(&mut command, RUN_DEADLINE)?.checked("bench")?;
    estimates::read(&folder)
}

/// `cargo bench` of every benchmark, with one build for all.
fn cargo(benches: &[Bench]) -> Command {
    let mut command = Command::new(workspace::cargo());
    command.arg("bench").current_dir(workspace::root());
    let mut packages: Vec<&str> = benches.iter().map(|bench| bench.package.as_str()).collect();
    packages.dedup();
    for package in packages {
        command.args(["--package", package]);
    }
    for bench in benches {
        command.args(["--bench", &bench.name]);
    }
    command
}

fn empty(folder: &Path) -> Result<(), Fault> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(fault)?;
    }
    std::fs::create_dir_all(folder).map_err(fault)
}
