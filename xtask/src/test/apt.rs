//! Installing a missing program from Debian's packages.

use std::process::Command;
use std::time::Duration;

use crate::{Fault, process, workspace};

/// Installs `package`, where we are root on a Debian system; else an error that says what to install.
pub(crate) fn install(package: &str, what_for: &str) -> Result<(), Fault> {
    let by_hand = format!("{what_for} is missing: install it (Debian, Ubuntu: apt-get install {package})");
    if !workspace::is_root() || workspace::program(&["apt-get"]).is_none() {
        return Err(by_hand);
    }
    let deadline = Duration::from_mins(5);
    // A stale list is no reason to stop: the install itself tells.
    process::show(Command::new("apt-get").args(["update", "-q"]), deadline)?;
    process::show(
        Command::new("apt-get")
            .args(["install", "-q", "-y", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive"),
        deadline,
    )?
    .checked(&by_hand)
}
