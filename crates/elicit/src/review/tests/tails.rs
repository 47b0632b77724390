use super::check;

/// R-URL-08
#[test]
fn path_query_and_fragment_are_read() {
    check(&[
        ("https://evil.example/https://google.com", "warn url_in_path"),
        ("https://google.com#@evil.example/", "ok"),
        ("https://google.com/@evil.example/", "warn at_sign_outside_authority"),
        ("https://medium.com/@alice/post", "ok"),
        ("https://example.com/?email=a@b.com", "ok"),
        ("https://login.microsoftonline.com/common/oauth2/v2.0/authorize?client_id=a", "ok"),
        ("https://raw.githubusercontent.com/x", "ok private_suffix_registrable"),
        ("https://example.com/?next=/home", "ok"),
        ("https://example.com/?next=//evil.example/", "warn open_redirect_param"),
        ("https://example.com/?next=https://app.example.com/x", "ok"),
        ("https://example.com/?next=https%253A%252F%252Fevil.example", "warn open_redirect_param"),
        ("https://example.com/?redirect_uri=https://other.example/", "warn open_redirect_param"),
        (
            "https://example.com/authorize?response_type=code&client_id=a&redirect_uri=https%3A%2F%2Fapp.example.org%2Fcb&state=xyz&code_challenge=abc&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdrive&resource=https%3A%2F%2Fmcp.example.org",
            "ok",
        ),
        ("https://example.com/#access_token=abc&token_type=bearer", "warn credential_in_url"),
        ("https://example.com/?api_key=abc", "warn credential_in_url"),
        ("https://example.com/?password=", "ok"),
        ("https://example.com/?x=ghp_0123456789abcdef0123456789abcdef0123", "warn credential_in_url"),
        ("https://example.com/%zz", "warn malformed_percent_encoding"),
        ("https://example.com/100%", "warn malformed_percent_encoding"),
        ("https://example.com/a;calc", "warn shell_metacharacters"),
        ("https://example.com/a;jsessionid=1", "ok"),
        ("https://example.com/a&b", "warn shell_metacharacters"),
        ("https://example.com/`id`", "warn shell_metacharacters raw_differs_from_serialized"),
        ("https://example.com/Foo_(bar)", "ok"),
        ("https://example.com/$metadata?$filter=a", "ok"),
        ("https://example.com/a/../b", "warn raw_differs_from_serialized"),
        ("https://example.com/m\u{fc}nchen", "warn raw_differs_from_serialized"),
        ("https://evil.example/http%3A%2F%2Fgoogle.com", "warn url_in_path"),
        ("https://tinyurl.com/x", "warn url_shortener"),
        ("https://www.bit.ly/x", "warn url_shortener"),
        ("https://example.com/?q=https://www.example.com/", "ok"),
        ("https://example.com/?continue=javascript:alert(1)", "warn open_redirect_param"),
        ("https://example.com/?url=%2F%2Fevil.example", "warn open_redirect_param"),
        ("https://example.com/?redirect_uri=http://localhost:1/", "ok oauth_redirect_uri_loopback"),
        ("https://example.com/?a=1;b", "ok"),
        ("https://example.com/?a=<script>", "warn shell_metacharacters raw_differs_from_serialized"),
        ("https://example.com/?scope=a|b", "warn shell_metacharacters"),
        ("https://example.com?x", "ok"),
        ("https://example.com#x", "ok"),
        ("https://example.com/%2e%2e/x", "warn raw_differs_from_serialized"),
        ("https://example.com/{id}", "warn raw_differs_from_serialized"),
        ("https://example.com/?max_tokens=5&code=abc&token_type=x&id_token_hint=y", "ok"),
        ("https://example.com/?X-Amz-Signature=abc", "warn credential_in_url"),
        ("https://example.com/?oauth_token=abc", "ok"),
    ]);
}

/// R-URL-08: an address after an `@`.
#[test]
fn names_after_an_at_sign_are_told_from_hosts() {
    check(&[
        ("https://google.com/%40evil.example/", "warn at_sign_outside_authority"),
        ("https://google.com/@evil.com", "warn at_sign_outside_authority"),
        ("https://google.com/@evil.com./x", "warn at_sign_outside_authority"),
        ("https://google.com/x@evil.co.uk:443/", "warn at_sign_outside_authority"),
        ("https://google.com/?%40evil.example/", "warn at_sign_outside_authority"),
        ("https://google.com/@a@b@evil.example/", "warn at_sign_outside_authority"),
        ("https://google.com/@www.github.com@evil.example/", "warn at_sign_outside_authority"),
        ("https://medium.com/@john.doe/post", "ok"),
        ("https://medium.com/%40john.doe/post", "ok"),
        ("https://mastodon.social/@alice@example.org", "ok"),
        ("https://mastodon.social/%40alice%40example.org/1", "ok"),
        ("https://example.com/package@1.2.3", "ok"),
        ("https://example.com/@scope/package@latest.js", "ok"),
    ]);
}

/// R-URL-08: what sends a visitor on, and what only asks for authorization.
#[test]
fn requests_of_sign_on_are_told_from_redirects() {
    check(&[
        ("https://cas.example.edu/login?service=https%3A%2F%2Fapp.example.org%2F", "ok"),
        ("https://cas.example.edu/out?service=https%3A%2F%2Fapp.example.org%2F", "warn open_redirect_param"),
        ("https://idp.example.com/sso?SAMLRequest=fZ&RelayState=https://app.example.org/", "ok"),
        ("https://idp.example.com/sso?RelayState=https://app.example.org/&SAMLRequest=fZ", "ok"),
        ("https://idp.example.com/sso?RelayState=https://app.example.org/", "warn open_redirect_param"),
        ("https://trello.com/1/authorize?key=a&response_type=token&return_url=https://app.example.org/", "ok"),
        ("https://trello.com/1/go?key=a&return_url=https://app.example.org/", "warn open_redirect_param"),
        (
            "https://example.com/authorize?response_type=code&client_id=a&redirect_uri=https://app.example.org/&return_url=https://evil.example",
            "warn open_redirect_param",
        ),
        ("https://example.com/?redirect_uri=https://evil.example&client_id=x", "warn open_redirect_param"),
        ("https://example.com/?client_id=x&redirect_uri=https://evil.example", "warn open_redirect_param"),
        ("https://example.com/?client_id=x&redirect_uri=https://app.example.org&response_type=code", "ok"),
        ("https://example.com/?redirect_uri=https://app.example.org&code_challenge=a&client_id=x", "ok"),
        ("https://github.com/login/oauth/authorize?redirect_uri=https://app.example.org/cb&client_id=a", "ok"),
        ("https://example.com/Authorize.aspx?client_id=a&redirect_uri=https://app.example.org", "ok"),
        ("https://example.com/?next=/%09/evil.example", "warn open_redirect_param"),
        ("https://example.com/?next=%0a//evil.example", "warn open_redirect_param"),
        ("https://example.com/?next=ht%0Atps://evil.example", "warn open_redirect_param"),
        ("https://example.com/?next=/%5Cevil.example", "warn open_redirect_param"),
        ("https://example.com/?next=http:evil.example", "warn open_redirect_param"),
        ("https://example.com/?next=https:evil.example", "ok"),
        ("https://example.com/?next=https:", "ok"),
        ("https://8.8.8.8/?next=https://8.8.8.8/x", "warn ip_literal"),
    ]);
}

/// R-URL-03, R-URL-08: what opens a page for whoever holds the link.
#[test]
fn credentials_are_told_by_their_names_and_by_their_form() {
    check(&[
        ("https://www.paypal.com/checkoutnow?token=EC-1AB", "ok"),
        ("https://www.paypal.com/checkoutnow?token=EC-8XX12345AB678901C", "ok"),
        ("https://example.com/?token=0f8fad5b-d9cd-469f-a165-70867728950e", "warn credential_in_url"),
        ("https://example.com/?token=dGhpcyBpcyBhIHRlc3Q%2Bb2YgYmFzZTY0IQ", "warn credential_in_url"),
        ("https://example.com/?token=ghp_0123456789abcdef0123456789abcdef0123", "warn credential_in_url"),
        ("https://example.com/#token=0f8fad5b-d9cd-469f-a165-70867728950e", "warn credential_in_url"),
        ("https://example.com/?x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "warn credential_in_url"),
        ("https://example.com/#x=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "warn credential_in_url"),
        ("https://example.com/?state=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "ok"),
        ("https://example.com/?request=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "ok"),
        ("https://example.com/?id_token_hint=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "ok"),
        ("https://example.com/?code_challenge=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "ok"),
        ("https://a.example.com/b?sv=2024-11-04&se=2026-01-01&sr=b&sig=abc%3D", "warn credential_in_url"),
        ("https://a.example.com/b?sig=YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY%3D", "warn credential_in_url"),
        ("https://a.example.com/b?Expires=1&Signature=abc~&Key-Pair-Id=K1", "warn credential_in_url"),
        ("https://a.example.com/b?sig=abc", "ok"),
        (
            "https://a.example.com/sso?SAMLRequest=fZ&SigAlg=rsa&Signature=YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0",
            "ok",
        ),
        ("https://a.example.com/sso?sso=bm9uY2U&sig=9f86d081884c7d659a2feaa0c55ad015", "ok"),
    ]);
}
