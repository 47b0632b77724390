//! A person leaves for a provider, to sign in there: from the consent to the address that the browser is sent to.
//!
//! Only after the consent there is a `state` (R-OAUTH-02). What is needed when the browser comes back is kept sealed in
//! the row, as it was when it left: the server, our client there, the verifier.

use std::collections::BTreeMap;

use elicit::UserId;
use jiff::SignedDuration;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_store::{FLOW_LASTS, InteractionId, InteractionState, fail_point};

use super::{Fault, Visit, VisitError, kept::Kept};
use crate::{
    broker::{Broker, INTERACTION_LIVES},
    config::{Definition, Provider, ProviderKind, definition::Input},
    credentials::servers::{Account, AccountError},
    identity::tokens::new_token,
    oauth::{
        self, Server, ServerError,
        discovery::{DiscoveryError, DocumentError, server::ServerError as MetadataError},
    },
};

/// Where a person signs in, as far as it is known before they leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// At this origin.
    To(Url),
    /// That depends on what they say on the page.
    Asks,
    /// Nobody can go there.
    Closed(NoWay),
}

/// Why nobody can sign in at a provider. The log says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoWay {
    /// It does not say how, or in a way that is not followed.
    Unknown,
    /// It cannot be reached, or does not answer in time.
    Unreachable,
    /// Its sign-in is not safe: it does not bind codes to who asked for them (R-OAUTH-05).
    Unsafe,
    /// Our client is not known there, and cannot become so.
    NoClient,
}

/// Who leaves, and with what.
#[derive(Debug)]
pub struct Leaving<'a> {
    /// The question.
    pub id: &'a InteractionId,
    /// The person at its page.
    pub user: &'a UserId,
    /// What they typed there.
    pub typed: &'a BTreeMap<String, SecretString>,
    /// What the page showed: see [`Visit::shown`]. Empty where it showed nothing.
    pub shown: &'a str,
    /// What this browser alone comes back with (R-SEC-06).
    pub browser: &'a str,
    /// The language of the page, a tag.
    pub language: &'a str,
}

/// What came of leaving.
#[derive(Debug)]
pub enum Left {
    /// The person goes there.
    To(Url),
    /// The page is shown again, with these faults; without any, because it leads elsewhere by now than it said.
    Again(Box<Visit>, Vec<Fault>),
}

/// Why there is no way, or not yet.
enum Nowhere {
    /// The person has to say something, or something else.
    Says(Vec<Fault>),
    /// It cannot be helped here.
    Closed(NoWay),
}

impl Provider {
    /// How its OAuth differs from the standard, where that is known before anybody goes there.
    pub(crate) fn definition(&self) -> Option<&Definition> {
        match &self.kind {
            ProviderKind::OAuth(oauth) => Some(&oauth.definition),
            ProviderKind::Secret { .. } | ProviderKind::Mcp(_) | ProviderKind::External(_) | ProviderKind::Approval => {
                None
            }
        }
    }

    /// What its users choose of its addresses.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        let oauth = match &self.kind {
            ProviderKind::OAuth(oauth) => Some(oauth),
            _ => None,
        };
        oauth.into_iter().flat_map(|oauth| oauth.inputs())
    }

    /// The scopes that every user is asked for.
    pub(crate) fn scopes(&self) -> &[String] {
        match &self.kind {
            ProviderKind::OAuth(oauth) => &oauth.scopes,
            ProviderKind::Mcp(mcp) => &mcp.scopes,
            ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => &[],
        }
    }
}

impl Broker {
    /// Where the person of `visit` would sign in, with what they typed; and the visit with all that would be asked
    /// for there.
    pub async fn way(&self, visit: &Visit, typed: &BTreeMap<String, SecretString>) -> (Visit, Way) {
        match self.account(visit.clone(), typed).await {
            Ok((visit, account)) => {
                let way = origin(&account.server).map_or(Way::Closed(NoWay::Unknown), Way::To);
                (visit, way)
            }
            Err(Nowhere::Says(_)) => (visit.clone(), Way::Asks),
            Err(Nowhere::Closed(why)) => (visit.clone(), Way::Closed(why)),
        }
    }

    /// A person agrees to go to the provider: to the place, and for what, that the page showed.
    pub async fn leave(&self, leaving: Leaving<'_>) -> Result<Left, VisitError> {
        let Leaving { id, user, typed, shown, browser, language } = leaving;
        let visit = self.open(id, user).await?;
        // What is being exchanged in this moment may be what the person wants to begin anew.
        if !visit.provider.is_account() || matches!(visit.interaction.state, InteractionState::Exchanging { .. }) {
            return Ok(Left::Again(Box::new(visit), Vec::new()));
        }
        if typed.keys().any(|name| !visit.provider.inputs().any(|input| input.name == *name)) {
            return Ok(Left::Again(Box::new(visit), vec![Fault::Unknown]));
        }
        let (visit, account) = match self.account(visit.clone(), typed).await {
            Ok(found) => found,
            Err(Nowhere::Says(faults)) => return Ok(Left::Again(Box::new(visit), faults)),
            Err(Nowhere::Closed(_)) => return Ok(Left::Again(Box::new(visit), Vec::new())),
        };
        // Nobody goes where they were not told, nor is asked there for more (R-URL-06, R-OAUTH-03).
        if origin(&account.server).map(|origin| visit.shown(&origin)).as_deref() != Some(shown) {
            return Ok(Left::Again(Box::new(visit), Vec::new()));
        }
        let scopes = visit.scopes.clone();
        let visit = self.consent(visit).await?;
        fail_point!(Consented);
        let visit = self.lengthen(visit, SignedDuration::try_from(INTERACTION_LIVES).unwrap_or(FLOW_LASTS)).await?;
        let (secret, verifier) = (new_token(&*self.random), new_token(&*self.random));
        let state = SecretString::from(format!("{id}.{}", secret.expose_secret()));
        let asked: Vec<String> = scopes.asked.iter().cloned().collect();
        let request = oauth::Request { state: &state, verifier: &verifier, scopes: &asked, language };
        let url = match oauth::authorize(&account.server, &account.client, &request) {
            Ok(url) => url,
            Err(error) => {
                tracing::error!(provider = visit.provider.name, %error, "nobody is sent to a provider");
                return Ok(Left::Again(Box::new(visit), Vec::new()));
            }
        };
        let kept = Kept::new(&account, scopes.asked, verifier).text();
        if !self.store.begin_flow(id, &secret, browser, &kept, self.clock.now()).await? {
            // Another tab was first, or it ended in this moment: its page says how.
            return Ok(Left::Again(Box::new(self.open(id, user).await?), Vec::new()));
        }
        tracing::info!(provider = visit.provider.name, interaction = %id, "left for the provider");
        Ok(Left::To(url))
    }

    /// The authorization server that the person of `visit` would go to.
    async fn account(
        &self,
        mut visit: Visit,
        typed: &BTreeMap<String, SecretString>,
    ) -> Result<(Visit, Account), Nowhere> {
        let provider = &visit.provider;
        let account = self.servers.account(provider, &chosen(&visit, typed)).await.map_err(|error| {
            let why = match &error {
                AccountError::Server(ServerError::Missing(input)) => {
                    return Nowhere::Says(vec![Fault::Missing(input.clone())]);
                }
                AccountError::Server(ServerError::Wrong(input)) => {
                    return Nowhere::Says(vec![Fault::Form(input.clone())]);
                }
                // What the person chose fits its pattern, and makes no URL.
                AccountError::Server(ServerError::Endpoint(_)) if provider.inputs().next().is_some() => {
                    return Nowhere::Says(provider.inputs().map(|input| Fault::Form(input.name.clone())).collect());
                }
                AccountError::Discovery(DiscoveryError::Server {
                    fault: DocumentError::Content(MetadataError::Pkce),
                    ..
                }) => NoWay::Unsafe,
                error if error.is_transient() => NoWay::Unreachable,
                AccountError::Registration(_) | AccountError::NoDocument => NoWay::NoClient,
                AccountError::Discovery(_)
                | AccountError::Server(_)
                | AccountError::NoAccount
                | AccountError::Store(_) => NoWay::Unknown,
            };
            tracing::error!(provider = provider.name, %error, "nobody can sign in at a provider");
            Nowhere::Closed(why)
        })?;
        if let Err(error) = account.server.way_in() {
            tracing::error!(provider = provider.name, %error, "nobody is sent to a provider");
            return Err(Nowhere::Closed(NoWay::Unknown));
        }
        // Those that a refresh token is asked for by are asked for as any other.
        let offline = &account.server.definition().authorize.offline_scopes;
        visit.scopes.asked.extend(account.scopes.iter().chain(offline).cloned());
        Ok((visit, account))
    }
}

impl Visit {
    /// What its page shows of the way: the place, and what is asked for there. As its form says it back.
    pub fn shown(&self, origin: &Url) -> String {
        let scopes = self.scopes.asked.iter().map(String::as_str);
        let origin = origin.origin().ascii_serialization();
        std::iter::once(origin.as_str()).chain(scopes).collect::<Vec<_>>().join(" ")
    }
}

fn origin(server: &Server) -> Option<Url> {
    Url::parse(&server.authorization_origin()?).ok()
}

/// What the person chose of the provider's addresses: what they typed now, or the last time. What nobody chose is the
/// operator's.
fn chosen(visit: &Visit, typed: &BTreeMap<String, SecretString>) -> BTreeMap<String, String> {
    let value = |input: &Input| {
        let typed = typed.get(&input.name).map(|value| value.expose_secret().trim().to_owned());
        let value = typed.or_else(|| visit.values.get(&input.name).cloned())?;
        let is_default = input.default.is_some() && input.accept(&value).ok() == input.default;
        (!value.is_empty() && !is_default).then(|| (input.name.clone(), value))
    };
    visit.provider.inputs().filter_map(value).collect()
}
