use crate::idp::ReplyIssuer;

/// What stands between scopes, in requests and in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A space (RFC 6749, section 3.3).
    Space,
    /// A comma (Slack, Linear, Figma).
    Comma,
    /// A plus that is still one after decoding (`%2B`), or a plus as it stands where scopes go unencoded.
    Plus,
}

impl Separator {
    pub(in crate::oauth) fn text(self) -> char {
        match self {
            Self::Space => ' ',
            Self::Comma => ',',
            Self::Plus => '+',
        }
    }
}

/// What becomes of `code_challenge` (RFC 7636).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkce {
    /// S256 is demanded, and verified.
    Demanded,
    /// S256 is verified where it comes, and may be left out.
    Verified,
    /// Only `plain` is known, and verified.
    Plain,
    /// The parameter is not looked at, nor is `code_verifier`.
    Ignored,
    /// A request with `code_challenge` or `code_verifier` is refused.
    Refused,
}

/// When there is a refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offline {
    /// Always.
    Always,
    /// Where the authorization request has all these parameters: `access_type=offline&prompt=consent` (Google),
    /// `token_access_type=offline` (Dropbox), `duration=permanent` (Reddit).
    Parameters(Vec<(&'static str, &'static str)>),
    /// Where this scope was asked for (`offline_access`: Microsoft, Atlassian). It is not among the granted ones that the
    /// answer names.
    Scope(&'static str),
    /// Never.
    Never,
}

/// What becomes of `resource` (RFC 8707).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceParameter {
    /// Taken where it comes; the token is then for that resource alone, and the exchange may not name another.
    Taken,
    /// Demanded in both requests, and in refreshes.
    Demanded,
    /// Not looked at.
    Ignored,
    /// Refused with `invalid_target`.
    Refused,
}

/// The way to the consent page.
#[derive(Clone, Debug)]
pub struct Authorization {
    /// What stands between scopes. A scope with the space, comma or plus of another provider in it is `invalid_scope`.
    pub separator: Separator,
    /// Scopes must not be percent-encoded: a `%` in the text of the parameter is `invalid_scope`.
    pub scopes_unencoded: bool,
    /// What the parameter of the scopes is called (`user_scope`: Slack).
    pub scope_parameter: &'static str,
    /// The scopes that exist, also in the metadata; others are `invalid_scope`. `None`: any.
    pub scopes_known: Option<Vec<&'static str>>,
    /// Of the scopes that were asked for only these are granted. `None`: all of them.
    pub scopes_granted: Option<Vec<&'static str>>,
    /// Proof keys.
    pub pkce: Pkce,
    /// When there is a refresh token.
    pub offline: Offline,
    /// Parameters without which there is no consent page: `audience` (Atlassian), `owner=user` (Notion). An empty value
    /// stands for any.
    pub demanded: Vec<(&'static str, &'static str)>,
    /// The resource parameter.
    pub resource: ResourceParameter,
    /// What the parameter of the client's id is called, at the token endpoint too.
    pub client_id_parameter: &'static str,
    /// Every request is answered with this error at once, for a client and redirect URI that are right.
    pub error: Option<&'static str>,
}

impl Authorization {
    pub(super) fn new() -> Self {
        Self {
            separator: Separator::Space,
            scopes_unencoded: false,
            scope_parameter: "scope",
            scopes_known: None,
            scopes_granted: None,
            pkce: Pkce::Demanded,
            offline: Offline::Always,
            demanded: Vec::new(),
            resource: ResourceParameter::Taken,
            client_id_parameter: "client_id",
            error: None,
        }
    }
}

/// The way back.
#[derive(Clone, Debug)]
pub struct Callback {
    /// What the parameter of the code is called.
    pub code_parameter: &'static str,
    /// More parameters (`realmId`), in replies that carry a code.
    pub extra: Vec<(&'static str, String)>,
    /// `iss` (RFC 9207).
    pub issuer: ReplyIssuer,
    /// `iss` in error replies, where it is another matter there.
    pub error_issuer: Option<ReplyIssuer>,
    /// Whether the metadata promises `iss`.
    pub issuer_promised: bool,
    /// What the parameter of the state is called on the way back; nothing is sent back for the empty text.
    pub state_parameter: &'static str,
    /// What the parameter of an error is called.
    pub error_parameter: &'static str,
    /// What the parameter of its description is called.
    pub description_parameter: &'static str,
    /// The error where a person says no (`access_denied`).
    pub denied: &'static str,
}

impl Callback {
    pub(super) fn new() -> Self {
        Self {
            code_parameter: "code",
            extra: Vec::new(),
            issuer: ReplyIssuer::Right,
            error_issuer: None,
            issuer_promised: true,
            state_parameter: "state",
            error_parameter: "error",
            description_parameter: "error_description",
            denied: "access_denied",
        }
    }
}
