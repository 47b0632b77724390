use super::check;

/// R-URL-08
#[test]
fn letters_outside_ascii_are_judged_by_their_looks() {
    check(&[
        ("https://\u{441}\u{43e}\u{441}\u{43e}.\u{440}\u{444}/", "warn punycode"),
        ("https://\u{441}\u{43e}\u{441}\u{43e}.com/", "block whole_script_confusable punycode"),
        ("https://\u{13a0}\u{13d7}.com/", "warn punycode restricted_script"),
        ("https://\u{259}xample.com/", "warn punycode"),
        ("https://l\u{b7}l.cat/", "warn punycode"),
        ("https://google\u{b7}com.example/", "warn punycode dot_lookalike"),
        ("https://\u{30ce}\u{30fc}\u{30c8}.jp/", "warn punycode"),
        ("https://com\u{30ce}login.example/", "block slash_lookalike punycode"),
        ("https://16\u{437}.com/", "warn punycode digit_lookalike"),
        ("https://fa\u{df}.de/", "warn punycode deviation_character"),
        ("https://FA\u{1e9e}.de/", "warn punycode deviation_character"),
        (
            "https://\u{915}\u{94d}\u{200d}\u{937}.com/",
            "block invisible_char_in_raw punycode deviation_character not_identifier_allowed",
        ),
        ("https://xn--11b2ezcw70k.com/", "warn punycode not_identifier_allowed"),
        ("https://\u{5d0}\u{5d1}\u{5d2}.com/", "warn punycode"),
        ("https://\u{5e1}\u{5d5}\u{5e1}.com/", "block whole_script_confusable punycode"),
        ("https://ab\u{2800}c.com/", "block invisible_char_in_raw mixed_script punycode"),
        ("https://\u{1f600}.example/", "warn punycode not_identifier_allowed"),
        ("https://a\u{a4f8}com.example/", "block mixed_script punycode dot_lookalike"),
        ("https://xn--google.com/", "warn punycode uncommon_letter"),
        ("https://b\u{fc}cher\u{3002}example/", "warn punycode dot_lookalike"),
        ("https://xn--mgba3gch31f060k.com/", "warn punycode not_identifier_allowed"),
        ("https://e\u{301}.com/", "warn punycode"),
        ("https://github.com\u{338}evil.example/", "block slash_lookalike punycode"),
    ]);
}

/// R-URL-08
#[test]
fn what_looks_like_the_end_of_a_host_is_found() {
    check(&[
        ("https://github.com\u{a789}443.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{2236}443.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{2d0}443.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{294}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{242}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{266f}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{2317}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{29f5}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{4e36}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{4e3f}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github.com\u{2571}login.evil.example/", "block slash_lookalike punycode"),
        ("https://github\u{2022}com.evil.example/", "warn punycode dot_lookalike not_identifier_allowed"),
        // Between their own kind they are letters and marks.
        ("https://\u{926}\u{941}\u{903}\u{916}.com/", "warn punycode"),
        ("https://\u{4e36}\u{90e8}.com/", "warn punycode"),
        ("https://\u{a4d0}\u{a4f8}\u{a4d1}.com/", "block whole_script_confusable punycode"),
    ]);
}
