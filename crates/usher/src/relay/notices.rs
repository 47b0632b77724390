//! Completion notices: to the client that was asked, once, on a stream that it reads (R-DONE-01).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use bytes::Bytes;
use elicit::CompleteNotice;
use futures_util::{StreamExt, stream};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;
use usher_store::{InteractionId, SessionKey, StoreError, fail_point};

use super::ask_legacy::TOOLS_CHANGED;
use crate::{app::App, mcp::sse::message_event};

/// Sessions that are looked after at a time when all of them are.
const AT_ONCE: usize = 4;

/// How long to wait before a store that failed is asked again; after each failure twice as long. Most often it was one
/// connection that was cut.
const AGAIN: Duration = Duration::from_millis(100);
/// The longest wait in between.
const AGAIN_MOST: Duration = Duration::from_secs(5);
/// For how long it is asked. Later a new stream, or the next event, asks again.
const PERSEVERES: Duration = Duration::from_mins(3);

/// Delivers the notices of one completed interaction to the sessions that were asked and have a stream open here. The
/// others stay queued until such a stream opens, or the interaction's time is over. A held call sends its own.
pub async fn deliver(app: &App, interaction: &InteractionId) {
    let sessions = persevere(&app.stopping, &Notify::new(), || app.store.notice_sessions(interaction)).await;
    for session in sessions.unwrap_or_default() {
        deliver_due(app, &session).await;
    }
}

/// Does what needs the store until it is done: nobody else looks after a notice that is due. Whoever gives the sign has it
/// tried at once. `None` where the store stays away, or the service stops.
async fn persevere<T, F>(stopping: &CancellationToken, at_once: &Notify, work: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let until = Instant::now() + PERSEVERES;
    let mut pause = AGAIN;
    loop {
        match work().await {
            Ok(done) => return Some(done),
            Err(error) if Instant::now() + pause > until => {
                tracing::warn!(%error, "completion notices were not delivered");
                return None;
            }
            Err(error) => tracing::info!(%error, "completion notices cannot be read, claimed or given back yet"),
        }
        tokio::select! {
            () = stopping.cancelled() => return None,
            () = at_once.notified() => {}
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(AGAIN_MOST),
        }
    }
}

/// After events may have been lost: ends the streams whose session is over or has changed, and the processes of those that
/// are over, and delivers what is due on the others.
pub async fn catch_up(app: &Arc<App>) {
    let mut sessions: BTreeSet<_> = app.relay.streams.sessions().into_iter().collect();
    sessions.extend(app.relay.processes.sessions());
    let sessions = stream::iter(sessions);
    sessions.for_each_concurrent(AT_ONCE, |session| async move { catch_up_one(app, &session).await }).await;
}

async fn catch_up_one(app: &App, session: &SessionKey) {
    let found = persevere(&app.stopping, &Notify::new(), || app.store.session_of(session, app.clock.now())).await;
    let Some(found) = found else { return };
    let Some(found) = found else {
        app.relay.streams.end(session);
        return app.relay.session_over(session);
    };
    if found.begun {
        app.relay.streams.upstream_began(session, &tools_changed());
    }
    deliver_due(app, session).await;
}

/// What a client is told whose upstream shows its tools from now on.
pub(super) fn tools_changed() -> Bytes {
    message_event(TOOLS_CHANGED)
}

/// Delivers what is due on a session's stream, if one is open here.
pub(super) async fn deliver_due(app: &App, session: &SessionKey) {
    let Some(delivery) = app.relay.streams.delivery(session) else { return };
    delivery.want();
    while delivery.is_wanted() {
        // Whoever has the turn looks once more, and at once where it waits for the store.
        let Ok(_turn) = delivery.turn.try_lock() else { return delivery.at_once.notify_one() };
        while delivery.take_wanted() {
            persevere(&app.stopping, &delivery.at_once, || deliver_once(app, session)).await;
        }
    }
}

async fn deliver_once(app: &App, session: &SessionKey) -> Result<(), StoreError> {
    for interaction in app.store.due_notices(session).await? {
        if app.relay.answers.is_asking(session, &interaction) {
            continue;
        }
        let Some(stream) = app.relay.streams.of(session) else { return Ok(()) };
        // Room first, so that a notice that was claimed is also sent.
        if stream.room().await.is_err() {
            return Ok(());
        }
        if !app.store.claim_notice(&interaction, session).await? {
            continue;
        }
        fail_point!(StreamNoticeClaimed);
        let notice = message_event(&CompleteNotice::new(interaction.as_str()).to_json());
        // By now another stream may have taken over, which gets it then.
        if !app.relay.streams.push_notice(session, notice, &interaction) {
            app.store.owe_notice(&interaction, session).await?;
            return Ok(());
        }
        fail_point!(StreamNoticeWritten);
    }
    Ok(())
}

/// Notices that were claimed, and that nobody has read: they are due again.
pub(super) async fn put_back(app: &App, session: &SessionKey, unread: impl IntoIterator<Item = InteractionId>) {
    let mut any = false;
    for interaction in unread {
        any = true;
        if persevere(&app.stopping, &Notify::new(), || app.store.owe_notice(&interaction, session)).await.is_none() {
            tracing::warn!("a completion notice that was not read is lost");
        }
    }
    if any {
        deliver_due(app, session).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::FutureExt as _;

    use super::*;

    fn fails(tries: &AtomicU32) -> std::future::Ready<Result<(), StoreError>> {
        tries.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Err(StoreError::Unavailable("gone".to_owned())))
    }

    /// It asks often enough to be soon there, and does not wait once it has given up.
    #[tokio::test(start_paused = true)]
    async fn a_store_that_stays_away_is_asked_every_few_seconds_for_three_minutes() {
        let (stopping, tries, began) = (CancellationToken::new(), AtomicU32::new(0), Instant::now());
        let last = std::sync::Mutex::new(began);
        let work = || {
            let now = Instant::now();
            let before = std::mem::replace(&mut *last.lock().unwrap(), now);
            assert!(now - before <= AGAIN_MOST + Duration::from_millis(1));
            fails(&tries)
        };
        assert!(persevere(&stopping, &Notify::new(), work).await.is_none());
        assert_eq!(*last.lock().unwrap(), Instant::now(), "no pause after the last try");
        let took = began.elapsed();
        assert!(took <= PERSEVERES && took + AGAIN_MOST >= PERSEVERES, "{took:?}");
        assert!((30..50).contains(&tries.load(Ordering::Relaxed)));
    }

    /// R-DONE-01: what asks for a delivery has it tried at once; and nobody waits when the service stops.
    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_with_a_sign_and_with_the_service() {
        let (stopping, at_once, tries) = (CancellationToken::new(), Notify::new(), AtomicU32::new(0));
        let mut delivery = std::pin::pin!(persevere(&stopping, &at_once, || fails(&tries)));
        assert!(delivery.as_mut().now_or_never().is_none());
        assert_eq!(tries.load(Ordering::Relaxed), 1);
        at_once.notify_one();
        assert!(delivery.as_mut().now_or_never().is_none());
        assert_eq!(tries.load(Ordering::Relaxed), 2);
        stopping.cancel();
        assert_eq!(delivery.now_or_never(), Some(None));
    }
}
