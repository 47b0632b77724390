//! Where things are: the repository, the target directory, programs on the `PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Fault;

/// The top folder of the repository that `cargo xtask` was called in. Copies of a repository that share a target directory
/// share this program too, so the folder that it was built in counts only where cargo does not say.
pub(crate) fn root() -> PathBuf {
    let own =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or_else(|| own.clone(), Path::to_path_buf)
}

/// The target directory that this very program was built into, whatever names it
/// (`CARGO_TARGET_DIR`, a config file, or nothing).
pub(crate) fn target() -> Result<PathBuf, Fault> {
    let own = std::env::current_exe().map_err(|error| format!("own path is unknown: {error}"))?;
    match own.parent().and_then(Path::parent) {
        Some(target) => Ok(target.to_path_buf()),
        None => Err(format!("{} is in no target directory", own.display())),
    }
}

/// The first of `names` that is a program on the `PATH`, or a path to one.
pub(crate) fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    names.iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
    })
}

/// Whether `cargo NAME` exists.
pub(crate) fn cargo_command(name: &str) -> bool {
    program(&[&format!("cargo-{name}")]).is_some()
        || Command::new(cargo()).args([name, "--version"]).output().is_ok_and(|output| output.status.success())
}

/// The cargo that runs us.
pub(crate) fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Whether we may install packages: Debian's tools are there, and we are root.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Every file that belongs to the repository, or will when it is added; sorted, relative to the root.
pub(crate) fn files() -> Result<Vec<PathBuf>, Fault> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut files: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout)
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|name| root().join(name).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
