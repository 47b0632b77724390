//! What is measured of the service: by the load of `usher-testkit`, beside programs that do the same by hand.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::estimates::{Measured, Unit};
use super::{BUILD_DEADLINE, empty};
use crate::{Fault, process, workspace};

const RUN_DEADLINE: Duration = Duration::from_mins(15);

/// Folder in the target directory for the stores of what is measured.
const FOLDER: &str = "usher-load";

/// Builds the service and the load as they are released, and runs those measurements whose names contain one of the words.
pub(super) fn run(filters: &[&str]) -> Result<Vec<Measured>, Fault> {
    if workspace::program(&["taskset"]).is_none() {
        return Err("bench: the service needs taskset, of util-linux, to have a core for itself".to_owned());
    }
    // One build for both, or what they share would be built twice.
    let mut build = Command::new(workspace::cargo());
    build.args(["build", "--release", "--package", "usher", "--package", "usher-testkit"]);
    build.args(["--bin", "usher", "--bin", "usher-load"]).current_dir(workspace::root());
    process::show(&mut build, BUILD_DEADLINE)?.checked("build")?;
    let folder = workspace::target()?.join(FOLDER);
    empty(&folder)?;
    let program = |name: &str| workspace::target().map(|target: PathBuf| target.join("release").join(name));
    let mut command = Command::new("sh");
    // The load holds a connection for each call that waits.
    command.args(["-c", "ulimit -n \"$(ulimit -H -n)\"; exec taskset -c 1 \"$@\"", "sh"]);
    command.arg(program("usher-load")?).arg("measure").arg(program("usher")?).arg(&folder).args(filters);
    let ended = process::tee(&command, RUN_DEADLINE)?;
    ended.checked("load")?;
    Ok(ended.lines.iter().filter_map(|line| row(line)).collect())
}

/// A line `row`, name, unit, median, least, largest, between tabs.
fn row(line: &str) -> Option<Measured> {
    let fields: Vec<&str> = line.split('\t').collect();
    let ["row", name, unit, median, low, high] = fields.as_slice() else { return None };
    let unit = match *unit {
        "ns" => Unit::Nanoseconds,
        "B" => Unit::Bytes,
        _ => return None,
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    Some(Measured { name: (*name).to_owned(), unit, median: number(median)?, low: number(low)?, high: number(high)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_told_from_everything_else() {
        let found = row("row\tservice/call, modern\tns\t51200.5\t50000\t6e4").unwrap();
        assert_eq!((found.name.as_str(), found.unit), ("service/call, modern", Unit::Nanoseconds));
        assert_eq!((found.median, found.low, found.high), (51_200.5, 50_000.0, 60_000.0));
        for line in ["", "row", "row\ta\tns\t1\t1\tNaN", "row\ta\tm\t1\t1\t1", "thread panicked"] {
            assert_eq!(row(line), None, "{line}");
        }
    }
}
