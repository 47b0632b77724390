//! `[limits]`.

use serde_json::{Map, Value, json};

use super::{
    shapes::{count, size},
    table,
};

const MOST: u32 = 1_000_000;

pub(super) fn section() -> Value {
    let counts = [
        (
            "client_questions_per_minute",
            "Questions a minute that one client of a user may cause, over all servers.",
            30,
        ),
        ("user_questions_per_minute", "Questions a minute that a user is asked, over all clients and servers.", 60),
        ("upstream_questions_per_minute", "Questions a minute that one server may cause, over all users.", 600),
        ("user_open_questions", "Questions of one user that are open at a time.", 100),
        ("client_open_questions", "The same of one client of a user, so that it leaves room for the others.", 30),
        ("client_held_calls", "Calls of one client that wait for a person at a time.", 100),
        ("user_held_calls", "The same for a user, over all clients.", 200),
        ("held_calls", "The same for all users together.", 10_000),
        (
            "client_sessions",
            "Sessions of one legacy client, over all servers. One more ends the one that was idle for longest.",
            100,
        ),
        ("user_sessions", "The same for a user, over all clients.", 500),
        ("sessions", "Sessions of all users together. One more is refused.", 50_000),
        ("client_requests", "Requests of one client that are under way at a time.", 250),
        ("client_streams", "GET streams and subscriptions of one client that are open at a time.", 100),
        ("api_requests_per_minute", "Requests a minute with one key of the API.", 600),
        ("api_waits", "Requests with one key of the API that wait for an interaction at a time.", 100),
        ("api_waits_total", "The same for all keys together.", 1_000),
        ("connections", "Connections that are open at a time.", 20_000),
    ];
    let mut properties: Map<String, Value> = counts
        .into_iter()
        .map(|(key, description, default)| (key.to_owned(), count(description, MOST, default)))
        .collect();
    properties.insert(
        "body_size".to_owned(),
        size("The largest message that is taken from a client.", "16KiB to 64MiB", "4MiB"),
    );
    properties.insert(
        "client_memory".to_owned(),
        size(
            "What one client may have in memory: messages of calls under way, and large answers.",
            "1MiB to 1024GiB",
            "64MiB",
        ),
    );
    properties.insert("memory".to_owned(), size("The same for all clients together.", "1MiB to 1024GiB", "512MiB"));
    table("How much of everything one client, one user, one server or all together may have.", &[], json!(properties))
}
