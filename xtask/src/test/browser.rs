//! Finding Chromium.

use std::path::PathBuf;

use super::apt;
use crate::{Fault, workspace};

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Path of the browser: `$CHROMIUM`, one on the `PATH`, or one that we install.
pub(crate) fn install() -> Result<PathBuf, Fault> {
    if let Some(path) = std::env::var_os("CHROMIUM").map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        return Err(format!("CHROMIUM={} is no file", path.display()));
    }
    if let Some(path) = workspace::program(NAMES) {
        return Ok(path);
    }
    let missing = "Chromium (for the browser tests; --no-browser leaves them out, CHROMIUM=PATH names another)";
    apt::install("chromium", missing)?;
    workspace::program(NAMES).ok_or_else(|| format!("{missing} is still missing after its installation"))
}
