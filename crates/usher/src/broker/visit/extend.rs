//! A person needs more time for a question.

use elicit::UserId;
use usher_store::{Advanced, InteractionId, NewInteraction, OPEN_AT_MOST, Step};

use jiff::SignedDuration;

use super::{Visit, VisitError};
use crate::broker::{Broker, INTERACTION_LIVES};

impl Broker {
    /// Keeps the question open as long again as a new one would be, within [`OPEN_AT_MOST`]; its notices and their sessions with it (R-GW-09).
    pub async fn extend(&self, id: &InteractionId, user: &UserId) -> Result<Visit, VisitError> {
        let visit = self.open(id, user).await?;
        self.lengthen(visit, SignedDuration::try_from(INTERACTION_LIVES).unwrap_or(OPEN_AT_MOST)).await
    }

    /// The same for as long as `time` from now.
    pub(in crate::broker) async fn lengthen(&self, visit: Visit, time: SignedDuration) -> Result<Visit, VisitError> {
        let now = self.clock.now();
        let open = &visit.interaction;
        let expires_at = (now + time).min(open.created_at + OPEN_AT_MOST);
        if expires_at <= open.expires_at {
            return Ok(visit);
        }
        let (id, user) = (&open.id, &open.principal.user);
        // To ask the same again is to ask longer.
        let new = NewInteraction {
            id: InteractionId::new(&*self.random),
            principal: open.principal.clone(),
            client_claim: open.client_claim.clone(),
            asked_by: open.asked_by.clone(),
            provider: open.provider.clone(),
            destination: open.destination.clone(),
            reason: open.reason,
            operation: visit.operation.clone(),
            expires_at,
        };
        let sessions = self.store.notice_sessions(id).await?;
        let mut asked = Vec::new();
        for session in sessions.iter().map(Some).chain(sessions.is_empty().then_some(None)) {
            asked = self.store.ask(std::slice::from_ref(&new), session, now).await?;
            if let Some(session) = session {
                self.store.extend_session(session, expires_at, now).await?;
            }
        }
        if let Some(other) = asked.into_iter().find(|asked| asked.id != *id) {
            // It was answered in this very moment, so this one is nobody's.
            if let Advanced::Lost = self.store.advance(other, Step::Withdraw, now).await? {
                tracing::info!(interaction = %id, "a question that nobody asked was opened");
            }
        }
        self.open(id, user).await
    }
}
