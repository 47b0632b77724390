use insta::assert_snapshot;

use crate::review::{MAX_URL_BYTES, Profile, UrlReview, Verdict};

/// R-URL-06, R-URL-07
#[test]
fn host_and_registrable_domain_are_marked_where_they_stand() {
    // URL; host and registrable domain in the serialised URL; registrable domain in Unicode
    let table = [
        ("https://accounts.google.com/x", "accounts.google.com", Some("google.com"), Some("google.com")),
        ("https://google.com.evil.example/", "google.com.evil.example", Some("evil.example"), Some("evil.example")),
        ("https://a.example.com.:8443/", "a.example.com.", Some("example.com"), Some("example.com")),
        ("https://example.com@evil.example/", "evil.example", Some("evil.example"), Some("evil.example")),
        (
            "https://www.b\u{fc}cher.co.uk./",
            "www.xn--bcher-kva.co.uk.",
            Some("xn--bcher-kva.co.uk"),
            Some("b\u{fc}cher.co.uk"),
        ),
        (
            "https://b\u{fc}cher.b\u{fc}cher.example/",
            "xn--bcher-kva.xn--bcher-kva.example",
            Some("xn--bcher-kva.example"),
            Some("b\u{fc}cher.example"),
        ),
        ("https://8.8.8.8/", "8.8.8.8", None, None),
        ("https://[2606:4700::1]:1/", "[2606:4700::1]", None, None),
        ("https://localhost/", "localhost", None, None),
        ("ftp://user@ftp.example.com/", "ftp.example.com", Some("example.com"), Some("example.com")),
    ];
    for (url, host, registrable, unicode) in table {
        let review = UrlReview::of(url, &Profile::default());
        let shown = review.serialized().unwrap();
        assert_eq!(review.host_range().map(|range| &shown[range]), Some(host), "{url}");
        assert_eq!(review.host_ascii(), Some(host), "{url}");
        assert_eq!(review.registrable_range().map(|range| &shown[range]), registrable, "{url}");
        assert_eq!(review.registrable_domain(), registrable, "{url}");
        let host = review.host_unicode().unwrap();
        assert_eq!(review.registrable_range_unicode().map(|range| &host[range]), unicode, "{url}");
    }
}

/// R-URL-06
#[test]
fn labels_that_cannot_be_seen_stay_ascii() {
    let host = |url| UrlReview::of(url, &Profile::default()).host_unicode().unwrap().to_owned();
    assert_eq!(host("https://ab\u{2800}c.m\u{fc}nchen.de/"), "xn--abc-z96a.m\u{fc}nchen.de");
    assert_eq!(host("https://xn--11b2ezcw70k.com/"), "\u{915}\u{94d}\u{200d}\u{937}.com");
}

/// R-URL-06
#[test]
fn what_has_no_host_marks_none() {
    for url in ["", "//x", "javascript:alert(1)", "https://"] {
        let review = UrlReview::of(url, &Profile::default());
        assert_eq!((review.host_range(), review.registrable_range(), review.host_unicode()), (None, None, None));
        assert_eq!(review.registrable_range_unicode(), None);
    }
}

/// R-URL-08
#[test]
fn what_is_too_long_is_blocked_unread() {
    let within = format!("https://example.com/{}", "a".repeat(MAX_URL_BYTES - 20));
    assert_eq!(within.len(), MAX_URL_BYTES);
    assert_eq!(UrlReview::of(&within, &Profile::default()).verdict(), Verdict::Warn);
    // Longer as it is, or as it is serialised.
    for url in [format!("{within}a"), within.replace('a', "\u{e9}"), "\u{202e}".repeat(MAX_URL_BYTES)] {
        let review = UrlReview::of(&url, &Profile::default());
        assert_eq!(review.findings().iter().map(ToString::to_string).collect::<Vec<_>>(), ["url_too_long"]);
        assert_eq!((review.verdict(), review.serialized()), (Verdict::Block, None));
    }
}

/// R-URL-03: a review can be logged.
#[test]
fn the_debug_form_holds_neither_path_nor_query_nor_fragment() {
    let review = UrlReview::of("https://a.example.com:8443/one?token=two#three", &Profile::default());
    assert_snapshot!(
        format!("{review:?}"),
        @r#"UrlReview { verdict: Warn, host: Some("a.example.com"), findings: [Finding { reason: NonDefaultPort, verdict: Warn }], .. }"#
    );
    let review = UrlReview::of("not a url with a secret", &Profile::default());
    assert!(!format!("{review:#?}").contains("secret"));
}
