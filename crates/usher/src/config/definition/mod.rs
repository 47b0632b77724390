//! How a third party's OAuth differs from the standard: what a file of `providers/` says, and a `[[provider]]` of kind
//! `oauth` of its own.
//!
//! The defaults are what RFC 6749, RFC 7636 and RFC 7009 say; each key is a deviation that a provider documents. The kinds
//! of deviations have numbers, by which tests name them. Kind 24, services without OAuth (one key, a key and an account,
//! user and password, several fields, a request that checks them), is a provider of kind `secret`, and not here.

mod address;
mod authorize;
mod call;
mod callback;
pub mod catalogue;
mod errors;
mod input;
mod member;
pub(super) mod parameters;
mod read;
mod refresh;
mod reply;
mod revocation;
mod token;

use std::collections::BTreeMap;

use url::Url;

pub use self::address::Address;
pub use self::authorize::{Authorize, Pkce, ScopeEncoding};
pub use self::call::{Account, Call, Lookup};
pub use self::callback::Callback;
pub use self::errors::Errors;
pub use self::input::{ChosenBy, Input, InputError};
pub use self::member::Member;
pub use self::parameters::Parameters;
pub(super) use self::read::{KEYS, read};
pub use self::refresh::{Refresh, RefreshBy, Rotation};
pub use self::reply::{Expires, Format, TokenReply};
pub use self::revocation::{Proof, Revocation, Revoked};
pub use self::token::{Method, Sent, TokenRequest};
use super::text::Text;

/// What is known of a third party's OAuth.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What people know it by. A file of the catalogue has one.
    pub title: Option<Text>,
    /// What the connection is for.
    pub about: Option<Text>,
    /// The provider's own pages that this was read from. A file of the catalogue has at least one.
    pub documentation: Vec<Url>,
    /// When they were read, `2026-11-30`.
    pub read: Option<String>,
    /// Where an operator registers a client.
    pub register_at: Option<Url>,
    /// The issuer identifier, where it has one (RFC 8414), with placeholders of inputs (kind 21).
    pub issuer: Option<Address>,
    /// What holds of `iss` in replies through the browser (RFC 9207; kind 21).
    pub iss: Iss,
    /// What differs from user to user, or from operator to operator, in its URLs: a host, a shop, a tenant (kind 15).
    pub inputs: Vec<Input>,
    /// Where the browser goes.
    pub authorization_endpoint: Address,
    /// Where codes and refresh tokens are exchanged.
    pub token_endpoint: Address,
    /// Where a token is asked about when its reply does not say how long it lives (RFC 7662; kind 9).
    pub introspection_endpoint: Option<Address>,
    /// The parameter with our client's id; `client_id` by default (kind 18).
    pub client_id_parameter: String,
    /// How our client proves who it is (kind 3).
    pub client_authentication: ClientAuthentication,
    /// Whether a client may also have no secret, and then sends its id alone (kind 3).
    pub public_clients: bool,
    /// How our client comes to be known there (kind 19).
    pub registration: Registration,
    /// Where a client registers itself (RFC 7591), where it does.
    pub registration_endpoint: Option<Address>,
    /// The `resource` of both requests (RFC 8707), where it is expected; elsewhere it is not sent, since some answer it with
    /// `invalid_target` (kind 20).
    pub resource: Option<String>,
    /// The request through the browser (kinds 1, 6, 7 and 8).
    pub authorize: Authorize,
    /// The reply through the browser (kinds 17 and 18).
    pub callback: Callback,
    /// The request with the code (kinds 4, 8 and 10).
    pub token: TokenRequest,
    /// What comes back (kinds 2, 5, 9, 11 and 16).
    pub reply: TokenReply,
    /// How a token is refreshed (kinds 12, 13 and 14).
    pub refresh: Refresh,
    /// What its errors mean (kind 22).
    pub errors: Errors,
    /// How it is told that a grant is not used any more (kind 23); `None` where there is no way.
    pub revocation: Option<Revocation>,
    /// How to find out whose account it is, for "connected as".
    pub account: Option<Account>,
    /// A call after connecting that says more: the host of the API, for example (kind 16).
    pub lookup: Option<Lookup>,
    /// Its scopes in words.
    pub scope_text: BTreeMap<String, Text>,
}

/// What holds of `iss` in a reply through the browser, be it a code or an error (RFC 9207, section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iss {
    /// It is always there, and identical to the issuer.
    Required,
    /// Where it is there, it is identical to the issuer.
    Optional,
    /// No issuer is known that it could be compared with. The redirect URI, which is this provider's alone, tells replies
    /// apart (RFC 9700, section 4.4.2).
    Ignored,
}

/// How a client proves who it is at the token endpoint (RFC 6749, section 2.3.1; kind 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// Not at all: only its id is sent. A secret that a registration gave is left alone.
    None,
    /// In the body.
    Post,
    /// As `Basic`, each part encoded as in a form first.
    Basic,
    /// As `Basic`, as it is. Some compare it without decoding.
    BasicPlain,
}

impl ClientAuthentication {
    /// All of them.
    const ALL: [Self; 4] = [Self::None, Self::Post, Self::Basic, Self::BasicPlain];

    /// The name in files and rows: that of OAuth's registry, where it has one.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Post => "client_secret_post",
            Self::Basic => "client_secret_basic",
            Self::BasicPlain => "client_secret_basic_plain",
        }
    }

    /// The same in the request of a client that registers itself, where nobody knows of what is left alone.
    pub fn as_registered(self) -> &'static str {
        match self {
            Self::BasicPlain => Self::Basic.as_str(),
            other => other.as_str(),
        }
    }

    /// The method of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

/// How our client comes to be known (kind 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// By the configuration where it has one, else by a client ID metadata document where that is advertised and can be read,
    /// else by registration. For kind `mcp`, where it is the default.
    Automatic,
    /// The operator registered it, and wrote its id into the configuration.
    Static,
    /// It registers itself (RFC 7591).
    Dynamic,
    /// Its id is the URL of a document about it, which we serve.
    MetadataDocument,
}

impl Definition {
    /// What templates may use of a connection: the access token, and what else is kept of it.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = vec![ACCESS_TOKEN];
        fields.extend(self.reply.fields.keys().map(String::as_str));
        fields.extend(self.callback.fields.keys().map(String::as_str));
        fields.extend(self.lookup.iter().flat_map(|lookup| lookup.fields.keys()).map(String::as_str));
        fields.extend(self.inputs.iter().map(|input| input.name.as_str()));
        fields
    }

    /// The standard, for a server of which only this is known.
    pub fn standard(authorization_endpoint: Url, token_endpoint: Url) -> Self {
        Self {
            title: None,
            about: None,
            documentation: Vec::new(),
            read: None,
            register_at: None,
            issuer: None,
            iss: Iss::Ignored,
            inputs: Vec::new(),
            authorization_endpoint: Address::of(authorization_endpoint),
            token_endpoint: Address::of(token_endpoint),
            introspection_endpoint: None,
            client_id_parameter: "client_id".to_owned(),
            client_authentication: ClientAuthentication::Basic,
            public_clients: false,
            registration: Registration::Static,
            registration_endpoint: None,
            resource: None,
            authorize: Authorize::default(),
            callback: Callback::default(),
            token: TokenRequest::default(),
            reply: TokenReply::default(),
            refresh: Refresh::default(),
            errors: Errors::default(),
            revocation: None,
            account: None,
            lookup: None,
            scope_text: BTreeMap::new(),
        }
    }
}

/// The field of every connection.
pub const ACCESS_TOKEN: &str = "access_token";
