//! Completion notices: to the client that was asked, once, on a stream that it reads (R-DONE-01).

use std::sync::Arc;

use bytes::Bytes;
use elicit::CompleteNotice;
use futures_util::{StreamExt, TryStreamExt, stream};
use usher_store::{InteractionId, SessionKey, StoreError, fail_point};

use super::ask_legacy::TOOLS_CHANGED;
use crate::{app::App, mcp::sse::message_event};

/// Sessions that are looked after at a time when all of them are.
const AT_ONCE: usize = 4;

/// Delivers the notices of one completed interaction to the sessions that were asked and have a stream open here. The
/// others stay queued until such a stream opens, or the interaction's time is over. A held call sends its own.
pub async fn deliver(app: &App, interaction: &InteractionId) {
    match app.store.notice_sessions(interaction).await {
        Ok(sessions) => {
            for session in sessions {
                deliver_due(app, &session).await;
            }
        }
        Err(error) => tracing::warn!(%error, "completion notices cannot be looked up"),
    }
}

/// After events may have been lost: ends the streams whose session is over or has changed, and delivers what is due on the
/// others.
pub async fn catch_up(app: &Arc<App>) {
    let sessions = stream::iter(app.relay.streams.sessions()).map(Ok::<_, StoreError>);
    let caught_up = sessions.try_for_each_concurrent(AT_ONCE, |session| async move {
        match app.store.session_of(&session, app.clock.now()).await? {
            None => app.relay.streams.end(&session),
            Some(found) => {
                if found.begun {
                    app.relay.streams.upstream_began(&session, &tools_changed());
                }
                deliver_due(app, &session).await;
            }
        }
        Ok(())
    });
    if let Err(error) = caught_up.await {
        tracing::warn!(%error, "what was missed while events were lost cannot be read");
    }
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
            if let Err(error) = deliver_once(app, session).await {
                tracing::warn!(%error, "completion notices cannot be delivered");
            }
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
        if app.relay.streams.push_notice(session, notice, &interaction) {
            fail_point!(StreamNoticeWritten);
        } else {
            app.store.owe_notice(&interaction, session).await?;
            return Ok(());
        }
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
