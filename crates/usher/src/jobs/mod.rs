//! Background loops: events of the store, the poll behind them, pruning, master keys, tokens that are renewed ahead.

pub mod keys;
mod refresh;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    task::JoinHandle,
    time::MissedTickBehavior,
};
use usher_store::{Event, Kind, SessionKey};

use crate::{app::App, relay};

/// How often what is waited for is read again on PostgreSQL, where an event can be lost with a connection.
const POLL: Duration = Duration::from_secs(1);
/// The same on SQLite, where events stay in the process.
const POLL_IN_PROCESS: Duration = Duration::from_secs(10);
/// How often expired rows are removed.
const PRUNE: Duration = Duration::from_mins(5);
/// How often it is looked for idle processes.
const REAP: Duration = Duration::from_secs(1);
/// Rows read in one query of the poll.
const BATCH: usize = 500;

/// Starts all loops. They end when the service begins to stop.
pub fn start(app: &Arc<App>) -> Vec<JoinHandle<()>> {
    let events = app.store.events();
    vec![
        tokio::spawn(until_stop(Arc::clone(app), listen(Arc::clone(app), events))),
        tokio::spawn(until_stop(Arc::clone(app), poll(Arc::clone(app)))),
        tokio::spawn(until_stop(Arc::clone(app), prune(Arc::clone(app)))),
        tokio::spawn(until_stop(Arc::clone(app), reap(Arc::clone(app)))),
        tokio::spawn(until_stop(Arc::clone(app), keys::watch(Arc::clone(app)))),
        tokio::spawn(until_stop(Arc::clone(app), keys::rewrap(Arc::clone(app)))),
        tokio::spawn(until_stop(Arc::clone(app), refresh::ahead(Arc::clone(app)))),
    ]
}

async fn until_stop(app: Arc<App>, job: impl Future<Output = ()>) {
    app.stopping.run_until_cancelled(job).await;
}

/// Events wake waiters and drop what is kept in memory.
async fn listen(app: Arc<App>, mut events: Receiver<Event>) {
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => Event::Everything,
            Err(RecvError::Closed) => return,
        };
        match event {
            Event::Interaction(id) => {
                app.broker.waiting.wake(&id);
                let app = Arc::clone(&app);
                tokio::spawn(async move { relay::deliver(&app, &id).await });
            }
            Event::Credential(key) => {
                app.broker.credentials.forget_key(&key);
                let app = Arc::clone(&app);
                tokio::spawn(async move { relay::credentials_changed(&app, Some(&key)).await });
            }
            Event::Session(key) => {
                app.relay.forget_session(&key);
                let app = Arc::clone(&app);
                tokio::spawn(async move { session_changed(&app, &key).await });
            }
            Event::Everything => {
                app.forget();
                let app = Arc::clone(&app);
                tokio::spawn(async move { app.catch_up().await });
            }
        }
    }
}

async fn session_changed(app: &App, key: &SessionKey) {
    match app.store.session_of(key, app.clock.now()).await {
        Ok(None) => app.relay.session_over(key),
        Ok(Some(_)) => {}
        // Its process ends when it is idle.
        Err(error) => tracing::warn!(session = %key, %error, "a session that may be over cannot be looked up"),
    }
}

/// Processes that nobody uses are stopped.
async fn reap(app: Arc<App>) {
    let mut ticks = tokio::time::interval(REAP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.relay.reap(&app.config);
    }
}

/// Events are hints that can be lost; this reads again what somebody waits for.
async fn poll(app: Arc<App>) {
    let every = if app.store.kind() == Kind::Postgres { POLL } else { POLL_IN_PROCESS };
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for batch in app.broker.waiting.ids().chunks(BATCH) {
            match app.store.interactions(batch, app.clock.now()).await {
                Ok(interactions) => {
                    for interaction in interactions.iter().filter(|interaction| !interaction.state.is_open()) {
                        app.broker.waiting.wake(&interaction.id);
                    }
                }
                Err(error) => tracing::warn!(%error, "what is waited for cannot be read"),
            }
        }
    }
}

async fn prune(app: Arc<App>) {
    let mut ticks = tokio::time::interval(PRUNE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        app.broker.limits.shrink();
        app.relay.shrink();
        match app.store.prune(app.clock.now()).await {
            Ok(pruned) => tracing::debug!(?pruned, "expired rows removed"),
            Err(error) => tracing::warn!(%error, "expired rows cannot be removed"),
        }
    }
}
