use std::time::{Duration, Instant};

use crate::review::{MAX_URL_BYTES, Profile, UrlReview};

#[allow(clippy::disallowed_methods, reason = "what is measured is the time itself")]
fn now() -> Instant {
    Instant::now()
}

/// How long a review takes of a URL of so many bytes that repeats `part`.
fn cost(before: &str, part: &str, bytes: usize) -> Duration {
    let url = format!("{before}{}", part.repeat((bytes - before.len()) / part.len()));
    let profile = Profile::default();
    let start = now();
    let review = UrlReview::of(&url, &profile);
    let cost = start.elapsed();
    drop(review);
    cost
}

/// Whether a URL of sixteen times the length costs far less than 256 times as much, as it would if
/// the cost grew with the square. What else the machine does can only make it look worse.
fn is_linear(before: &str, part: &str) -> bool {
    (0..10).any(|_| cost(before, part, MAX_URL_BYTES) < 64 * cost(before, part, MAX_URL_BYTES / 16))
}

/// R-URL-08: whatever a URL repeats, the time is in its length.
#[test]
fn the_cost_grows_with_the_length_only() {
    for (before, part) in [
        ("https://example.com/?", "u=https:&"),
        ("https://example.com/?", "u=//a&"),
        ("https://example.com/?", "redirect_uri=http:a&"),
        ("https://example.com/?", "redirect_uri=http://localhost&"),
        ("https://example.com/?", "service=https%3A%2F%2Fa&"),
        ("https://example.com/oauth/", "oauth/"),
        ("https://example.com/?", "token=a&sig=b&"),
        ("https://example.com/?x=eyJ", ".eyJ"),
        ("https://example.com/?token=", "a1"),
        ("https://example.com/", "@a.b"),
        ("https://example.com/", "%40"),
        ("https://example.com/?", "@a.b&"),
        ("https://", "paypal-login"),
        ("https://", "pay"),
        ("https://", "\u{4e28}a."),
        ("https://", "a\u{a789}"),
    ] {
        assert!(is_linear(before, part), "{part}");
    }
}

/// R-URL-08: what stays on the page's own site is told without resolving it, which would copy the
/// whole URL for each parameter.
#[test]
fn relative_redirects_cost_little_more_than_other_parameters() {
    let cost = |part| cost("https://example.com/?", part, MAX_URL_BYTES);
    let (mut redirects, mut others): (Vec<_>, Vec<_>) = (0..9).map(|_| (cost("u=https:&"), cost("x=https:&"))).unzip();
    redirects.sort_unstable();
    others.sort_unstable();
    // Twice as much, and twenty times if each were resolved.
    assert!(redirects[4] < 7 * others[4], "{redirects:?}, {others:?}");
}
