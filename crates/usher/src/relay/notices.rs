//! Completion notices: to the client that was asked, once, on a stream that it reads (R-DONE-01).

use elicit::complete_notice;
use usher_store::{InteractionId, SessionKey};

use crate::{app::App, mcp::sse::message_event};

/// Delivers the notices of one completed interaction to the sessions that were asked and have a stream open here. The
/// others stay queued until such a stream opens, or the interaction's time is over. A held call sends its own.
pub async fn deliver(app: &App, interaction: &InteractionId) {
    let sessions = match app.store.notice_sessions(interaction).await {
        Ok(sessions) => sessions,
        Err(error) => {
            tracing::warn!(%error, "completion notices cannot be looked up");
            return;
        }
    };
    for session in sessions {
        if app.relay.streams.of(&session).is_some() {
            deliver_due(app, &session).await;
        }
    }
}

/// Delivers what is due on a session's stream.
pub(super) async fn deliver_due(app: &App, session: &SessionKey) {
    let due = match app.store.due_notices(session).await {
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(%error, "completion notices cannot be looked up");
            return;
        }
    };
    for interaction in due {
        if app.relay.answers.is_asking(session, &interaction) {
            continue;
        }
        let Some(stream) = app.relay.streams.of(session) else { return };
        // A place in the queue first, so that a notice that was claimed is also sent.
        let Ok(permit) = stream.reserve().await else { return };
        match app.store.claim_notice(&interaction, session).await {
            Ok(true) => permit.send(message_event(&complete_notice(interaction.as_str()))),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "a completion notice cannot be claimed"),
        }
    }
}
