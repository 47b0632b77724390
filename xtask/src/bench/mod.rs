//! `cargo xtask bench`: runs the benchmarks, and tells which of them are as fast as they have to be.

mod estimates;
mod found;
mod machine;
mod options;
mod page;
mod table;
mod target;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Fault, process, workspace};
use found::Bench;
use options::Options;

const BUILD_DEADLINE: Duration = Duration::from_mins(40);
const RUN_DEADLINE: Duration = Duration::from_mins(30);

/// Folder in the target directory that holds what criterion measured in the last run, and nothing older.
const MEASURED: &str = "usher-bench";

/// Runs the command. The table is the last that it prints on standard output.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    let options = Options::parse(arguments)?;
    let benches = found::read()?;
    let mut build = cargo(&benches);
    build.arg("--no-run");
    process::show(&mut build, BUILD_DEADLINE)?.checked("build")?;

    let folder = workspace::target()?.join(MEASURED);
    empty(&folder)?;
    let mut command = cargo(&benches);
    command.args(["--", "--noplot"]).args(options.expression()).env("CRITERION_HOME", &folder);
    process::show(&mut command, RUN_DEADLINE)?.checked("bench")?;

    let measured = estimates::read(&folder)?;
    if measured.is_empty() {
        return Err(format!("bench: nothing was measured, by the filter {:?}", options.filters.join(" ")));
    }
    let judged = target::judge(&measured, options.filters.is_empty());
    let text = format!("{}\n\n{}", machine::describe()?, table::markdown(&measured, &judged));
    println!("\n{text}");
    if options.write {
        page::write(&text)?;
    }
    let missed: Vec<String> = judged.iter().filter(|judged| judged.verdict.fails()).map(target::Judged::show).collect();
    for line in &missed {
        println!("{line}");
    }
    if options.check && !missed.is_empty() { Err("bench: not as fast as it has to be".to_owned()) } else { Ok(()) }
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
