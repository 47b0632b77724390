use serde_json::Value;

use super::tokens::nothing;

/// How tokens are revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// RFC 7009, with the client's proof. A refresh token ends the grant, an access token only itself.
    Standard,
    /// `POST …/revoke` with Basic and `{"token":…}` (Notion); ends the grant.
    Json,
    /// `POST …/revoke?token=…` without a client (Google); ends the grant.
    Query,
    /// `DELETE …/applications/{client id}/grant` with Basic and `{"access_token":…}` (GitHub); ends the grant.
    Delete,
    /// `POST …/revoke` with the access token itself as the bearer token (Slack, Dropbox); ends the grant.
    Bearer,
    /// Not at all.
    None,
}

/// How a client learns where the API of its user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiHost {
    /// It is always the same.
    Fixed,
    /// The token answers name it in this member (`instance_url`, Salesforce).
    InReply(&'static str),
    /// By a call: `GET …/api/resources` with the access token answers `[{"id":…,"url":…,"scopes":[…]}]` (Atlassian).
    ByCall,
}

/// Where the metadata of the authorization server can be had, for an issuer with the path `/one`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataPlace {
    /// `/.well-known/oauth-authorization-server/one` (RFC 8414).
    Oauth,
    /// `/.well-known/openid-configuration/one`.
    OpenIdInserted,
    /// `/one/.well-known/openid-configuration` (OpenID Connect Discovery).
    OpenIdAppended,
    /// `/one/.well-known/oauth-authorization-server`, which no standard knows.
    OauthAppended,
}

/// Metadata, revocation, introspection, and the API behind the tokens.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where the metadata is; nowhere for a provider that has none.
    pub metadata_places: Vec<MetadataPlace>,
    /// Put over the metadata; null takes a member out. `issuer` here makes the document say another one than its address.
    pub metadata: Value,
    /// How tokens are revoked.
    pub revocation: Revocation,
    /// Whether there is RFC 7662.
    pub introspection: bool,
    /// How the API is found.
    pub api_host: ApiHost,
    /// The account call is made by POST (Dropbox) and not by GET.
    pub account_by_post: bool,
    /// The header of API calls that the access token stands in as it is, in place of `Authorization: Bearer`.
    pub api_header: Option<&'static str>,
    /// The scope that the account call needs; without it: 403.
    pub account_scope: Option<&'static str>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self {
            metadata_places: vec![MetadataPlace::Oauth, MetadataPlace::OpenIdInserted, MetadataPlace::OpenIdAppended],
            metadata: nothing(),
            revocation: Revocation::Standard,
            introspection: true,
            api_host: ApiHost::Fixed,
            account_by_post: false,
            api_header: None,
            account_scope: None,
        }
    }
}

/// Whether clients can register themselves (RFC 7591).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// There is no endpoint.
    Missing,
    /// Everybody can.
    Open,
    /// There is an endpoint that refuses everybody with this status and error.
    Refused(u16, &'static str),
}

/// Which secret a registration returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisteredSecret {
    /// One where the client asked for a way that needs it.
    AsAsked,
    /// One to everybody. To a client of the way `none` it must not be used: a token request with it is refused.
    Always,
}

/// How clients become known, beside those that a test adds.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Registration.
    pub registration: Registration,
    /// What a registration returns as secret.
    pub secret: RegisteredSecret,
    /// A registered client is forgotten after so many seconds, as `client_secret_expires_at` says.
    pub lasts: Option<i64>,
    /// `application_type` and the redirect URIs have to fit each other (OpenID Connect Registration 1.0, section 2).
    pub types_checked: bool,
    /// A client id that is an https address (http on this machine) is fetched and checked (client id metadata documents);
    /// also in the metadata.
    pub documents: bool,
}

impl Registry {
    pub(super) fn new() -> Self {
        Self {
            registration: Registration::Missing,
            secret: RegisteredSecret::AsAsked,
            lasts: None,
            types_checked: true,
            documents: false,
        }
    }
}
