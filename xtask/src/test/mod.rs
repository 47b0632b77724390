//! `cargo xtask test`: builds once, then runs every runner and adds up what they say.

mod apt;
mod browser;
mod libtest;
mod nextest;
mod node;
mod options;
mod postgres;
mod python;
pub(crate) mod rust;
mod tally;
mod tap;

use crate::clock::Clock;
use crate::{Fault, workspace};
use node::Suite;
use options::Options;
use tally::Tally;

/// File in the target directory that lists every test of the last run, one a line.
pub(crate) const RAN_FILE: &str = "usher-tests-ran.txt";

/// Runs the command. The last line that it prints is always the summary.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fault> {
    let options = Options::parse(arguments)?;
    let mut clock = Clock::default();
    let mut tally = Tally::default();
    let mut faults = Vec::new();
    if let Err(fault) = all(&options, &mut clock, &mut tally, &mut faults) {
        faults.push(fault);
    }
    let record = workspace::target()?.join(RAN_FILE);
    if let Err(error) = std::fs::write(&record, tally.record(&options.filters)) {
        faults.push(format!("{} cannot be written: {error}", record.display()));
    }
    for name in tally.failed_names() {
        println!("failed: {name}");
    }
    for fault in &faults {
        println!("error: {fault}");
    }
    println!("{}", clock.report());
    println!("{}", tally.summary());
    if faults.is_empty() && tally.failed() == 0 { Ok(()) } else { Err(Fault::new()) }
}

/// Runs every part. A runner that crashed is noted, and the next one still runs.
fn all(options: &Options, clock: &mut Clock, tally: &mut Tally, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    let suites = Suite::chosen(options);
    let (postgres, installed) = clock.time("install", || {
        let postgres = postgres::install()?;
        for suite in &suites {
            suite.install()?;
        }
        let mut installed = Vec::new();
        if options.browser {
            installed.push(("CHROMIUM", browser::install()?));
        }
        if options.interop {
            installed.push(("USHER_PYTHON", python::install()?));
        }
        Ok::<_, Fault>((postgres, installed))
    })?;
    let binary = clock.time("build", rust::build)?;
    let server = clock.time("rust", || postgres.start())?;
    faults.extend(clock.time("rust", || rust::unit(&server, options, tally)).err());
    faults.extend(clock.time("doc", || rust::documentation(options, tally)).err());
    for suite in &suites {
        let result = clock.time(suite.name(), || suite.run(&binary, &server, &installed, options, tally));
        faults.extend(result.err());
    }
    if !options.filters.is_empty() && tally.ran() == 0 {
        return Err(format!("no test matches {}", options.filters.join(" ")));
    }
    Ok(())
}
