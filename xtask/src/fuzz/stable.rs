//! The targets as tests on stable Rust, for a while longer than `cargo xtask test` gives them.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::BUILD_DEADLINE;
use super::target::Target;
use crate::{Fault, process, workspace};

/// Runs each target; returns what failed.
pub(super) fn run(targets: &[Target], seconds: u32) -> Result<Vec<Fault>, Fault> {
    let mut faults = Vec::new();
    // Another seed each time, or the same cases would be tried again; a failure names it.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    for target in targets {
        let mut command = Command::new(workspace::cargo());
        command
            .args(["test", "--package", &target.package, "--test", "fuzz", "--", "--exact", "--nocapture"])
            .arg(test(&target.name))
            .env("USHER_FUZZ_SECONDS", seconds.to_string())
            .env("USHER_FUZZ_SEED", seed.to_string())
            .current_dir(workspace::root());
        let ended = process::tee(&command, BUILD_DEADLINE + Duration::from_secs(u64::from(seconds)))?;
        if !ended.success {
            faults.push(format!("{}: failed, see above", target.name));
        } else if !ended.lines.iter().any(|line| line.starts_with("test result: ok. 1 passed")) {
            faults.push(format!("{}: crate {} has no test {}", target.name, target.package, test(&target.name)));
        }
    }
    Ok(faults)
}

/// The test that runs a target.
fn test(name: &str) -> String {
    format!("{name}_keeps_its_promises")
}
