//! The official Python SDK, in an environment of its own in the target directory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::apt;
use crate::{Fault, process, workspace};

const DEADLINE: Duration = Duration::from_mins(5);
/// What the pinned packages need.
const AT_LEAST: (u32, u32) = (3, 11);
const NAMES: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
const MISSING: &str = "Python 3.11 or newer with venv (for the interop tests; --no-interop leaves them out, USHER_PYTHON=PATH names one \
     that has the packages of tests/interop/python/requirements.txt)";

/// Path of an interpreter with the packages: `$USHER_PYTHON`, or one of our own, made anew when the list has changed.
pub(crate) fn install() -> Result<PathBuf, Fault> {
    if let Some(path) = std::env::var_os("USHER_PYTHON").map(PathBuf::from) {
        return if path.is_file() { Ok(path) } else { Err(format!("USHER_PYTHON={} is no file", path.display())) };
    }
    let list = workspace::root().join("tests/interop/python/requirements.txt");
    let wanted = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let folder = workspace::target()?.join("usher-python");
    let (own, stamp) = (folder.join("bin/python"), folder.join(".usher-installed"));
    if own.is_file() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(own);
    }
    process::show(Command::new(interpreter()?).args(["-m", "venv", "--clear"]).arg(&folder), DEADLINE)?
        .checked("python3 -m venv")?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement"];
    process::show(Command::new(&own).args(pip).arg(&list), DEADLINE)?.checked("pip install")?;
    std::fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(own)
}

/// A Python of the machine that can make environments, or the one that we install.
fn interpreter() -> Result<PathBuf, Fault> {
    if let Some(path) = find() {
        return Ok(path);
    }
    apt::install("python3-venv", MISSING)?;
    find().ok_or_else(|| format!("{MISSING} is still missing after its installation"))
}

fn find() -> Option<PathBuf> {
    let on_path = NAMES.iter().filter_map(|name| workspace::program(&[name]));
    on_path.chain([PathBuf::from("/usr/bin/python3")]).find(|path| is_usable(path))
}

/// `ensurepip` is what Debian leaves out of a Python without `python3-venv`.
fn is_usable(python: &Path) -> bool {
    let look = "import sys, venv, ensurepip; print(sys.version_info[0], sys.version_info[1])";
    let version = process::output(Command::new(python).args(["-c", look]));
    version.is_ok_and(|version| read_version(&version).is_some_and(|version| version >= AT_LEAST))
}

/// `(3, 11)` of `3 11`.
fn read_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(read_version("3 11\n"), Some((3, 11)));
        assert!(read_version("3 9").is_some_and(|version| version < AT_LEAST));
        assert!(read_version("4 0").is_some_and(|version| version >= AT_LEAST));
        assert_eq!(read_version("Python 3.11"), None);
    }
}
