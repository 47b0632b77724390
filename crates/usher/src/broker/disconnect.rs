//! A person gives up what they connected.

use elicit::UserId;
use usher_store::StoreError;

use super::Broker;
use crate::{
    config::Provider,
    credentials::{let_go::LetGo, revoke::Revocation},
};

impl Broker {
    /// Deletes what a user connected, and has its provider end what was granted there. What became of it there; `None` where
    /// there was nothing.
    pub async fn disconnect(&self, user: &UserId, provider: &str) -> Result<Option<Revocation>, StoreError> {
        let became = if self.is_granted(user, provider).await? {
            self.let_go().own(user, provider).await?
        } else {
            // Nobody else is to be told.
            let gone = self.store.disconnect(user, provider, self.clock.now()).await?;
            gone.then_some(Revocation::Nothing)
        };
        self.credentials.forget(user, provider);
        Ok(became)
    }

    /// What it takes to let go.
    pub(crate) fn let_go(&self) -> LetGo<'_> {
        LetGo { store: &self.store, config: &self.config, egress: &self.egress, clock: &*self.clock }
    }

    /// Whether there may be something to end at the provider: by its kind, or by what is stored.
    async fn is_granted(&self, user: &UserId, provider: &str) -> Result<bool, StoreError> {
        if self.config.provider(provider).is_some_and(Provider::is_account) {
            return Ok(true);
        }
        let connections = self.store.connections(user).await?;
        Ok(connections.readable.iter().any(|one| one.provider == provider && one.grant.is_some()))
    }
}
