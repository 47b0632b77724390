//! `[limits]`.

use std::fmt::Write as _;

use super::{Limits, faults, parse, with};

#[test]
fn limits_have_defaults_and_each_can_be_set() {
    assert_eq!(with("").unwrap().limits, Limits::default());
    assert_eq!(with("[limits]").unwrap().limits, Limits::default());
    let text = "[limits]\nclient_questions_per_minute = 1\nuser_questions_per_minute = 2\n\
                upstream_questions_per_minute = 3\nuser_open_questions = 4\nclient_open_questions = 17\n\
                client_held_calls = 5\nuser_held_calls = 6\n\
                held_calls = 7\nclient_sessions = 8\nuser_sessions = 9\nsessions = 10\nclient_requests = 11\n\
                client_streams = 12\nconnections = 13\napi_requests_per_minute = 14\napi_waits = 15\n\
                api_waits_total = 16\nbody_size = \"16KiB\"\nclient_memory = \"1MiB\"\nmemory = \"2GiB\"";
    assert_eq!(
        with(text).unwrap().limits,
        Limits {
            client_questions_per_minute: 1,
            user_questions_per_minute: 2,
            upstream_questions_per_minute: 3,
            user_open_questions: 4,
            client_open_questions: 17,
            client_held_calls: 5,
            user_held_calls: 6,
            held_calls: 7,
            client_sessions: 8,
            user_sessions: 9,
            sessions: 10,
            client_requests: 11,
            client_streams: 12,
            api_requests_per_minute: 14,
            api_waits: 15,
            api_waits_total: 16,
            connections: 13,
            body_size: 16 * 1024,
            client_memory: 1024 * 1024,
            memory: 2 * 1024 * 1024 * 1024,
        }
    );
}

#[test]
fn a_limit_that_is_not_right_is_told_where() {
    for (line, expected) in [
        ("client_sessions = 0", "2:19 limits.client_sessions: 0 is out of range"),
        ("connections = 1000001", "2:15 limits.connections: 1000001 is out of range"),
        ("held_calls = -1", "2:14 limits.held_calls: expected a positive integer, found another"),
        ("held_calls = \"many\"", "2:14 limits.held_calls: expected an integer, found a string"),
        ("body_size = 4194304", "2:13 limits.body_size: expected a string, found an integer"),
        ("body_size = \"4MB\"", "2:13 limits.body_size: \"4MB\" is no size"),
        ("body_size = \"1KiB\"", "2:13 limits.body_size: 1KiB is out of range"),
        ("memory = \"1KiB\"", "2:10 limits.memory: 1KiB is out of range"),
        (
            "body_size = \"8MiB\"\nclient_memory = \"5MiB\"",
            "1:1 limits.client_memory: 5MiB has no room for a message of body_size, 8MiB",
        ),
        ("memory = \"1MiB\"", "1:1 limits.memory: 1MiB has no room for a message of body_size, 4MiB"),
        ("client_requests = 100", "1:1 limits.client_requests: 100 has no room beside client_held_calls, 100"),
        ("client_session = 3", "2:1 limits.client_session: unknown key"),
    ] {
        assert_eq!(faults(with(&format!("[limits]\n{line}"))), expected, "{line}");
    }
    assert_eq!(faults(with("limits = 3")), "1:10 limits: expected a table, found an integer");
}

/// A server whose credentials could never all be asked for is told at start, not to whoever calls it.
#[test]
fn each_limit_of_questions_has_room_for_all_that_a_server_needs() {
    let needs = |count: usize, limits: &str| {
        let mut text = limits.to_owned();
        for number in 0..count {
            write!(text, "[[provider]]\nname = \"p{number}\"\nkind = \"secret\"\n[[provider.field]]\nname = \"key\"\n")
                .unwrap();
        }
        text += "[[upstream]]\nname = \"many\"\nurl = \"https://many.example/mcp\"\n";
        for number in 0..count {
            write!(text, "[[upstream.needs]]\nprovider = \"p{number}\"\nheader = {{ X-{number} = \"{{key}}\" }}\n")
                .unwrap();
        }
        text
    };
    for key in [
        "client_questions_per_minute",
        "user_questions_per_minute",
        "upstream_questions_per_minute",
        "user_open_questions",
        "client_open_questions",
    ] {
        let found = faults(parse(&needs(3, &format!("[limits]\n{key} = 2\n"))));
        let expected = "2 is too few for the upstream many, which needs 3 credentials at once";
        assert_eq!(found, format!("1:1 limits.{key}: {expected}"));
        parse(&needs(2, &format!("[limits]\n{key} = 2\n"))).unwrap();
    }
    let found = faults(parse(&needs(31, "")));
    assert!(found.contains("limits: client_questions_per_minute: 30 is too few for the upstream many"), "{found}");
}
