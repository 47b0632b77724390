//! A person declines all that one app asks them, at once.

use elicit::{ClientId, UserId};

use super::VisitError;
use crate::broker::Broker;

impl Broker {
    /// Declines every open question of this client. One that is answered meanwhile stays answered.
    pub async fn decline_all(&self, user: &UserId, client: &ClientId) -> Result<(), VisitError> {
        let waiting = self.store.waiting_interactions(user, self.clock.now()).await?;
        for question in waiting.iter().filter(|one| one.principal.client == *client) {
            match self.decline(&question.id, user).await {
                Ok(_) | Err(VisitError::Ended(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
