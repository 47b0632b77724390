//! Decides about a call: go on with these credentials, or ask for those; and waits for what becomes of a question. What
//! people do call by call is used up by the decision to go on.

use std::{sync::Arc, time::Duration};

use elicit::{ClientId, Principal, UserId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use usher_store::{
    Advanced, Approval, AskReason, AuditAction, AuditEntry, Claim, Claimed, Credential, CredentialStatus, DeclinedBy,
    InteractionId, InteractionState, Outcome, Step, StoreError,
};

use super::{Broker, needs::Call, visit, waiting::until};
use crate::{
    config::{Need, Provider, ProviderKind, Upstream},
    credentials::{
        Injection,
        fresh::{Renewal, Unavailable},
        servers::Named,
    },
    oauth::discovery::resource::covers,
};

/// How long a person has for one visit.
pub const INTERACTION_LIVES: Duration = Duration::from_mins(15);

/// How long a call waits for tokens that are being renewed (R-SEC-04): a little longer than a provider has for an answer; and
/// shorter where the upstream's calls are not held for so long, but for a moment in any case.
const RENEWAL_AT_MOST: Duration = Duration::from_secs(15);
const RENEWAL_AT_LEAST: Duration = Duration::from_secs(5);

/// How often a decline is repeated when others keep changing the same interaction.
const ATTEMPTS: usize = 8;

/// What is to be done with a call.
#[derive(Debug)]
pub enum Decision {
    /// Send it upstream with these credentials, and with what was done for this call alone, which is used up by that.
    Go(Injection, Claim),
    /// Ask for these first.
    Ask(Vec<Missing>),
    /// A credential has expired, and its provider gives no other one at the moment. Nobody can be asked for that.
    Unavailable(Unavailable),
}

/// Whether whoever asks waits for a credential that is being renewed. Handshakes, listings and everything that stands in for
/// them do not (R-GW-06).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A call that cannot go on without.
    Waits,
    /// What goes on with what is there.
    Never,
}

/// What of an upstream's needs can be met.
#[derive(Debug, Default)]
pub struct Examined {
    /// What its owner must be asked for.
    pub missing: Vec<Missing>,
    /// What nobody can be asked for: its provider is away.
    pub unavailable: Option<Unavailable>,
}

/// Whether one need is met.
enum Met {
    Yes,
    No(AskReason),
    NotNow(Unavailable),
}

/// What a call cannot go on without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its provider.
    pub provider: String,
    /// Why it is asked for.
    pub reason: AskReason,
}

impl Missing {
    /// What was never there.
    pub(super) fn of(provider: String) -> Self {
        Self { provider, reason: AskReason::Missing }
    }

    /// Whether there is one, and the server did not do with it: what is asked again for that has an end.
    pub fn was_not_enough(&self) -> bool {
        matches!(self.reason, AskReason::Rejected | AskReason::MoreScopes)
    }
}

/// What became of the questions that a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// All are completed.
    Completed,
    /// A person declined this one.
    Declined(InteractionId),
    /// Nothing yet: time ran out, or the service stops.
    Open {
        /// Whether a person is at the page of one of them.
        seen: bool,
    },
    /// One has expired: it can only be asked anew.
    Over,
}

impl Broker {
    /// Go on, or ask? Reads the cache, and the store where the cache has nothing, or nothing that can be used.
    pub async fn decide(&self, call: Call<'_>) -> Result<Decision, StoreError> {
        let mut injection = Injection::default();
        let required = |need: &Need| call.requires(need);
        let examined = self.examine(call.principal, call.upstream, required, Patience::Waits, &mut injection).await?;
        if let Some(unavailable) = examined.unavailable {
            return Ok(Decision::Unavailable(unavailable));
        }
        let mut missing = examined.missing;
        let claim = match self.approved(call, missing.is_empty()).await? {
            Claimed::All(claim) => claim,
            Claimed::Lacking(lacking) => {
                missing.extend(lacking.into_iter().map(Missing::of));
                Claim::default()
            }
        };
        Ok(if missing.is_empty() { Decision::Go(injection, claim) } else { Decision::Ask(missing) })
    }

    /// Whether something is done anew for this very call, so that the whole of it must be known.
    pub fn asks_per_call(&self, call: Call<'_>) -> bool {
        !self.per_call(call).is_empty()
    }

    /// The providers for which something is done anew for this very call.
    fn per_call<'c>(&self, call: Call<'c>) -> Vec<&'c str> {
        let is_per_call = |need: &&Need| self.config.provider(&need.provider).is_some_and(Provider::is_per_call);
        let needs = call.upstream.needs.iter().filter(is_per_call).filter(|need| call.requires(need));
        needs.map(|need| need.provider.as_str()).collect()
    }

    /// Whether what must be done anew for this very call was done. With `claims`, and if nothing is missing, it is used up: a
    /// call that is not sent after that [gives it back](Self::give_back), or asks again (R-MRTR-03).
    async fn approved(&self, call: Call<'_>, claims: bool) -> Result<Claimed, StoreError> {
        let providers = self.per_call(call);
        if providers.is_empty() {
            return Ok(Claimed::All(Claim::default()));
        }
        self.approved_of(call, &providers, claims).await
    }

    /// The same of these providers alone.
    pub(super) async fn approved_of(
        &self,
        call: Call<'_>,
        providers: &[&str],
        claims: bool,
    ) -> Result<Claimed, StoreError> {
        let destination = call.upstream.destination();
        // Nobody can have approved a call that is not known.
        let Some(exact) = call.exact(&destination) else {
            return Ok(Claimed::Lacking(providers.iter().copied().map(str::to_owned).collect()));
        };
        let now = self.clock.now();
        if claims {
            return self.store.claim(exact, providers, now).await;
        }
        Ok(Claimed::Lacking(self.store.unapproved(exact, providers, now).await?))
    }

    /// A call that was to go on was not run: what it has used up is there again. Where the store does not answer it stays
    /// used, and the person is asked again.
    pub async fn give_back(&self, call: Call<'_>, claim: &Claim) {
        let destination = call.upstream.destination();
        let Some(exact) = call.exact(&destination).filter(|_| !claim.is_empty()) else { return };
        if let Err(error) = self.store.give_back(exact, claim, self.clock.now()).await {
            tracing::warn!(upstream = call.upstream.name, %error, "an approval of a call that was not run stays used");
        }
    }

    /// What of all that an upstream needs is missing, whatever the call.
    pub async fn lacking(
        &self,
        principal: &Principal,
        upstream: &Upstream,
        patience: Patience,
    ) -> Result<Examined, StoreError> {
        self.examine(principal, upstream, |_| true, patience, &mut Injection::default()).await
    }

    /// Adds what can be used to `injection`, and returns what is `required` and cannot. Nobody is asked because of what is
    /// kept in memory, which may be older than their last answer: the store has the last word.
    pub(super) async fn examine(
        &self,
        principal: &Principal,
        upstream: &Upstream,
        required: impl Fn(&Need) -> bool,
        patience: Patience,
        injection: &mut Injection,
    ) -> Result<Examined, StoreError> {
        let mut examined = Examined::default();
        // For all of them together: `hold` bounds a call's waiting, but a token is given a moment in any case.
        let until = Instant::now() + RENEWAL_AT_MOST.min(upstream.hold.max(RENEWAL_AT_LEAST));
        for need in &upstream.needs {
            let Some(provider) = self.config.provider(&need.provider).filter(|one| !one.is_per_call()) else {
                continue;
            };
            let is_required = required(need);
            let patience = if is_required { patience } else { Patience::Never };
            let until = (patience == Patience::Waits).then_some(until);
            let owner = Owner { principal, upstream, need, provider };
            let credential = self.readable(&principal.user, &need.provider).await?;
            let found = credential.is_some();
            let mut met = self.meet(owner, credential, until, injection).await?;
            if !is_required {
                continue;
            }
            if found && matches!(met, Met::No(_)) {
                self.credentials.forget(&principal.user, &need.provider);
                let credential = self.readable(&principal.user, &need.provider).await?;
                met = self.meet(owner, credential, until, injection).await?;
            }
            // A provider stands at most once among an upstream's needs.
            match met {
                Met::Yes => {}
                Met::No(reason) => examined.missing.push(Missing { provider: need.provider.clone(), reason }),
                Met::NotNow(unavailable) => examined.unavailable = Some(unavailable),
            }
        }
        Ok(examined)
    }

    /// Adds a credential to what is injected, a new one if it is no longer good: that is waited for until then, if at all.
    async fn meet(
        &self,
        owner: Owner<'_>,
        credential: Option<Arc<Credential>>,
        until: Option<Instant>,
        injection: &mut Injection,
    ) -> Result<Met, StoreError> {
        let Owner { principal, upstream, need, provider } = owner;
        // Nothing is renewed for somebody who may not use it.
        if let Some(reason) = lacks(principal, upstream, (need, provider), credential.as_deref()) {
            return Ok(Met::No(reason));
        }
        let Some(mut credential) = credential else { return Ok(Met::Yes) };
        if !self.fresh.is_good(&credential) {
            let Some(until) = until else {
                self.fresh.renew_meanwhile(&credential);
                return Ok(Met::No(AskReason::Rejected));
            };
            credential = match self.fresh.renewed(&credential, until).await {
                Renewal::Renewed(renewed) => renewed,
                Renewal::Gone => return Ok(Met::No(AskReason::Missing)),
                Renewal::Foreign => return Ok(Met::No(AskReason::Rejected)),
                Renewal::Ended => {
                    self.has_ended(&credential).await?;
                    return Ok(Met::No(AskReason::Rejected));
                }
                Renewal::Unavailable(unavailable) => return Ok(Met::NotNow(unavailable)),
            };
            if let Some(reason) = lacks(principal, upstream, (need, provider), Some(&credential)) {
                return Ok(Met::No(reason));
            }
        }
        Ok(misfits(need, provider, &credential, injection).map_or(Met::Yes, Met::No))
    }

    /// The stored credential. One that cannot be read any more is none: its owner is asked for it anew.
    pub(super) async fn readable(&self, user: &UserId, provider: &str) -> Result<Option<Arc<Credential>>, StoreError> {
        match self.credentials.of(user, provider).await {
            Err(error) if error.is_unopened() => {
                tracing::warn!(provider, %error, "a stored credential cannot be read");
                Ok(None)
            }
            Ok(Some(credential)) if !self.is_of_its_server(&credential).await => {
                Ok(Some(Arc::new(as_refused((*credential).clone()))))
            }
            read => read,
        }
    }

    /// Whether what a server granted is of the authorization server that it names now. What another one granted is neither sent
    /// nor refreshed, and stays: the server may come back (R-OAUTH-05).
    pub(super) async fn is_of_its_server(&self, credential: &Credential) -> bool {
        let Some(grant) = &credential.grant else { return true };
        let Some(provider) = self.config.provider(&credential.provider) else { return true };
        // A server at another address, or another path, is another resource, and perhaps another issuer's (R-GW-04).
        let server = self.config.protected(provider).filter(|_| matches!(provider.kind, ProviderKind::Mcp(_)));
        if let (Some((_, url)), Some(resource)) = (server, &grant.server.resource)
            && !covers(resource, url)
        {
            tracing::info!(provider = provider.name, "a grant for another server is not used");
            return false;
        }
        match self.servers.still_names(provider, &grant.server.issuer).await {
            Named::Same | Named::Unknown => true,
            Named::Other(issuer) => {
                let (of, now) = (grant.server.issuer.as_str(), issuer.as_str());
                tracing::info!(
                    provider = provider.name,
                    of,
                    now,
                    "a grant of another authorization server is not used"
                );
                false
            }
        }
    }

    /// Waits until something became of `ids`, the deadline, or the stop. Looks at the rows first and last: events are
    /// hints. A store that does not answer in between is asked again.
    pub async fn wait(
        &self,
        ids: &[InteractionId],
        deadline: Instant,
        stopping: &CancellationToken,
    ) -> Result<Waited, StoreError> {
        let mut waiters: Vec<_> = ids.iter().map(|id| self.waiting.on(id)).collect();
        let over = async {
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => {}
                () = stopping.cancelled() => {}
            }
        };
        let is_open = |waited: &Waited| matches!(waited, Waited::Open { .. });
        until(&mut waiters, || self.became(ids), is_open, over).await
    }

    /// What became of `ids`, by their rows.
    pub async fn became(&self, ids: &[InteractionId]) -> Result<Waited, StoreError> {
        let interactions = self.store.interactions(ids, self.clock.now()).await?;
        let (mut completed, mut seen, mut over) = (0, false, interactions.len() < ids.len());
        for interaction in &interactions {
            match interaction.state {
                InteractionState::Declined { .. } => return Ok(Waited::Declined(interaction.id.clone())),
                InteractionState::Completed { .. } => completed += 1,
                InteractionState::Opened { .. }
                | InteractionState::Consented { .. }
                | InteractionState::Exchanging { .. } => seen = true,
                // The page offers to start again, so it may still be completed.
                InteractionState::Created | InteractionState::Failed { .. } => {}
                InteractionState::Expired => over = true,
            }
        }
        Ok(match () {
            () if completed == ids.len() => Waited::Completed,
            () if over => Waited::Over,
            () => Waited::Open { seen },
        })
    }

    /// A person declined in the client, without opening the page.
    pub async fn declined_by_client(&self, id: &InteractionId) -> Result<(), StoreError> {
        self.decline_in_client(None, id).await
    }

    /// The same for a question that another replica asked: it must be this principal's, which nobody here has seen.
    pub async fn declined_elsewhere(&self, principal: &Principal, id: &InteractionId) -> Result<(), StoreError> {
        self.decline_in_client(Some(principal), id).await
    }

    async fn decline_in_client(&self, principal: Option<&Principal>, id: &InteractionId) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let now = self.clock.now();
            let Some(interaction) = self.store.interaction(id, now).await? else { return Ok(()) };
            if principal.is_some_and(|principal| interaction.principal != *principal) {
                tracing::warn!(interaction = %id, "a decline of somebody else was ignored");
                return Ok(());
            }
            match self.store.advance(interaction, Step::Decline { by: DeclinedBy::Client }, now).await? {
                Advanced::Done(_) => return Ok(()),
                // Somebody opened the page meanwhile, for example. Only an end beats a decline.
                Advanced::Lost => {}
                Advanced::Refused(refused) => {
                    tracing::info!(interaction = %id, %refused, "a decline came too late");
                    return Ok(());
                }
            }
        }
        tracing::warn!(interaction = %id, "a decline was given up: the interaction kept changing");
        Ok(())
    }

    /// Somebody was turned away before a call began. Audited in the background, so that nobody waits for the store to be
    /// turned away, and not each time (R-SEC-03): what is not audited is no warning either, so that a flood fills nothing.
    pub fn turned_away(&self, action: AuditAction, principal: Option<&Principal>, upstream: Option<&str>) {
        let audits =
            principal.map_or_else(|| self.limits.audits_token(), |principal| self.limits.audits(principal, action));
        let entry = AuditEntry {
            principal: principal.map(|principal| (principal.user.clone(), Some(principal.client.clone()))),
            upstream: upstream.map(str::to_owned),
            ..AuditEntry::new(action, Outcome::Refused)
        };
        self.audit_refusal(entry, audits);
    }

    /// The same for somebody of whom nobody knows who it is, with a line that says more.
    pub fn stranger_turned_away(&self, action: AuditAction, detail: &'static str) {
        let entry = AuditEntry { detail: Some(detail), ..AuditEntry::new(action, Outcome::Refused) };
        self.audit_refusal(entry, self.limits.audits_token());
    }

    fn audit_refusal(&self, entry: AuditEntry, audits: bool) {
        let client = entry.principal.as_ref().and_then(|(_, client)| client.as_ref()).map(ClientId::as_str);
        let (action, upstream, detail) = (entry.action.as_str(), entry.upstream.as_deref(), entry.detail);
        if !audits {
            tracing::debug!(action, client, upstream, detail, "turned away");
            return;
        }
        tracing::warn!(action, client, upstream, detail, "turned away");
        let (store, now) = (self.store.clone(), self.clock.now());
        tokio::spawn(async move {
            if let Err(error) = store.audit(entry, now).await {
                tracing::warn!(%error, "a refusal was not audited");
            }
        });
    }
}

/// Whose need of what is looked at.
#[derive(Clone, Copy)]
struct Owner<'a> {
    principal: &'a Principal,
    upstream: &'a Upstream,
    need: &'a Need,
    provider: &'a Provider,
}

/// A credential that is asked for anew although nobody refused it.
pub(super) fn as_refused(credential: Credential) -> Credential {
    Credential { status: CredentialStatus::Rejected, ..credential }
}

/// Adds a credential to what is injected. One that does not fit the configuration any more is as good as none (R-GW-06).
fn misfits(need: &Need, provider: &Provider, credential: &Credential, injection: &mut Injection) -> Option<AskReason> {
    if !provider.has_secrets() {
        return None;
    }
    let error = injection.add(need, provider, credential).err()?;
    tracing::warn!(%error, "a stored credential is not used");
    Some(AskReason::Missing)
}

/// Why `credential` cannot be used for this principal at this upstream; `None` where it can (R-OAUTH-04, R-GW-04).
fn lacks(
    principal: &Principal,
    upstream: &Upstream,
    (need, provider): (&Need, &Provider),
    credential: Option<&Credential>,
) -> Option<AskReason> {
    let Some(credential) = credential else { return Some(AskReason::Missing) };
    if credential.status == CredentialStatus::Rejected {
        return Some(AskReason::Rejected);
    }
    // A field may have become required since it was stored.
    if !provider.is_complete(&credential.secrets) {
        return Some(AskReason::Missing);
    }
    if credential.grant.as_ref().is_some_and(|grant| visit::lacks(provider, need, grant)) {
        return Some(AskReason::MoreScopes);
    }
    let destination = upstream.destination();
    if credential.allows(&principal.client, &destination) {
        return None;
    }
    // Only a server that this client used elsewhere has moved; with any other one it is there for the first time.
    let moved = |approval: &Approval| {
        approval.client == principal.client && approval.destination.upstream == destination.upstream
    };
    Some(if credential.approvals.iter().any(moved) { AskReason::NewDestination } else { AskReason::NewClient })
}
