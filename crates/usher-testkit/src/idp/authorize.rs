//! The authorization endpoint (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2).

use std::fmt::Write as _;

use axum::body::Body;
use axum::response::Response;
use http::{Method, StatusCode, header};

use super::key::random;
use super::people::Grant;
use super::{Client, Inner, ReplyIssuer, User, Who};
use crate::Recorded;
use crate::fields::Fields;
use crate::provider::html;
use crate::record::lock;

pub(super) fn answer(inner: &Inner, request: &Recorded) -> Response {
    let query = Fields::of_query(request);
    let Some(client) = query.one("client_id").and_then(|id| inner.client(&id)) else {
        return html(400, "<h1>This client is not known here</h1>");
    };
    let Some(redirect_uri) = query.one("redirect_uri").filter(|uri| allowed(&client, uri)) else {
        return html(400, "<h1>This redirect URI is not registered</h1>");
    };
    let reply = Reply { inner, redirect_uri: &redirect_uri, state: query.one("state") };
    let error = lock(&inner.settings).authorization_error.clone();
    if let Some(error) = error {
        return reply.error(&error);
    }
    if query.one("response_type").as_deref() != Some("code") {
        return reply.error("unsupported_response_type");
    }
    let challenge = query.one("code_challenge");
    if challenge.is_some() && query.one("code_challenge_method").as_deref() != Some("S256") {
        return reply.error("invalid_request");
    }
    let (user, chosen) = match who(inner, request, &query) {
        Ok(found) => found,
        Err(None) => return reply.error("login_required"),
        Err(Some(page)) => return *page,
    };
    let code = random();
    let grant = Grant {
        client: client.id,
        redirect_uri: redirect_uri.clone(),
        nonce: query.one("nonce"),
        challenge,
        scope: query.one("scope"),
        resource: query.one("resource"),
        signed_in_at: inner.now(),
        used: false,
        user,
    };
    let subject = grant.user.subject().to_owned();
    lock(&inner.grants).insert(code.clone(), grant);
    let mut response = reply.send(vec![("code", code)]);
    if chosen {
        let cookie = format!("idp={subject}; Path=/; HttpOnly; SameSite=Lax");
        response.headers_mut().insert(header::SET_COOKIE, cookie.parse().expect("a subject that a cookie can carry"));
    }
    response
}

fn allowed(client: &Client, uri: &str) -> bool {
    client.redirect_uris.is_empty() || client.redirect_uris.iter().any(|known| known == uri)
}

/// Whose code it will be, and whether they have just said so; else the page that asks, or none where none may be shown.
fn who(inner: &Inner, request: &Recorded, query: &Fields) -> Result<(User, bool), Option<Box<Response>>> {
    let who = lock(&inner.settings).who.clone();
    if let Who::Always(subject) = who {
        return Ok((inner.user(&subject).expect("a user of this issuer"), false));
    }
    let prompt = query.one("prompt").unwrap_or_default();
    let again = prompt.split(' ').any(|word| word == "login" || word == "select_account");
    if request.http_method == Method::POST {
        let chosen = Fields::of_body(request).one("user").and_then(|subject| inner.user(&subject));
        return chosen.map(|user| (user, true)).ok_or_else(|| Some(Box::new(page(inner, request))));
    }
    let remembered = request.header("cookie").and_then(|cookies| {
        let value = cookies.split("; ").find_map(|pair| pair.strip_prefix("idp="))?;
        inner.user(value)
    });
    match remembered {
        Some(user) if !again => Ok((user, false)),
        _ if prompt == "none" => Err(None),
        _ => Err(Some(Box::new(page(inner, request)))),
    }
}

/// A button for each user.
fn page(inner: &Inner, request: &Recorded) -> Response {
    let action = request.path.replace('&', "&amp;").replace('"', "&quot;");
    let mut buttons = String::new();
    for user in lock(&inner.users).iter() {
        // Writing into a string cannot fail.
        let _ = write!(buttons, "<button name=\"user\" value=\"{0}\">{0}</button>", user.subject());
    }
    html(200, &format!("<h1>Who are you?</h1><form method=\"post\" action=\"{action}\">{buttons}</form>"))
}

struct Reply<'r> {
    inner: &'r Inner,
    redirect_uri: &'r str,
    state: Option<String>,
}

impl Reply<'_> {
    fn error(&self, error: &str) -> Response {
        self.send(vec![("error", error.to_owned()), ("error_description", "as configured <b>here</b>".to_owned())])
    }

    fn send(&self, mut fields: Vec<(&'static str, String)>) -> Response {
        fields.extend(self.state.clone().map(|state| ("state", state)));
        let settings = lock(&self.inner.settings).clone();
        fields.extend(match settings.reply_issuer {
            ReplyIssuer::Right => Some(("iss", settings.issuer)),
            ReplyIssuer::Other(other) => Some(("iss", other)),
            ReplyIssuer::Missing => None,
        });
        redirect(self.redirect_uri, &fields)
    }
}

/// 302 to an address with these fields in its query.
pub(crate) fn redirect(uri: &str, fields: &[(&str, String)]) -> Response {
    let mut url = reqwest::Url::parse(uri).expect("an absolute redirect URI");
    url.query_pairs_mut().extend_pairs(fields.iter().map(|(name, value)| (*name, value.as_str())));
    let location = url.as_str().trim_end_matches('?').to_owned();
    let response = Response::builder().status(StatusCode::FOUND).header(header::LOCATION, location);
    response.body(Body::empty()).expect("a location that is a header value")
}
