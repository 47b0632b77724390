//! What looks like a secret.

use super::*;

/// R-FORM-07: what looks like a secret is stopped on the way out.
#[test]
fn an_answer_that_looks_like_a_secret_is_named() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    let table = [
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", KnownSecret::GitHubToken),
        ("gho_abcdefghijklmnopqrstuvwxyz0123456789", KnownSecret::GitHubToken),
        ("github_pat_11ABCDEFG0123456789_abcdefghijkl", KnownSecret::GitHubToken),
        ("my token is ghp_abcdefghijklmnopqrstuvwxyz0123456789, thanks", KnownSecret::GitHubToken),
        ("sk-proj-abcdefghijklmn0p", KnownSecret::SecretKey),
        ("API_KEY=sk-abcdefghijklmnopqr57", KnownSecret::SecretKey),
        ("xoxb-1234567890-abcdef", KnownSecret::SlackToken),
        ("xoxp-1234567890-abcdef", KnownSecret::SlackToken),
        ("AKIAIOSFODNN7EXAMPLE", KnownSecret::AwsAccessKey),
        ("AIzaSyA-abcdefghijklmnopqrstuvwxyz012345", KnownSecret::GoogleApiKey),
        (jwt, KnownSecret::JsonWebToken),
        ("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", KnownSecret::JsonWebToken),
        ("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==", KnownSecret::Pem),
        ("4111 1111 1111 1111", KnownSecret::CardNumber),
        ("5500-0000-0000-0004", KnownSecret::CardNumber),
        ("378282246310005", KnownSecret::CardNumber),
        ("[ghp_abcdefghijklmnopqrstuvwxyz0123456789]", KnownSecret::GitHubToken),
        ("令牌：ghp_abcdefghijklmnopqrstuvwxyz0123456789。", KnownSecret::GitHubToken),
        ("令牌ghp_abcdefghijklmnopqrstuvwxyz0123456789", KnownSecret::GitHubToken),
        ("{sk-abcdefghijklmnopqr57}", KnownSecret::SecretKey),
        ("AKIAIOSFODNN7EXAMPLE.", KnownSecret::AwsAccessKey),
        ("it is AKIAIOSFODNN7EXAMPLE|us-east-1", KnownSecret::AwsAccessKey),
        ("It is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl. Thanks...", KnownSecret::JsonWebToken),
        ("Visa 4111 1111 1111 1111", KnownSecret::CardNumber),
        ("4111111111111111 12/27", KnownSecret::CardNumber),
        ("4111 1111 1111 1111 12/27 123", KnownSecret::CardNumber),
        ("卡号4111111111111111", KnownSecret::CardNumber),
        ("card: 3782-822463-10005, thanks", KnownSecret::CardNumber),
        ("Room 12 4111-1111-1111-1111.", KnownSecret::CardNumber),
        ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", KnownSecret::CardNumber),
    ];
    for (text, secret) in table {
        assert_eq!(in_value(text), Some(secret), "{text}");
        assert!(!secret.as_str().is_empty());
    }
    for text in [
        "",
        "hello",
        "sk-8 skateboard",
        "ghp_short",
        "AKIA",
        "AKIAlowercaseexampl1",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "12345",
        "a.b.c",
        "eyJ.x.y",
        "https://example.com/a.b.c",
        "555-0100",
        "2026-11-30",
        "task-1234567890123456",
        "AIzaShort",
        "sk-learn-installation-guide",
        "sk-learn-2-installation-guide",
        "sk-internationalization",
        // Order, customer and article numbers, and what programs number.
        "order 1234567890123452",
        "ORD-4111111111111111",
        "order_4111111111111111",
        "https://example.com/orders/4111111111111111",
        "#4111111111111111",
        "4111111111111111-A7",
        "0.4111111111111111",
        "4111111111111111.25",
        "9783161484100",
        "978-3-16-148410-0",
        "4006381333931",
        // Telephones.
        "+4915112345678901",
        "+49 151 1234 5678",
        "(555) 010-0199 555 010 0123",
        // Times.
        "1760000000008",
        "1760000000000007",
        "20261130104536",
        "2026-11-30 10:45:36",
        "2026 11 30 10 45 36",
        // A serial number of a telephone, with the same check digit.
        "490154203237518",
        "41111111-1111-4111-8111-111111111111",
        "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    ] {
        assert_eq!(in_value(text), None, "{text}");
    }
}

/// R-FORM-07
#[test]
fn one_wrong_digit_makes_no_card_number() {
    for digit in ["0", "2", "3", "4", "5", "6", "7", "8", "9"] {
        assert_eq!(in_value(&format!("Visa 4111 1111 1111 111{digit}")), None);
    }
}

/// R-FORM-07, R-URL-03
#[test]
fn json_web_tokens_are_known_by_their_form() {
    for token in [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
        "eyJhbGci.abcd.c.d.e",
        "eyJhbGciOiJkaXIifQ..aXY.Y3Q.dGFn",
    ] {
        assert!(is_json_web_token(token), "{token}");
    }
    for other in ["eyJhbGciOiJIUzI1NiJ9", "a.b.c", "eyJ.a.b", "eyJhbGci.abcd.c.d", "eyJhbGci.a b.c"] {
        assert!(!is_json_web_token(other), "{other}");
    }
}
