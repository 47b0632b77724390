//! What was granted is kept alive: on use, ahead, by one at a time, through everything that can go wrong with a provider.

mod ahead;
mod clocks;
mod crowd;
#[cfg(feature = "fail-points")]
pub(crate) mod house;
mod listings;
mod on_use;
mod others;
mod outages;
mod refused;
#[cfg(feature = "fail-points")]
mod replicas;
mod rotation;
pub(crate) mod scene;

use usher_testkit::{DEADLINE, within};

/// Waits until something holds that no event tells.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let look = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    within(DEADLINE, what, look).await;
}
