//! What a person runs, and what CI runs: `cargo xtask lint|test|requirements|bench|fuzz`.
//!
//! Only the standard library, so that it builds in seconds and before anything else does.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool for the terminal: it prints, reads its environment and measures time"
)]

mod bench;
mod clock;
mod fuzz;
mod lint;
mod process;
mod requirements;
mod test;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  lint                                   formatting, clippy, docs, dependencies, file lengths, words
  test [--no-browser] [--no-interop] [FILTER…]
                                         every test, against its own throw-away PostgreSQL and Chromium
  requirements [--check R-CAP-01,…]      which requirement is met by which test of the last test run
  bench [--check] [--write] [FILTER…]    every benchmark, held against its target; --check fails where one is missed,
                                         --write puts the table into docs/performance.md
  fuzz [--seconds N] [TARGET…]           every fuzz target, N seconds each (60): with libFuzzer where the nightly
                                         toolchain and cargo-fuzz are installed, with our own mutator otherwise
";

/// What went wrong, as one text for a person.
type Fault = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let result = match command {
        "lint" => lint::run(rest),
        "test" => test::run(rest),
        "requirements" => requirements::run(rest),
        "bench" => bench::run(rest),
        "fuzz" => fuzz::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("there is no command {other:?}\n\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            // A failed test run has said everything already, and its summary must stay the last line.
            if !fault.is_empty() {
                eprintln!("error: {fault}");
            }
            ExitCode::FAILURE
        }
    }
}
