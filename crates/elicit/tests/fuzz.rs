//! The fuzz targets of this library on stable Rust, and the tests of what runs them: see `fuzz/src/stable.rs`.

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
#[path = "../../../fuzz/src/stable.rs"]
mod stable;
#[path = "../../../fuzz/src/elicit.rs"]
mod targets;
#[path = "../../../fuzz/src/tokens.rs"]
mod tokens;

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use mutator::{Generator, Mutator};
use stable::{Target, fuzz, run};

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
    fuzz(TARGETS, "answer");
}

#[test]
fn form_keeps_its_promises() {
    fuzz(TARGETS, "form");
}

#[test]
fn state_keeps_its_promises() {
    fuzz(TARGETS, "state");
}

#[test]
fn text_keeps_its_promises() {
    fuzz(TARGETS, "text");
}

#[test]
fn url_keeps_its_promises() {
    fuzz(TARGETS, "url");
}

#[test]
fn wire_keeps_its_promises() {
    fuzz(TARGETS, "wire");
}

#[test]
fn each_target_has_a_binary_and_seeds() {
    stable::assert_complete(TARGETS);
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
