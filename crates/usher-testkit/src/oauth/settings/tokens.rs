use http::Method;
use serde_json::{Map, Value};

use super::Separator;

/// A way for a client to prove who it is at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// `client_secret_basic`.
    Basic,
    /// The same, but id and secret are taken as they stand, and not decoded as in a form.
    BasicPlain,
    /// `client_secret_post`: in the body.
    Body,
    /// `none`: the id alone, in the body. A client that has a secret is not believed without it.
    None,
}

impl ClientAuth {
    /// Its name in metadata (RFC 7591, section 2).
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic | Self::BasicPlain => "client_secret_basic",
            Self::Body => "client_secret_post",
            Self::None => "none",
        }
    }
}

/// What the token endpoint reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestBody {
    /// A form (RFC 6749).
    Form,
    /// A JSON object (Notion, Clover); a form is refused.
    Json,
    /// The query of the address; a body is refused.
    Query,
}

/// What the token endpoint answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyBody {
    /// JSON.
    Json,
    /// A form, unless `Accept` names `application/json` (GitHub). Errors too.
    FormUnlessAsked,
    /// A form that calls itself `text/html`, whatever was asked for. Errors too.
    FormUnsaid,
}

/// How an answer says until when its access token is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// `expires_in`, a number of seconds.
    In,
    /// `expires_in`, the number as a string.
    InText,
    /// `expires_in`, in milliseconds.
    InMilliseconds,
    /// `expires_at`, seconds since 1970.
    At,
    /// `expires_at`, the seconds as a string.
    AtText,
    /// `expires_at`, milliseconds since 1970.
    AtMilliseconds,
    /// `expires_at`, as `2026-11-30T12:00:00Z`.
    AtDate,
    /// Nothing is said, and the access token expires all the same: introspection tells (Salesforce).
    Unsaid,
    /// Nothing is said, and the access token does not expire (GitHub).
    Never,
}

/// The exchange of codes, and what all token answers have in common.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// The ways that are taken; also in the metadata.
    pub client_auth: Vec<ClientAuth>,
    /// What is read.
    pub request: RequestBody,
    /// Parameters without which a token request is refused; an empty value stands for any. Of refreshes too.
    pub demanded: Vec<(&'static str, &'static str)>,
    /// Headers without which a token request, a refresh or a revocation is refused (`Notion-Version`); an empty value stands
    /// for any.
    pub demanded_headers: Vec<(&'static str, &'static str)>,
    /// What is answered with.
    pub reply: ReplyBody,
    /// What the code is called in the request.
    pub code_parameter: &'static str,
    /// Where the token members stand: `authed_user` (Slack), `data.tokens`. `None`: at the top.
    pub nested: Option<&'static str>,
    /// What the access token is called.
    pub access_member: &'static str,
    /// What the refresh token is called.
    pub refresh_member: &'static str,
    /// What the scopes are called.
    pub scope_member: &'static str,
    /// Scopes are an array, and not a text.
    pub scope_array: bool,
    /// What stands between scopes here, where that is something else than in the request.
    pub scope_separator: Option<Separator>,
    /// How the expiry is told.
    pub expiry: Expiry,
    /// What it is called there, where not `expires_in` or `expires_at`.
    pub expiry_member: Option<&'static str>,
    /// How long an access token is good, in seconds.
    pub lifetime: i64,
    /// The lifetime must be asked for by this parameter of the token request, in seconds (`expires_in`, Zendesk); without it
    /// the access token does not expire, and there is no refresh token. The answer tells what was asked for.
    pub lifetime_parameter: Option<&'static str>,
    /// Put over each answer to a code, at the top; null takes a member out.
    pub members: Value,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self {
            client_auth: vec![ClientAuth::Basic, ClientAuth::Body, ClientAuth::None],
            request: RequestBody::Form,
            demanded: Vec::new(),
            demanded_headers: Vec::new(),
            reply: ReplyBody::Json,
            code_parameter: "code",
            nested: None,
            access_member: "access_token",
            refresh_member: "refresh_token",
            scope_member: "scope",
            scope_array: false,
            scope_separator: None,
            expiry: Expiry::In,
            expiry_member: None,
            lifetime: 3_600,
            lifetime_parameter: None,
            members: nothing(),
        }
    }
}

/// What proves that somebody may refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshBy {
    /// A refresh token.
    RefreshToken,
    /// The access token, as long as it is good; there are no refresh tokens.
    AccessToken {
        /// What `grant_type` has to be.
        grant_type: &'static str,
        /// The parameter that the access token stands in.
        parameter: &'static str,
    },
}

/// What a refresh makes of the refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// A new one replaces it at once (Atlassian).
    AtOnce,
    /// A new one replaces it; the old one is taken for so many seconds more.
    Grace(i64),
    /// It stays, and stands in the answer again.
    Kept,
    /// It stays, and the answer has none.
    Omitted,
}

/// What happens when a refresh token that was replaced comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// The request is refused, and everything that came of that consent is worth nothing (RFC 9700, section 4.14.2).
    EndsGrant,
    /// The request is refused.
    Refused,
}

/// How a refresh token that is dead is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadToken {
    /// `invalid_grant` (RFC 6749, section 5.2).
    InvalidGrant,
    /// This code instead, such as `invalid_request`.
    Code(&'static str),
    /// This status, kind and text, whatever errors look like elsewhere.
    Says(u16, &'static str, &'static str),
}

/// What is special about refreshing.
#[derive(Clone, Debug)]
pub struct Refreshing {
    /// At an address of its own (Figma), and not at the token endpoint.
    pub own_url: bool,
    /// By which method; GET goes with [`RequestBody::Query`].
    pub method: Method,
    /// What is read, where that is something else than for a code.
    pub request: Option<RequestBody>,
    /// By what.
    pub by: RefreshBy,
    /// Parameters that a refresh is refused without, beside the usual ones: `redirect_uri` (GitLab).
    pub demanded: Vec<&'static str>,
    /// Without `scope` in the request the new access token allows nothing.
    pub scope: bool,
    /// What becomes of the refresh token.
    pub rotation: Rotation,
    /// What happens when a replaced one comes again.
    pub reuse: Reuse,
    /// The access tokens from before are worth nothing after a refresh.
    pub ends_access: bool,
    /// How long a refresh token is good, in seconds. `None`: for ever.
    pub lifetime: Option<i64>,
    /// How a dead one is refused.
    pub dead: DeadToken,
    /// Where the token members of the answer stand; see [`Tokens::nested`].
    pub nested: Option<&'static str>,
    /// Put over each answer to a refresh, at the top: other metadata than at the beginning. Null takes a member out.
    pub members: Value,
}

impl Refreshing {
    pub(super) fn new() -> Self {
        Self {
            own_url: false,
            method: Method::POST,
            request: None,
            by: RefreshBy::RefreshToken,
            demanded: Vec::new(),
            scope: false,
            rotation: Rotation::AtOnce,
            reuse: Reuse::EndsGrant,
            ends_access: false,
            lifetime: None,
            dead: DeadToken::InvalidGrant,
            nested: None,
            members: nothing(),
        }
    }
}

/// How errors look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorReply {
    /// 400 or 401 and JSON (RFC 6749, section 5.2).
    Json,
    /// 200 and the same JSON (GitHub).
    Ok,
    /// 200, and `{"ok":false,"error":…}` (Slack).
    NotOk,
    /// The status, and `{"error":{"type":…,"message":…}}`.
    Nested,
    /// The status, and the code in a sentence of plain text.
    Text,
    /// The status, and a page.
    Html,
    /// The status, and nothing.
    Empty,
}

pub(super) fn nothing() -> Value {
    Value::Object(Map::new())
}
