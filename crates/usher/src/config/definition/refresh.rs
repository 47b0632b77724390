//! `[provider.refresh]`: how a token is refreshed (kinds 12, 13 and 14).

use std::time::Duration;

use super::address::{self, Address};
use super::parameters::{self, Parameters, choice, duration, name, words};
use super::reply::{self, TokenReply};
use super::token::{self, Method, Sent};
use crate::config::reader::Node;

/// How a token is refreshed (RFC 6749, section 6).
#[derive(Clone, Debug)]
pub struct Refresh {
    /// Where, if not at the token endpoint (kind 12).
    pub endpoint: Option<Address>,
    /// By which method.
    pub method: Method,
    /// How the parameters are sent; as in the request with the code by default.
    pub request: Sent,
    /// What is sent to be refreshed (kind 12).
    pub by: RefreshBy,
    /// The parameter that it is sent as; its own name by default (kind 12).
    pub parameter: String,
    /// The `grant_type`; `refresh_token` by default (kind 12).
    pub grant_type: String,
    /// Whatever else it wants to be told.
    pub parameters: Parameters,
    /// Whether the granted scopes are sent again. Some grant fewer without.
    pub scope: bool,
    /// Whether the redirect URI is sent again.
    pub redirect_uri: bool,
    /// What becomes of a refresh token that was used (kind 13).
    pub rotation: Rotation,
    /// For how long after its rotation the old refresh token still works, where that is documented (kind 13).
    pub grace: Option<Duration>,
    /// After how long without use a refresh token dies, where that is documented.
    pub lifetime: Option<Duration>,
    /// What a refresh never changes, whatever its reply says: `scope`, and names of fields (kind 14).
    pub keeps: Vec<String>,
    /// Where everything stands in its reply, where that differs from the first (kind 14).
    pub reply: TokenReply,
}

impl Default for Refresh {
    fn default() -> Self {
        Self {
            endpoint: None,
            method: Method::Post,
            request: Sent::Form,
            by: RefreshBy::RefreshToken,
            parameter: "refresh_token".to_owned(),
            grant_type: "refresh_token".to_owned(),
            parameters: Parameters::new(),
            scope: false,
            redirect_uri: false,
            rotation: Rotation::Possible,
            grace: None,
            lifetime: None,
            keeps: Vec::new(),
            reply: TokenReply::default(),
        }
    }
}

/// What is sent to be refreshed (kind 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshBy {
    /// The refresh token.
    RefreshToken,
    /// The access token, while it is still good.
    AccessToken,
}

/// What becomes of a refresh token that was used (kind 13). Where the reply has no new one, the old one is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// It stays good.
    Never,
    /// A new one may come in its place: what holds where nothing is documented.
    Possible,
    /// A new one comes in its place, and the old one is dead at once, or after the grace.
    Always,
}

const GRACE: std::ops::RangeInclusive<u64> = 0..=24 * 3600;
const LIFETIME: std::ops::RangeInclusive<u64> = 3600..=10 * 365 * 24 * 3600;

/// Reads the section.
pub(super) fn read(node: &Node<'_>, first: &TokenReply, request: Sent) -> Refresh {
    let standard = Refresh { reply: first.clone(), request, ..Refresh::default() };
    let Some(table) = node.table("[provider.refresh]") else { return standard };
    let by = choice(
        &table,
        "by",
        &[("refresh_token", RefreshBy::RefreshToken), ("access_token", RefreshBy::AccessToken)],
        RefreshBy::RefreshToken,
    );
    let own = match by {
        RefreshBy::RefreshToken => "refresh_token",
        RefreshBy::AccessToken => "access_token",
    };
    let refresh = Refresh {
        endpoint: table.take("endpoint").and_then(|node| address::read(&node, "\"https://api.example/oauth/refresh\"")),
        method: token::method(&table, Method::Post),
        request: token::sent(&table, request),
        by,
        parameter: name(&table, "parameter", own),
        grant_type: name(&table, "grant_type", "refresh_token"),
        parameters: table
            .take("parameters")
            .map(|node| parameters::read(&node, "parameters = { expires_in = \"172800\" }"))
            .unwrap_or_default(),
        scope: table.take("scope").and_then(|node| node.boolean()).unwrap_or(false),
        redirect_uri: table.take("redirect_uri").and_then(|node| node.boolean()).unwrap_or(false),
        rotation: choice(
            &table,
            "rotation",
            &[("never", Rotation::Never), ("possible", Rotation::Possible), ("always", Rotation::Always)],
            Rotation::Possible,
        ),
        grace: duration(&table, "grace", GRACE),
        lifetime: duration(&table, "lifetime", LIFETIME),
        keeps: words(&table, "keeps", "\"scope\""),
        reply: table
            .take("reply")
            .map_or_else(|| first.clone(), |node| reply::read(&node, first, "[provider.refresh.reply]")),
    };
    table.close();
    refresh
}
