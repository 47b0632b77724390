//! The fuzz targets of a crate on stable Rust: over the seeds in its `tests/corpus`, over changed seeds and over random input.
//!
//! The cases are the same in each run, so that a failure repeats. `cargo xtask fuzz` gives more time, by the environment:
//! `USHER_FUZZ_SECONDS` for each target, from `USHER_FUZZ_SEED` on. A part of the test `fuzz` of each crate that has targets.

use std::collections::BTreeSet;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::mutator::Mutator;

/// The seed of every run that names no other.
const SEED: u64 = 20_260_728;

/// One target, as it is run here.
pub struct Target {
    /// Of its binary in `fuzz/fuzz_targets` and of its folder in `corpus`.
    pub name: &'static str,
    /// Panics where a promise is broken.
    pub run: fn(&[u8]),
    /// Pieces of text that mean something to it.
    pub tokens: &'static [&'static str],
    /// How many inputs are made, beside the seeds: one or two seconds in a debug build.
    pub cases: usize,
}

/// Runs the target of this name.
pub fn fuzz(targets: &[Target], name: &str) {
    let target = targets.iter().find(|target| target.name == name).expect("the target is in the table");
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for seed in &seeds {
        run(target, seed, "a seed");
    }
    let time = variable("USHER_FUZZ_SECONDS").map(Duration::from_secs);
    let seed = variable("USHER_FUZZ_SEED").unwrap_or(SEED);
    let mut mutator = Mutator::new(seed, &seeds, target.tokens);
    let start = now();
    let mut cases = 0;
    while time.map_or(cases < target.cases, |time| start.elapsed() < time) {
        run(target, &mutator.input(), &format!("case {cases} of USHER_FUZZ_SEED={seed}"));
        cases += 1;
    }
    println!("{name}: {} seeds and {cases} cases in {:.1} s", seeds.len(), start.elapsed().as_secs_f64());
}

/// Runs one case; names the input where it fails.
pub fn run(target: &Target, input: &[u8], which: &str) {
    if let Err(panic) = catch_unwind(|| (target.run)(input)) {
        eprintln!("{}: {which} fails: b\"{}\"", target.name, input.escape_ascii());
        resume_unwind(panic);
    }
}

/// Seeds without a test would never run in CI, and a test without a binary never with libFuzzer.
pub fn assert_complete(targets: &[Target]) {
    let names = |folder: &Path| -> BTreeSet<String> {
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        entries(folder).into_iter().map(stem).collect()
    };
    let tested: BTreeSet<String> = targets.iter().map(|target| target.name.to_owned()).collect();
    assert!(names(&folder("../../fuzz/fuzz_targets")).is_superset(&tested));
    assert_eq!(names(&folder(CORPUS)), tested);
}

/// The folder with the seeds of a crate.
const CORPUS: &str = "tests/corpus";

/// The seeds of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files = entries(&folder(CORPUS).join(name));
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// A path from the crate whose test this is.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[allow(clippy::disallowed_methods, reason = "how long to run is for whoever starts the test")]
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text:?}")))
}

#[allow(clippy::disallowed_methods, reason = "a run that was given a time measures it")]
fn now() -> Instant {
    Instant::now()
}
