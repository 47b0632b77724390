//! A person lets what they declined be asked again, before its rest is over.

use elicit::UserId;
use usher_store::{InteractionId, StoreError};

use crate::broker::{Broker, limits::Question};

impl Broker {
    /// The next call that needs it asks again. False where nothing of theirs rests under this id.
    pub async fn release(&self, user: &UserId, id: &InteractionId) -> Result<bool, StoreError> {
        let Some(released) = self.store.release(user, id, self.clock.now()).await? else { return Ok(false) };
        // That of one call alone is forgotten by itself a moment later: what the call was is kept no longer.
        let (asked_for, provider) = (&released.destination.upstream, &released.provider);
        self.limits.forget_rest(&Question::new(&released.principal, asked_for, provider, None));
        Ok(true)
    }
}
