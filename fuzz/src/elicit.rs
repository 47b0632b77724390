//! The fuzz targets of `elicit`: each takes any bytes and panics where a promise of the library is broken.
//!
//! A plain module, for two runners: the libFuzzer binaries in `fuzz_targets`, and `crates/elicit/tests/fuzz.rs`, which is a
//! test on stable Rust. So it uses nothing but `elicit` and the standard library.

#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "the name of the method would be that of a type of serde_json"
)]

use std::collections::HashSet;
use std::str;
use std::sync::LazyLock;

use elicit::review::{Finding, Profile, UrlReview, Verdict};
use elicit::text::{self, Limits};
use elicit::{
    Answer, Binding, ClientCapabilities, ClientId, CompleteNotice, Content, Digest, ElicitRequest, ElicitResponse,
    Elicitation, Form, InputRequired, InputResponses, JsonType, MAX_SEALED_BYTES, Mode, Modes, Principal, Random,
    RawObject, ResultType, Revision, Rounds, SealError, StateKey, StateKeys, UrlElicitationRequired, UserId, Value,
    complete_result, mode_of, request_digest,
};

/// The time that sealed state is opened at, in seconds since 1970.
const NOW: u64 = 1_800_000_000;

/// Answers: read, written and read again they say the same.
pub fn answer(input: &[u8]) {
    let Ok(raw) = str::from_utf8(input) else { return };
    let Ok(answer) = Answer::parse(raw) else { return };
    let written = answer.to_json();
    let again = Answer::parse(&written).expect("what was written is an answer");
    assert_eq!(again, answer);
    assert_eq!(again.to_json(), written);
    assert_eq!(answer.consent().action(), answer.action());
    assert!(!answer.consent().to_json().contains("content"), "consent has no content");
    let Some(content) = answer.accepted() else { return };
    for (name, value) in content.iter() {
        assert_eq!(content.get(name), Some(value));
        assert_eq!(
            value.json_type() == JsonType::Null,
            matches!(value, Value::Other(other) if other.as_str() == "null")
        );
    }
}

/// A form, and after an empty line the content of an answer: the form keeps its text, and what fits it once fits it again.
pub fn form(input: &[u8]) {
    let Ok(raw) = str::from_utf8(input) else { return };
    let (schema, content) = raw.split_once("\n\n").unwrap_or((raw, "{}"));
    let form = match Form::parse(schema) {
        Ok(form) => form,
        Err(error) => {
            assert!(!error.faults().is_empty(), "refused without a reason");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert_eq!(form.as_str(), schema);
    let again = Form::parse(form.as_str()).expect("a form is a form");
    assert_eq!(again.fields(), form.fields());
    assert_eq!(again.findings(), form.findings());
    assert_eq!(again.is_closed(), form.is_closed());
    for field in form.fields() {
        assert_eq!(form.field(&field.name), Some(field), "two fields of one name");
    }
    if let Ok(content) = Content::parse(content) {
        check(&form, &content);
    }
    check(&form, &Content::new());
    let found = elicit::secrets::scan(&form);
    assert!(found.len() <= form.fields().len(), "two findings for one field");
}

fn check(form: &Form, content: &Content) {
    let accepted = match form.check_content(content) {
        Ok(accepted) => accepted,
        Err(faults) => {
            assert!(faults.iter().next().is_some(), "refused without a reason");
            assert!(!faults.to_string().is_empty());
            return;
        }
    };
    for field in form.fields() {
        match accepted.get(&field.name) {
            Some(value) => assert!(field.check(value).is_empty() && content.get(&field.name) == Some(value)),
            None => assert!(!field.required && content.get(&field.name).is_none()),
        }
    }
    let kept = accepted.to_content();
    assert_eq!(Content::parse(&accepted.to_json()).as_ref(), Ok(&kept));
    let again = form.check_content(&kept).expect("what fits once fits again");
    assert_eq!(again.to_content(), kept);
    assert!(kept.len() == content.len() || !form.is_closed(), "a closed form took what it did not ask for");
}

/// Sealed state: what comes never opens; what is sealed opens as it was, and not when one character differs.
pub fn state(input: &[u8]) {
    let keys = StateKeys::new(StateKey::new("k2", [2; 32])).with(StateKey::new("k1", [1; 32]));
    let binding = binding();
    if let Ok(text) = str::from_utf8(input) {
        assert!(keys.open(text, &binding, NOW).is_err(), "a state opened that nobody sealed");
        if let Ok(ring) = StateKeys::parse(text) {
            let ids: HashSet<&str> = ring.ids().collect();
            assert_eq!(ids.len(), ring.ids().count(), "an id stands twice");
            assert!(!ids.is_empty() && !ids.contains(""));
        }
    }
    let Some(([place, substitute], payload)) = input.split_first_chunk() else { return };
    let sealed = match keys.seal(&binding, payload, NOW + 1, &Fixed) {
        Ok(sealed) => sealed,
        Err(error) => {
            assert_eq!(error, SealError::TooLarge);
            assert!(payload.len() > StateKeys::MAX_PAYLOAD_BYTES, "{} bytes are not too many", payload.len());
            return;
        }
    };
    assert!(sealed.len() <= MAX_SEALED_BYTES);
    let opened = keys.open(&sealed, &binding, NOW).expect("what was sealed opens");
    assert_eq!(opened.as_slice(), payload);
    assert!(keys.open(&sealed, &binding, NOW + 1).is_err(), "an expired state opened");

    // The place is a share of the length, so that every part of the layout is met.
    let place = usize::from(*place) * sealed.len() / 256;
    let mut changed = sealed.clone();
    changed.replace_range(place..=place, &char::from(substitute & 0x7f).to_string());
    if changed != sealed {
        assert!(keys.open(&changed, &binding, NOW).is_err(), "a changed state opened");
    }
    changed.truncate(place);
    assert!(keys.open(&changed, &binding, NOW).is_err(), "a shortened state opened");
}

fn binding() -> Binding {
    Binding {
        principal: Principal {
            user: UserId::new("https://id.example.com", "7").expect("a user"),
            client: ClientId::new("editor").expect("a client"),
        },
        upstream: "weather".to_owned(),
        method: "tools/call".to_owned(),
        digest: request_digest("tools/call", Some(r#"{"name":"forecast"}"#)).expect("a digest"),
    }
}

/// The same bytes each time, so that an input does the same each time.
struct Fixed;

impl Random for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0x5a);
    }
}

/// Texts of a server: what was cleaned is clean, and shows nothing that cannot be seen.
pub fn text(input: &[u8]) {
    let Ok(raw) = str::from_utf8(input) else { return };
    let limits = Limits::default();
    let cleaned = text::clean(raw);
    assert_eq!(text::clean(&cleaned), cleaned, "cleaned twice it is another text");
    assert!(cleaned.chars().count() <= limits.characters && cleaned.split('\n').count() <= limits.lines);
    assert!(cleaned.split('\n').all(|line| line.chars().count() <= limits.line));
    assert_eq!(cleaned.chars().find(|character| *character != '\n' && is_unseen(*character)), None);

    // Small limits are met by small inputs. The first byte chooses them, so that one input does one thing.
    let size = input.first().map_or(0, |byte| usize::from(*byte));
    let small = Limits { characters: size * 2, lines: size / 16, line: size };
    let cut = text::clean_with(raw, &small);
    assert_eq!(text::clean_with(&cut, &small), cut, "cut twice it is another text");
    assert!(cut.chars().count() <= small.characters.max(32) && cut.split('\n').count() <= small.lines.max(1));

    let line = text::line(raw, size);
    assert_eq!(text::line(&line, size), line, "one line twice is another line");
    assert!(line.chars().count() <= size.max(1) && line.trim_matches(' ') == line);
    assert_eq!(line.chars().find(|character| is_unseen(*character)), None);

    let mut rest = raw;
    for link in text::links(raw) {
        let (_, after) = rest.split_once(link).expect("links are parts of the text, in its order");
        assert!(!link.is_empty());
        rest = after;
    }
}

/// Controls, line separators, bidi controls and spaces without width. Joiners, selectors and tags are kept in some places.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(character, '\u{ad}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0001}')
}

/// What does not depend on the input.
static PROFILE: LazyLock<Profile> = LazyLock::new(Profile::default);

/// URLs: what may be opened is https, or http on loopback, is what is shown, and bears a second look.
pub fn url(input: &[u8]) {
    let Ok(raw) = str::from_utf8(input) else { return };
    let review = UrlReview::of(raw, &PROFILE);
    let verdicts: Vec<Verdict> = review.findings().iter().map(Finding::verdict).collect();
    assert!(verdicts.is_sorted_by(|one, next| one >= next), "what is worse stands first");
    assert_eq!(review.verdict(), verdicts.first().copied().unwrap_or_default());
    let Some(shown) = review.serialized() else {
        assert_eq!(review.verdict(), Verdict::Block, "a URL that cannot be parsed");
        assert!(review.openable().is_none() && review.host_ascii().is_none() && review.host_unicode().is_none());
        return;
    };
    parts(&review, shown);
    assert_eq!(review.openable(), (review.verdict() < Verdict::Block).then_some(shown));
    let Some(opened) = review.openable() else { return };
    assert!(opened.bytes().all(|byte| byte.is_ascii_graphic()), "not printable ASCII: {opened:?}");
    let host = review.host_ascii().expect("what is opened has a host");
    let (scheme, rest) = opened.split_once("://").expect("what is opened has an authority");
    assert!(scheme == "https" || (scheme == "http" && is_loopback(host)), "{opened} may be opened");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    assert!(
        authority.starts_with(host) && !authority.contains(['@', '\\']),
        "{authority:?} is more than host and port"
    );

    let again = UrlReview::of(opened, &PROFILE);
    assert_eq!(again.openable(), Some(opened), "what is opened would be refused by itself");
    assert_eq!(again.host_ascii(), Some(host));
}

/// Host and registrable domain are the parts of what is shown that they are said to be.
fn parts(review: &UrlReview, shown: &str) {
    let (host, range) = (review.host_ascii(), review.host_range());
    assert_eq!(range.clone().map(|range| &shown[range]), host);
    assert_eq!(review.host_unicode().is_some(), host.is_some());
    let Some(domain) = review.registrable_domain() else { return };
    let (host, range) = (host.expect("a domain is of a host"), range.expect("a host is somewhere"));
    let registrable = review.registrable_range().expect("a domain is somewhere");
    assert_eq!(&shown[registrable.clone()], domain);
    assert!(range.start <= registrable.start && registrable.end <= range.end);
    let host = host.trim_end_matches('.');
    assert!(host == domain || host.ends_with(&format!(".{domain}")), "{domain} is not the end of {host}");
    let unicode = review.registrable_range_unicode().expect("a domain has two forms");
    let unicode = &review.host_unicode().expect("a host has two forms")[unicode];
    assert_eq!(unicode.matches('.').count(), domain.matches('.').count());
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_end_matches('.');
    let address =
        host.strip_prefix("127.").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    address || host == "[::1]" || name == "localhost" || name.ends_with(".localhost")
}

/// Messages: an object that is read and written keeps its meaning, and an edit touches one member.
pub fn wire(input: &[u8]) {
    let Ok(raw) = str::from_utf8(input) else { return };
    for method in elicit::ASKING_METHODS {
        let _ = request_digest(method, Some(raw));
    }
    let _ = (Digest::of_json(raw), mode_of(Some(raw)));
    let Ok(object) = RawObject::parse(raw) else {
        assert!(InputResponses::parse(raw).is_err() && ClientCapabilities::parse(raw).is_err());
        assert!(InputRequired::parse(raw).is_err() && complete_result(raw).is_err());
        return;
    };
    let text = object.to_json();
    assert!(text.len() <= raw.len(), "writing adds nothing");
    let again = RawObject::parse(&text).expect("what was written is an object");
    assert_eq!(again.to_json(), text);
    assert_eq!(Digest::of_json(&text), Digest::of_json(raw), "the meaning changed");
    edits(&object, &text);
    results(raw, &object);
    responses(raw, &text);
    capabilities(raw);
    questions(raw);
    messages(raw);
}

/// Questions: what is read can be written for its revision, and what is written reads as the same question.
fn questions(raw: &str) {
    for revision in Revision::ALL {
        let Ok(question) = Elicitation::parse(raw, *revision) else { continue };
        assert_eq!(question.raw(), Some(raw), "a question lost its text");
        assert!(question.clone().within(Modes::NONE).is_err(), "an undeclared mode was taken");
        let Ok(params) = question.params(*revision) else { continue };
        let again = Elicitation::parse(params.get(), *revision).expect("what was written is a question");
        assert_eq!((again.mode(), again.message()), (question.mode(), question.message()));
    }
    if let Ok(Some(required)) = UrlElicitationRequired::parse(raw) {
        assert!(required.elicitations().iter().all(|elicitation| elicitation.id().is_some()));
        let client = ClientCapabilities::parse(r#"{"elicitation":{"url":{}}}"#).expect("capabilities");
        let error = required.error_for(&client, Revision::V2025_11_25).expect("what was read can be sent");
        assert_eq!(error.get(), raw, "an error lost its text");
    }
}

/// Whole messages of the legacy era.
fn messages(raw: &str) {
    let both = Modes { form: true, url: true };
    if let Ok(Some(request)) = ElicitRequest::parse(raw) {
        for revision in Revision::ALL {
            if let Err(error) = request.elicitation(*revision, both) {
                assert!(RawObject::parse(&request.refusal(&error)).is_ok(), "a refusal is no object");
            }
        }
    }
    let _ = ElicitResponse::parse(raw);
    if let Ok(Some(notice)) = CompleteNotice::parse(raw) {
        assert_eq!(CompleteNotice::parse(&notice.to_json()), Ok(Some(notice)));
    }
    let _ = Rounds::new(raw);
}

/// Setting and removing: nothing else moves.
fn edits(object: &RawObject<'_>, text: &str) {
    let mut edited = object.clone();
    let had = edited.contains("mode");
    edited.set("mode", "1e999".to_owned());
    assert!(edited.contains("mode") && edited.get("mode").is_none());
    let with = edited.to_json();
    let read = RawObject::parse(&with).expect("an edited object is an object");
    assert_eq!(read.get("mode").map(|value| value.get()), Some("1e999"));
    assert!(edited.remove("mode") && !edited.contains("mode") && !edited.remove("mode"));
    if !had {
        assert_eq!(edited.to_json(), text);
    }
}

/// Results: told apart, completed at most once, and the questions of a round are under keys of their own.
fn results(raw: &str, object: &RawObject<'_>) {
    let completed = complete_result(raw).expect("an object can be completed");
    assert_eq!(complete_result(&completed).as_deref(), Ok(completed.as_str()));
    let kind = ResultType::of(object);
    let Ok(Some(required)) = InputRequired::parse(raw) else {
        return;
    };
    assert_eq!(kind, Ok(ResultType::InputRequired));
    assert!(!required.requests.is_empty() || object.contains("inputRequests") || required.request_state.is_some());
    let keys: HashSet<_> = required.requests.iter().map(|request| &request.key).collect();
    assert_eq!(keys.len(), required.requests.len(), "a key was used twice");
    for request in &required.requests {
        assert!(RawObject::parse(request.raw.get()).is_ok());
        if request.method == "elicitation/create" {
            assert!(mode_of(request.params.map(|params| params.get())).is_ok());
        }
    }
    let none = ClientCapabilities::none();
    for revision in Revision::ALL {
        let undeclared = required.undeclared(&none, *revision);
        assert_eq!(
            undeclared.is_some(),
            !required.requests.is_empty(),
            "nothing may be asked of a client without capabilities"
        );
    }
}

/// Answers of a retry: the rest without some of them is the rest.
fn responses(raw: &str, text: &str) {
    let responses = InputResponses::parse(raw).expect("any object may hold answers");
    assert_eq!(responses.without::<&str>(&[]), text);
    let keys: Vec<&str> = responses.iter().map(|(key, _)| key).collect();
    let rest = responses.without(&keys);
    let rest = InputResponses::parse(&rest).expect("the rest is an object");
    assert_eq!(rest.iter().count(), 0);
    for (key, value) in responses.iter() {
        assert_eq!(responses.get(key).map(|found| found.get()), Some(value.get()));
        if responses.answer(key).is_some() {
            answer(value.get().as_bytes());
        }
    }
}

/// Capabilities: kept as they came, and no mode is there that was not declared.
fn capabilities(raw: &str) {
    let Ok(capabilities) = ClientCapabilities::parse(raw) else { return };
    assert_eq!(capabilities.as_str(), raw);
    for revision in Revision::ALL {
        let modes = capabilities.modes(*revision);
        assert!(!modes.supports(Mode::Url) || revision.has_url_mode());
        assert!(!modes.supports(Mode::Form) || revision.has_elicitation());
    }
}
