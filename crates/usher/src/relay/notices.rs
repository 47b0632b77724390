//! Completion notices: to the client that was asked, once, on a stream that it reads (R-DONE-01).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use elicit::CompleteNotice;
use futures_util::{StreamExt, stream};
use usher_store::{InteractionId, SessionKey, StoreError, fail_point};

use super::ask_legacy::TOOLS_CHANGED;
use crate::{app::App, mcp::sse::message_event};

/// Sessions that are looked after at a time when all of them are.
const AT_ONCE: usize = 4;

/// How long to wait before a store that failed is asked again; after each failure twice as long. Most often it was one
/// connection that was cut.
const AGAIN: Duration = Duration::from_millis(100);
/// How often it is asked: for about three minutes. Later a new stream, or the next event, asks again.
const TRIES: u32 = 12;

/// Delivers the notices of one completed interaction to the sessions that were asked and have a stream open here. The
/// others stay queued until such a stream opens, or the interaction's time is over. A held call sends its own.
pub async fn deliver(app: &App, interaction: &InteractionId) {
    let sessions = persevere(app, || app.store.notice_sessions(interaction)).await;
    for session in sessions.unwrap_or_default() {
        deliver_due(app, &session).await;
    }
}

/// Does what needs the store until it is done: nobody else looks after a notice that is due. `None` where the store stays
/// away, or the service stops.
async fn persevere<T, F>(app: &App, work: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = AGAIN;
    for tries in 1..=TRIES {
        match work().await {
            Ok(done) => return Some(done),
            Err(error) if tries == TRIES => tracing::warn!(%error, "completion notices were not delivered"),
            Err(error) => tracing::info!(%error, tries, "completion notices cannot be read or claimed yet"),
        }
        app.stopping.run_until_cancelled(tokio::time::sleep(pause)).await?;
        pause *= 2;
    }
    None
}

/// After events may have been lost: ends the streams whose session is over or has changed, and delivers what is due on the
/// others.
pub async fn catch_up(app: &Arc<App>) {
    let sessions = stream::iter(app.relay.streams.sessions());
    sessions.for_each_concurrent(AT_ONCE, |session| async move { catch_up_one(app, &session).await }).await;
}

async fn catch_up_one(app: &App, session: &SessionKey) {
    let Some(found) = persevere(app, || app.store.session_of(session, app.clock.now())).await else { return };
    let Some(found) = found else { return app.relay.streams.end(session) };
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
        // Whoever has the turn looks once more.
        let Ok(_turn) = delivery.turn.try_lock() else { return };
        while delivery.take_wanted() {
            persevere(app, || deliver_once(app, session)).await;
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
        if let Err(error) = app.store.owe_notice(&interaction, session).await {
            tracing::warn!(%error, "a completion notice that was not read is lost");
        }
    }
    if any {
        deliver_due(app, session).await;
    }
}
