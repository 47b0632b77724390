//! Hints between replicas: PostgreSQL's LISTEN and NOTIFY.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use elicit::Random;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{AnyPool, Executor as _};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::{Event, Store, StoreError, token};

const CHANNEL: &str = "usher";
/// Hints on their way to the other replicas.
const OUTBOX: usize = 4096;
/// 100 lines of 44 bytes stay below the 8000 bytes that a payload may have.
const LINES: usize = 100;
/// A connection that is silent for so long is asked whether it is still there.
const QUIET: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_secs(5);
const BACKOFF: Duration = Duration::from_millis(250);
const BACKOFF_MOST: Duration = Duration::from_secs(10);

/// Where events wait for the task that tells the other replicas.
pub(crate) struct Outbox {
    queue: mpsc::Sender<Event>,
    lost: Arc<AtomicBool>,
}

impl Outbox {
    pub(crate) fn put(&self, event: Event) {
        if self.queue.try_send(event).is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

/// Starts both directions, listening before it returns. The sender is the first
/// task, and ends when the outbox is dropped.
pub(crate) async fn start(
    tasks: &mut JoinSet<()>,
    options: &PgConnectOptions,
    pool: &AnyPool,
    events: &broadcast::Sender<Event>,
    random: &dyn Random,
) -> Result<Outbox, StoreError> {
    let sender_id = token::random_text(random);
    let listener = connect(options).await?;
    let (sender, queue) = mpsc::channel(OUTBOX);
    let outbox = Outbox { queue: sender, lost: Arc::default() };
    tasks.spawn(send(queue, Arc::clone(&outbox.lost), pool.clone(), sender_id.clone()));
    tasks.spawn(receive(listener, options.clone(), events.clone(), sender_id));
    Ok(outbox)
}

/// A pool of its own for each connection: one that hangs must not keep its
/// successor waiting.
async fn connect(options: &PgConnectOptions) -> Result<PgListener, StoreError> {
    let connecting = async {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_with(options.clone())
            .await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        // Connecting again is done here, where the loss is noted.
        listener.eager_reconnect(false);
        Ok(listener)
    };
    timeout(ANSWER, connecting).await.unwrap_or_else(|_| Err(silent()))
}

/// After the commit and outside of it: NOTIFY inside would serialise all commits.
async fn send(mut queue: mpsc::Receiver<Event>, lost: Arc<AtomicBool>, pool: AnyPool, sender_id: String) {
    let mut batch = Vec::with_capacity(LINES);
    while queue.recv_many(&mut batch, LINES).await > 0 {
        if lost.swap(false, Ordering::Relaxed) {
            batch.push(Event::Everything);
        }
        let payload = encode(&sender_id, &batch);
        batch.clear();
        let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(payload);
        // A connection that stands still must not hold up all that comes after.
        let sent = Store::within(async { Ok(notify.execute(&pool).await?) });
        if let Err(error) = sent.await {
            tracing::warn!(%error, "events did not reach the other replicas; they read again by themselves");
            lost.store(true, Ordering::Relaxed);
        }
    }
}

async fn receive(
    mut listener: PgListener,
    options: PgConnectOptions,
    events: broadcast::Sender<Event>,
    sender_id: String,
) {
    loop {
        let error = hear(&mut listener, &events, &sender_id).await;
        // What is kept in memory may be used for its minute, so that calls go on that need no store.
        tracing::warn!(%error, "the event connection is lost; until it is back, changes elsewhere are seen late");
        listener = connect_again(&options).await;
        tracing::info!("the event connection is back");
        // After listening: what is read from now on is not missed.
        let _ = events.send(Event::Everything);
    }
}

async fn connect_again(options: &PgConnectOptions) -> PgListener {
    let mut backoff = BACKOFF;
    loop {
        match connect(options).await {
            Ok(listener) => return listener,
            Err(error) => tracing::warn!(%error, "the event connection cannot be made"),
        }
        sleep(backoff).await;
        backoff = (backoff * 2).min(BACKOFF_MOST);
    }
}

/// Passes hints on until the connection is lost; returns how.
async fn hear(listener: &mut PgListener, events: &broadcast::Sender<Event>, sender_id: &str) -> StoreError {
    loop {
        match timeout(QUIET, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                for event in decode(sender_id, notification.payload()) {
                    let _ = events.send(event);
                }
            }
            Ok(Ok(None)) => return StoreError::Unavailable("the connection was closed".to_owned()),
            Ok(Err(error)) => return error.into(),
            Err(_) => match timeout(ANSWER, listener.execute("SELECT 1")).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return error.into(),
                Err(_) => return silent(),
            },
        }
    }
}

fn silent() -> StoreError {
    StoreError::Unavailable("the database does not answer".to_owned())
}

/// The sender's line, then a line for each event.
fn encode(sender_id: &str, events: &[Event]) -> String {
    let mut payload = sender_id.to_owned();
    for event in events {
        payload.push('\n');
        payload.push_str(&event.to_line());
    }
    payload
}

/// The events of others: our own were passed on when they were made.
fn decode(sender_id: &str, payload: &str) -> Vec<Event> {
    let mut lines = payload.lines();
    if lines.next() == Some(sender_id) {
        return Vec::new();
    }
    lines.filter_map(Event::from_line).collect()
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::{LINES, decode, encode};
    use crate::{Event, InteractionId};

    #[test]
    fn a_full_batch_fits_into_one_payload_and_comes_back() {
        let events: Vec<_> = (0..LINES).map(|_| Event::Interaction(InteractionId::new(&SystemRandom))).collect();
        let payload = encode("one", &events);
        assert!(payload.len() < 8000);
        assert_eq!(decode("two", &payload), events);
    }

    #[test]
    fn our_own_events_are_not_heard_twice() {
        assert!(decode("one", &encode("one", &[Event::Everything])).is_empty());
    }
}
