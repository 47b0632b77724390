//! `cargo xtask fuzz`: runs the fuzz targets for a while.

mod libfuzzer;
mod options;
mod stable;
mod target;

use std::time::Duration;

use crate::Fault;
use options::Options;

/// For building everything from nothing.
const BUILD_DEADLINE: Duration = Duration::from_mins(40);

/// Runs the command: every target, also after one has failed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    let options = Options::parse(arguments)?;
    let targets = target::chosen(target::read()?, &options.targets)?;
    let faults = match libfuzzer::missing() {
        None => libfuzzer::run(&targets, options.seconds)?,
        Some(missing) => {
            println!("{missing}");
            println!("Until then the targets run with our own mutator, which does not see what it reaches.");
            stable::run(&targets, options.seconds)?
        }
    };
    for fault in &faults {
        println!("{fault}");
    }
    let failed = faults.len();
    println!("fuzz: {} targets passed, {failed} failed", targets.len() - failed);
    if failed == 0 { Ok(()) } else { Err(Fault::new()) }
}
