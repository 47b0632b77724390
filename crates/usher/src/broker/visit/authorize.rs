//! A person leaves for a provider, to sign in there: from the consent to the address that the browser is sent to.
//!
//! Only after the consent there is a `state` (R-OAUTH-02). What is needed when the browser comes back is kept sealed in the row,
//! as it was when it left: the server, our client there, the verifier.

use std::collections::BTreeMap;

use elicit::UserId;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_store::{InteractionId, InteractionState, fail_point};

use super::{Fault, Visit, VisitError, kept::Kept};
use crate::{
    broker::{Broker, INTERACTION_LIVES},
    config::{Definition, OAuth, Provider, ProviderKind, definition::Input},
    identity::tokens::new_token,
    oauth::{self, Client, Server, ServerError},
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
    /// The origin that the page showed; empty where it showed none.
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

/// Where the browser goes, and as whose client.
pub(super) struct Place {
    pub(super) server: Server,
    pub(super) client: Client,
}

/// Why there is no such place.
#[derive(Debug)]
pub(super) enum Nowhere {
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
    /// Where the person of `visit` would sign in, with what they typed.
    pub async fn way(&self, visit: &Visit, typed: &BTreeMap<String, SecretString>) -> Way {
        match self.place(visit, typed).await {
            Ok(place) => origin(&place.server).map_or(Way::Closed(NoWay::Unknown), Way::To),
            Err(Nowhere::Says(_)) => Way::Asks,
            Err(Nowhere::Closed(why)) => Way::Closed(why),
        }
    }

    /// A person agrees to go to the provider, to the host that the page showed.
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
        let place = match self.place(&visit, typed).await {
            Ok(place) => place,
            Err(Nowhere::Says(faults)) => return Ok(Left::Again(Box::new(visit), faults)),
            Err(Nowhere::Closed(_)) => return Ok(Left::Again(Box::new(visit), Vec::new())),
        };
        // Nobody goes where they were not told (R-URL-06).
        if place.server.authorization_origin().as_deref() != Some(shown) {
            return Ok(Left::Again(Box::new(visit), Vec::new()));
        }
        let visit = self.consent(visit).await?;
        fail_point!(Consented);
        let visit = self.lengthen(visit, jiff::SignedDuration::try_from(INTERACTION_LIVES).unwrap_or_default()).await?;
        let (secret, verifier) = (new_token(&*self.random), new_token(&*self.random));
        let state = SecretString::from(format!("{id}.{}", secret.expose_secret()));
        let scopes: Vec<String> = visit.scopes.asked.iter().cloned().collect();
        let request = oauth::Request { state: &state, verifier: &verifier, scopes: &scopes, language };
        let url = match oauth::authorize(&place.server, &place.client, &request) {
            Ok(url) => url,
            Err(error) => {
                tracing::error!(provider = visit.provider.name, %error, "nobody is sent to a provider");
                return Ok(Left::Again(Box::new(visit), Vec::new()));
            }
        };
        let kept = Kept::new(&visit, &place, verifier).seal();
        if !self.store.begin_flow(id, &secret, browser, &kept, self.clock.now()).await? {
            // Another tab was first, or it ended in this moment: its page says how.
            return Ok(Left::Again(Box::new(self.open(id, user).await?), Vec::new()));
        }
        tracing::info!(provider = visit.provider.name, interaction = %id, "left for the provider");
        Ok(Left::To(url))
    }

    /// The authorization server that the person of `visit` would go to.
    pub(super) async fn place(&self, visit: &Visit, typed: &BTreeMap<String, SecretString>) -> Result<Place, Nowhere> {
        match &visit.provider.kind {
            ProviderKind::OAuth(oauth) => self.place_of(visit, oauth, &chosen(visit, oauth, typed)),
            ProviderKind::Mcp(_) | ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => {
                Err(Nowhere::Closed(NoWay::Unknown))
            }
        }
    }

    fn place_of(&self, visit: &Visit, oauth: &OAuth, chosen: &BTreeMap<String, String>) -> Result<Place, Nowhere> {
        let provider = &visit.provider.name;
        let server = Server::of(oauth, chosen).map_err(|error| match error {
            ServerError::Missing(input) => Nowhere::Says(vec![Fault::Missing(input)]),
            ServerError::Wrong(input) => Nowhere::Says(vec![Fault::Form(input)]),
            ServerError::Endpoint(_) if !chosen.is_empty() => {
                Nowhere::Says(chosen.keys().map(|input| Fault::Form(input.clone())).collect())
            }
            error @ ServerError::Endpoint(_) => {
                tracing::error!(provider, %error, "nobody can sign in at a provider");
                Nowhere::Closed(NoWay::Unknown)
            }
        })?;
        let redirect_uri = oauth::redirect_uri(&self.config.public_url, provider, None);
        let Some(client) = Client::of(oauth, redirect_uri) else {
            tracing::error!(provider, "nobody can sign in at a provider: our client is not registered there");
            return Err(Nowhere::Closed(NoWay::NoClient));
        };
        Ok(Place { server, client })
    }
}

fn origin(server: &Server) -> Option<Url> {
    Url::parse(&server.authorization_origin()?).ok()
}

/// What the person chose of the provider's addresses: what they typed now, or the last time. What nobody chose is the operator's.
fn chosen(visit: &Visit, oauth: &OAuth, typed: &BTreeMap<String, SecretString>) -> BTreeMap<String, String> {
    let value = |input: &Input| {
        let typed = typed.get(&input.name).map(|value| value.expose_secret().trim().to_owned());
        let value = typed.or_else(|| visit.values.get(&input.name).cloned())?;
        let is_default = input.default.is_some() && input.accept(&value).ok() == input.default;
        (!value.is_empty() && !is_default).then(|| (input.name.clone(), value))
    };
    oauth.inputs().filter_map(value).collect()
}
