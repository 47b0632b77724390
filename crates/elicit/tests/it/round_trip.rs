//! Whatever is written is read as the same, whatever is unknown is kept, and no text makes a reader panic.

use elicit::{
    ClientCapabilities, CompleteNotice, ElicitRequest, ElicitResponse, Elicitation, Form, FormElicitation,
    InputRequired, Modes, RawObject, RequestId, Revision, Round, Rounds, UrlElicitation, UrlElicitationRequired,
};
use proptest::prelude::*;

const BOTH: Modes = Modes { form: true, url: true };

fn client() -> ClientCapabilities {
    ClientCapabilities::parse(r#"{"elicitation":{"form":{},"url":{}}}"#).unwrap()
}

/// JSON that decoders to floats, maps or strings would change.
fn odd_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1e999".to_owned()),
        Just("-0".to_owned()),
        Just("9007199254740993".to_owned()),
        Just("1.00".to_owned()),
        Just(r#""\u00e9\/\ud800""#.to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[ {}]", items.join(" , "))),
            inner.prop_map(|value| format!(r#"{{ "z":{value},"\u0061":1}}"#)),
        ]
    })
}

/// Members under names that no revision has.
fn unknown_members() -> impl Strategy<Value = String> {
    prop::collection::btree_map("x-[a-z]{1,4}", odd_json(), 0..4).prop_map(|members| {
        members.into_iter().fold(String::new(), |text, (name, value)| format!(r#"{text},"{name}" : {value}"#))
    })
}

fn message() -> impl Strategy<Value = String> {
    "[a-zA-Z\"\\\\é\n]{0,20}".prop_map(|text| format!("m{text}"))
}

proptest! {
    /// R-REQ-03, R-FORM-11: also within the schema.
    #[test]
    fn unknown_fields_of_a_form_are_kept(outside in unknown_members(), inside in unknown_members()) {
        let params = format!(
            r#"{{"mode" :"form","message":"m\/","requestedSchema": {{"type":"object","properties":{{"n":{{"type":"number","minimum":1.50{inside}}}}}{inside}}}{outside}}}"#
        );
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let elicitation = Elicitation::parse(&params, revision).unwrap();
            prop_assert_eq!(elicitation.raw(), Some(params.as_str()));
            let written = elicitation.params_for(&client(), revision).unwrap();
            prop_assert_eq!(written.get(), params.as_str());
        }
        let oldest = Elicitation::parse(&params, Revision::V2025_06_18).unwrap().params(Revision::V2025_06_18).unwrap();
        let mut expected = RawObject::parse(&params).unwrap();
        expected.remove("mode");
        prop_assert_eq!(oldest.get(), expected.to_json());
    }

    /// R-REQ-03, R-URL-01: from one era to the other nothing changes but the id.
    #[test]
    fn unknown_fields_of_a_url_question_are_kept(unknown in unknown_members()) {
        let params = format!(r#"{{"mode":"url","elicitationId":"1","url":"https://a.example/","message":"m"{unknown}}}"#);
        let legacy = Elicitation::parse(&params, Revision::V2025_11_25).unwrap();
        let same = legacy.params(Revision::V2025_11_25).unwrap();
        prop_assert_eq!(same.get(), params.as_str());
        let modern = legacy.params(Revision::V2026_07_28).unwrap();
        let mut expected = RawObject::parse(&params).unwrap();
        expected.remove("elicitationId");
        prop_assert_eq!(modern.get(), expected.to_json());
        let Elicitation::Url(read) = Elicitation::parse(modern.get(), Revision::V2026_07_28).unwrap() else { panic!() };
        let back = read.with_id("1").unwrap().params(Revision::V2025_11_25).unwrap();
        expected.set("elicitationId", r#""1""#.to_owned());
        prop_assert_eq!(back.get(), expected.to_json());
    }

    #[test]
    fn a_question_that_was_written_is_read_as_it_was(message in message(), id in "[!-~é]{1,12}", path in "[a-z0-9/?=&.~%-]{0,20}") {
        let schema = r#"{ "type" : "object", "properties" : { "n" : { "type" : "integer", "maximum" : 9007199254740993 } } }"#;
        let form: Elicitation = FormElicitation::new(message.clone(), Form::parse(schema).unwrap()).unwrap().into();
        let address = format!("https://a.example/{path}");
        let url = UrlElicitation::new(message.clone(), address.clone()).unwrap().with_id(id.clone()).unwrap();
        for revision in Revision::SUPPORTED {
            let Elicitation::Form(read) = Elicitation::parse(form.params(*revision).unwrap().get(), *revision).unwrap() else { panic!() };
            prop_assert_eq!((read.message(), read.form().as_str()), (message.as_str(), schema));
            let Ok(params) = url.params(*revision) else { continue };
            let Elicitation::Url(read) = Elicitation::parse(params.get(), *revision).unwrap() else { panic!() };
            prop_assert_eq!((read.message(), read.url()), (message.as_str(), address.as_str()));
            prop_assert_eq!(read.id(), revision.has_completion().then_some(id.as_str()));
        }
        let request_id = RequestId::from(id.as_str());
        let request = Elicitation::from(url.clone()).request(&request_id, &client(), Revision::V2025_11_25).unwrap();
        let read = ElicitRequest::parse(&request).unwrap().unwrap();
        prop_assert_eq!(&read.id, &request_id);
        let required = UrlElicitationRequired::new(message, vec![url]).unwrap();
        let error = required.error_for(&client(), Revision::V2025_11_25).unwrap();
        let read = UrlElicitationRequired::parse(error.get()).unwrap().unwrap();
        prop_assert_eq!(read.message(), required.message());
        prop_assert_eq!(read.elicitations()[0].id(), Some(id.as_str()));
        let notice = CompleteNotice::new(id);
        prop_assert_eq!(CompleteNotice::parse(&notice.to_json()), Ok(Some(notice)));
    }

    #[test]
    fn a_round_that_was_written_is_read_as_it_was(keys in prop::collection::hash_set(".{0,8}", 0..6), state in ".{0,20}") {
        let client = client();
        let mut round = Round::new("tools/call", &client, Revision::V2026_07_28).unwrap();
        for key in &keys {
            round.ask(key.as_str(), UrlElicitation::new("m", "https://a.example").unwrap()).unwrap();
        }
        let result = round.with_state(state.as_str()).result().unwrap();
        let read = InputRequired::parse(result.get()).unwrap().unwrap();
        prop_assert_eq!(read.request_state.as_deref(), Some(state.as_str()));
        let order: Vec<&str> = read.requests.iter().map(|request| &*request.key).collect();
        prop_assert_eq!(order, keys.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in any::<String>(), odd in odd_json()) {
        for text in [text.clone(), odd.clone(), format!(r#"{{"mode":"url","message":"m","url":{odd}}}"#), format!(r#"{{"message":"m","requestedSchema":{odd}}}"#)] {
            for revision in Revision::ALL {
                let _ = Elicitation::parse(&text, *revision).map(|read| read.within(BOTH));
            }
            let _ = (ElicitRequest::parse(&text), ElicitResponse::parse(&text), CompleteNotice::parse(&text));
            let _ = UrlElicitationRequired::parse(&text);
            let error = format!(r#"{{"code":-32042,"message":"m","data":{{"elicitations":[{odd}]}}}}"#);
            let _ = (UrlElicitationRequired::parse(&error), UrlElicitation::new("m", text.as_str()));
            let mut rounds = Rounds::new(r#"{"id":1,"method":"tools/call","params":{}}"#).unwrap();
            if let Ok(Some(read)) = InputRequired::parse(&text) {
                let _ = rounds.retry(&read).unwrap().request(&RequestId::from(text.as_str()));
            }
            let call = format!(r#"{{"id":1,"method":"tools/call","params":{odd}}}"#);
            let _ = (Rounds::new(&text), Rounds::new(&call));
        }
    }
}
