use super::check;

/// R-URL-08
#[test]
fn names_are_judged_by_their_labels_and_their_end() {
    check(&[
        ("HTTPS://github.com/", "ok"),
        ("https://google.com./", "warn trailing_dot"),
        ("http://printer.local/", "block internal_name insecure_scheme"),
        ("https://localhost.evil.example/", "ok"),
        ("https://github.dev/", "ok"),
        ("https://pineapple.com/", "ok"),
        ("https://google.com.br/", "ok"),
        ("https://google.de/", "ok"),
        ("https://example.com../", "block empty_label trailing_dot"),
        ("https://example..com/", "block empty_label"),
        ("https://./", "block empty_label trailing_dot"),
        ("https://com/", "warn single_label_host host_is_public_suffix"),
        ("https://co.uk/", "warn host_is_public_suffix"),
        ("https://intranet/", "warn single_label_host"),
        ("https://foo.test/", "warn special_use_tld"),
        ("https://foo.bar.example/", "ok"),
        ("https://ec2-1-2-3-4.compute-1.amazonaws.com/", "warn host_is_public_suffix ip_embedded_in_host"),
        ("https://a.b.c.d.e.f.g.com/", "warn many_labels"),
        ("https://a.b.c.d.e.f.com/", "ok"),
        ("https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example/", "warn long_label"),
        ("https://example.com:0/", "warn non_default_port suspicious_port"),
        ("https://example.com:0443/", "warn raw_differs_from_serialized"),
        ("https://user.github.io./", "warn trailing_dot private_suffix_registrable"),
        ("https://github.io.evil.example/", "ok"),
        ("https://a-b.-c.example/", "ok"),
        ("https://abc.onion./", "warn trailing_dot special_use_tld"),
        ("https://home.arpa/", "block internal_name"),
        ("https://router.home.arpa/", "block internal_name"),
        ("https://x.in-addr.arpa/", "warn special_use_tld"),
        ("https://www.gov.uk/", "ok"),
        ("https://example.com:80/", "warn non_default_port"),
        ("https://foo.notatld/", "warn no_known_public_suffix"),
        ("http://localhost.localdomain/", "block insecure_scheme no_known_public_suffix"),
    ]);
}
