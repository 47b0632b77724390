//! A person begins a question themselves: to replace, from the portal, a credential that was refused, or to connect an account anew.

use elicit::{Principal, UserId};
use usher_store::{Approval, AskReason, Credential, CredentialStatus, InteractionId, NewInteraction};

use super::{Stored, VisitError};
use crate::{
    broker::{Broker, INTERACTION_LIVES},
    config::{Config, Provider},
};

/// For which client and destination a refused credential can be entered again, or an account be connected anew: the first that
/// is still configured. What works and was typed is typed again by nobody.
pub(crate) fn reconnectable<'c>(config: &Config, credential: &'c Credential) -> Option<&'c Approval> {
    let is_account = config.provider(&credential.provider).is_some_and(Provider::is_account);
    if reason(credential)? == AskReason::Again && !is_account {
        return None;
    }
    credential.approvals.iter().find(|approval| {
        config.upstream(&approval.destination.upstream).is_some_and(|upstream| {
            upstream.destination() == approval.destination
                && upstream.needs.iter().any(|need| need.provider == credential.provider)
        })
    })
}

/// Why it is asked for; `None` where it is being let go.
fn reason(credential: &Credential) -> Option<AskReason> {
    match credential.status {
        CredentialStatus::Working => Some(AskReason::Again),
        CredentialStatus::Narrow => Some(AskReason::MoreScopes),
        CredentialStatus::Rejected => Some(AskReason::Rejected),
        CredentialStatus::Leaving => None,
    }
}

impl Broker {
    /// Asks the person for the credential again, as a client would that may use it. An open question of that
    /// kind is used. What was declined a moment ago is asked all the same: it is the person who wants it.
    pub async fn reconnect(&self, user: &UserId, provider: &str) -> Result<InteractionId, VisitError> {
        let Stored::Kept(credential) = self.stored(user, provider).await? else { return Err(VisitError::NotFound) };
        let Some(approval) = reconnectable(&self.config, &credential) else { return Err(VisitError::NotFound) };
        let Some(reason) = reason(&credential) else { return Err(VisitError::NotFound) };
        let principal = Principal { user: user.clone(), client: approval.client.clone() };
        if self.limits.count(&principal, &approval.destination.upstream).is_err() {
            return Err(VisitError::Busy);
        }
        let now = self.clock.now();
        let new = NewInteraction {
            id: InteractionId::new(&*self.random),
            principal,
            client_claim: None,
            asked_by: None,
            provider: provider.to_owned(),
            destination: approval.destination.clone(),
            reason,
            operation: None,
            expires_at: now + INTERACTION_LIVES,
        };
        let asked = self.store.ask(&[new], None, now).await?;
        asked.into_iter().next().map(|interaction| interaction.id).ok_or(VisitError::NotFound)
    }
}
