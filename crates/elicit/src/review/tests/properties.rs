use proptest::prelude::*;
use url::Url;

use crate::review::{Profile, UrlReview, Verdict};

/// What goes into a URL in the hope to confuse.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "https:",
        "http:",
        "javascript:",
        "//",
        "/",
        "\\",
        "/../",
        "?",
        "#",
        "@",
        ":",
        ":443",
        ":22",
        ":0",
        "%",
        "%2e",
        "%00",
        "%zz",
        ".",
        "..",
        "-",
        "_",
        "\t",
        "\n",
        " ",
        "\0",
        "[",
        "]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.0.0.1",
        "0x7f.1",
        "10.0.0.1",
        "169.254.169.254",
        "localhost",
        "google.com",
        "github.com",
        "example",
        "printer.local",
        "xn--",
        "xn--80ak6aa92e.com",
        "xn--a",
        "b\u{fc}cher.example",
        "\u{430}",
        "\u{5d0}",
        "\u{661}",
        "\u{202e}",
        "\u{200b}",
        "\u{200d}",
        "\u{ad}",
        "\u{3002}",
        "\u{ff0f}",
        "\u{2044}",
        "\u{df}",
        "\u{2800}",
        "next=",
        "&",
        "redirect_uri=http://localhost/",
        "api_key=1",
        "=",
        ";",
        "$(",
        "co.uk",
        "github.io",
        "a",
        "1",
    ]);
    prop_oneof![6 => fixed.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

fn url() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(piece(), 0..10).prop_map(|pieces| pieces.concat()).boxed();
    prop_oneof![
        4 => pieces.clone().prop_map(|rest| format!("https://{rest}")),
        1 => pieces.clone().prop_map(|rest| format!("http://localhost{rest}")),
        2 => pieces.prop_map(|rest| format!("https://example.com/{rest}")),
        1 => any::<String>(),
    ]
}

fn hides_something(text: &str) -> bool {
    text.contains(|c: char| {
        c.is_control()
            || c.is_whitespace()
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}' | '\u{ad}' | '\u{2800}' | '\u{feff}')
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// R-URL-08: the verdict is the worst of the findings, which stand in its order.
    #[test]
    fn the_verdict_is_the_worst_finding(url in url()) {
        for profile in [Profile::default(), Profile::dev()] {
            let review = UrlReview::of(&url, &profile);
            let verdicts: Vec<_> = review.findings().iter().map(crate::review::Finding::verdict).collect();
            prop_assert_eq!(review.verdict(), verdicts.iter().copied().max().unwrap_or(Verdict::Ok));
            prop_assert!(verdicts.is_sorted_by(|a, b| a >= b));
            prop_assert_eq!(review.openable().is_none(), review.verdict() == Verdict::Block);
            prop_assert!(review.openable().is_none_or(|openable| Some(openable) == review.serialized()));
        }
    }

    /// R-URL-02, R-URL-09: only https is opened, and http on loopback.
    #[test]
    fn nothing_but_https_and_loopback_is_opened(url in url()) {
        if let Some(openable) = UrlReview::of(&url, &Profile::default()).openable() {
            let parsed = Url::parse(openable).unwrap();
            let host = parsed.host_str().unwrap();
            let loopback = host.starts_with("127.") || host == "[::1]" || host.trim_end_matches('.').ends_with("localhost");
            prop_assert!(parsed.scheme() == "https" || (parsed.scheme() == "http" && loopback), "{}", openable);
            prop_assert!(parsed.username().is_empty() && parsed.password().is_none());
        }
        if let Some(openable) = UrlReview::of(&url, &Profile::dev()).openable() {
            prop_assert!(openable.starts_with("https://") || openable.starts_with("http://"));
        }
    }

    /// R-URL-06: what is shown can be read, and is what is opened: it parses to itself, leads to the
    /// same host, and is as good.
    #[test]
    fn what_is_shown_is_what_is_opened(url in url()) {
        let profile = Profile::default();
        let review = UrlReview::of(&url, &profile);
        let Some(shown) = review.serialized() else {
            return Ok(());
        };
        prop_assert!(shown.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{:?}", shown);
        prop_assert!(!review.host_unicode().is_some_and(hides_something));
        if let Some(openable) = review.openable() {
            prop_assert!(!openable.contains(' '));
            let again = UrlReview::of(openable, &profile);
            prop_assert_eq!(again.openable(), Some(openable));
            prop_assert_eq!(again.host_unicode(), review.host_unicode());
            prop_assert_eq!(again.registrable_domain(), review.registrable_domain());
            prop_assert!(again.verdict() <= review.verdict(), "{:?} after {:?}", again, review);
        }
    }

    /// R-URL-07: the marked parts are parts of each other.
    #[test]
    fn the_marked_parts_are_there(url in url()) {
        let review = UrlReview::of(&url, &Profile::default());
        if let (Some(host), Some(registrable)) = (review.host_range(), review.registrable_range()) {
            prop_assert!(host.start <= registrable.start && registrable.end <= host.end);
            let unicode = review.host_unicode().unwrap();
            let marked = &unicode[review.registrable_range_unicode().unwrap()];
            let dots = |text: &str| text.matches('.').count();
            prop_assert_eq!(dots(marked), dots(review.registrable_domain().unwrap()));
        }
    }

    #[test]
    fn any_text_is_reviewed_and_taken_into_profiles_without_a_panic(text in any::<String>(), url in url()) {
        let _ = UrlReview::of(&text, &Profile::default());
        for text in [&text, &url] {
            let _ = (Profile::default().with_known_domain(text), Profile::default().with_trusted_host(text));
        }
    }
}
