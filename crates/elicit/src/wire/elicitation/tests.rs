use super::*;
use crate::{Form, WireError};

const BOTH: Modes = Modes { form: true, url: true };
const OLDEST: Revision = Revision::V2025_06_18;
const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;
const SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

fn refused(params: &str, revision: Revision) -> ElicitationError {
    Elicitation::parse(params, revision).unwrap_err()
}

fn form(schema: &str) -> Form {
    Form::parse(schema).unwrap()
}

fn url() -> UrlElicitation {
    UrlElicitation::new("Connect your account.", "https://usher.example.com/connect/abc").unwrap()
}

/// R-REQ-02, R-CAP-07: a form without `mode` in every revision; `mode` in none but the newer ones is url.
#[test]
fn the_mode_decides_what_a_question_is() {
    let form = format!(r#"{{"message":"m","requestedSchema":{SCHEMA}}}"#);
    let named = format!(r#"{{"mode":"form","message":"m","requestedSchema":{SCHEMA}}}"#);
    let url = r#"{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"1"}"#;
    for revision in [OLDEST, LEGACY, MODERN] {
        for text in [&form, &named] {
            assert_eq!(Elicitation::parse(text, revision).unwrap().mode(), Mode::Form, "{revision} {text}");
        }
        match Elicitation::parse(url, revision) {
            Ok(read) => assert_eq!(read.mode(), Mode::Url),
            Err(error) => assert_eq!((error, revision), (ElicitationError::NoUrlMode(OLDEST), OLDEST)),
        }
        for mode in ["voice", "URL", ""] {
            // Never a form, though all that a form needs is there.
            let text = format!(r#"{{"mode":"{mode}","message":"m","requestedSchema":{SCHEMA}}}"#);
            let error = refused(&text, revision);
            assert_eq!((error.code(), error), (-32602, ElicitationError::Wire(WireError::UnknownMode)));
        }
    }
    let error = refused(&form, Revision::V2025_03_26);
    assert_eq!((error.code(), error), (-32601, ElicitationError::NoElicitation(Revision::V2025_03_26)));
}

/// R-REQ-01, R-URL-01, R-FORM-02: what is missing or of another kind is named, with -32602.
#[test]
fn a_faulty_question_is_refused_with_its_fault() {
    let table = [
        ("[]", "the elicitation cannot be read: not a JSON object"),
        ("{}", "the elicitation cannot be read: `message` is missing"),
        (r#"{"message":7}"#, "the elicitation cannot be read: `message` has the wrong type"),
        (r#"{"message":"m"}"#, "the elicitation cannot be read: `requestedSchema` is missing"),
        (r#"{"mode":"url","message":"m","elicitationId":"1"}"#, "the elicitation cannot be read: `url` is missing"),
        (r#"{"mode":"url","message":"m","elicitationId":"1","url":"/connect"}"#, "`url` is no absolute URL"),
        (r#"{"mode":"url","message":"m","elicitationId":"1","url":""}"#, "`url` is no absolute URL"),
        (r#"{"mode":"url","message":"m","url":"https://a.example/"}"#, "`elicitationId` is missing or empty"),
    ];
    for (params, text) in table {
        let error = refused(params, LEGACY);
        assert_eq!((error.code(), error.to_string().as_str()), (-32602, text), "{params}");
    }
    let nested = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"who":{"type":"object"}}}}"#;
    let error = refused(nested, LEGACY);
    assert_eq!(error.code(), -32602);
    assert!(error.to_string().contains("/properties/who"), "{error}");
}

/// R-CAP-04
#[test]
fn a_mode_that_we_did_not_declare_is_refused() {
    let read = Elicitation::parse(&format!(r#"{{"message":"m","requestedSchema":{SCHEMA}}}"#), LEGACY).unwrap();
    let error = read.clone().within(Modes { form: false, url: true }).unwrap_err();
    assert_eq!((error.code(), error), (-32602, ElicitationError::Undeclared(Mode::Form)));
    assert_eq!(read.clone().within(BOTH), Ok(read));
}

/// R-REQ-01, R-URL-01, R-CAP-07: each revision in its own words.
#[test]
fn a_question_is_written_in_the_words_of_the_revision() {
    let form = FormElicitation::new(
        "Who?",
        form(r#"{ "type":"object","properties":{"n":{"type":"number","minimum":1.50}} }"#),
    )
    .unwrap();
    insta::assert_snapshot!(form.params(OLDEST).unwrap().get(), @r#"{"message":"Who?","requestedSchema":{ "type":"object","properties":{"n":{"type":"number","minimum":1.50}} }}"#);
    insta::assert_snapshot!(form.params(LEGACY).unwrap().get(), @r#"{"mode":"form","message":"Who?","requestedSchema":{ "type":"object","properties":{"n":{"type":"number","minimum":1.50}} }}"#);
    assert_eq!(form.params(MODERN).unwrap().get(), form.params(LEGACY).unwrap().get());
    let url = url().with_id("abc").unwrap();
    insta::assert_snapshot!(url.params(LEGACY).unwrap().get(), @r#"{"mode":"url","elicitationId":"abc","url":"https://usher.example.com/connect/abc","message":"Connect your account."}"#);
    insta::assert_snapshot!(url.params(MODERN).unwrap().get(), @r#"{"mode":"url","url":"https://usher.example.com/connect/abc","message":"Connect your account."}"#);
    assert_eq!(url.params(OLDEST).unwrap_err(), QuestionError::NoUrlMode(OLDEST));
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        assert!(form.params(revision).is_err(), "{revision}");
        assert_eq!(url.params(revision).unwrap_err(), QuestionError::NoElicitation(revision));
    }
}

/// R-CAP-07: what 2025-06-18 has no words for is not sent.
#[test]
fn several_choices_do_not_go_to_the_oldest_revision() {
    let several = r#"{"type":"object","properties":{"c":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}"#;
    let question = FormElicitation::new("m", form(several)).unwrap();
    assert!(matches!(question.params(OLDEST), Err(QuestionError::Form(_))));
    assert!(question.params(LEGACY).is_ok());
    let titled = r#"{"type":"object","properties":{"c":{"type":"string","oneOf":[{"const":"a","title":"A"}]}}}"#;
    let read = format!(r#"{{"mode":"form","message":"m","requestedSchema":{titled},"x":1e999}}"#);
    let read = Elicitation::parse(&read, LEGACY).unwrap();
    insta::assert_snapshot!(read.params(OLDEST).unwrap().get(), @r#"{"message":"m","requestedSchema":{"type":"object","properties":{"c":{"type":"string","enum":["a"],"enumNames":["A"]}}},"x":1e999}"#);
}

/// R-REQ-01, R-FORM-08
#[test]
fn a_message_says_why_and_holds_no_link() {
    for blank in ["", " \n"] {
        assert_eq!(FormElicitation::new(blank, form(SCHEMA)).unwrap_err(), QuestionError::BlankMessage);
        assert_eq!(UrlElicitation::new(blank, "https://a.example").unwrap_err(), QuestionError::BlankMessage);
    }
    let error = FormElicitation::new("See https://a.example/x for more.", form(SCHEMA)).unwrap_err();
    assert_eq!(error, QuestionError::Link("https://a.example/x".to_owned()));
    assert!(UrlElicitation::new("See https://a.example/x.", "https://a.example").is_ok());
}

/// R-URL-02, R-URL-03: what a careful host would block is not sent; where the page lives in a private network is the
/// asker's choice.
#[test]
fn what_a_review_blocks_is_not_sent() {
    let table = [
        ("http://0x7f.1/", "non_canonical_ip"),
        ("https://%61.example/", "percent_encoded_host"),
        ("https://a..example/", "empty_label"),
        ("https://169.254.169.254/latest", "link_local, metadata_endpoint"),
        ("https://[::ffff:10.0.0.1]/", "ipv4_mapped_ipv6"),
        ("https://0.0.0.0/", "unspecified_ip"),
    ];
    for (text, names) in table {
        let error = UrlElicitation::new("m", text).unwrap_err();
        assert_eq!(error, QuestionError::UrlBlocked(names.to_owned()), "{text}");
    }
    for text in [
        "https://a.example/?access_token=ghp_0123456789abcdef0123",
        "https://a.example/#id_token=x",
        "https://a.example/?x=ghp_0123456789abcdef0123456789abcdef0123",
    ] {
        assert_eq!(UrlElicitation::new("m", text).unwrap_err(), QuestionError::UrlCredential, "{text}");
    }
    for text in [
        "https://usher.corp.internal/connect/1",
        "https://nas.local/",
        "https://10.0.0.1:8443/connect/1",
        "https://[fd00::1]/",
        "https://100.64.0.1/",
        "https://usher/connect/1",
    ] {
        assert_eq!(UrlElicitation::new("m", text).map(drop), Ok(()), "{text}");
    }
}

/// R-URL-01: unique ids need no more.
#[test]
fn ids_are_bounded() {
    let id = "i".repeat(crate::MAX_ELICITATION_ID_BYTES);
    assert!(url().with_id(id.clone()).is_ok());
    let error = url().with_id(format!("{id}i")).unwrap_err();
    assert_eq!(error, QuestionError::Wire(WireError::TooLong("elicitationId")));
    let params =
        |id: &str| format!(r#"{{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"{id}"}}"#);
    assert!(Elicitation::parse(&params(&id), LEGACY).is_ok());
    let error = refused(&params(&format!("{id}i")), LEGACY);
    assert_eq!((error.code(), error), (-32602, WireError::TooLong("elicitationId").into()));
}

/// R-URL-01, R-URL-02, R-URL-03: what we send needs no repair, and is read alike by everyone.
#[test]
fn only_absolute_https_urls_are_sent() {
    let table = [
        ("https://a.example", Ok(())),
        ("https://a.example:8443/p/%C3%A9?q=a@b#f", Ok(())),
        ("http://127.0.0.1:8420/connect/1", Ok(())),
        ("http://[::1]/x", Ok(())),
        ("http://localhost:1/x", Ok(())),
        ("http://usher.localhost/x", Ok(())),
        ("http://a.example/", Err(QuestionError::UrlScheme)),
        ("http://10.0.0.1/", Err(QuestionError::UrlScheme)),
        ("http://localhost.example/", Err(QuestionError::UrlScheme)),
        ("javascript:alert(1)", Err(QuestionError::UrlScheme)),
        ("file:///etc/passwd", Err(QuestionError::UrlScheme)),
        ("https://user@a.example/", Err(QuestionError::UrlUser)),
        ("https://u:p@a.example/", Err(QuestionError::UrlUser)),
        ("https://@a.example/", Err(QuestionError::UrlUser)),
        ("/connect", Err(QuestionError::Url)),
        ("", Err(QuestionError::Url)),
        ("https:a.example", Err(QuestionError::Url)),
        ("https:///a.example", Err(QuestionError::Url)),
        ("https://", Err(QuestionError::Url)),
        (" https://a.example", Err(QuestionError::Url)),
        ("https://a.example/a b", Err(QuestionError::Url)),
        ("https://a.example/\t", Err(QuestionError::Url)),
        ("https:\\\\a.example", Err(QuestionError::Url)),
        ("https://\u{e9}.example/", Err(QuestionError::Url)),
    ];
    for (text, expected) in table {
        assert_eq!(UrlElicitation::new("m", text).map(drop), expected, "{text:?}");
    }
}

#[test]
fn no_url_and_no_message_shows_in_debug() {
    let shown = format!("{:?}", Elicitation::from(url()));
    assert!(!shown.contains("usher.example") && !shown.contains("Connect"), "{shown}");
    let shown = format!("{:?}", FormElicitation::new("Who?", form(SCHEMA)).unwrap());
    assert!(!shown.contains("Who"), "{shown}");
}
