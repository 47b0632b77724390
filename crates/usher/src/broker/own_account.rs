//! What a server says of the account at itself that it demands (provider kind `mcp`): that a call needs one after all, or one with
//! more scopes. The configuration cannot know either.

use std::collections::BTreeSet;

use elicit::Principal;
use http::HeaderMap;
use usher_store::{AskReason, StoreError};

use super::{Broker, Missing, Patience, decide::Examined, needs::Call};
use crate::{
    config::{Need, Provider, ProviderKind, Upstream},
    credentials::{Injection, Used},
};

/// What is to be done about scopes that a call lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Narrowed {
    /// Ask the person for them.
    Ask(Missing),
    /// The credential has changed meanwhile: the call is tried again with what is there now.
    Again,
    /// They were asked for already: to ask again would change nothing, and go on for ever.
    AskedAlready,
}

impl Broker {
    /// The server refused a call that carried no account at it: whatever the configuration says, it needs one. Empty where
    /// nobody can be asked, as in a listing (R-GW-06).
    pub async fn demanded(&self, call: Call<'_>, sent: &Injection) -> Result<Examined, StoreError> {
        if !call.may_ask() || self.own_account(sent).is_some() {
            return Ok(Examined::default());
        }
        let is_own = |need: &Need| self.config.provider(&need.provider).is_some_and(is_own_account);
        self.examine(call.principal, call.upstream, is_own, Patience::Waits, &mut Injection::default()).await
    }

    /// The account at the server itself that something was sent with.
    pub fn own_account<'i>(&self, sent: &'i Injection) -> Option<&'i Used> {
        sent.used().iter().find(|used| self.config.provider(&used.provider).is_some_and(is_own_account))
    }

    /// The server wants more scopes than an account has. They are noted with it, so that its owner is asked for all together,
    /// unless they were asked for before: a server that is never content ends the call.
    pub async fn narrowed(
        &self,
        principal: &Principal,
        sent: &Used,
        scopes: &BTreeSet<String>,
    ) -> Result<Narrowed, StoreError> {
        let (user, provider) = (&principal.user, &sent.provider);
        self.credentials.forget(user, provider);
        let credential = self.credentials.of(user, provider).await?;
        let Some(credential) = credential.filter(|credential| credential.version == sent.version) else {
            return Ok(Narrowed::Again);
        };
        let Some(grant) = &credential.grant else { return Ok(Narrowed::AskedAlready) };
        if scopes.iter().all(|scope| grant.scopes.contains(scope) || grant.asked.contains(scope)) {
            tracing::warn!(provider, "a server demands scopes that were asked for already");
            return Ok(Narrowed::AskedAlready);
        }
        let noted = self.store.demand_scopes(user, provider, sent.version, scopes, self.clock.now()).await?;
        self.credentials.forget(user, provider);
        tracing::info!(provider, noted, "a server demands more scopes");
        let missing = Missing { provider: provider.clone(), reason: AskReason::MoreScopes };
        Ok(if noted { Narrowed::Ask(missing) } else { Narrowed::Again })
    }

    /// A server turned a request away: who makes its tokens may have changed.
    pub fn challenged(&self, upstream: &Upstream, headers: &HeaderMap) {
        let providers = upstream.needs.iter().filter_map(|need| self.config.provider(&need.provider));
        for provider in providers.filter(|provider| is_own_account(provider)) {
            self.servers.turned_away(provider, headers);
        }
    }
}

fn is_own_account(provider: &Provider) -> bool {
    matches!(provider.kind, ProviderKind::Mcp(_))
}
