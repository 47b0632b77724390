//! The OAuth protocol towards third parties: a request through the browser, its reply, and what is sent to the token
//! endpoint. It keeps nothing, shows nothing, and knows no interaction: it is told what to send, and says what came back.
//!
//! One [`Server`] is a third party as it is used now, made of a definition of the configuration or of discovered metadata.
//! Where it differs from the standard, its [`Definition`](crate::config::Definition) says so; everything here follows that.
//! Every request goes through `egress`: no redirect is followed, time and size are bounded, and a URL that somebody else
//! chose is looked at first (R-SEC-05).

mod account;
mod authorize;
pub mod challenge;
mod client;
pub mod client_metadata;
pub mod discovery;
mod document;
mod error;
mod exchange;
mod introspect;
mod lifetime;
mod lookup;
mod redirect;
mod refresh;
pub mod registration;
mod reply;
mod request;
mod revoke;
mod scope;
mod server;
#[cfg(test)]
pub(crate) mod site;
mod tokens;

pub use self::account::{CallError, account};
pub use self::authorize::{AuthorizeError, Request, authorize};
pub use self::client::Client;
pub use self::error::TokenError;
pub use self::exchange::{complete, exchange};
pub use self::redirect::{is_issuer_key, issuer_key, redirect_uri, redirect_uri_of_key};
pub use self::refresh::{Held, refresh};
pub use self::reply::{Code, Reply, ReplyFault};
pub use self::revoke::{RevokeError, revoke};
pub use self::server::{Discovered, Server, ServerError};
pub use self::tokens::Tokens;

#[cfg(test)]
mod tests;
