//! How long the pure functions take: `cargo xtask bench` runs them and holds them against their targets.

#![allow(clippy::expect_used, reason = "a fixed input that is not taken has to end the run")]

mod digest;
mod form;
mod review;
mod state;
mod text;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .nresamples(20_000)
        .configure_from_args();
    digest::measure(&mut criterion);
    form::measure(&mut criterion);
    review::measure(&mut criterion);
    state::measure(&mut criterion);
    text::measure(&mut criterion);
    criterion.final_summary();
}
