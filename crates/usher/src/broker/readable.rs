//! What is stored of a person, as far as it can be used: it opens, and is of the server and the authorization server that it is
//! for now.

use std::sync::Arc;

use elicit::UserId;
use usher_store::{Credential, CredentialStatus, StoreError};

use super::{Broker, Patience};
use crate::{config::ProviderKind, credentials::servers::Named, oauth::discovery::resource::covers};

impl Broker {
    /// The stored credential. One that cannot be read any more is none: its owner is asked for it anew.
    pub(super) async fn readable(
        &self,
        user: &UserId,
        provider: &str,
        patience: Patience,
    ) -> Result<Option<Arc<Credential>>, StoreError> {
        match self.credentials.of(user, provider).await {
            Err(error) if error.is_unopened() => {
                tracing::warn!(provider, %error, "a stored credential cannot be read");
                Ok(None)
            }
            Ok(Some(credential)) if !self.is_of_its_server(&credential, patience).await => {
                Ok(Some(Arc::new(as_refused((*credential).clone()))))
            }
            read => read,
        }
    }

    /// Whether what a server granted is of the authorization server that it names now. What another one granted is neither sent
    /// nor refreshed, and stays: the server may come back (R-OAUTH-05). Who does not wait goes by what is known (R-GW-06).
    pub(super) async fn is_of_its_server(&self, credential: &Credential, patience: Patience) -> bool {
        let Some(grant) = &credential.grant else { return true };
        let Some(provider) = self.config.provider(&credential.provider) else { return true };
        let of = &grant.server;
        // A server at another address, or another path, is another resource, and perhaps another issuer's (R-GW-04).
        let server = self.config.protected(provider).filter(|_| matches!(provider.kind, ProviderKind::Mcp(_)));
        if let (Some((_, url)), Some(resource)) = (server, &of.resource)
            && !covers(resource, url)
        {
            if self.servers.is_news(&provider.name, resource) {
                tracing::info!(provider = provider.name, resource, "grants for another server are not used");
            }
            return false;
        }
        let named = match patience {
            Patience::Waits => self.servers.still_names(provider, &of.issuer).await,
            Patience::Never => self.servers.named(provider, &of.issuer),
        };
        match named {
            Named::Same | Named::Unknown => true,
            Named::Other(issuer) => {
                if self.servers.is_news(&provider.name, &of.issuer) {
                    let (of, now) = (of.issuer.as_str(), issuer.as_str());
                    tracing::info!(
                        provider = provider.name,
                        of,
                        now,
                        "grants of another authorization server are not used"
                    );
                }
                false
            }
        }
    }
}

/// A credential that is asked for anew although nobody refused it.
pub(super) fn as_refused(credential: Credential) -> Credential {
    Credential { status: CredentialStatus::Rejected, ..credential }
}
