//! What a text costs at most, since anybody may have written it.

use std::time::{Duration, Instant};

use super::*;

/// In bytes.
const LONG: usize = 1 << 17;

/// Linear time is a fraction of it, on a machine with other things to do; quadratic time is minutes.
const LIMIT: Duration = Duration::from_secs(5);

#[allow(clippy::disallowed_methods, reason = "what is measured is the time itself")]
fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// R-FORM-07
#[test]
fn time_is_linear_in_the_length_of_a_text() {
    let parts = [
        ("pwd ", ""),
        ("pwd ", "length"),
        ("pwd_name_", ""),
        ("max pwd ", "length"),
        ("token of ", ""),
        ("min 8 ", ""),
        ("a", ""),
        ("aB", ""),
        ("!", "a"),
        ("a!", ""),
        (". ", ""),
        ("的", ""),
        ("密码长度", ""),
        ("密码 长度 ", ""),
        ("令牌数", "x"),
        ("e\u{301}\u{328}\u{301}", ""),
        ("passwort", "länge"),
        ("4111 ", ""),
        ("4", ""),
        ("a.", ""),
        ("sk-", ""),
    ];
    for (part, end) in parts {
        let text = part.repeat(LONG / part.len()) + end;
        let took = time(|| _ = (best(&text, |_| true), in_value(&text)));
        assert!(took < LIMIT, "{part:?}: {took:?}");
    }
}

/// R-FORM-07: a description of a mebibyte, in which each word is looked up, and the last one cancels.
#[test]
fn a_mebibyte_of_secrets_is_read_at_once() {
    let text = "pwd ".repeat(1 << 18) + "length";
    let took = time(|| assert_eq!(best(&text, |_| true), None));
    assert!(took < LIMIT, "{took:?}");
}
