use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(format: Format, accepted: &[&str], refused: &[&str]) {
    for value in accepted {
        assert!(format.accepts(value), "{value:?} is {}", format.as_str());
    }
    for value in refused {
        assert!(!format.accepts(value), "{value:?} is no {}", format.as_str());
    }
}

/// R-FORM-01: the four formats, and no others.
#[test]
fn names_are_those_of_the_schema() {
    for format in [Format::Email, Format::Uri, Format::Date, Format::DateTime] {
        assert_eq!(Format::from_name(format.as_str()), Some(format));
    }
    for name in ["", "Email", "e-mail", "time", "uri-reference", "idn-email", "datetime", "date_time", "password"] {
        assert_eq!(Format::from_name(name), None, "{name}");
    }
}

/// R-FORM-06: the example in each phrase is right.
#[test]
fn what_is_expected_is_accepted() {
    for format in [Format::Email, Format::Uri, Format::Date, Format::DateTime] {
        let (_, example) = format.expected().split_once(" such as ").unwrap();
        assert!(format.accepts(example), "{example}");
    }
}

/// R-FORM-06
#[test]
fn an_email_is_a_mailbox() {
    let local_64 = format!("{}@example.com", "a".repeat(64));
    let local_65 = format!("{}@example.com", "a".repeat(65));
    let label_63 = format!("a@{}.com", "b".repeat(63));
    let label_64 = format!("a@{}.com", "b".repeat(64));
    let long = |last: usize| format!("a@{}{}", format!("{}.", "b".repeat(63)).repeat(3), "c".repeat(last));
    let (length_254, length_255) = (long(60), long(61));
    assert_eq!((length_254.len(), length_255.len()), (254, 255));
    let accepted = [
        "o.c+x@github.com",
        "name@example.com",
        "user@localhost",
        "user@127.0.0.1",
        "a@b",
        "a@b.c",
        "1@2.3",
        "!#$%&'*+-/=?^_`{|}~@example.com",
        "first.last@sub.example.com",
        "USER@EXAMPLE.COM",
        "a@xn--bcher-kva.example",
        "a@a-b.example",
        "a@a--b.example",
        r#""first last"@example.com"#,
        r#""a@b"@example.com"#,
        r#""a..b"@example.com"#,
        r#""a\"b\\"@example.com"#,
        r#"""@example.com"#,
        "a@[127.0.0.1]",
        "a@[IPv6:::1]",
        "a@[ipv6:2001:db8::1]",
        "a@[IPv6:2001:db8:0:0:0:0:192.0.2.1]",
        &local_64,
        &label_63,
        &length_254,
    ];
    let refused = [
        "",
        "nope",
        "@",
        "a@",
        "@example.com",
        "a@@example.com",
        "a@b@example.com",
        "a b@example.com",
        " a@example.com",
        "a@example.com ",
        "a@example.com\n",
        "a@exa mple.com",
        ".a@example.com",
        "a.@example.com",
        "a..b@example.com",
        "a@.example.com",
        "a@example.com.",
        "a@example..com",
        "a@-example.com",
        "a@example-.com",
        "a@example.-com",
        "a@exa_mple.com",
        "a,b@example.com",
        "Name <a@example.com>",
        "a(comment)@example.com",
        r"a\@b@example.com",
        r#""a@example.com"#,
        r#""a"b@example.com"#,
        r#""a""b"@example.com"#,
        r#""a\"@example.com"#,
        "\"a\nb\"@example.com",
        "\"a\tb\"@example.com",
        "jörg@example.com",
        "a@bücher.example",
        "\"ö\"@example.com",
        "a@[127.0.0.300]",
        "a@[127.0.0.1",
        "a@127.0.0.1]",
        "a@[::1]",
        "a@[IPv6:::1%eth0]",
        "a@[IPv6:1.2.3.4]",
        "a@[x:y]",
        "a@[]",
        "a@[é]",
        "mailto:a@example.com",
        &local_65,
        &label_64,
        &length_255,
    ];
    check(Format::Email, &accepted, &refused);
}

/// R-FORM-06
#[test]
fn a_uri_has_a_scheme_and_the_characters_of_rfc_3986() {
    let accepted = [
        "https://example.com",
        "https://example.com/",
        "https://example.com/a/b?c=d&e=f#g",
        "https://example.com?q#f",
        "https://example.com:8443/a",
        "https://example.com:/a",
        "https://user:word@example.com/",
        "https://us%20er@example.com/",
        "http://",
        "file:///etc/hosts",
        "http://[::1]:80/",
        "http://[2001:db8::192.0.2.1]/",
        "http://u@[::1]",
        "http://[v1f.a:b]/",
        "http://127.0.0.1/",
        "http://a%41b/",
        "mailto:a@example.com",
        "urn:isbn:0451450523",
        "tel:+1-816-555-1212",
        "data:text/plain,hello%20there",
        "a:",
        "a:?",
        "a:#",
        "a+b-c.1:x",
        "a:/b//c",
        "a:b@c:d",
        "http://a//b///c",
        "http://a/?a?b/c#d?e/f",
        "http://!$&'()*+,;=._~-/",
        "javascript:alert(1)",
    ];
    let refused = [
        "",
        "example.com",
        "/a/b",
        "//example.com/a",
        "?a",
        "#a",
        ":a",
        "1a:b",
        "+a:b",
        "a_b:c",
        "é:a",
        "a b:c",
        "https://exa mple.com",
        "https://example.com/a b",
        " https://example.com",
        "https://example.com\n",
        "https://example.com/ä",
        "https://bücher.example/",
        "https://example.com/%",
        "https://example.com/%4",
        "https://example.com/%4g",
        "https://example.com/%é1",
        "https://example.com?%zz",
        "https://example.com#%1",
        "https://example.com/a#b#c",
        "https://example.com/<a>",
        "https://example.com/\"",
        "https://example.com/a\\b",
        "https://example.com/{a}",
        "https://example.com/a|b",
        "https://example.com/^`",
        "https://example.com/[a]",
        "https://example.com:80a/",
        "https://example.com:-1/",
        "https://a:b:80/",
        "https://a@b@c/",
        "http://[::1",
        "http://::1]/",
        "http://[::1]a/",
        "http://[::1]]/",
        "http://[1.2.3.4]/",
        "http://[::g]/",
        "http://[fe80::1%25eth0]/",
        "http://[v.a]/",
        "http://[v1.]/",
        "http://[vg.a]/",
        "http://a[::1]/",
        "http://[@]/",
    ];
    check(Format::Uri, &accepted, &refused);
}

/// R-FORM-06
#[test]
fn a_date_is_a_day_of_the_calendar() {
    let accepted = [
        "2026-02-28",
        "2024-02-29",
        "2000-02-29",
        "0000-02-29",
        "0000-01-01",
        "9999-12-31",
        "2026-01-31",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
        "2026-07-31",
        "2026-08-31",
        "2026-09-30",
        "2026-10-31",
        "2026-11-30",
    ];
    let refused = [
        "",
        "2026-02-29",
        "1900-02-29",
        "2100-02-29",
        "2024-02-30",
        "2026-04-31",
        "2026-06-31",
        "2026-09-31",
        "2026-11-31",
        "2026-01-32",
        "2026-00-10",
        "2026-13-10",
        "2026-10-00",
        "2026-1-01",
        "2026-01-1",
        "26-01-01",
        "12026-01-01",
        "+2026-01-01",
        "-2026-01-01",
        "2026/01/01",
        "20260101",
        "2026-001",
        "2026-W01-1",
        " 2026-01-01",
        "2026-01-01 ",
        "2026-01-01\n",
        "2026-01-01T00:00:00Z",
        "2026-01-0১",
        "٢٠٢٦-01-01",
        "2026-01-+1",
        "tomorrow",
    ];
    check(Format::Date, &accepted, &refused);
}

/// R-FORM-06
#[test]
fn a_date_time_has_its_offset() {
    let accepted = [
        "2026-02-28T14:30:00Z",
        "2026-02-28t14:30:00z",
        "2026-02-28T00:00:00+00:00",
        "2026-02-28T23:59:59-23:59",
        "2026-02-28T14:30:00+23:59",
        "2026-02-28T14:30:00-00:00",
        "2026-02-28T14:30:00.5Z",
        "2026-02-28T14:30:00.123456789012345678901234567890+01:00",
        // Second 60: only the last of a month of UTC.
        "1998-12-31T23:59:60Z",
        "1998-12-31T23:59:60.999Z",
        "2016-06-30T23:59:60Z",
        "2024-02-29T23:59:60Z",
        "1998-12-31T15:59:60.123-08:00",
        "1999-01-01T00:59:60+01:00",
        "1999-01-01T05:29:60+05:30",
        "1998-12-31T00:00:60-23:59",
        "1999-01-01T23:58:60+23:59",
        "1998-12-31T23:59:60+00:00",
        "1998-12-30T23:59:60-00:00",
    ];
    let (last, accepted) = accepted.split_last().unwrap();
    let refused = [
        last,
        "",
        "2026-02-28",
        "2026-02-28T14:30:00",
        "2026-02-28T14:30Z",
        "2026-02-28T14Z",
        "2026-02-28 14:30:00Z",
        "2026-02-28_14:30:00Z",
        "2026-02-28T14:30:00 Z",
        "2026-02-29T14:30:00Z",
        "2026-02-28T24:00:00Z",
        "2026-02-28T14:60:00Z",
        "2026-02-28T14:30:61Z",
        "2026-02-28T14:30:00.Z",
        "2026-02-28T14:30:00.",
        "2026-02-28T14:30:00.5",
        "2026-02-28T14:30:00,5Z",
        "2026-02-28T14:30:00+24:00",
        "2026-02-28T14:30:00+01:60",
        "2026-02-28T14:30:00+0100",
        "2026-02-28T14:30:00+01",
        "2026-02-28T14:30:00+1:00",
        "2026-02-28T14:30:00ZZ",
        "2026-02-28T14:30:00Z+01:00",
        "2026-02-28T14:30:00\u{2212}01:00",
        "2026-02-28T14:30:0٣Z",
        "2026-02-28T-4:30:00Z",
        " 2026-02-28T14:30:00Z",
        "2026-02-28T14:30:00Z\n",
        "1998-12-31T22:59:60Z",
        "1998-12-31T23:58:60Z",
        "1998-12-31T23:59:60+01:00",
        "1998-12-31T23:59:60-01:00",
        "2026-02-27T23:59:60Z",
        "1998-12-31T00:59:60+01:00",
        "1998-12-31T00:00:60+23:59",
    ];
    check(Format::DateTime, accepted, &refused);
}

/// The verdict of the crate `jsonschema`.
fn oracle(format: Format, value: &str) -> bool {
    thread_local! {
        static VALIDATORS: std::cell::RefCell<std::collections::HashMap<Format, jsonschema::Validator>> =
            std::cell::RefCell::default();
    }
    VALIDATORS.with_borrow_mut(|validators| {
        let validator = validators.entry(format).or_insert_with(|| {
            let schema = json!({ "type": "string", "format": format.as_str() });
            jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
        });
        validator.is_valid(&json!(value))
    })
}

/// Where we and the crate `jsonschema` differ on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    /// It takes second 60 on any day; RFC 3339, section 5.7, knows it at the end of months.
    LeapSecondInsideMonth,
    /// It takes addresses whose parts are short enough, but that as a whole are longer than the 254
    /// octets that a path leaves (RFC 5321, section 4.5.3.1.3).
    AddressTooLong,
    /// It reads domains as host names of IDNA, where `--` in a label's third and fourth place means
    /// Punycode (RFC 5891, section 4.2.3.1); a mailbox has any letters, digits and hyphens there.
    ReservedLabel,
}

/// Why our verdict may be another one than that of the oracle.
fn difference(format: Format, value: &str) -> Option<Difference> {
    match format {
        Format::DateTime if value.get(17..19) == Some("60") => Some(Difference::LeapSecondInsideMonth),
        Format::Email if value.len() > 254 => Some(Difference::AddressTooLong),
        Format::Email if value.rsplit('@').next().is_some_and(has_reserved_label) => Some(Difference::ReservedLabel),
        _ => None,
    }
}

fn has_reserved_label(domain: &str) -> bool {
    domain.split('.').any(|label| label.get(2..4) == Some("--"))
}

/// Each difference is real.
#[test]
fn each_listed_difference_is_there() {
    let label = "b".repeat(63);
    let long = format!("a@{label}.{label}.{label}.{}", "c".repeat(61));
    let table = [
        (Format::DateTime, "2026-02-27T23:59:60Z", Difference::LeapSecondInsideMonth),
        (Format::Email, long.as_str(), Difference::AddressTooLong),
    ];
    for (format, value, reason) in table {
        assert_eq!(difference(format, value), Some(reason), "{value}");
        assert!(oracle(format, value) && !format.accepts(value), "{value}");
    }
    let reserved = "a@ab--c.example";
    assert_eq!(difference(Format::Email, reserved), Some(Difference::ReservedLabel));
    assert!(Format::Email.accepts(reserved) && !oracle(Format::Email, reserved));
}

fn agree(format: Format, value: &str) -> Result<(), TestCaseError> {
    let (ours, theirs) = (format.accepts(value), oracle(format, value));
    prop_assert!(
        ours == theirs || difference(format, value).is_some(),
        "{} {value:?}: {ours}, the oracle says {theirs}",
        format.as_str()
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// R-FORM-06
    #[test]
    fn emails_are_judged_as_the_oracle_does(
        value in r#"("[ -~]{0,6}"|[a-c.+_"\\ é-]{0,6})@{0,2}([a-c0.é_-]{0,10}|[a-c0.-]{60,66}(\.[a-c]{1,4}){0,3}|\[(IPv6:|ipv6:|x:)?[0-9a-f:.]{0,12}\]?)"#,
    ) {
        agree(Format::Email, &value)?;
    }

    /// R-FORM-06
    #[test]
    fn uris_are_judged_as_the_oracle_does(
        value in r"[a-z0-9+.é-]{0,3}:?(/{0,3}([a-c:@%.]{0,4}@)?([a-c1.%é-]{0,5}|\[[v0-9a-f:.]{0,10}\]?)(:[0-9a]{0,3})?)?([/a-c%2f:@ é\[\]]{0,6})(\?[a-c%41/?#é]{0,4})?(#[a-c%41/?# ]{0,4})?",
    ) {
        agree(Format::Uri, &value)?;
    }

    /// R-FORM-06
    #[test]
    fn dates_are_judged_as_the_oracle_does(value in "(19|20|00)[0-9]{2}[-/]?[01][0-9]-[0-3][0-9٣]( |Z)?") {
        agree(Format::Date, &value)?;
    }

    /// R-FORM-06
    #[test]
    fn date_times_are_judged_as_the_oracle_does(
        value in r"20[0-9]{2}-[01][0-9]-[0-3][0-9][Tt ][012][0-9]:[0-6][0-9]:([0-5][0-9]|60)(\.[0-9]{0,3})?(Z|z|[+-][012][0-9]:?[0-6][0-9])?",
    ) {
        agree(Format::DateTime, &value)?;
    }

    #[test]
    fn second_60_is_taken_where_the_minute_after_it_begins_a_month(
        (year, month) in (1970..2040_i32, 1..=12_u32),
        offset in -1439..1440_i32,
    ) {
        // The last minute of the month at UTC, written at this offset: the day before or after at most.
        let days = |month: u32| match month { 2 if year % 4 == 0 => 29, 2 => 28, 4 | 6 | 9 | 11 => 30, _ => 31 };
        let local = 1439 + offset;
        let (year_then, month_then, day) = match local.div_euclid(1440) {
            0 => (year, month, days(month)),
            1 if month == 12 => (year + 1, 1, 1),
            1 => (year, month + 1, 1),
            _ => unreachable!("an offset of less than a day"),
        };
        let (hour, minute) = (local.rem_euclid(1440) / 60, local % 60);
        let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.abs());
        let value = format!(
            "{year_then:04}-{month_then:02}-{day:02}T{hour:02}:{minute:02}:60{sign}{:02}:{:02}",
            size / 60,
            size % 60
        );
        prop_assert!(Format::DateTime.accepts(&value), "{}", value);
    }

    #[test]
    fn any_text_is_judged_without_a_panic_as_the_oracle_does(value in any::<String>()) {
        for format in [Format::Email, Format::Uri, Format::Date, Format::DateTime] {
            agree(format, &value)?;
        }
    }
}
