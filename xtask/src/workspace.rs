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

/// The `Cargo.toml` of every crate in `crates`, sorted.
pub(crate) fn manifests() -> Result<Vec<PathBuf>, Fault> {
    let manifests = folders(&root().join("crates"))?.into_iter().map(|folder| folder.join("Cargo.toml"));
    Ok(manifests.filter(|manifest| manifest.is_file()).collect())
}

/// The folders in `folder`, sorted.
pub(crate) fn folders(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(fault)?;
    let mut folders =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(fault)?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

/// The value of a line `key = "value"` of a manifest.
pub(crate) fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.trim().strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start();
    value.strip_prefix('"')?.split_once('"').map(|(value, _)| value)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_belongs_to_its_own_key() {
        assert_eq!(quoted("name = \"elicit\" # why", "name"), Some("elicit"));
        assert_eq!(quoted("name=\"\"", "name"), Some(""));
        for line in ["names = \"a\"", "name.workspace = true", "name = [\"a\"]", "name = \"a"] {
            assert_eq!(quoted(line, "name"), None, "{line}");
        }
    }
}
