//! An upstream that demands authorization (MCP, "Authorization"): what it asks of a token, and how it says so.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Upstream;
use crate::oauth::{Provider, TokenBook};
use crate::provider::Behaviour;
use crate::record::lock;

/// Which requests need an access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// All of them, `initialize`, listings, GET and DELETE included.
    Everything,
    /// POSTs with these JSON-RPC methods: `tools/call`.
    Methods(Vec<&'static str>),
}

/// Where the metadata of the resource can be had (RFC 9728, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourcePlace {
    /// `/.well-known/oauth-protected-resource/mcp`.
    Inserted,
    /// `/.well-known/oauth-protected-resource`.
    Root,
    /// At this path, which only the challenge names.
    Elsewhere(&'static str),
}

impl ResourcePlace {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Inserted => "/.well-known/oauth-protected-resource/mcp",
            Self::Root => "/.well-known/oauth-protected-resource",
            Self::Elsewhere(path) => path,
        }
    }
}

/// What `resource_metadata` of a challenge says (RFC 9728, section 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeMetadata {
    /// The first place where the document is.
    Right,
    /// It is not there.
    Absent,
    /// This.
    Says(String),
}

/// The metadata of the resource (RFC 9728, section 2).
#[derive(Clone, Debug)]
pub struct ResourceMetadata {
    /// Where it is; nowhere for a server without.
    pub places: Vec<ResourcePlace>,
    /// The resource that it says it is about. `None`: the MCP endpoint, as is right.
    pub resource: Option<String>,
    /// The issuers that it names.
    pub authorization_servers: Vec<String>,
    /// The scopes that it names.
    pub scopes_supported: Option<Vec<&'static str>>,
    /// Put over the document; null takes a member out.
    pub document: Value,
    /// What happens to whoever asks for it; [`Behaviour::Check`] is as usual.
    pub behaviour: Behaviour,
}

/// What an upstream demands. All of it can be changed while it runs.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Whose access tokens are good.
    pub tokens: Vec<TokenBook>,
    /// Which requests need one.
    pub guarded: Guarded,
    /// A token has to be for this very endpoint (RFC 8707), as the metadata names it; else it is refused.
    pub audience: bool,
    /// Every token is refused, however good.
    pub refuses: bool,
    /// What a token has to allow for any guarded request. The challenge names it.
    pub scopes: Vec<&'static str>,
    /// What it has to allow for a tool, prompt or resource of this name; else 403 `insufficient_scope`.
    pub scopes_of: BTreeMap<&'static str, Vec<&'static str>>,
    /// Whether a challenge names scopes.
    pub scope_in_challenge: bool,
    /// Whether a challenge says where the metadata is.
    pub metadata_in_challenge: ChallengeMetadata,
    /// The whole challenge, in place of what it would be; no header for the empty text.
    pub challenge: Option<String>,
    /// The metadata.
    pub metadata: ResourceMetadata,
}

impl Guard {
    /// Demands a token of this provider for everything, as the specification has it.
    pub fn by(provider: &Provider) -> Self {
        Self {
            tokens: vec![provider.token_book()],
            guarded: Guarded::Everything,
            audience: true,
            refuses: false,
            scopes: Vec::new(),
            scopes_of: BTreeMap::new(),
            scope_in_challenge: true,
            metadata_in_challenge: ChallengeMetadata::Right,
            challenge: None,
            metadata: ResourceMetadata {
                places: vec![ResourcePlace::Inserted, ResourcePlace::Root],
                resource: None,
                authorization_servers: vec![provider.issuer()],
                scopes_supported: None,
                document: Value::Object(Map::new()),
                behaviour: Behaviour::Check,
            },
        }
    }

    /// Only calls of tools need a token.
    pub fn calls_only(mut self) -> Self {
        self.guarded = Guarded::Methods(vec!["tools/call"]);
        self
    }

    /// Another provider than before, whose tokens alone are good from now on.
    pub fn move_to(&mut self, provider: &Provider) {
        self.tokens = vec![provider.token_book()];
        self.metadata.authorization_servers = vec![provider.issuer()];
    }

    /// A provider beside the others: its tokens are good too, and the metadata names it last.
    pub fn add(&mut self, provider: &Provider) {
        self.tokens.push(provider.token_book());
        self.metadata.authorization_servers.push(provider.issuer());
    }
}

impl Upstream {
    /// Demands authorization from now on.
    pub fn guard(&self, guard: Guard) -> &Self {
        *lock(&self.inner.guard) = Some(guard);
        self
    }

    /// Changes what it demands. Panics where it demands nothing.
    pub fn change_guard(&self, change: impl FnOnce(&mut Guard)) {
        change(lock(&self.inner.guard).as_mut().expect("an upstream with a guard"));
    }

    /// Demands no authorization any more.
    pub fn unguard(&self) {
        *lock(&self.inner.guard) = None;
    }
}
