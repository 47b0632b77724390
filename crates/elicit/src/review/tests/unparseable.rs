use super::check;

/// R-URL-08, R-URL-09
#[test]
fn what_no_browser_should_open_is_blocked_for_its_reason() {
    check(&[
        ("https://google.com%40evil.example/", "block unparseable percent_encoded_host"),
        ("https://google.com%2Fevil.example/", "block unparseable percent_encoded_host"),
        ("https://google.com\u{ff0f}evil.example/", "block unparseable"),
        ("https://google.com\u{ff20}evil.example/", "block unparseable"),
        ("https://127\u{3002} 0.0.1/", "block unparseable"),
        ("https://\u{5d0}\u{5d1}\u{5d2}.1a.com/", "block bidi_rule_violation"),
        ("https://xn--a-0hc.com/", "block bidi_rule_violation"),
        ("https://example.com:8\u{660}/", "block unparseable"),
        ("\u{feff}https://example.com/", "block relative_url invisible_char_in_raw"),
        ("https://x@/", "block empty_host"),
        ("https://", "block empty_host"),
        ("https:", "block empty_host"),
        ("https:\\\\\\", "block empty_host"),
        ("//", "block relative_url"),
        ("mailto:a@b.com", "block forbidden_scheme"),
        ("blob:https://example.com/1", "block forbidden_scheme"),
        ("smb://EVIL.example/", "block forbidden_scheme"),
        ("ftp://256.1.1.1/", "block forbidden_scheme"),
        ("https://exam\u{2024}ple.com/", "block unparseable"),
        ("https://256.1.1.1/\u{202e}", "block unparseable bidi_control_in_raw"),
        ("https://github.com|evil.example/", "block unparseable"),
        ("https://[::1%25eth0]/", "block unparseable percent_encoded_host"),
        ("https://xn--/x", "block unparseable invalid_punycode"),
        ("https://xn--\u{fc}.com/", "block unparseable invalid_punycode"),
        (" javascript:alert(1)", "block forbidden_scheme"),
        ("\u{1}javascript:alert(1)", "block forbidden_scheme"),
        ("JaVaScRiPt:alert(1)", "block forbidden_scheme"),
        ("https;//example.com", "block relative_url"),
        ("example.com/login", "block relative_url"),
        ("ssh://git@github.com/", "block forbidden_scheme"),
        ("vscode://evil", "block forbidden_scheme"),
        ("chrome://settings", "block forbidden_scheme"),
    ]);
}
