//! The fuzz targets on stable Rust: over the seeds in `corpus`, over changed seeds and over random input.
//!
//! The cases are the same in each run, so that a failure repeats. `cargo xtask fuzz` gives more time, by the environment:
//! `USHER_FUZZ_SECONDS` for each target, from `USHER_FUZZ_SEED` on.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests, which tell what they ran"
)]

#[path = "../../../fuzz/src/mutator.rs"]
mod mutator;
#[path = "../../../fuzz/src/elicit.rs"]
mod targets;
#[path = "../../../fuzz/src/tokens.rs"]
mod tokens;

use std::collections::BTreeSet;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutator::{Generator, Mutator};

/// The seed of every run that names no other.
const SEED: u64 = 20_260_728;

/// One target, as it is run here.
struct Target {
    /// Of its binary in `fuzz/fuzz_targets` and of its folder in `corpus`.
    name: &'static str,
    run: fn(&[u8]),
    tokens: &'static [&'static str],
    /// How many inputs are made, beside the seeds: about two seconds in a debug build.
    cases: usize,
}

const TARGETS: &[Target] = &[
    Target { name: "answer", run: targets::answer, tokens: tokens::ANSWER, cases: 40_000 },
    Target { name: "form", run: targets::form, tokens: tokens::FORM, cases: 7_000 },
    Target { name: "state", run: targets::state, tokens: tokens::STATE, cases: 8_000 },
    Target { name: "text", run: targets::text, tokens: tokens::TEXT, cases: 5_000 },
    Target { name: "url", run: targets::url, tokens: tokens::URL, cases: 10_000 },
    Target { name: "wire", run: targets::wire, tokens: tokens::WIRE, cases: 10_000 },
];

#[test]
fn answer_keeps_its_promises() {
    fuzz("answer");
}

#[test]
fn form_keeps_its_promises() {
    fuzz("form");
}

#[test]
fn state_keeps_its_promises() {
    fuzz("state");
}

#[test]
fn text_keeps_its_promises() {
    fuzz("text");
}

#[test]
fn url_keeps_its_promises() {
    fuzz("url");
}

#[test]
fn wire_keeps_its_promises() {
    fuzz("wire");
}

fn fuzz(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the target is in the table");
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
fn run(target: &Target, input: &[u8], which: &str) {
    if let Err(panic) = catch_unwind(|| (target.run)(input)) {
        eprintln!("{}: {which} fails: b\"{}\"", target.name, input.escape_ascii());
        resume_unwind(panic);
    }
}

/// The seeds of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files = entries(&folder("crates/elicit/tests/corpus").join(name));
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
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

/// Seeds without a test would never run in CI, and a test without a binary never with libFuzzer.
#[test]
fn each_target_has_a_binary_and_seeds() {
    let names = |path: &str| -> BTreeSet<String> {
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        entries(&folder(path)).into_iter().map(stem).collect()
    };
    let tested: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert!(names("fuzz/fuzz_targets").is_superset(&tested));
    assert_eq!(names("crates/elicit/tests/corpus"), tested);
}

/// The inputs of a mutator that starts at `seed`.
fn inputs(seed: u64) -> Vec<Vec<u8>> {
    let seeds = [b"{\"a\":1}".to_vec(), b"{}".to_vec(), Vec::new()];
    let mut mutator = Mutator::new(seed, &seeds, tokens::WIRE);
    (0..2_000).map(|_| mutator.input()).collect()
}

#[test]
fn inputs_repeat_with_their_seed_and_differ_with_another() {
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
}

#[test]
fn inputs_are_various_and_bounded() {
    let inputs = inputs(1);
    let different: BTreeSet<&Vec<u8>> = inputs.iter().collect();
    assert!(different.len() > inputs.len() / 2, "{} of {}", different.len(), inputs.len());
    assert!(inputs.iter().all(|input| input.len() <= mutator::MAX_INPUT));
    assert!(inputs.iter().any(|input| std::str::from_utf8(input).is_err()));
    assert!(inputs.iter().any(|input| input.windows(13).any(|part| part == b"requestState\"")));
    assert!(inputs.iter().any(|input| input.len() > 200));
}

#[test]
fn numbers_stay_below_their_end() {
    let mut generator = Generator::new(7);
    assert_eq!(generator.below(0), 0);
    assert!((0..1_000).all(|_| generator.below(3) < 3));
    assert!((0..1_000).any(|_| generator.below(3) == 2));
}

/// The failing input is named, and the failure is not swallowed.
#[test]
fn a_broken_promise_fails_the_run() {
    let target = Target { name: "broken", run: |input| assert!(input.is_empty()), tokens: &[], cases: 0 };
    run(&target, b"", "a seed");
    assert!(catch_unwind(|| run(&target, b"\xff", "a seed")).is_err());
}
