//! A person lets what they declined be asked again, before its rest is over.

use elicit::UserId;
use usher_store::{InteractionId, StoreError};

use crate::broker::Broker;

impl Broker {
    /// The next call that needs it asks again. False where nothing of theirs rests under this id.
    pub async fn release(&self, user: &UserId, id: &InteractionId) -> Result<bool, StoreError> {
        let Some(released) = self.store.release(user, id, self.clock.now()).await? else { return Ok(false) };
        self.limits.forget_rest(&released.principal, &released.destination.upstream, &released.provider);
        Ok(true)
    }
}
