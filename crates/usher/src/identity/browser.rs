//! The person in the browser: cookies, the session of a request, and the tokens that prove a form is ours.
//!
//! Over https a cookie is named `__Host-usher…` and Secure. On http loopback it is `usher-{port}-{instance}…`: browsers
//! send a host's cookies to every port, and not all take Secure there (R-SEC-06).

use std::borrow::Cow;

use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::UserId;
use http::{HeaderMap, HeaderValue, header};
use jiff::SignedDuration;
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{BrowserId, BrowserTimes, InteractionId, StoreError};

use super::tokens::local_user;
use crate::{
    app::App,
    config::{Config, Identity, PublicUrl},
};

/// How long the place to go back to after signing in is remembered, in seconds, and the browser in which a sign-in was begun:
/// as long as a sign-in, or a sign-in link.
const PLACE_LIVES: i64 = 10 * 60;

/// A year, in seconds.
const LANGUAGE_LIVES: i64 = 365 * 24 * 60 * 60;

/// How long a browser may be away at somebody else's page, in seconds: as long as a question can be open.
const FLOW_LIVES: i64 = 3 * 60 * 60;

/// The cookies we set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The token of the browser session; the record is in the store.
    Session,
    /// Where to go after signing in: a [`Place`].
    Place,
    /// Tells the browser in which a sign-in at the issuer was begun from all others: a random token, of which nothing is kept
    /// here. The sign-in's `state` is sealed for it.
    SignIn,
    /// The language that the person chose.
    Language,
    /// What tells this browser from others when it comes back from somebody else's page. Set only after consent.
    Flow,
}

/// Names and attributes of our cookies, for one installation.
#[derive(Debug, Clone)]
pub struct Cookies {
    name: String,
    secure: bool,
    session_lives: i64,
}

impl Cookies {
    /// For this installation.
    pub fn of(app: &App) -> Self {
        Self::new(&app.config.public_url, app.store.instance(), times(&app.config).lifetime)
    }

    /// For the installation at `public_url` whose store is `instance`, and where sessions last for `lifetime` at most: what
    /// lies idle ends earlier in the store.
    fn new(public_url: &PublicUrl, instance: &str, lifetime: SignedDuration) -> Self {
        let secure = public_url.is_https();
        let name = if secure { "__Host-usher".to_owned() } else { format!("usher-{}-{instance}", public_url.port()) };
        Self { name, secure, session_lives: lifetime.as_secs() }
    }

    fn name(&self, cookie: Cookie) -> String {
        let suffix = match cookie {
            Cookie::Session => "",
            Cookie::Place => "-place",
            Cookie::SignIn => "-sign-in",
            Cookie::Language => "-language",
            Cookie::Flow => "-flow",
        };
        format!("{}{suffix}", self.name)
    }

    /// The `Set-Cookie` value. `value` is one of ours: cookie characters only, else nothing is set.
    pub fn set(&self, cookie: Cookie, value: &str) -> Option<HeaderValue> {
        let lives = match cookie {
            Cookie::Session => self.session_lives,
            Cookie::Place | Cookie::SignIn => PLACE_LIVES,
            Cookie::Language => LANGUAGE_LIVES,
            Cookie::Flow => FLOW_LIVES,
        };
        self.header(cookie, value, lives)
    }

    /// The `Set-Cookie` value that removes it.
    pub fn clear(&self, cookie: Cookie) -> Option<HeaderValue> {
        self.header(cookie, "", 0)
    }

    fn header(&self, cookie: Cookie, value: &str, lives: i64) -> Option<HeaderValue> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte);
        if !value.bytes().all(plain) {
            return None;
        }
        let name = self.name(cookie);
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Max-Age={lives}; Path=/; HttpOnly; SameSite=Lax{secure}");
        let mut header = HeaderValue::from_str(&text).ok()?;
        header.set_sensitive(matches!(cookie, Cookie::Session | Cookie::SignIn | Cookie::Flow));
        Some(header)
    }

    /// The token of a request's session, whether or not there is such a session.
    pub fn session(&self, headers: &HeaderMap) -> Option<SecretString> {
        self.read(headers, Cookie::Session).filter(|token| !token.is_empty()).map(SecretString::from)
    }

    /// The value in a request. One name twice is none: another server on this host, or another path, may have set the
    /// other, and nobody can tell which is ours.
    pub fn read<'h>(&self, headers: &'h HeaderMap, cookie: Cookie) -> Option<&'h str> {
        let name = self.name(cookie);
        let mut values = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value);
        let value = values.next()?;
        values.next().is_none().then_some(value)
    }
}

/// Where to go after signing in: only places of ours, so that nobody is sent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The portal.
    Portal,
    /// The apps that may use what is connected.
    Clients,
    /// What happened.
    Activity,
    /// The signed-in browsers.
    Sessions,
    /// The page of one interaction.
    Connect(InteractionId),
}

impl Place {
    /// Reads a path: one of the portal's, or `/connect/{id}`.
    pub fn parse(path: &str) -> Option<Self> {
        let portal = [Self::Portal, Self::Clients, Self::Activity, Self::Sessions];
        if let Some(place) = portal.into_iter().find(|place| place.path() == path) {
            return Some(place);
        }
        let id = path.strip_prefix("/connect/")?;
        InteractionId::parse(id).ok().map(Self::Connect)
    }

    /// The path.
    pub fn path(&self) -> String {
        match self {
            Self::Portal => "/".to_owned(),
            Self::Clients => "/clients".to_owned(),
            Self::Activity => "/activity".to_owned(),
            Self::Sessions => "/sessions".to_owned(),
            Self::Connect(id) => format!("/connect/{id}"),
        }
    }
}

/// What a form is for: a token made for one is of no use for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form<'a> {
    /// Answering an interaction.
    Connect(&'a InteractionId),
    /// Disconnecting a provider.
    Disconnect(&'a str),
    /// Entering a provider's credential again.
    Reconnect(&'a str),
    /// Taking back what a client was allowed.
    Revoke(&'a str),
    /// That this was taken back: no form, but the mark in an address by which the page says so.
    Revoked(&'a str),
    /// Declining all that a client asks.
    DeclineAll(&'a str),
    /// Letting what was declined be asked again.
    Release(&'a InteractionId),
    /// Signing another browser out.
    EndBrowser(&'a BrowserId),
    /// Signing all other browsers out.
    EndOthers,
    /// The question that this began: no form, but the mark in its address that the person began it themselves.
    Begun(&'a InteractionId),
    /// Coming back from somebody else's page: no form, but what ties the way back to this session.
    Return(&'a InteractionId),
    /// Coming back from a provider: no form, but what ties the way back to this session.
    Callback(&'a InteractionId),
    /// The page after a look at what became of a visit: no form, but the mark in its address that we looked.
    Looked(&'a InteractionId),
    /// Signing out.
    SignOut,
}

impl Form<'_> {
    fn purpose(self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Disconnect(_) => "disconnect",
            Self::Reconnect(_) => "reconnect",
            Self::Revoke(_) => "revoke",
            Self::Revoked(_) => "revoked",
            Self::DeclineAll(_) => "decline-all",
            Self::Release(_) => "release",
            Self::EndBrowser(_) => "end-browser",
            Self::EndOthers => "end-others",
            Self::Begun(_) => "begun",
            Self::Return(_) => "return",
            Self::Callback(_) => "callback",
            Self::Looked(_) => "looked",
            Self::SignOut => "sign-out",
        }
    }

    fn subject(&self) -> &str {
        match self {
            Self::Connect(id)
            | Self::Begun(id)
            | Self::Return(id)
            | Self::Callback(id)
            | Self::Looked(id)
            | Self::Release(id) => id.as_str(),
            Self::Disconnect(name)
            | Self::Reconnect(name)
            | Self::Revoke(name)
            | Self::Revoked(name)
            | Self::DeclineAll(name) => name,
            Self::EndBrowser(id) => id.as_str(),
            Self::EndOthers | Self::SignOut => "",
        }
    }
}

/// A person who is signed in.
pub struct SignedIn {
    /// Who it is.
    pub user: UserId,
    token: SecretString,
}

impl SignedIn {
    /// Made from a session token that the store knows.
    pub fn new(user: UserId, token: SecretString) -> Self {
        Self { user, token }
    }

    /// The token that a form of ours carries (R-OAUTH-03). Derived from the session's, so that nothing is kept.
    pub fn csrf(&self, form: Form<'_>) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.key(), &message(form)))
    }

    /// Whether `presented` is that token. Constant time.
    pub fn csrf_holds(&self, form: Form<'_>, presented: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(presented).unwrap_or_default();
        hmac::verify(&self.key(), &message(form), &tag).is_ok()
    }

    /// The session's token, to end the session.
    pub fn token(&self) -> &SecretString {
        &self.token
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.token.expose_secret().as_bytes())
    }
}

/// The label, the purpose and the subject; neither of the first two contains a NUL, so that the parts cannot be shifted.
fn message(form: Form<'_>) -> Vec<u8> {
    [b"usher form 1", form.purpose().as_bytes(), form.subject().as_bytes()].join(&0)
}

/// How long sessions last here.
pub fn times(config: &Config) -> BrowserTimes {
    // What the configuration takes is no longer than what the store takes.
    let signed = |duration| SignedDuration::try_from(duration).unwrap_or(SignedDuration::ZERO);
    match &config.identity {
        Identity::Local { .. } => BrowserTimes::LONGEST,
        Identity::Oidc(oidc) => {
            BrowserTimes { idle: signed(oidc.session_idle), lifetime: signed(oidc.session_lifetime) }
        }
    }
}

/// Who signs people in here. A session of another issuer, from before the configuration changed, is nobody's (R-ID-01).
fn issuer(config: &Config) -> Cow<'_, str> {
    match &config.identity {
        Identity::Local { .. } => Cow::Owned(local_user().issuer().to_owned()),
        Identity::Oidc(oidc) => Cow::Borrowed(oidc.issuer.as_str()),
    }
}

/// Who sent this request: the person of its session cookie, if the store knows the session.
pub async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>, StoreError> {
    let Some(token) = Cookies::of(app).session(headers) else { return Ok(None) };
    let session = app.store.browser_session(&token, times(&app.config), app.clock.now()).await?;
    let session = session.filter(|session| session.user.issuer() == issuer(&app.config));
    Ok(session.map(|session| SignedIn::new(session.user, token)))
}

/// The name of this machine, for a person to compare.
pub fn machine() -> String {
    whoami::hostname().unwrap_or_else(|_| "localhost".to_owned())
}

/// The name of the account that this Usher runs under, for a person to compare.
pub fn account() -> String {
    whoami::username().unwrap_or_else(|_| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use usher_store::BROWSER_LIFETIME;

    use super::*;

    const ID: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    fn cookies(url: &str) -> Cookies {
        Cookies::new(&PublicUrl::parse(url).unwrap(), "k3v9x2ab", BROWSER_LIFETIME)
    }

    fn sending(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, line.parse().unwrap());
        }
        headers
    }

    /// R-SEC-06
    #[test]
    fn cookies_have_the_attributes_that_keep_them_ours() {
        let local = cookies("http://127.0.0.1:8420");
        assert_eq!(
            local.set(Cookie::Session, "t0ken").unwrap().to_str().unwrap(),
            "usher-8420-k3v9x2ab=t0ken; Max-Age=7776000; Path=/; HttpOnly; SameSite=Lax"
        );
        assert!(local.set(Cookie::Session, "t0ken").unwrap().is_sensitive());
        let public = cookies("https://usher.example.com");
        assert_eq!(
            public.set(Cookie::Place, "/").unwrap().to_str().unwrap(),
            "__Host-usher-place=/; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(
            public.clear(Cookie::Session).unwrap().to_str().unwrap(),
            "__Host-usher=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(
            public.set(Cookie::SignIn, "t0ken").unwrap().to_str().unwrap(),
            "__Host-usher-sign-in=t0ken; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert!(public.set(Cookie::Place, "/; Domain=example.com").is_none());
    }

    #[test]
    fn a_cookie_is_found_among_others_and_none_where_it_stands_twice() {
        let ours = cookies("http://127.0.0.1:8420");
        let headers = sending(&["a=b; usher-8420-k3v9x2ab=one;usher-8420-k3v9x2ab-language=en"]);
        assert_eq!(ours.read(&headers, Cookie::Session), Some("one"));
        assert_eq!(ours.read(&headers, Cookie::Language), Some("en"));
        assert_eq!(ours.read(&headers, Cookie::Place), None);
        let twice = sending(&["usher-8420-k3v9x2ab=one", "usher-8420-k3v9x2ab=two"]);
        assert_eq!(ours.read(&twice, Cookie::Session), None);
    }

    /// R-URL-03: signing in leads to a page of ours and nowhere else.
    #[test]
    fn only_our_own_places_are_remembered() {
        let page = format!("/connect/{ID}");
        for path in ["/", "/clients", "/activity", "/sessions", page.as_str()] {
            assert_eq!(Place::parse(path).unwrap().path(), path);
        }
        for path in [
            "",
            "//evil.example",
            "/connect/",
            "/connect/short",
            "https://evil.example/",
            "/login",
            "/clients/revoke",
            "/\\evil.example",
            &format!("/connect/{ID}?x"),
            &format!("/connect/{ID}/../../x"),
            &format!(" /connect/{ID}"),
        ] {
            assert_eq!(Place::parse(path), None, "{path}");
        }
    }

    /// R-OAUTH-03
    #[test]
    fn a_form_token_is_good_for_one_session_one_purpose_and_one_interaction() {
        let user = UserId::new("urn:usher:local", "owner").unwrap();
        let session = SignedIn::new(user.clone(), SecretString::from("one"));
        let other = SignedIn::new(user, SecretString::from("two"));
        let id = InteractionId::parse(ID).unwrap();
        let token = session.csrf(Form::Connect(&id));
        assert!(session.csrf_holds(Form::Connect(&id), &token));
        assert!(!other.csrf_holds(Form::Connect(&id), &token));
        assert!(!session.csrf_holds(Form::Disconnect(ID), &token));
        assert!(!session.csrf_holds(Form::SignOut, &token));
        for wrong in ["", "=", &token[1..], &format!("{token}A"), "AAAA"] {
            assert!(!session.csrf_holds(Form::Connect(&id), wrong), "{wrong}");
        }
    }
}
