//! A browser comes back from a provider: everything that R-OAUTH-02 and R-ID-03 ask for holds, or nothing happens.
//!
//! Person, question, `state`, browser and session are compared by the one statement that claims the flow: so of any number of
//! attempts, here or on other replicas, one goes on, and its code is sent out once.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use elicit::UserId;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{Instant, sleep, timeout};
use usher_store::{
    Advanced, AtProvider, AuditAction, AuditEntry, Completion, FailureReason, Flow, Grant, Interaction, InteractionId,
    InteractionState, Outcome, Step, StoreError, fail_point,
};

use super::{ATTEMPTS, VisitError, kept::Kept};
use crate::{
    broker::Broker,
    config::{Provider, PublicUrl, definition::ACCESS_TOKEN},
    credentials::{fresh::refresh_at, revoke::revoke_brought, servers::Account},
    oauth::{self, Code, Reply, ReplyFault, TokenError, Tokens},
};

/// How long an exchange may take, with all that a definition has asked after it: within
/// [`EXCHANGE_LASTS`](usher_store::EXCHANGE_LASTS) (R-SEC-04).
const EXCHANGE: Duration = Duration::from_secs(30);

/// How long it may take to say whose account it is. Nothing depends on it.
const ACCOUNT: Duration = Duration::from_secs(10);

/// How long a store that fails is asked to keep what was granted: what is left of [`EXCHANGE_LASTS`](usher_store::EXCHANGE_LASTS).
const COMMIT: Duration = Duration::from_secs(15);

/// How often.
const COMMIT_AGAIN: Duration = Duration::from_millis(500);

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
            // Whoever loads the address again, or at the same time, learns what became of it the first time.
            let now = self.of_user(&back.id, &back.user).await?;
            let settled = matches!(now.state, InteractionState::Exchanging { .. } | InteractionState::Completed { .. });
            return Ok(if settled { Came::Settled } else { Came::Refused });
        };
        match self.exchanged(&interaction, &kept, &back).await {
            Ok((tokens, grant)) => self.connect(interaction, tokens, grant).await,
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
        if !self.limits.audits_callback(&interaction.principal.user) {
            return Ok(());
        }
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

    async fn exchanged(
        &self,
        interaction: &Interaction,
        kept: &SecretString,
        back: &Back,
    ) -> Result<(Tokens, Grant), Failed> {
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
        let grant = self.grant(interaction, &tokens, kept, name);
        Ok((tokens, grant))
    }

    /// What was granted, to be stored.
    fn grant(&self, interaction: &Interaction, tokens: &Tokens, kept: Kept, account: Option<String>) -> Grant {
        let now = self.clock.now();
        let has_refresh_token = tokens.refresh_token.is_some();
        let renews = self.config.provider(&interaction.provider).is_some_and(|one| one.renews(has_refresh_token));
        Grant {
            refresh_at: renews.then(|| refresh_at(now, tokens.expires_at, &*self.random)).flatten(),
            refresh_token: tokens.refresh_token.clone(),
            expires_at: tokens.expires_at,
            // What is not said was granted as it was asked for (RFC 6749, section 5.1).
            scopes: tokens.scopes.clone().unwrap_or_else(|| kept.scopes.clone()),
            asked: kept.scopes,
            demanded: BTreeSet::new(),
            account,
            values: tokens.values.clone(),
            server: kept.server,
        }
    }

    /// Whose account it is. Nothing depends on it.
    async fn name(&self, interaction: &Interaction, account: &Account, tokens: &Tokens) -> Option<String> {
        let (provider, id) = (&interaction.provider, &interaction.id);
        match timeout(ACCOUNT, oauth::account(&self.egress, &account.server, tokens)).await {
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
        let begun = Instant::now();
        let request = oauth::exchange(&self.egress, server, client, code, &kept.verifier, self.clock.now());
        let exchanged = timeout(EXCHANGE, request).await.unwrap_or(Err(TokenError::TooSlow));
        fail_point!(ExchangeAnswered);
        let error = match exchanged {
            Ok(mut tokens) => {
                let rest = EXCHANGE.saturating_sub(begun.elapsed());
                let request = oauth::complete(&self.egress, server, client, &mut tokens, self.clock.now());
                match timeout(rest, request).await.unwrap_or(Err(TokenError::TooSlow)) {
                    Ok(()) => return Ok(tokens),
                    Err(error) => {
                        let grant = self.grant(interaction, &tokens, kept.clone(), None);
                        self.end(interaction, tokens, grant);
                        error
                    }
                }
            }
            Err(error) => error,
        };
        let (provider, id) = (&interaction.provider, &interaction.id);
        // A client that registered itself is made anew when the person starts again.
        if error.is_of_registration() && self.servers.client_refused(account).await.unwrap_or(false) {
            tracing::warn!(provider, interaction = %id, %error, "a code was not exchanged");
            return Err(FailureReason::ProviderRefused.into());
        }
        let reason = reason(&error);
        if reason == FailureReason::Misconfigured {
            tracing::error!(provider, interaction = %id, %error, "a provider refuses our client, or is asked in the wrong way");
        } else {
            tracing::warn!(provider, interaction = %id, %error, "a code was not exchanged");
        }
        Err(reason.into())
    }

    /// Has the provider end, in the background, what it granted and nobody will use: no more is known of it here. Audited.
    fn end(&self, interaction: &Interaction, tokens: Tokens, grant: Grant) {
        let (broker, interaction) = (self.clone(), interaction.clone());
        tokio::spawn(async move {
            if let Err(error) = broker.ended(&interaction, &tokens, &grant).await {
                let (provider, id) = (interaction.provider, interaction.id);
                tracing::error!(provider, interaction = %id, %error, "what a provider granted is used for nothing, and may be good there");
            }
        });
    }

    async fn ended(&self, interaction: &Interaction, tokens: &Tokens, grant: &Grant) -> Result<(), StoreError> {
        let (provider, user) = (&interaction.provider, &interaction.principal.user);
        // What cannot be read is a grant too.
        let beside = !matches!(self.store.credential(user, provider).await, Ok(None));
        let revocation = revoke_brought(&self.egress, &self.config, provider, (&tokens.fields, grant), beside).await;
        let (outcome, detail) = match revocation.told() {
            AtProvider::Nothing => return Ok(()),
            AtProvider::Ended => (Outcome::Success, None),
            AtProvider::StillListed(why) => (Outcome::Failure, Some(why)),
        };
        tracing::warn!(provider, interaction = %interaction.id, ?revocation, "what a provider granted was not used");
        let entry = AuditEntry {
            principal: Some((user.clone(), None)),
            upstream: Some(interaction.destination.upstream.clone()),
            provider: Some(provider.clone()),
            interaction: Some(interaction.id.clone()),
            detail,
            ..AuditEntry::new(AuditAction::GrantRevoked, outcome)
        };
        self.store.audit(entry, self.clock.now()).await
    }

    /// Stores what was granted, and completes the question, in one transaction. The grant of before stays until that. A store that
    /// does not answer is asked again for a while: the code is used up.
    async fn connect(&self, interaction: Interaction, tokens: Tokens, grant: Grant) -> Result<Came, VisitError> {
        let (id, provider) = (interaction.id.clone(), interaction.provider.clone());
        let begun = Instant::now();
        let mut lost = 0;
        let mut current = interaction.clone();
        loop {
            let completion = Completion::Grant { secrets: tokens.fields.clone(), grant: Box::new(grant.clone()) };
            match self.store.complete(current.clone(), completion, self.clock.now()).await {
                Ok(Advanced::Done(interaction)) => {
                    fail_point!(CompletionTold);
                    self.answered(&interaction, None);
                    tracing::info!(provider, interaction = %id, "connected");
                    return Ok(Came::Settled);
                }
                // The credential was changed in this moment.
                Ok(Advanced::Lost) if lost + 1 < ATTEMPTS => lost += 1,
                Ok(Advanced::Lost | Advanced::Refused(_)) => break,
                Err(error) if begun.elapsed() + COMMIT_AGAIN > COMMIT => {
                    tracing::error!(provider, interaction = %id, %error, "what a provider granted cannot be stored, and may be lost");
                    return Err(error.into());
                }
                Err(error) => {
                    tracing::warn!(provider, interaction = %id, %error, "what a provider granted is not stored yet");
                    sleep(COMMIT_AGAIN).await;
                    // It may have been stored by the attempt that got no answer.
                    continue;
                }
            }
            match self.store.interaction(&id, self.clock.now()).await? {
                Some(interaction) => current = interaction,
                None => break,
            }
        }
        if self.is_stored(&current, &tokens).await? {
            self.answered(&current, None);
            tracing::info!(provider, interaction = %id, "connected");
            return Ok(Came::Settled);
        }
        // Somebody declined meanwhile, or it took too long. What was granted is used for nothing.
        tracing::warn!(provider, interaction = %id, "what a provider granted came too late");
        self.end(&interaction, tokens, grant);
        Ok(Came::Settled)
    }

    /// Whether these very tokens are stored.
    async fn is_stored(&self, interaction: &Interaction, tokens: &Tokens) -> Result<bool, StoreError> {
        let stored = self.store.credential(&interaction.principal.user, &interaction.provider).await?;
        let token = |fields: &BTreeMap<String, SecretString>| {
            fields.get(ACCESS_TOKEN).map(|token| token.expose_secret().to_owned())
        };
        Ok(stored.is_some_and(|stored| token(&stored.secrets) == token(&tokens.fields)))
    }
}

/// What it means for the person that a code was not exchanged, by no fault of the operator's.
fn reason(error: &TokenError) -> FailureReason {
    match error {
        TokenError::Client(_) | TokenError::Blocked(_) => FailureReason::Misconfigured,
        TokenError::Dead(_) | TokenError::Refused(_) | TokenError::Garbage(_) => FailureReason::ProviderRefused,
        TokenError::Limited { .. } | TokenError::Unavailable(_) | TokenError::Unreachable(_) | TokenError::TooSlow => {
            FailureReason::ProviderUnreachable
        }
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
