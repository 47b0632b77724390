use super::check;

/// R-URL-02, R-URL-08, R-URL-09
#[test]
fn addresses_are_what_their_numbers_say() {
    check(&[
        ("https://[::ffff:10.0.0.1]/", "block private_ip ipv4_mapped_ipv6"),
        ("https://0x7f.1", "block non_canonical_ip loopback"),
        ("https://[::ffff:8.8.8.8]/", "block ipv4_mapped_ipv6 ip_literal"),
        ("https://[::127.0.0.1]/", "block ipv4_mapped_ipv6 loopback"),
        ("https://[64:ff9b::10.0.0.1]/", "block private_ip"),
        ("https://[64:ff9b::8.8.8.8]/", "warn ip_literal"),
        ("https://[2002:a9fe:a9fe::1]/", "block link_local metadata_endpoint"),
        ("https://[2001:db8::1]/", "warn ip_literal"),
        ("https://[fec0::1]/", "block private_ip"),
        ("https://255.255.255.255/", "block broadcast"),
        ("https://240.0.0.1/", "block private_ip"),
        ("https://198.18.0.1/", "block private_ip"),
        ("https://192.0.2.1/", "warn ip_literal"),
        ("https://127.0.0.1.", "block non_canonical_ip loopback"),
        ("https://127\u{3002}0\u{3002}0\u{3002}1/", "block non_canonical_ip loopback"),
        ("https://%31%32%37.0.0.1/", "block percent_encoded_host loopback"),
        ("https://0/", "block unspecified_ip non_canonical_ip"),
        ("https://1/", "block unspecified_ip non_canonical_ip"),
        ("http://192.168.1.1/admin", "block private_ip insecure_scheme"),
        (
            "http://metadata.google.internal/computeMetadata/v1/",
            "block metadata_endpoint internal_name insecure_scheme",
        ),
        ("https://metadata/", "block metadata_endpoint"),
        ("https://localhost/", "warn loopback"),
        ("https://evil.localhost./", "warn trailing_dot loopback"),
        ("https://192.168.1.5:8443/", "block private_ip non_default_port"),
        ("https://[fd12::1]/", "block unique_local"),
        ("https://[::1]:8080/", "warn loopback non_default_port"),
        ("http://[::1]/", "warn loopback insecure_scheme_loopback"),
        ("http://[::ffff:127.0.0.1]/", "block ipv4_mapped_ipv6 loopback"),
        ("https://[0:0:0:0:0:ffff:a9fe:a9fe]/", "block link_local ipv4_mapped_ipv6 metadata_endpoint"),
        ("https://168.63.129.16/", "block metadata_endpoint ip_literal"),
        ("http://localhost:80/", "warn loopback insecure_scheme_loopback"),
        ("http://0.0.0.0:3000/", "block unspecified_ip insecure_scheme non_default_port"),
        ("http://[::]:3000/", "block unspecified_ip insecure_scheme non_default_port"),
        ("http://127.0.0.2/", "warn loopback insecure_scheme_loopback"),
        ("https://app.localhost:8443/", "warn loopback non_default_port"),
    ]);
}
