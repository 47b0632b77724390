//! The `state` of a sign-in: sealed with the keys of request state (XAES-256-GCM), for one browser, for ten minutes.
//!
//! It holds what a row of a table would: so a flood of sign-ins fills nothing, and needs no limit that would shut others out.
//! Whoever finishes one still needs the browser's cookie, and what may count only once is counted in the store.

use elicit::{Binding, ClientId, Digest, Principal, Rejected, UserId};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::{super::OpenIdProvider, Fault, LIVES};
use crate::{app::App, identity::browser::Place};

/// A sign-in under way.
pub(super) struct SignIn {
    /// Random. The nonce of the ID token, and what is counted as used.
    pub(super) id: SecretString,
    /// For PKCE (RFC 7636).
    pub(super) verifier: SecretString,
    /// Where the person was going.
    pub(super) place: Place,
    /// Whether the issuer was asked to let the person choose among its accounts.
    pub(super) choosing: bool,
}

#[derive(Serialize)]
struct Written<'a> {
    id: &'a str,
    verifier: &'a str,
    place: &'a str,
    choosing: bool,
}

#[derive(Deserialize)]
struct Read {
    id: String,
    verifier: String,
    place: String,
    choosing: bool,
}

/// Seals it for the browser that holds `browser`.
pub(super) fn seal(
    app: &App,
    issuer: &OpenIdProvider,
    browser: &SecretString,
    sign_in: &SignIn,
) -> Result<String, Fault> {
    let binding = binding(issuer, browser.expose_secret())?;
    let written = Written {
        id: sign_in.id.expose_secret(),
        verifier: sign_in.verifier.expose_secret(),
        place: &sign_in.place.path(),
        choosing: sign_in.choosing,
    };
    let expires_at = seconds(app) + LIVES.as_secs();
    app.keys.ring.state_keys().seal_json(&binding, &written, expires_at, &*app.random).map_err(|error| {
        tracing::error!(%error, "a sign-in could not be sealed");
        Fault::Internal
    })
}

/// Opens it, if it was sealed here for this browser and has not expired.
pub(super) fn open(app: &App, issuer: &OpenIdProvider, browser: &str, state: &str) -> Result<SignIn, Fault> {
    let binding = binding(issuer, browser)?;
    let read: Read =
        app.keys.ring.state_keys().open_json(state, &binding, seconds(app)).map_err(|rejected| match rejected {
            Rejected::Digest => Fault::OtherBrowser,
            Rejected::Expired => Fault::Expired,
            rejected => Fault::State(rejected),
        })?;
    let place = Place::parse(&read.place).unwrap_or(Place::Portal);
    let (id, verifier) = (SecretString::from(read.id), SecretString::from(read.verifier));
    Ok(SignIn { id, verifier, place, choosing: read.choosing })
}

/// What no round of a call can be bound to: it has a method of its own, and no upstream.
fn binding(issuer: &OpenIdProvider, browser: &str) -> Result<Binding, Fault> {
    let config = &issuer.config;
    let user = UserId::new(config.issuer.as_str(), "sign-in").map_err(|_| Fault::Internal)?;
    let client = ClientId::new(&config.client_id).map_err(|_| Fault::Internal)?;
    // Its characters need no escape.
    let digest = Digest::of_json(&format!("\"{browser}\"")).map_err(|_| Fault::Internal)?;
    Ok(Binding { principal: Principal { user, client }, upstream: String::new(), method: "sign-in".to_owned(), digest })
}

fn seconds(app: &App) -> u64 {
    u64::try_from(app.clock.now().as_second()).unwrap_or_default()
}
