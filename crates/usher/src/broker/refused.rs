//! What becomes of a credential that an upstream refuses, or takes.

use elicit::Principal;
use usher_store::{Credential, StoreError, fail_point};

use super::{Broker, decide::Patience};
use crate::credentials::Used;

impl Broker {
    /// The upstream refused these credentials. One that can be renewed is, once for each that was refused, before the next call
    /// that needs it; where none can, they are not used again until their owner connects anew.
    pub async fn refused(&self, principal: &Principal, used: &[Used]) -> Result<(), StoreError> {
        fail_point!(CredentialRefused);
        let mut renews = false;
        for Used { provider, version } in used {
            let credential = self.readable(&principal.user, provider, Patience::Never).await?;
            renews |= credential.is_some_and(|credential| self.fresh.refused(&credential, *version));
        }
        if renews {
            // Which of several it refused is not known: the others are looked at when the new one is refused, too.
            return Ok(());
        }
        for Used { provider, version } in used {
            let marked = self.store.reject_credential(&principal.user, provider, *version, self.clock.now()).await?;
            self.credentials.forget(&principal.user, provider);
            tracing::info!(provider, marked, "credential rejected by the upstream");
        }
        fail_point!(CredentialRejected);
        Ok(())
    }

    /// The upstream took these credentials.
    pub fn worked(&self, principal: &Principal, used: &[Used]) {
        for Used { provider, version } in used {
            self.fresh.worked(&principal.user, provider, *version);
            self.credentials.note_use(&principal.user, provider);
        }
    }

    /// A credential that nothing can renew is marked, so that its owner sees on the portal what a call would ask for.
    pub(super) async fn has_ended(&self, credential: &Credential) -> Result<(), StoreError> {
        let Credential { user, provider, version, .. } = credential;
        if self.store.reject_credential(user, provider, *version, self.clock.now()).await? {
            tracing::info!(provider, %user, "credential expired, and cannot be refreshed");
        }
        self.credentials.forget(user, provider);
        Ok(())
    }
}
