//! Ends what somebody began to let go and did not end: a service that was killed, or a command.

use std::{sync::Arc, time::Duration};

use tokio::time::MissedTickBehavior;

use crate::app::App;

/// How often it is looked for.
const EVERY: Duration = Duration::from_mins(1);

pub(super) async fn left_behind(app: Arc<App>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = app.broker.let_go().left_behind().await {
            tracing::warn!(%error, "credentials that are being let go cannot be looked for");
        }
    }
}
