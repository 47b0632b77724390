//! A browser comes back from a provider: everything that R-OAUTH-02 and R-ID-03 ask for holds, or nothing happens.
//!
//! Person, question, `state`, browser and session are compared by the one statement that claims the flow: so of any
//! number of
//! attempts, here or on other replicas, one goes on, and its code is sent out once.

use std::{collections::BTreeSet, time::Duration};

use elicit::UserId;
use secrecy::SecretString;
use tokio::time::timeout;
use usher_store::{
    Advanced, AuditAction, AuditEntry, Completion, FailureReason, Flow, Grant, Interaction, InteractionId,
    InteractionState, Outcome, Step, fail_point,
};

use super::{ATTEMPTS, Stored, VisitError, kept::Kept};
use crate::{
    broker::Broker,
    config::{Provider, PublicUrl},
    credentials::{fresh::refresh_at, servers::Account},
    oauth::{self, Code, Held, Reply, ReplyFault, TokenError, Tokens},
};

/// How long an exchange may take, with all that a definition has asked after it: within
/// [`EXCHANGE_LASTS`](usher_store::EXCHANGE_LASTS) (R-SEC-04).
const EXCHANGE: Duration = Duration::from_secs(30);

/// How long a request may take on which nothing depends.
const ASIDE: Duration = Duration::from_secs(10);

/// A browser that comes back.
#[derive(Debug)]
pub struct Back {
    /// The question that its `state` names.
    pub id: InteractionId,
    /// Who is signed in there.
    pub user: UserId,
    /// The secret part of its `state`.
    pub state: SecretString,
    /// What it alone holds since it left (R-SEC-06); without that it is nobody's.
    pub browser: Option<String>,
    /// Of which provider's address.
    pub provider: String,
    /// And of which of its authorization servers', where it has several.
    pub issuer: Option<String>,
    /// The whole query, decoded.
    pub query: Vec<(String, String)>,
}

impl Back {
    /// Where it came to, as redirect URIs are written.
    fn address(&self, public_url: &PublicUrl) -> String {
        oauth::redirect_uri_of_key(public_url, &self.provider, self.issuer.as_deref())
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// The page of the question says it.
    Settled,
    /// Nothing happens. Audited.
    Refused,
}

/// What a provider granted.
struct Granted {
    tokens: Tokens,
    grant: Grant,
    /// By which server, to which client of ours.
    account: Account,
}

/// Why a flow that was claimed brought nothing.
struct Failed {
    reason: FailureReason,
    /// In fixed words, where somebody may have tried something.
    refused: Option<&'static str>,
}

impl From<FailureReason> for Failed {
    fn from(reason: FailureReason) -> Self {
        Self { reason, refused: None }
    }
}

impl Broker {
    /// What `state` is called by a provider.
    pub fn state_parameter(&self, provider: &str) -> &str {
        let definition = self.config.provider(provider).and_then(Provider::definition);
        definition.map_or("state", |definition| definition.callback.state.as_str())
    }

    /// Takes a browser back, and has its code exchanged: once, whatever comes of it.
    pub async fn come_back(&self, back: Back) -> Result<Came, VisitError> {
        let interaction = self.of_user(&back.id, &back.user).await?;
        let browser = back.browser.as_deref().filter(|_| interaction.provider == back.provider);
        let flow = match browser {
            Some(browser) => self.store.claim_flow(&back.id, &back.state, browser, self.clock.now()).await?,
            None => None,
        };
        let Some(Flow { interaction, kept }) = flow else {
            self.refuse(&interaction, "not from this browser").await?;
            // Whoever loads the address again, or twice at once, learns what becomes of it the first time.
            let state = self.of_user(&back.id, &back.user).await?.state;
            let settled = matches!(state, InteractionState::Exchanging { .. } | InteractionState::Completed { .. });
            return Ok(if settled { Came::Settled } else { Came::Refused });
        };
        match self.exchanged(&interaction, &kept, &back).await {
            Ok(granted) => self.connect(interaction, granted).await,
            Err(Failed { reason, refused }) => {
                if let Some(why) = refused {
                    self.refuse(&interaction, why).await?;
                }
                // Where that is lost, somebody has ended the question meanwhile.
                let _ = self.store.advance(interaction, Step::Fail(reason), self.clock.now()).await?;
                Ok(if refused.is_some() { Came::Refused } else { Came::Settled })
            }
        }
    }

    async fn refuse(&self, interaction: &Interaction, why: &'static str) -> Result<(), VisitError> {
        tracing::warn!(interaction = %interaction.id, provider = interaction.provider, why, "a way back from a provider was refused");
        let entry = AuditEntry {
            principal: Some((interaction.principal.user.clone(), None)),
            upstream: Some(interaction.destination.upstream.clone()),
            provider: Some(interaction.provider.clone()),
            interaction: Some(interaction.id.clone()),
            detail: Some(why),
            ..AuditEntry::new(AuditAction::CallbackRefused, Outcome::Refused)
        };
        Ok(self.store.audit(entry, self.clock.now()).await?)
    }

    async fn exchanged(&self, interaction: &Interaction, kept: &SecretString, back: &Back) -> Result<Granted, Failed> {
        let id = &interaction.id;
        let changed = || {
            tracing::warn!(interaction = %id, provider = back.provider, "the provider is configured otherwise by now");
            Failed::from(FailureReason::Interrupted)
        };
        let (provider, _) = self.still_configured(interaction).ok_or_else(changed)?;
        let kept = Kept::read(kept).ok_or_else(changed)?;
        let account = kept.account(&self.config, provider).ok_or_else(changed)?;
        // The address that it came to is the flow's own (RFC 9700, section 4.4.2.2).
        if back.address(&self.config.public_url) != account.client.redirect_uri {
            return Err(Failed { reason: FailureReason::ProviderRefused, refused: Some("another address") });
        }
        let code = Reply::of(&back.query).read(&account.server).map_err(|fault| told(interaction, &fault))?;
        let tokens = self.exchange(interaction, &account, &code, &kept).await?;
        let name = self.name(interaction, &account, &tokens).await;
        let now = self.clock.now();
        let grant = Grant {
            refresh_at: provider
                .renews(tokens.refresh_token.is_some())
                .then(|| refresh_at(now, tokens.expires_at, &*self.random))
                .flatten(),
            refresh_token: tokens.refresh_token.clone(),
            expires_at: tokens.expires_at,
            // What is not said was granted as it was asked for (RFC 6749, section 5.1).
            scopes: tokens.scopes.clone().unwrap_or_else(|| kept.scopes.clone()),
            asked: kept.scopes,
            demanded: BTreeSet::new(),
            account: name,
            values: tokens.values.clone(),
            server: kept.server,
        };
        Ok(Granted { tokens, grant, account })
    }

    /// Whose account it is. Nothing depends on it.
    async fn name(&self, interaction: &Interaction, account: &Account, tokens: &Tokens) -> Option<String> {
        let (provider, id) = (&interaction.provider, &interaction.id);
        match timeout(ASIDE, oauth::account(&self.egress, &account.server, tokens)).await {
            Ok(Ok(name)) => name,
            Ok(Err(error)) => {
                tracing::info!(provider, interaction = %id, %error, "nobody says whose account it is");
                None
            }
            Err(_) => {
                tracing::info!(provider, interaction = %id, "nobody says in time whose account it is");
                None
            }
        }
    }

    async fn exchange(
        &self,
        interaction: &Interaction,
        account: &Account,
        code: &Code,
        kept: &Kept,
    ) -> Result<Tokens, Failed> {
        fail_point!(ExchangeSending);
        let Account { server, client, .. } = account;
        let request = oauth::exchange(&self.egress, server, client, code, &kept.verifier, self.clock.now());
        let exchanged = timeout(EXCHANGE, request).await.unwrap_or(Err(TokenError::TooSlow));
        fail_point!(ExchangeAnswered);
        let (provider, id) = (&interaction.provider, &interaction.id);
        let error = match exchanged {
            Ok(tokens) => return Ok(tokens),
            Err(error) => error,
        };
        if !matches!(error, TokenError::Client(_)) {
            tracing::warn!(provider, interaction = %id, %error, "a code was not exchanged");
        }
        Err(Failed::from(match error {
            // A client that registered itself is made anew when the person starts again.
            TokenError::Client(_) if self.servers.client_refused(account).await.unwrap_or(false) => {
                FailureReason::ProviderRefused
            }
            TokenError::Client(_) => {
                tracing::error!(provider, interaction = %id, %error, "a provider refuses our client");
                FailureReason::Misconfigured
            }
            TokenError::Dead(_) | TokenError::Refused(_) | TokenError::Garbage(_) | TokenError::Blocked(_) => {
                FailureReason::ProviderRefused
            }
            TokenError::Limited { .. }
            | TokenError::Unavailable(_)
            | TokenError::Unreachable(_)
            | TokenError::TooSlow => FailureReason::ProviderUnreachable,
        }))
    }

    /// Stores what was granted, and completes the question, in one transaction. The grant of before stays until that.
    async fn connect(&self, interaction: Interaction, granted: Granted) -> Result<Came, VisitError> {
        let Interaction { id, provider, .. } = &interaction.clone();
        let mut current = Some(interaction.clone());
        for _ in 0..ATTEMPTS {
            let Some(interaction) = current else { break };
            let (secrets, grant) = (granted.tokens.fields.clone(), Box::new(granted.grant.clone()));
            match self.store.complete(interaction, Completion::Grant { secrets, grant }, self.clock.now()).await? {
                Advanced::Done(interaction) => {
                    fail_point!(CompletionTold);
                    self.answered(&interaction, None);
                    tracing::info!(provider, interaction = %id, "connected");
                    return Ok(Came::Settled);
                }
                // The credential was changed in this moment.
                Advanced::Lost => current = self.store.interaction(id, self.clock.now()).await?,
                Advanced::Refused(_) => break,
            }
        }
        // Somebody declined meanwhile, or it took too long.
        tracing::warn!(provider, interaction = %id, "what a provider granted came too late");
        self.return_grant(&interaction, &granted).await?;
        Ok(Came::Settled)
    }

    /// What nobody wants any more is given back. Not where something else is stored: with some providers all that a person
    /// granted ends at once.
    async fn return_grant(&self, interaction: &Interaction, granted: &Granted) -> Result<(), VisitError> {
        let Interaction { id, provider, principal, .. } = interaction;
        if !matches!(self.stored(&principal.user, provider).await?, Stored::Nothing) {
            return Ok(());
        }
        let Granted { tokens, grant, account } = granted;
        let held = Held {
            fields: &tokens.fields,
            refresh_token: tokens.refresh_token.as_ref(),
            scopes: &grant.scopes,
            values: &grant.values,
        };
        let revoked = timeout(ASIDE, oauth::revoke(&self.egress, &account.server, &account.client, &held)).await;
        match revoked {
            Ok(Ok(())) => tracing::info!(provider, interaction = %id, "a grant that came too late was revoked"),
            Ok(Err(error)) => tracing::info!(provider, interaction = %id, %error, "a grant that came too late stays"),
            Err(_) => tracing::info!(provider, interaction = %id, "a grant that came too late stays: no answer"),
        }
        Ok(())
    }
}

/// What a reply without a code means.
fn told(interaction: &Interaction, fault: &ReplyFault) -> Failed {
    let (provider, id) = (&interaction.provider, &interaction.id);
    match fault {
        ReplyFault::Declined => {
            tracing::info!(provider, interaction = %id, "the person did not agree at the provider");
            FailureReason::ProviderDeclined.into()
        }
        ReplyFault::Misconfigured { code, description } => {
            tracing::error!(provider, interaction = %id, code, description, "a provider refuses our request");
            FailureReason::Misconfigured.into()
        }
        ReplyFault::Unavailable { code } => {
            tracing::warn!(provider, interaction = %id, code, "a provider cannot sign anybody in");
            FailureReason::ProviderUnreachable.into()
        }
        ReplyFault::OtherIssuer => Failed { reason: FailureReason::ProviderRefused, refused: Some("another issuer") },
        ReplyFault::NoReply | ReplyFault::Missing(_) => {
            tracing::warn!(provider, interaction = %id, %fault, "a provider's reply is not understood");
            FailureReason::ProviderRefused.into()
        }
    }
}
