//! What a provider does, and everything that real providers do otherwise.

mod authorization;
mod server;
mod tokens;

pub use authorization::{Authorization, Callback, Offline, Pkce, ResourceParameter, Separator};
pub use server::{ApiHost, MetadataPlace, RegisteredSecret, Registration, Registry, Revocation, Server};
pub use tokens::{
    ClientAuth, DeadToken, ErrorReply, Expiry, RefreshBy, Refreshing, ReplyBody, RequestBody, Reuse, Rotation, Tokens,
};

use crate::idp::Who;

/// What the provider does. It conforms to the standards until it is told otherwise; everything can be changed while it runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name (RFC 8414), and what its endpoints begin with.
    pub issuer: String,
    /// Who is at the consent page: somebody who presses a button, or always the same person, without a page.
    pub who: Who,
    /// How far its clock is ahead, in seconds.
    pub ahead: i64,
    /// Where a customer has a host of their own (here: a path): the names that exist. The endpoints then stand below
    /// `/t/{name}`, and nowhere else; codes and tokens of one are worth nothing at another. Empty: there is one for all.
    pub tenants: Vec<String>,
    /// The way to the consent page.
    pub authorization: Authorization,
    /// The way back.
    pub callback: Callback,
    /// The exchange of codes, and what all token answers have in common.
    pub tokens: Tokens,
    /// What is special about refreshing.
    pub refreshing: Refreshing,
    /// How errors of the token and revocation endpoints look.
    pub errors: ErrorReply,
    /// Codes of errors that are called otherwise: the standard's, and the provider's
    /// (`("invalid_client", "bad_client_secret")`, Slack).
    pub error_codes: Vec<(&'static str, &'static str)>,
    /// Metadata, revocation, introspection, and the API behind the tokens.
    pub server: Server,
    /// How clients become known.
    pub registry: Registry,
}

impl Settings {
    pub(super) fn new() -> Self {
        Self {
            issuer: String::new(),
            who: Who::Asked,
            ahead: 0,
            tenants: Vec::new(),
            authorization: Authorization::new(),
            callback: Callback::new(),
            tokens: Tokens::new(),
            refreshing: Refreshing::new(),
            errors: ErrorReply::Json,
            error_codes: Vec::new(),
            server: Server::new(),
            registry: Registry::new(),
        }
    }
}
