use super::check;

/// R-URL-08
#[test]
fn the_raw_url_is_compared_with_the_parsed_one() {
    check(&[
        ("https://google.com:password@evil", "block userinfo"),
        ("ht\ntps://github.com/", "block control_or_whitespace_in_raw"),
        ("https://git\thub.com/", "block control_or_whitespace_in_raw"),
        ("https:///x", "block non_canonical_slashes single_label_host"),
        ("https://google.com\\@evil.example/", "block backslash at_sign_outside_authority"),
        ("https://github.com&token=x@evil.example/", "block userinfo"),
        ("https://a\u{200d}b.com/", "block invisible_char_in_raw"),
        ("https://example.com:443@evil.example/", "block userinfo"),
        ("https://example.com/a b", "block control_or_whitespace_in_raw"),
        ("https://example.com/\u{0}x", "block control_or_whitespace_in_raw"),
        ("https://example.com/\u{feff}", "block invisible_char_in_raw"),
        ("https://\u{2170}bm.com/", "warn host_mapped_to_ascii"),
        ("https://exa\u{202e}mple.com:99999/", "block bidi_control_in_raw"),
        ("https://example.com/?goto=\\\\evil.example", "block backslash open_redirect_param"),
        ("https://\u{ff27}ithub.com/", "warn host_mapped_to_ascii"),
        ("https://pay\u{ad}pal.com/", "block invisible_char_in_raw host_mapped_to_ascii"),
        ("https://\u{2160}.com/", "warn host_mapped_to_ascii"),
        ("https://\u{202e}github.com/", "block bidi_control_in_raw"),
        ("https://a.b@c@d.example/", "block userinfo"),
        ("https:/\\/evil.example/", "block backslash non_canonical_slashes"),
        ("https://\\evil.example/", "block backslash non_canonical_slashes"),
    ]);
}
