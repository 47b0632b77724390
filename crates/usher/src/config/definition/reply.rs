//! `[provider.reply]`: what comes back from the token endpoint (kinds 2, 5, 9, 11 and 16).

use std::collections::BTreeMap;
use std::time::Duration;

use super::authorize::separator;
use super::member::{self, Member};
use super::parameters::{choice, duration};
use crate::config::reader::{Node, Table};

/// Where everything stands in the reply (RFC 6749, section 5.1).
#[derive(Clone, Debug)]
pub struct TokenReply {
    /// How it is written (kind 5).
    pub format: Format,
    /// The access token; `access_token` by default (kind 2).
    pub access_token: Member,
    /// The refresh token; `refresh_token` by default (kind 2).
    pub refresh_token: Member,
    /// How long the access token lives; `expires_in` by default (kind 11).
    pub expires: Member,
    /// What that means (kind 11).
    pub expires_as: Expires,
    /// How long it lives where nothing is said; for ever, as far as anybody knows, where this is not given either (kind 9).
    pub lifetime: Option<Duration>,
    /// The scopes that were granted; `scope` by default (kind 2). A string or an array.
    pub scope: Member,
    /// What stands between two of them; by default the same as in the request (kind 1).
    pub scope_separator: char,
    /// What else is kept, by the names that templates and URLs use (kind 16).
    pub fields: BTreeMap<String, Member>,
}

impl Default for TokenReply {
    fn default() -> Self {
        Self {
            format: Format::Json,
            access_token: Member::new("access_token"),
            refresh_token: Member::new("refresh_token"),
            expires: Member::new("expires_in"),
            expires_as: Expires::Seconds,
            lifetime: None,
            scope: Member::new("scope"),
            scope_separator: ' ',
            fields: BTreeMap::new(),
        }
    }
}

/// How a reply is written (kind 5). We ask for JSON in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As JSON; as a form where its media type says so.
    Json,
    /// As a form, whatever its media type says.
    Form,
}

/// What a lifetime means (kind 11). A number may stand in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expires {
    /// In so many seconds: the standard.
    Seconds,
    /// In so many milliseconds.
    Milliseconds,
    /// At this time, in seconds since 1970.
    Unix,
    /// At this time, in milliseconds since 1970.
    UnixMilliseconds,
    /// At this time, as in RFC 3339.
    Time,
}

/// The lifetimes that may be assumed, in seconds: a minute to a year.
const LIFETIME: std::ops::RangeInclusive<u64> = 60..=365 * 24 * 3600;

/// Reads the section. `standard` is what holds where a key is not there.
pub(super) fn read(node: &Node<'_>, standard: &TokenReply, name: &str) -> TokenReply {
    let Some(table) = node.table(name) else { return standard.clone() };
    let reply = TokenReply {
        format: choice(&table, "format", &[("json", Format::Json), ("form", Format::Form)], standard.format),
        access_token: at(&table, "access_token", &standard.access_token),
        refresh_token: at(&table, "refresh_token", &standard.refresh_token),
        expires: at(&table, "expires", &standard.expires),
        expires_as: choice(
            &table,
            "expires_as",
            &[
                ("seconds", Expires::Seconds),
                ("milliseconds", Expires::Milliseconds),
                ("unix", Expires::Unix),
                ("unix_milliseconds", Expires::UnixMilliseconds),
                ("time", Expires::Time),
            ],
            standard.expires_as,
        ),
        lifetime: duration(&table, "lifetime", LIFETIME).or(standard.lifetime),
        scope: at(&table, "scope", &standard.scope),
        scope_separator: separator(&table, standard.scope_separator),
        fields: table.take("fields").map_or_else(|| standard.fields.clone(), |node| member::read_fields(&node)),
    };
    table.close();
    reply
}

pub(super) fn at(table: &Table<'_>, key: &'static str, default: &Member) -> Member {
    table.take(key).and_then(|node| member::read(&node)).unwrap_or_else(|| default.clone())
}
