//! The authorization endpoint (RFC 6749, section 4.1.1; RFC 7636, section 4.3; RFC 8707, section 2.1).

use axum::response::Response;

use super::endpoints::Place;
use super::grant::{Challenge, Grant};
use super::settings::{Offline, Pkce, ResourceParameter, Settings};
use super::{Client, Inner, ReplyIssuer, Who, page};
use crate::Recorded;
use crate::fields::Fields;
use crate::idp::redirect;
use crate::provider::html;
use crate::record::lock;

/// A request to which an answer may be sent, since client and redirect URI are right.
pub(super) struct Asking<'r> {
    pub(super) inner: &'r Inner,
    pub(super) settings: Settings,
    pub(super) request: &'r Recorded,
    pub(super) query: Fields,
    pub(super) client: Client,
    pub(super) redirect_uri: String,
    pub(super) tenant: &'r str,
}

type Refusal = (&'static str, String);

pub(super) fn answer(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    let settings = lock(&inner.settings).clone();
    let query = Fields::of_query(request);
    let named = query.one(settings.authorization.client_id_parameter);
    let Some(client) = named.and_then(|id| inner.client(&id)) else {
        inner.violation("authorization: the client is not known");
        return html(400, "<h1>This client is not known here</h1><p>invalid_client</p>");
    };
    let Some(redirect_uri) = query.one("redirect_uri").filter(|uri| client.may_be_answered_at(uri)) else {
        inner.violation("authorization: the redirect URI is not registered");
        return html(400, "<h1>This redirect URI is not registered</h1><p>invalid_request</p>");
    };
    let asking = Asking { inner, settings, request, query, client, redirect_uri, tenant: &place.tenant };
    asking.consider().unwrap_or_else(|(error, why)| asking.refuse(error, &why))
}

impl Asking<'_> {
    fn consider(&self) -> Result<Response, Refusal> {
        let rules = &self.settings.authorization;
        if let Some(error) = rules.error {
            return Ok(self.refuse(error, "as configured"));
        }
        let challenge = self.check()?;
        let scopes = self.scopes()?;
        let resource = self.resource()?;
        let subject = match &self.settings.who {
            Who::Always(subject) => subject.clone(),
            Who::Asked => match page::choice(self.request) {
                page::Choice::None => return Ok(page::consent(self, &scopes)),
                page::Choice::Deny => return Ok(self.fail(self.settings.callback.denied, "the person said no")),
                page::Choice::Allow(subject) => subject,
            },
        };
        if self.inner.account(&subject).is_none() {
            return Ok(page::consent(self, &scopes));
        }
        let offline = self.client.refreshes && self.offline(&scopes);
        let granted = rules.scopes_granted.as_ref();
        let switch = if let Offline::Scope(scope) = rules.offline { scope } else { "" };
        let kept = |scope: &String| scope != switch && granted.is_none_or(|all| all.contains(&scope.as_str()));
        let grant = Grant {
            client: self.client.id.clone(),
            subject,
            tenant: self.tenant.to_owned(),
            scopes: scopes.into_iter().filter(kept).collect(),
            resource,
            offline,
            ended: false,
        };
        let code = lock(&self.inner.vault).code(grant, &self.redirect_uri, challenge, self.inner.now());
        self.inner.count(|counts| counts.codes += 1);
        let mut fields = vec![(self.settings.callback.code_parameter, code)];
        fields.extend(self.settings.callback.extra.clone());
        Ok(self.send(false, fields))
    }

    /// Everything but scopes and resource; the code challenge.
    fn check(&self) -> Result<Option<Challenge>, Refusal> {
        let invalid = |why: String| Err(("invalid_request", why));
        let (query, rules) = (&self.query, &self.settings.authorization);
        if let Some(name) = query.twice() {
            return invalid(format!("{name} stands twice"));
        }
        for secret in ["client_secret", "code_verifier", "access_token", "refresh_token"] {
            if query.has(secret) {
                return invalid(format!("{secret} in an address"));
            }
        }
        if query.one("response_type").as_deref() != Some("code") {
            return Err(("unsupported_response_type", "response_type is not code".to_owned()));
        }
        if query.one("state").is_none_or(|state| state.is_empty()) {
            return invalid("no state".to_owned());
        }
        for (name, value) in &rules.demanded {
            if query.one(name).is_none_or(|told| !value.is_empty() && told != *value) {
                return invalid(format!("{name}={value} is missing"));
            }
        }
        let (challenge, method) = (query.one("code_challenge"), query.one("code_challenge_method"));
        match (rules.pkce, challenge, method.as_deref()) {
            (Pkce::Ignored, ..) | (Pkce::Verified | Pkce::Refused, None, None) => Ok(None),
            (Pkce::Refused, ..) => invalid("unknown parameter: code_challenge".to_owned()),
            (Pkce::Plain, Some(challenge), None | Some("plain")) => Ok(Some(Challenge::Plain(challenge))),
            (Pkce::Plain, ..) => invalid("plain is the only method".to_owned()),
            (_, Some(challenge), Some("S256")) if challenge.len() == 43 => Ok(Some(Challenge::S256(challenge))),
            (_, challenge, method) => invalid(format!("code_challenge is {challenge:?} by {method:?}")),
        }
    }

    fn scopes(&self) -> Result<Vec<String>, Refusal> {
        let rules = &self.settings.authorization;
        let invalid = |why: String| Err(("invalid_scope", why));
        let name = rules.scope_parameter;
        let mut text = self.query.one(name).unwrap_or_default();
        if rules.scopes_unencoded {
            let query = self.request.path.split_once('?').map_or("", |(_, query)| query);
            let raw = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap_or_default();
            if raw.contains('%') {
                return invalid(format!("percent-encoded: {raw}"));
            }
            // A plus that was not encoded is a plus here, for whom pluses separate.
            if rules.separator.text() == '+' {
                raw.clone_into(&mut text);
            }
        }
        let scopes: Vec<String> =
            text.split(rules.separator.text()).filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
        let known = |scope: &str| {
            let offline = matches!(rules.offline, Offline::Scope(switch) if switch == scope);
            offline || rules.scopes_known.as_ref().is_none_or(|known| known.contains(&scope))
        };
        match scopes.iter().find(|scope| scope.contains([' ', ',', '+']) || !known(scope)) {
            Some(scope) => invalid(format!("no such scope: {scope}")),
            None => Ok(scopes),
        }
    }

    fn resource(&self) -> Result<Option<String>, Refusal> {
        let resource = self.query.one("resource");
        let target = |why: &str| Err(("invalid_target", why.to_owned()));
        match self.settings.authorization.resource {
            ResourceParameter::Ignored => Ok(None),
            ResourceParameter::Refused if self.query.has("resource") => target("no resource is known here"),
            ResourceParameter::Demanded if resource.is_none() => target("no resource"),
            _ if resource.as_ref().is_some_and(|uri| !uri.contains("://") || uri.contains('#')) => {
                target("no absolute address without a fragment")
            }
            _ => Ok(resource),
        }
    }

    fn offline(&self, scopes: &[String]) -> bool {
        match &self.settings.authorization.offline {
            Offline::Always => true,
            Offline::Never => false,
            Offline::Scope(switch) => scopes.iter().any(|scope| scope == switch),
            Offline::Parameters(wanted) => {
                wanted.iter().all(|(name, value)| self.query.one(name).as_deref() == Some(*value))
            }
        }
    }

    /// An error at the redirect URI, which is also a violation where the request was at fault.
    fn refuse(&self, error: &str, why: &str) -> Response {
        if self.settings.authorization.error.is_none() {
            self.inner.violation(format!("authorization: {error}: {why}"));
        }
        self.fail(error, why)
    }

    fn fail(&self, error: &str, why: &str) -> Response {
        let callback = &self.settings.callback;
        let described = format!("{why} <b>here</b>");
        self.send(true, vec![(callback.error_parameter, error.to_owned()), (callback.description_parameter, described)])
    }

    fn send(&self, failed: bool, mut fields: Vec<(&'static str, String)>) -> Response {
        let callback = &self.settings.callback;
        fields.extend(self.query.one("state").map(|state| (callback.state_parameter, state)));
        fields.retain(|(name, _)| !name.is_empty());
        let issuer = callback.error_issuer.as_ref().filter(|_| failed).unwrap_or(&callback.issuer);
        fields.extend(match issuer {
            ReplyIssuer::Right => Some(("iss", self.settings.issuer.clone())),
            ReplyIssuer::Other(other) => Some(("iss", other.clone())),
            ReplyIssuer::Missing => None,
        });
        redirect(&self.redirect_uri, &fields)
    }
}
