//! The `usher` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    usher::commands::run()
}
