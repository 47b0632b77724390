//! R-GW-02 at large: whatever JSON two sides exchange, it arrives as it was written.

mod json;
mod stream;
mod talk;

use elicit::{Random as _, SystemRandom};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tokio::runtime::Runtime;

use self::talk::{Both, case};

/// How many exchanges there are.
const CASES: u32 = 512;

/// R-GW-02, R-FORM-10, R-FORM-11: number text, key order, escapes, blanks, unknown members, methods and fields, of requests,
/// notifications, results, errors, questions and answers, in both directions and both eras, as JSON and as events however
/// they are cut. In a round, nothing changes but the state.
#[test]
fn whatever_two_sides_say_arrives_as_it_was_written() {
    let seed = seed();
    let runtime = Runtime::new().unwrap();
    let both = runtime.block_on(Both::start());
    let config = Config { cases: CASES, max_shrink_iters: 300, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::XorShift, &seed));
    let result = runner.run(&case(), |case| {
        // A task of its own, so that what fails in it is a failure of the case.
        runtime.block_on(both.hold(&case));
        Ok::<_, TestCaseError>(())
    });
    let hex = seed.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    result.unwrap_or_else(|failure| panic!("USHER_LOSSLESS_SEED={hex}\n{failure}"));
}

/// Another one in each run, or the one of a run that failed.
#[allow(clippy::disallowed_methods, reason = "which run to repeat is for whoever starts the test")]
fn seed() -> [u8; 16] {
    let mut seed = [0; 16];
    match std::env::var("USHER_LOSSLESS_SEED") {
        Ok(hex) => {
            for (place, byte) in seed.iter_mut().enumerate() {
                *byte = u8::from_str_radix(&hex[2 * place..2 * place + 2], 16).unwrap();
            }
        }
        Err(_) => SystemRandom.fill(&mut seed),
    }
    seed
}
