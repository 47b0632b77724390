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

/// R-URL-08: Chinese and Japanese strokes pass for Latin letters and signs between Latin letters.
#[test]
fn strokes_are_read_as_the_letters_they_pass_for() {
    check(&[
        ("https://paypa\u{4e28}.com/", "block skeleton_match:paypal.com punycode"),
        ("https://paypa\u{4e5a}.com/", "block skeleton_match:paypal.com punycode"),
        ("https://g\u{3007}\u{53e3}gle.com/", "block skeleton_match:google.com punycode"),
        ("https://g\u{30ed}ogle.com/", "block skeleton_match:google.com punycode"),
        ("https://g\u{5de5}thub.com/", "block skeleton_match:github.com punycode"),
        ("https://app\u{3163}e.com/", "block skeleton_match:apple.com punycode"),
        ("https://github\u{4e00}login.example/", "warn punycode known_label_embedded:github"),
        ("https://paypal\u{30fc}secure.example/", "warn punycode known_label_embedded:paypal"),
        // A character of many strokes is another one.
        ("https://hello\u{4f60}\u{597d}.com/", "warn punycode"),
        ("https://\u{4e00}\u{53e3}\u{5c71}.com/", "warn punycode"),
        // One edit away, once in Unicode and once as it looks.
        ("https://paypa\u{56fd}.com/", "warn punycode edit_distance_1:paypal.com"),
        ("https://g\u{ec}thubb.com/", "warn punycode edit_distance_1:github.com"),
        ("https://goog\u{142}le.com/", "warn punycode edit_distance_1:google.com"),
    ]);
}

/// R-URL-08
#[test]
fn known_labels_beside_a_promise_are_found() {
    check(&[
        ("https://paypalsecure.com/", "warn known_label_embedded:paypal"),
        ("https://securepaypal.com/", "warn known_label_embedded:paypal"),
        ("https://loginmicrosoft.example/", "warn known_label_embedded:microsoft"),
        ("https://paypalloginverify.example/", "warn known_label_embedded:paypal"),
        ("https://paypal2secure.example/", "warn known_label_embedded:paypal"),
        ("https://payapple.example/", "warn known_label_embedded:apple"),
        ("https://login-paypal2.com/", "warn known_label_embedded:paypal"),
        ("https://login-paypal1.com/", "warn known_label_embedded:paypal"),
        ("https://login-paypal20.com/", "warn known_label_embedded:paypal"),
        ("https://githubauth.evil.example/", "warn known_label_embedded:github"),
        ("https://accounts.google.evil.example/", "warn known_label_embedded:google"),
        ("https://google.accounts.evil.example/", "warn known_label_embedded:google"),
        ("https://secure-login.paypal.evil.example/", "warn known_label_embedded:paypal"),
        ("https://google.login.example/", "warn known_label_embedded:google"),
        ("https://login.paypa1.evil.example/", "warn known_label_embedded:paypal"),
        ("https://login.paypal.xyz/", "warn known_label_embedded:paypal"),
        ("https://paypal.support/", "warn known_label_embedded:paypal"),
        ("https://login.paypal.github.io/", "warn known_label_embedded:paypal private_suffix_registrable"),
    ]);
}

/// R-URL-08
#[test]
fn names_of_their_own_are_left_alone() {
    check(&[
        ("https://githubusercontent.example/", "ok"),
        ("https://login.microsoftonline.com/", "ok"),
        ("https://accounts.google.de/", "ok"),
        ("https://accounts.google.co.uk/", "ok"),
        ("https://github.dev/", "ok"),
        ("https://www.applebees.com/", "ok"),
        ("https://www.googleapis.com/", "ok private_suffix_registrable"),
        ("https://googleadservices.com/", "ok"),
        ("https://pages.github.com/", "ok"),
        ("https://login.github.com/", "ok"),
        ("https://github.example.com/", "ok"),
        ("https://login.example.com/", "ok"),
        ("https://authpay.example/", "ok"),
        ("https://secure.login.example.com/", "ok"),
    ]);
}
