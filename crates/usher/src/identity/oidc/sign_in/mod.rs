//! Signing a browser in at the issuer: authorization code, PKCE, nonce (OpenID Connect Core, section 3.1; RFC 9700).
//!
//! A sign-in that is under way is kept nowhere but in its own `state`, sealed for one browser: see `state.rs`. The rules are
//! those of R-OAUTH-02; what comes of it is a browser session (R-ID-03).

mod at_hash;
mod exchange;
mod fault;
mod reply;
mod state;
mod underway;

use std::{sync::Arc, time::Duration};

use elicit::UserId;
use oauth2::{CsrfToken, PkceCodeChallenge, PkceCodeVerifier, Scope};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_store::{NewBrowserSession, fail_point};

pub(crate) use self::fault::{Fault, Refusal};
pub use self::underway::Underway;
use self::{exchange::Exchanged, reply::Reply, state::SignIn};
use super::{
    OpenIdProvider,
    admit::user,
    jwt::{Expected, Kind},
};
use crate::{
    app::App,
    identity::{
        browser::{Place, times},
        tokens::{is_token, new_token},
    },
};

/// How long a person may take at the issuer (R-SEC-04).
pub(crate) const LIVES: Duration = Duration::from_mins(10);

/// Where the issuer sends the browser back to.
pub(crate) const CALLBACK: &str = "/login/callback";

/// The longest ID token that is kept for the sign-out, in bytes: it goes into an address.
const KEPT_AT_MOST: usize = 4096;

/// What the issuer is asked to do about who is signed in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Whoever it is.
    Anyone,
    /// To let the person choose another account.
    Another,
    /// To ask for name and password anew: what is left where an issuer has no list of accounts to choose from.
    Anew,
}

impl Choice {
    /// The `prompt` that says it (OpenID Connect Core, section 3.1.2.1).
    fn prompt(self) -> Option<&'static str> {
        match self {
            Self::Anyone => None,
            Self::Another => Some("select_account"),
            Self::Anew => Some("login"),
        }
    }
}

/// A sign-in that has begun.
pub(crate) struct Begun {
    /// Where the browser goes.
    pub(crate) url: Url,
    /// What tells this browser from others until it comes back: for the cookie.
    pub(crate) browser: SecretString,
}

/// A sign-in that came to its end.
pub(crate) struct Finished {
    /// The token of the new session.
    pub(crate) session: SecretString,
    /// Where the person was going.
    pub(crate) place: Place,
}

/// One that did not.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Why.
    pub(crate) fault: Fault,
    /// Where the person was going, as far as that is sure.
    pub(crate) place: Option<Place>,
    /// Whether it is for the issuer having no list of accounts, so that [`Choice::Anew`] may do.
    pub(crate) anew: bool,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { fault, place: None, anew: false }
    }
}

impl OpenIdProvider {
    /// The issuer's host, as people see it in the address bar.
    pub(crate) fn host(&self) -> String {
        let url = self.config.issuer.url();
        let host = url.host_str().unwrap_or_default();
        url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// Begins a sign-in for the browser that already holds `browser`, or holds nothing yet. Nothing is stored: anybody can begin
/// as many as they like.
pub(crate) async fn begin(
    app: &App,
    issuer: &Arc<OpenIdProvider>,
    browser: Option<&str>,
    place: &Place,
    choice: Choice,
    language: &str,
) -> Result<Begun, Fault> {
    let metadata = issuer.metadata().await?;
    let browser = match browser.filter(|browser| is_token(browser)) {
        // Pages that open at once each begin one, and all of them can be finished.
        Some(browser) => SecretString::from(browser),
        None => new_token(&*app.random),
    };
    // Few issuers say which prompts they take. One that does not take this one says so when it is asked.
    let choice = match choice {
        Choice::Another if !metadata.takes_prompt("select_account") => Choice::Anew,
        choice => choice,
    };
    let sign_in = SignIn {
        id: new_token(&*app.random),
        verifier: new_token(&*app.random),
        place: place.clone(),
        choosing: choice == Choice::Another,
    };
    let sealed = state::seal(app, issuer, &browser, &sign_in)?;
    let verifier = PkceCodeVerifier::new(sign_in.verifier.expose_secret().to_owned());
    let client = exchange::client(app, issuer, &metadata)?;
    let asked = issuer.config.sign_in_scopes.iter().filter(|scope| *scope != "openid");
    let mut request = client
        .authorize_url(|| CsrfToken::new(sealed))
        .add_scope(Scope::new("openid".to_owned()))
        .add_scopes(asked.map(|scope| Scope::new(scope.clone())))
        .add_extra_param("nonce", sign_in.id.expose_secret())
        .add_extra_param("ui_locales", language)
        .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
    if let Some(prompt) = choice.prompt() {
        request = request.add_extra_param("prompt", prompt);
    }
    let (url, _) = request.url();
    Ok(Begun { url, browser })
}

/// The browser that comes back from the issuer.
pub(crate) struct Browser<'a> {
    /// What it holds since the sign-in was begun.
    pub(crate) token: Option<&'a str>,
    /// The token of the session that it had.
    pub(crate) session: Option<&'a SecretString>,
    /// What it says of itself.
    pub(crate) agent: &'a str,
}

/// Takes the issuer's reply, and signs the browser in: everything that R-OAUTH-02 and OpenID Connect Core, section 3.1.3.7,
/// ask for holds, or nothing happens.
pub(crate) async fn finish(
    app: &App,
    issuer: &Arc<OpenIdProvider>,
    browser: &Browser<'_>,
    query: &[(String, String)],
) -> Result<Finished, Failed> {
    let reply = Reply::read(query)?;
    let token = browser.token.filter(|token| is_token(token)).ok_or(Fault::NoBrowser)?;
    let sign_in = state::open(app, issuer, token, reply.state)?;
    let place = sign_in.place.clone();
    match signed_in(app, issuer, &reply, &sign_in, browser).await {
        Ok(session) => Ok(Finished { session, place }),
        Err(fault) => {
            let anew = sign_in.choosing && fault.is_unable();
            Err(Failed { fault, place: Some(place), anew })
        }
    }
}

async fn signed_in(
    app: &App,
    issuer: &Arc<OpenIdProvider>,
    reply: &Reply<'_>,
    sign_in: &SignIn,
    browser: &Browser<'_>,
) -> Result<SecretString, Fault> {
    let metadata = issuer.metadata().await?;
    reply.is_from(issuer.config.issuer.as_str(), metadata.reply_has_issuer)?;
    let code = reply.code()?;
    let _turn = app.underway.claim(&sign_in.id).await?;
    let exchanged = exchange::exchange(app, issuer, &metadata, code, &sign_in.verifier).await?;
    let person = verified(issuer, &exchanged, sign_in).await?;

    let session = new_token(&*app.random);
    let now = app.clock.now();
    let kept = Some(&exchanged.id_token).filter(|token| token.expose_secret().len() <= KEPT_AT_MOST);
    let new = NewBrowserSession {
        token: &session,
        agent: browser.agent,
        kept,
        before: browser.session,
        expires_at: now + times(&app.config).lifetime,
    };
    if !app.store.use_sign_in(&sign_in.id, now + LIVES, &person, new, now).await? {
        return Err(Fault::Used);
    }
    fail_point!(SignedIn);
    Ok(session)
}

/// Who it is, by an ID token that is good, fresh, for us and for this very sign-in (R-ID-02).
async fn verified(issuer: &Arc<OpenIdProvider>, exchanged: &Exchanged, sign_in: &SignIn) -> Result<UserId, Fault> {
    let token = exchanged.id_token.expose_secret();
    let expected = Expected {
        issuer: issuer.config.issuer.as_str(),
        audience: &issuer.config.client_id,
        kind: Kind::Id { nonce: sign_in.id.expose_secret() },
    };
    let claims = issuer.verify(token, &expected).await?;
    at_hash::check(token, &claims, &exchanged.access_token)?;
    user(&claims, &issuer.config).map_err(Fault::NoUser)
}
