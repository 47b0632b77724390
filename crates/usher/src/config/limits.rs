//! `[limits]`: how much of everything one client, one user, one server or all together may have (R-SEC-01).

use std::ops::RangeInclusive;

use super::reader::Table;
use super::size::{self, GIB, KIB, MIB};
use super::upstream::Upstream;

/// How much is served. What is beyond is refused, and told when to come back.
///
/// A client is the verified one of one user. Counts of questions, calls, requests, streams, connections and bytes are those
/// of one replica; open questions and sessions are counted in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Questions a minute that one client of a user may cause, over all servers.
    pub client_questions_per_minute: u32,
    /// Questions a minute that a user is asked, over all clients and servers.
    pub user_questions_per_minute: u32,
    /// Questions a minute that one server may cause, over all users.
    pub upstream_questions_per_minute: u32,
    /// Questions of one user that are open at a time.
    pub user_open_questions: u32,
    /// The same of one client of a user, so that it leaves room for the others.
    pub client_open_questions: u32,
    /// Calls of one client that wait for a person at a time.
    pub client_held_calls: u32,
    /// The same for a user, over all clients.
    pub user_held_calls: u32,
    /// The same for all users together.
    pub held_calls: u32,
    /// Sessions of one legacy client, over all servers. One more ends the one that was idle for longest.
    pub client_sessions: u32,
    /// The same for a user, over all clients.
    pub user_sessions: u32,
    /// Sessions of all users together. One more is refused.
    pub sessions: u32,
    /// Requests of one client that are under way at a time, held calls among them, streams apart.
    pub client_requests: u32,
    /// GET streams and subscriptions of one client that are open at a time.
    pub client_streams: u32,
    /// Requests a minute with one key of the API.
    pub api_requests_per_minute: u32,
    /// Requests with one key of the API that wait for an interaction at a time.
    pub api_waits: u32,
    /// The same for all keys together.
    pub api_waits_total: u32,
    /// Connections that are open at a time, those of browsers among them.
    pub connections: u32,
    /// The largest message that is taken from a client, in bytes.
    pub body_size: usize,
    /// What one client may have in memory: messages of calls under way, and large answers that it has not yet read. In bytes.
    pub client_memory: u64,
    /// The same for all clients together.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            client_questions_per_minute: 30,
            user_questions_per_minute: 60,
            upstream_questions_per_minute: 600,
            user_open_questions: 100,
            client_open_questions: 30,
            client_held_calls: 100,
            user_held_calls: 200,
            held_calls: 10_000,
            client_sessions: 100,
            user_sessions: 500,
            sessions: 50_000,
            client_requests: 250,
            client_streams: 100,
            api_requests_per_minute: 600,
            api_waits: 100,
            api_waits_total: 1_000,
            connections: 20_000,
            body_size: 4 * 1024 * 1024,
            client_memory: 64 * MIB,
            memory: 512 * MIB,
        }
    }
}

/// What a count may be.
const COUNT: RangeInclusive<u32> = 1..=1_000_000;

/// Reads the section. Where it is not there, or not right, the defaults stand in.
pub(super) fn read(root: &Table<'_>, upstreams: &[Upstream]) -> Limits {
    let mut limits = Limits::default();
    let most = upstreams.iter().max_by_key(|upstream| upstream.needs.len());
    let Some(table) = root.take("limits").and_then(|node| node.table("[limits]")) else {
        ask_for_all(&limits, most, &|key, message, fix| root.fault("limits", format!("{key}: {message}"), fix));
        return limits;
    };
    for (key, limit) in [
        ("client_questions_per_minute", &mut limits.client_questions_per_minute),
        ("user_questions_per_minute", &mut limits.user_questions_per_minute),
        ("upstream_questions_per_minute", &mut limits.upstream_questions_per_minute),
        ("user_open_questions", &mut limits.user_open_questions),
        ("client_open_questions", &mut limits.client_open_questions),
        ("client_held_calls", &mut limits.client_held_calls),
        ("user_held_calls", &mut limits.user_held_calls),
        ("held_calls", &mut limits.held_calls),
        ("client_sessions", &mut limits.client_sessions),
        ("user_sessions", &mut limits.user_sessions),
        ("sessions", &mut limits.sessions),
        ("client_requests", &mut limits.client_requests),
        ("client_streams", &mut limits.client_streams),
        ("api_requests_per_minute", &mut limits.api_requests_per_minute),
        ("api_waits", &mut limits.api_waits),
        ("api_waits_total", &mut limits.api_waits_total),
        ("connections", &mut limits.connections),
    ] {
        *limit = table.take(key).and_then(|node| node.count(COUNT)).unwrap_or(*limit);
    }
    let sized = |key, range| table.take(key).and_then(|node| size::read(&node, range));
    if let Some(bytes) = sized("body_size", 16 * KIB..=64 * MIB) {
        limits.body_size = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    limits.client_memory = sized("client_memory", MIB..=1024 * GIB).unwrap_or(limits.client_memory);
    limits.memory = sized("memory", MIB..=1024 * GIB).unwrap_or(limits.memory);
    agree(&limits, &table);
    ask_for_all(&limits, most, &|key, message, fix| table.fault(key, message, fix));
    table.close();
    limits
}

/// The largest message must find room, else it would be refused for ever; and calls that wait must leave room for the answer
/// that they wait for.
fn agree(limits: &Limits, table: &Table<'_>) {
    let body = u64::try_from(limits.body_size).unwrap_or(u64::MAX);
    for (key, limit) in [("client_memory", limits.client_memory), ("memory", limits.memory)] {
        if limit < body {
            table.fault(
                key,
                format!("{} has no room for a message of body_size, {}", size::show(limit), size::show(body)),
                format!("give {key} more, or make body_size smaller"),
            );
        }
    }
    if limits.client_requests <= limits.client_held_calls {
        table.fault(
            "client_requests",
            format!("{} has no room beside client_held_calls, {}", limits.client_requests, limits.client_held_calls),
            "make client_requests greater than client_held_calls",
        );
    }
}

/// What a server needs is asked together, so it must fit into each limit of questions, else it would be refused for ever.
/// `most` is the server with the most needs.
fn ask_for_all(limits: &Limits, most: Option<&Upstream>, fault: &dyn Fn(&str, String, String)) {
    let Some(upstream) = most else { return };
    for (key, limit) in [
        ("client_questions_per_minute", limits.client_questions_per_minute),
        ("user_questions_per_minute", limits.user_questions_per_minute),
        ("upstream_questions_per_minute", limits.upstream_questions_per_minute),
        ("user_open_questions", limits.user_open_questions),
        ("client_open_questions", limits.client_open_questions),
    ] {
        let (name, needs) = (&upstream.name, upstream.needs.len());
        if needs > usize::try_from(limit).unwrap_or(usize::MAX) {
            fault(
                key,
                format!("{limit} is too few for the upstream {name}, which needs {needs} credentials at once"),
                format!("make it {needs} or more"),
            );
        }
    }
}
