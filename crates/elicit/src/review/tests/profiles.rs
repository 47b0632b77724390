use super::summary;
use crate::review::{Profile, ProfileError, UrlReview, Verdict};

fn reviewed(url: &str, profile: &Profile) -> String {
    summary(&UrlReview::of(url, profile))
}

/// R-URL-02
#[test]
fn development_takes_loopback_and_warns_of_http_and_private_networks() {
    let profile = Profile::dev();
    let table = [
        ("http://localhost:3000/elicit", "ok loopback insecure_scheme_loopback non_default_port"),
        ("http://127.0.0.1:8080/", "ok loopback insecure_scheme_loopback non_default_port"),
        ("https://[::1]/", "ok loopback"),
        ("http://localhost:22/", "warn suspicious_port loopback insecure_scheme_loopback non_default_port"),
        ("http://127.1/", "block non_canonical_ip loopback"),
        ("http://example.com/", "warn insecure_scheme"),
        ("https://example.com:8443/", "warn non_default_port"),
        ("http://192.168.1.5/", "warn private_ip insecure_scheme"),
        ("https://[fd00::1]/", "warn unique_local"),
        ("https://100.64.0.1/", "warn shared_address_space"),
        ("https://printer.local/", "warn internal_name"),
        ("https://169.254.1.1/", "block link_local"),
        ("http://169.254.169.254/", "block link_local metadata_endpoint insecure_scheme"),
        ("https://100.100.100.200/", "block metadata_endpoint shared_address_space"),
        ("http://metadata.google.internal/", "block metadata_endpoint internal_name insecure_scheme"),
        ("file:///etc/passwd", "block forbidden_scheme"),
        ("https://user@example.com/", "block userinfo"),
    ];
    for (url, expected) in table {
        assert_eq!(reviewed(url, &profile), expected, "{url}");
    }
}

/// R-URL-08
#[test]
fn a_trusted_host_may_be_private_and_nothing_else() {
    let trusted = ["Printer.local.", "192.168.1.5", "[fd00::1]", "wiki.bücher.internal"];
    let profile = trusted.iter().try_fold(Profile::default(), |profile, host| profile.with_trusted_host(host)).unwrap();
    let table = [
        ("https://printer.local/", "ok internal_name"),
        ("https://printer.local.:631/", "warn trailing_dot non_default_port internal_name"),
        ("https://wiki.xn--bcher-kva.internal/", "warn punycode internal_name"),
        ("https://192.168.1.5/", "ok private_ip"),
        // The way it is written, the scheme, and other hosts are not trusted.
        ("https://3232235781/", "block non_canonical_ip private_ip"),
        ("http://192.168.1.5/", "block insecure_scheme private_ip"),
        ("https://[::ffff:192.168.1.5]/", "block private_ip ipv4_mapped_ipv6"),
        ("https://a.printer.local/", "block internal_name"),
        ("https://192.168.1.6/", "block private_ip"),
        ("https://user@printer.local/", "block userinfo"),
        // Only names and private addresses are lifted.
        ("https://[fd00::1]/", "block unique_local"),
    ];
    for (url, expected) in table {
        assert_eq!(reviewed(url, &profile), expected, "{url}");
    }
}

/// R-URL-08
#[test]
fn a_deployment_adds_the_domains_it_knows() {
    let profile = Profile::default()
        .with_known_domain("login.usher.example")
        .and_then(|profile| profile.with_known_domain("bücher.example"))
        .and_then(|profile| profile.with_known_domain("go.example"))
        .unwrap();
    let table = [
        ("https://usher.example/", "ok"),
        ("https://a.usher.example./", "warn trailing_dot"),
        ("https://ushor.example/", "warn edit_distance_1:usher.example"),
        ("https://u5her.example/", "warn digit_lookalike:usher.example"),
        ("https://usher.example.evil.example/", "warn known_domain_in_subdomain:usher.example"),
        ("https://usher-login.example/", "warn known_label_embedded:usher"),
        ("https://\u{455}\u{4bb}.com/", "block whole_script_confusable punycode"),
        ("https://xn--bcher-kva.example/", "warn punycode"),
        ("https://b\u{fa}cher.example/", "block skeleton_match:xn--bcher-kva.example punycode"),
        ("https://bucher.example/", "warn skeleton_match:xn--bcher-kva.example"),
        // Short labels have too many neighbours.
        ("https://no.example/", "ok"),
        ("https://go-live.example/", "ok"),
        ("https://g0.example/", "warn skeleton_match:go.example"),
    ];
    for (url, expected) in table {
        assert_eq!(reviewed(url, &profile), expected, "{url}");
    }
}

#[test]
fn what_is_no_host_is_not_taken_into_a_profile() {
    for host in ["", "https://example.com", "example.com:443", "example.com/x", "a b", "a%2eb", "[::1", "user@host"] {
        assert_eq!(Profile::default().with_trusted_host(host).unwrap_err(), ProfileError::NotAHost, "{host}");
        assert_eq!(Profile::default().with_known_domain(host).unwrap_err(), ProfileError::NotAHost, "{host}");
    }
    for host in ["com", "co.uk", "github.io", "localhost", "10.0.0.1", "::1"] {
        assert_eq!(Profile::default().with_known_domain(host).unwrap_err(), ProfileError::NotRegistrable, "{host}");
        assert!(Profile::default().with_trusted_host(host).is_ok(), "{host}");
    }
}

#[test]
fn verdicts_are_ordered() {
    assert!(Verdict::Ok < Verdict::Warn && Verdict::Warn < Verdict::Block);
}
