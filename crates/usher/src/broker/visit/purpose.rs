//! What a person is asked to do, by what is stored now rather than by what was the case when the question came up.

use elicit::UserId;
use usher_store::{Approval, AskReason, Credential, CredentialStatus, Grant, Interaction, StoreError};

use super::scopes::lacks;
use crate::{
    broker::{Broker, decide::as_refused},
    config::{Provider, Upstream},
};

/// What the person is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Type it, or do it, for the first time; what is done call by call is done for the first time always.
    Connect,
    /// Type it again: what is stored was refused.
    Replace,
    /// Type it again: what is stored cannot be read any more.
    Restore,
    /// Give more permissions: what is stored works, but lacks scopes.
    Widen,
    /// Allow a client that has not used it at this destination, which others use (R-OAUTH-04).
    AllowClient,
    /// Allow the address that a server has now for the client that used it at another one (R-GW-04).
    AllowAddress,
    /// Allow a server that has not had it for a client that has (R-GW-04).
    AllowServer,
    /// Allow a client and a destination that are both new (R-OAUTH-04, R-GW-04).
    AllowBoth,
    /// Go on: it works, and all of this is allowed already.
    Continue,
}

impl Purpose {
    /// Whether what is stored can be used, so that nothing needs to be typed.
    pub fn reuses(self) -> bool {
        !matches!(self, Self::Connect | Self::Replace | Self::Restore | Self::Widen)
    }
}

/// What the store holds for a person and a provider.
#[derive(Debug)]
pub(crate) enum Stored {
    /// Nothing.
    Nothing,
    /// Something that does not open: its key is gone, or the row was changed outside of Usher.
    Unreadable,
    /// A credential.
    Kept(Box<Credential>),
}

impl Stored {
    /// Which client may have it sent where; nothing is known of what cannot be read.
    pub(crate) fn approvals(&self) -> &[Approval] {
        match self {
            Self::Kept(credential) => &credential.approvals,
            Self::Nothing | Self::Unreadable => &[],
        }
    }

    /// What its provider granted, where it did.
    pub(super) fn grant(&self) -> Option<&Grant> {
        match self {
            Self::Kept(credential) => credential.grant.as_ref(),
            Self::Nothing | Self::Unreadable => None,
        }
    }
}

impl Broker {
    /// Reads what is stored. One credential that cannot be read is no trouble with the store.
    pub(crate) async fn stored(&self, user: &UserId, provider: &str) -> Result<Stored, StoreError> {
        match self.store.credential(user, provider).await {
            Ok(None) => Ok(Stored::Nothing),
            Ok(Some(credential)) if self.is_of_its_server(&credential).await => Ok(Stored::Kept(Box::new(credential))),
            Ok(Some(credential)) => Ok(Stored::Kept(Box::new(as_refused(credential)))),
            Err(error) if error.is_unopened() => {
                tracing::warn!(provider, %error, "a stored credential cannot be read");
                Ok(Stored::Unreadable)
            }
            Err(error) => Err(error),
        }
    }
}

/// What to ask for.
pub(super) fn purpose(interaction: &Interaction, provider: &Provider, upstream: &Upstream, stored: &Stored) -> Purpose {
    // What was done for another call counts for nothing here.
    let stored = match stored {
        _ if provider.is_per_call() => return Purpose::Connect,
        Stored::Nothing => return Purpose::Connect,
        Stored::Unreadable => return Purpose::Restore,
        Stored::Kept(stored) => stored,
    };
    let (client, destination) = (&interaction.principal.client, &interaction.destination);
    // By their own word: it works, and may be another account that they want.
    let again = interaction.reason == AskReason::Again && provider.is_account();
    let any = |holds: &dyn Fn(&Approval) -> bool| stored.approvals.iter().any(holds);
    let of_client = |approval: &Approval| approval.client == *client;
    if again || stored.status == CredentialStatus::Rejected {
        Purpose::Replace
    } else if !provider.is_complete(&stored.secrets) || !upstream.takes(provider, &stored.secrets) {
        // The configuration wants more, or something else, than it did when this was entered.
        Purpose::Connect
    } else if is_narrow(interaction, provider, upstream, stored) {
        Purpose::Widen
    } else if stored.allows(client, destination) {
        Purpose::Continue
    } else if any(&|approval| approval.destination == *destination) {
        Purpose::AllowClient
    } else if !any(&of_client) {
        Purpose::AllowBoth
    } else if any(&|approval| of_client(approval) && approval.destination.upstream == destination.upstream) {
        Purpose::AllowAddress
    } else {
        Purpose::AllowServer
    }
}

/// Whether it works, and is not enough: for what the configuration wants, or for what a server said to the call that
/// asks.
fn is_narrow(interaction: &Interaction, provider: &Provider, upstream: &Upstream, stored: &Credential) -> bool {
    let Some(grant) = &stored.grant else { return false };
    let demanded = interaction.reason == AskReason::MoreScopes && stored.status == CredentialStatus::Narrow;
    let need = upstream.needs.iter().find(|need| need.provider == provider.name);
    demanded || need.is_some_and(|need| lacks(provider, need, grant))
}
