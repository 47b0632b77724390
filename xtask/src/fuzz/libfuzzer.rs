//! The targets with libFuzzer, which watches what an input reaches and keeps those that reach more.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::BUILD_DEADLINE;
use super::target::Target;
use crate::{Fault, process, workspace};

/// Folder in the target directory, for the builds and for what is found.
const FOLDER: &str = "usher-fuzz";
/// The longest time for one input, in seconds.
const SLOWEST: u32 = 10;

/// What to install before libFuzzer can run; `None` where all is there.
pub(super) fn missing() -> Option<String> {
    if workspace::program(&["rustup"]).is_none() {
        return Some("libFuzzer needs the nightly toolchain, and that needs rustup: https://rustup.rs".to_owned());
    }
    let there = |words: &[&str]| nightly(words).output().is_ok_and(|output| output.status.success());
    let mut missing = Vec::new();
    if !there(&["rustc", "--version"]) {
        missing.push("rustup toolchain install nightly");
    }
    if !workspace::cargo_command("fuzz") {
        missing.push("cargo install --locked cargo-fuzz");
    }
    (!missing.is_empty()).then(|| format!("libFuzzer is not there. Install it with: {}", missing.join(" && ")))
}

/// Runs each target; returns what failed.
pub(super) fn run(targets: &[Target], seconds: u32) -> Result<Vec<Fault>, Fault> {
    let folder = workspace::target()?.join(FOLDER);
    let host = host()?;
    let mut faults = Vec::new();
    for target in targets {
        build(target, &folder)?;
        // Not by `cargo fuzz run`: that would put what it finds into the sources, and outlive a signal.
        let binary = folder.join("build").join(&host).join("release").join(&target.name);
        faults.extend(search(target, &binary, &folder, seconds)?);
    }
    Ok(faults)
}

fn build(target: &Target, folder: &Path) -> Result<(), Fault> {
    let mut command = nightly(&["cargo", "fuzz", "build", "--debug-assertions", "--fuzz-dir", "fuzz", "--target-dir"]);
    command.arg(folder.join("build")).arg(&target.name).current_dir(workspace::root());
    process::show(&mut command, BUILD_DEADLINE)?.checked("cargo fuzz build")
}

/// Runs `binary` over the seeds and on from there; returns where the failing input is, if there is one.
fn search(target: &Target, binary: &Path, folder: &Path, seconds: u32) -> Result<Option<Fault>, Fault> {
    let finds = made(folder.join("finds").join(&target.name))?;
    let failures = made(folder.join("failures").join(&target.name))?;
    let before = count(&finds)?;
    let mut command = Command::new(binary);
    command
        .arg(&finds)
        .arg(&target.seeds)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={SLOWEST}"))
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .args(["-max_len=4096", "-print_final_stats=1", "-verbosity=0"])
        .current_dir(workspace::root());
    let ended = process::tee(&command, Duration::from_secs(u64::from(seconds + 6 * SLOWEST)))?;
    println!("{}: {} new inputs in {}", target.name, count(&finds)?.saturating_sub(before), finds.display());
    Ok((!ended.success).then(|| fault(target, &ended.lines)))
}

fn fault(target: &Target, lines: &[String]) -> Fault {
    match lines.iter().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path)) {
        Some(path) => format!(
            "{name}: fails on {path}; in {seeds} it is a test of `cargo test --package {package} --test fuzz`",
            name = target.name,
            seeds = target.seeds.display(),
            package = target.package,
        ),
        None => format!("{}: failed, see above", target.name),
    }
}

fn nightly(words: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).args(words);
    // Cargo tells its children which compiler it is; those of another toolchain must not hear it.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

fn host() -> Result<String, Fault> {
    let version = process::output(&mut nightly(&["rustc", "-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn made(folder: PathBuf) -> Result<PathBuf, Fault> {
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

fn count(folder: &Path) -> Result<usize, Fault> {
    std::fs::read_dir(folder).map(Iterator::count).map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_input_and_how_to_keep_it() {
        let target = Target {
            name: "form".to_owned(),
            package: "elicit".to_owned(),
            seeds: PathBuf::from("crates/elicit/tests/corpus/form"),
        };
        let lines = ["SUMMARY: libFuzzer: deadly signal", "artifact_prefix='a/'; Test unit written to a/crash-01"];
        assert_eq!(
            fault(&target, &lines.map(str::to_owned)),
            "form: fails on a/crash-01; in crates/elicit/tests/corpus/form it is a test of \
             `cargo test --package elicit --test fuzz`"
        );
        assert_eq!(fault(&target, &[]), "form: failed, see above");
    }
}
