//! `public_url` and `[listen]`.

use super::{faults, with};

/// R-URL-02, R-SEC-08: both addresses are loopback and one place.
#[test]
fn public_url_and_listen_follow_each_other_or_agree() {
    let both = |lines: &str| {
        let config = with(lines).unwrap();
        (config.public_url.origin().to_owned(), config.listen.to_string())
    };
    let pair = |url: &str, listen: &str| (url.to_owned(), listen.to_owned());
    let url = |url: &str| format!("public_url = \"{url}\"\n");
    let listen = |listen: &str| format!("[listen]\naddress = \"{listen}\"\n");
    assert_eq!(both(&url("http://127.0.0.1:9000")), pair("http://127.0.0.1:9000", "127.0.0.1:9000"));
    assert_eq!(both(&url("http://[::1]:9000")), pair("http://[::1]:9000", "[::1]:9000"));
    assert_eq!(both(&url("http://127.0.0.1")), pair("http://127.0.0.1", "127.0.0.1:80"));
    assert_eq!(both(&listen("[::1]:9000")), pair("http://[::1]:9000", "[::1]:9000"));
    assert_eq!(both(&listen("127.0.0.1:80")), pair("http://127.0.0.1", "127.0.0.1:80"));

    let fault = |lines: &str, expected: &str| {
        let found = faults(with(lines));
        assert!(found.contains(expected), "{lines}\n{found}");
        assert!(!found.contains('\n'), "one fault: {found}");
    };
    let agree = |a: &str, b: &str| url(a) + &listen(b);
    fault(&agree("http://127.0.0.1:9000", "127.0.0.1:9001"), "3:11 listen.address: port 9001 is not the port of");
    fault(&agree("http://127.0.0.1", "127.0.0.1:8080"), "port 8080 is not the port of public_url, 80");
    fault(&agree("http://[::1]:9000", "127.0.0.1:9000"), "127.0.0.1 is not the address of public_url, ::1");
    for wrong in
        ["https://127.0.0.1:8420", "http://usher.example:8420", "http://192.168.0.2:8420", "https://usher.example"]
    {
        fault(&url(wrong), "public_url: identity mode local serves one person");
    }
    for named in ["http://localhost:8420", "http://LOCALHOST", "http://usher.localhost:8420", "https://localhost"] {
        fault(&url(named), "public_url: localhost is two addresses, 127.0.0.1 and [::1]");
        let fix = &with(&url(named)).unwrap_err().0[0].fix;
        assert_eq!(fix, "use \"http://127.0.0.1:8420\"");
    }
    fault(&url("http://127.0.0.1:0"), "port 0");
    fault(&url("http://127.0.0.1:8420/usher"), "has more than scheme, host and port");
    fault(&url("8420"), "is no http or https URL");
    fault(&listen("127.0.0.1:0"), "port 0");
    fault(&listen("192.168.0.2:8420"), "192.168.0.2 is not loopback");
    fault(&listen("[::]:8420"), ":: is not loopback");
    fault(&listen("localhost:8420"), "is no address and port");
    fault("public_url = 1", "expected a string, found an integer");
    fault("listen = \"127.0.0.1:8420\"", "listen: expected a table, found a string");
}
