use super::*;

/// R-FORM-08, R-FORM-09: what a host could make clickable, and where it begins and ends.
#[test]
fn links_are_found_where_they_stand() {
    let table: &[(&str, &[&str])] = &[
        ("https://example.com", &["https://example.com"]),
        ("Go to https://example.com/a?b=c#d.", &["https://example.com/a?b=c#d"]),
        ("(see HTTP://example.com/x)", &["HTTP://example.com/x"]),
        ("<https://example.com/>", &["https://example.com/"]),
        ("请看https://example.com/登录。", &["https://example.com/登录"]),
        ("[here](javascript:alert(1))", &["javascript:alert(1"]),
        ("JavaScript:alert`1`", &["JavaScript:alert"]),
        ("[here](data:text/html,hello)", &["data:text/html,hello"]),
        ("data:,x", &["data:,x"]),
        ("mailto:someone@example.com", &["mailto:someone@example.com"]),
        ("call tel:+15550100 now", &["tel:+15550100"]),
        ("file:/etc/passwd", &["file:/etc/passwd"]),
        ("file:///etc/passwd", &["file:///etc/passwd"]),
        ("https:example.com", &["https:example.com"]),
        ("ms-settings:privacy", &["ms-settings:privacy"]),
        ("search-ms:query=x", &["search-ms:query=x"]),
        ("magnet:?xt=urn:btih:0", &["magnet:?xt=urn:btih:0"]),
        ("vscode://file/x", &["vscode://file/x"]),
        ("www.example.org", &["www.example.org"]),
        ("WWW.Example.org!", &["WWW.Example.org"]),
        ("example.com/login", &["example.com/login"]),
        ("Open example.dev/login, please", &["example.dev/login"]),
        ("example.co.uk:8443", &["example.co.uk:8443"]),
        ("example.io?next=1", &["example.io?next=1"]),
        ("//example.click/x", &["example.click/x"]),
        ("пример.рф/вход", &["пример.рф/вход"]),
        ("xn--e1afmkfd.xn--p1ai/x", &["xn--e1afmkfd.xn--p1ai/x"]),
        ("请访问example.com/login", &["example.com/login"]),
        ("example.com", &["example.com"]),
        ("EXAMPLE.COM", &["EXAMPLE.COM"]),
        ("at example.org.", &["example.org"]),
        ("example.com or www.example.net", &["example.com", "www.example.net"]),
        ("a https://a.example b https://b.example c", &["https://a.example", "https://b.example"]),
        ("https://someone@example.com", &["https://someone@example.com"]),
        ("evil.zip/login", &["evil.zip/login"]),
        ("Log in at evil.dev", &["evil.dev"]),
        ("EXAMPLE.ORG", &["EXAMPLE.ORG"]),
        ("EXAMPLE.NET, EXAMPLE.IO", &["EXAMPLE.NET", "EXAMPLE.IO"]),
        ("Example.Org and Example.COM", &["Example.Org", "Example.COM"]),
        ("Is it example.io? Yes.", &["example.io"]),
        ("Booking.info or login.example.app", &["Booking.info", "login.example.app"]),
        ("example.co.id and example.co.uk", &["example.co.id", "example.co.uk"]),
        ("123.com", &["123.com"]),
        ("at xn--e1afmkfd.xn--p1ai.", &["xn--e1afmkfd.xn--p1ai"]),
        ("пример.рф", &["пример.рф"]),
        ("请访问evil.dev", &["evil.dev"]),
        ("org.example.com", &["org.example.com"]),
        ("steam:run", &["steam:run"]),
        ("Steam:run/10", &["Steam:run/10"]),
        ("spotify:track:1 slack:open", &["spotify:track:1", "slack:open"]),
        ("about:blank", &["about:blank"]),
        ("shell:startup", &["shell:startup"]),
        ("bitcoin:1abc?amount=1", &["bitcoin:1abc?amount=1"]),
        ("ssh:host", &["ssh:host"]),
        ("web+thing:x x-apple.systempreferences:x", &["web+thing:x", "x-apple.systempreferences:x"]),
    ];
    for (text, expected) in table {
        assert_eq!(links(text).collect::<Vec<_>>(), *expected, "{text}");
    }
}

/// R-FORM-08: ordinary text is no link.
#[test]
fn ordinary_text_holds_no_link() {
    for text in [
        "",
        "e.g. this, i.e. that, etc.",
        "e.g./i.e.",
        "and/or",
        "file.txt",
        "file.txt/other",
        "Node.js",
        "Node.js/Express",
        "3.5",
        "v1.2/v1.3",
        "10.0.0.0/8",
        "127.0.0.1:8080",
        "README.md",
        "main.rs",
        "setup.py and run.sh",
        "config.py",
        "a.zip",
        "lib.so, id_rsa.pub, app.properties, types.d.ts",
        "VB.NET and Paint.NET",
        "Done.It works. Yes.No.",
        "at 7.am or 7.30.am",
        "files.read user.email",
        "org.example.io.app",
        "U.S. P.S. a.m. i.e. z.B.",
        "steam: run",
        "steam:",
        "spotify:, (slack:)",
        "ssh:22",
        "ASP.NET",
        "System.Net",
        "Socket.IO",
        "user.name",
        "order.id",
        "com.example.app",
        "someone@example.com",
        "Write to someone@example.com.",
        "/etc/nginx/example.com/site",
        r"C:\users\example.com\x",
        "Note: this",
        "Note:this",
        "ratio 3:4",
        "12:30",
        "data: see below",
        "the data:see below",
        "metadata:text/html",
        "ports http:80 and https:443",
        "https://",
        "://x",
        "mailto:",
        "std::string",
        "a...b",
        "U.S./U.K.",
        ".com",
        "com/x",
        "C://x",
        "www.",
        "日本語。テスト/テスト",
        "¿Qué?/No",
    ] {
        assert_eq!(links(text).next(), None, "{text}");
    }
}

/// A text of nothing but beginnings of links is read once, not once for each.
#[test]
fn long_texts_of_beginnings_are_read_once() {
    const TIMES: usize = 20_000;
    for (part, found) in [
        ("data:", 0),
        ("a.", 0),
        ("www", 0),
        ("x://", 0),
        ("a@", 0),
        ("é.", 0),
        ("https", 0),
        ("http:", 1),
        ("example.com/", 1),
        ("example.com ", TIMES),
    ] {
        assert_eq!(links(&part.repeat(TIMES)).count(), found, "{part}");
    }
}
