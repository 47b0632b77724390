use super::check;

/// R-URL-08
#[test]
fn what_resembles_a_known_domain_is_found() {
    check(&[
        (
            "https://google.com\u{3002}evil.example",
            "warn host_mapped_to_ascii dot_lookalike known_domain_in_subdomain:google.com",
        ),
        ("https://xn--80ak6aa92e.com.", "block whole_script_confusable skeleton_match:apple.com punycode trailing_dot"),
        ("https://micros0ft.com/", "warn skeleton_match:microsoft.com"),
        ("https://g1thub.com/", "warn digit_lookalike:github.com"),
        ("https://9oogle.com/", "warn digit_lookalike:google.com"),
        ("https://gihtub.com/", "warn edit_distance_1:github.com"),
        ("https://githubb.com/", "warn edit_distance_1:github.com"),
        ("https://github.co/", "warn edit_distance_1:github.com"),
        ("https://github-login.example/", "warn known_label_embedded:github"),
        ("https://secure-paypal.com/", "warn known_label_embedded:paypal"),
        ("https://github.com-login.com/", "warn known_domain_in_subdomain:github.com"),
        ("https://paypa1.com.evil.example/", "warn known_domain_in_subdomain:paypal.com"),
        ("https://p\u{e0}ypal.com/", "block skeleton_match:paypal.com punycode"),
        ("https://\u{440}aypal.com/", "block mixed_script skeleton_match:paypal.com punycode"),
        ("https://gith\u{1d1c}b.com/", "block skeleton_match:github.com punycode"),
        (
            "https://\u{261}ithub.com.evil.example/",
            "warn punycode known_domain_in_subdomain:github.com uncommon_letter",
        ),
        ("https://goo\u{123}le.com/", "block skeleton_match:google.com punycode"),
        ("https://www.github-enterprise.example.com/", "warn known_label_embedded:github"),
        ("https://google.com.evil.example.", "warn trailing_dot known_domain_in_subdomain:google.com"),
        ("https://GITHUB.COM.EVIL.EXAMPLE/", "warn known_domain_in_subdomain:github.com"),
        ("https://www.\u{440}\u{430}ypal.com/", "block mixed_script skeleton_match:paypal.com punycode"),
        ("https://micr\u{3bf}soft.com/", "block mixed_script skeleton_match:microsoft.com punycode"),
    ]);
}
