use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;

use super::response::code_of;
use super::{ElicitationError, MAX_QUESTIONS, QuestionError, RawObject, UrlElicitation, WireError, present, raw, text};
use crate::{ClientCapabilities, Completions, Mode, Progress, Revision, codes, json, mode_of};

/// `URLElicitationRequiredError`, code -32042: a call cannot go on before the person has been to these pages (R-ERR-01).
/// 2025-11-25 only, and the `error` of a JSON-RPC response, never a tool result.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlElicitationRequired {
    message: String,
    elicitations: Vec<UrlElicitation>,
    /// The error object as it came, where it did.
    raw: Option<Box<str>>,
}

impl UrlElicitationRequired {
    /// Requires these visits, at least one and at most [`MAX_QUESTIONS`], each under an [id](UrlElicitation::with_id) of its
    /// own.
    pub fn new(message: impl Into<String>, elicitations: Vec<UrlElicitation>) -> Result<Self, QuestionError> {
        if elicitations.is_empty() {
            return Err(QuestionError::NothingRequired);
        }
        if elicitations.iter().any(|elicitation| elicitation.id().is_none()) {
            return Err(QuestionError::NoId);
        }
        check(&elicitations)?;
        Ok(Self { message: message.into(), elicitations, raw: None })
    }

    /// Reads the `error` object of a response; `None` for one with another code. An entry in another mode than url, or
    /// without an id, is an error, as are a list without entries, one of more than [`MAX_QUESTIONS`], and two entries under
    /// one id. Fields that we do not know are kept (R-REQ-03).
    pub fn parse(error: &str) -> Result<Option<Self>, ElicitationError> {
        let object = RawObject::parse(error)?;
        if object.get("code").and_then(|code| code_of(code.get())) != Some(codes::URL_ELICITATION_REQUIRED) {
            return Ok(None);
        }
        let message = text(&object, "message")?;
        let data = present(&object, "data").ok_or(WireError::Missing("data"))?;
        let data = RawObject::parse(data.get())?;
        let list = present(&data, "elicitations").ok_or(WireError::Missing("elicitations"))?;
        let list: Vec<&RawValue> =
            serde_json::from_str(list.get()).map_err(|_| WireError::WrongType("elicitations"))?;
        if list.is_empty() {
            return Err(WireError::Missing("elicitations").into());
        }
        if list.len() > MAX_QUESTIONS {
            return Err(WireError::TooMany("elicitations").into());
        }
        let elicitations: Vec<_> = list.into_iter().map(|entry| entry_of(entry.get())).collect::<Result<_, _>>()?;
        check(&elicitations)?;
        Ok(Some(Self { message, elicitations, raw: Some(error.into()) }))
    }

    /// The server's words for the whole.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The visits that are required, in the server's order; at least one, each with an id.
    pub fn elicitations(&self) -> &[UrlElicitation] {
        &self.elicitations
    }

    /// Those of them that the person still has to be asked: neither accepted before nor complete (R-ERR-02).
    pub fn unasked<'a>(&'a self, completions: &Completions) -> impl Iterator<Item = &'a UrlElicitation> {
        self.which(completions, |progress| matches!(progress, None | Some(Progress::Asked)))
    }

    /// Those that the person agreed to and that are not complete yet: not to be asked again, but
    /// [waited for](crate::presenter::Visit::wait).
    pub fn awaited<'a>(&'a self, completions: &Completions) -> impl Iterator<Item = &'a UrlElicitation> {
        self.which(completions, |progress| progress == Some(Progress::Accepted))
    }

    /// Whether every one of them is complete. Only then may the call be sent [again](crate::Rounds::repeat): consent alone
    /// would bring the same error (R-ERR-02, R-URL-10).
    pub fn is_complete(&self, completions: &Completions) -> bool {
        self.which(completions, |progress| progress != Some(Progress::Complete)).next().is_none()
    }

    fn which(
        &self,
        completions: &Completions,
        is_wanted: impl Fn(Option<Progress>) -> bool,
    ) -> impl Iterator<Item = &UrlElicitation> {
        self.elicitations.iter().filter(move |one| is_wanted(one.id().and_then(|id| completions.progress(id))))
    }

    /// The `error` object for this client, if it declared url mode (R-CAP-03) and its revision has the error (R-ERR-03).
    pub fn error_for(&self, client: &ClientCapabilities, revision: Revision) -> Result<Box<RawValue>, QuestionError> {
        if !revision.has_completion() {
            return Err(QuestionError::NoRequiredError(revision));
        }
        if !client.modes(revision).url {
            return Err(QuestionError::Undeclared(Mode::Url));
        }
        if let Some(read) = &self.raw {
            return Ok(raw(read.clone().into_string())?);
        }
        let entries: Vec<Box<RawValue>> =
            self.elicitations.iter().map(|elicitation| elicitation.params(revision)).collect::<Result<_, _>>()?;
        let entries: Vec<&str> = entries.iter().map(|entry| entry.get()).collect();
        Ok(raw(format!(
            r#"{{"code":{},"message":{},"data":{{"elicitations":[{}]}}}}"#,
            codes::URL_ELICITATION_REQUIRED,
            json::quote(&self.message),
            entries.join(",")
        ))?)
    }
}

fn check(elicitations: &[UrlElicitation]) -> Result<(), WireError> {
    if elicitations.len() > MAX_QUESTIONS {
        return Err(WireError::TooMany("elicitations"));
    }
    let mut ids = HashSet::new();
    if elicitations.iter().all(|elicitation| ids.insert(elicitation.id())) {
        Ok(())
    } else {
        Err(WireError::DuplicateId)
    }
}

fn entry_of(entry: &str) -> Result<UrlElicitation, ElicitationError> {
    let object = RawObject::parse(entry)?;
    // Absent would mean form, which the error never carries.
    if mode_of(Some(entry))? != Mode::Url {
        return Err(WireError::UnknownMode.into());
    }
    UrlElicitation::read(entry, &object, Revision::V2025_11_25)
}

/// How many there are: messages, URLs and ids are between the server and the person.
impl fmt::Debug for UrlElicitationRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlElicitationRequired").field("elicitations", &self.elicitations.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = r#"{"elicitation":{"url":{}}}"#;

    fn elicitation(id: &str) -> UrlElicitation {
        let url = format!("https://usher.example.com/connect/{id}");
        UrlElicitation::new(format!("Connect {id}."), url).unwrap().with_id(id).unwrap()
    }

    fn client(raw: &str) -> ClientCapabilities {
        ClientCapabilities::parse(raw).unwrap()
    }

    /// R-ERR-01: all url mode, each with its id.
    #[test]
    fn the_required_error_lists_every_elicitation_with_its_id() {
        let required = UrlElicitationRequired::new("Connect first.", vec![elicitation("a"), elicitation("b")]).unwrap();
        let error = required.error_for(&client(URL), Revision::V2025_11_25).unwrap();
        insta::assert_snapshot!(
            error.get(),
            @r#"{"code":-32042,"message":"Connect first.","data":{"elicitations":[{"mode":"url","elicitationId":"a","url":"https://usher.example.com/connect/a","message":"Connect a."},{"mode":"url","elicitationId":"b","url":"https://usher.example.com/connect/b","message":"Connect b."}]}}"#
        );
        let read = UrlElicitationRequired::parse(error.get()).unwrap().unwrap();
        assert_eq!(read.elicitations().iter().map(|one| one.id().unwrap()).collect::<Vec<_>>(), ["a", "b"]);
    }

    /// R-ERR-01, R-ERR-03, R-CAP-03: only for who declared url mode, under the one revision that has it.
    #[test]
    fn the_required_error_is_for_clients_that_can_answer_it() {
        let required = UrlElicitationRequired::new("m", vec![elicitation("a")]).unwrap();
        for revision in Revision::ALL {
            let error = required.error_for(&client(URL), *revision);
            assert_eq!(error.is_ok(), revision.has_completion(), "{revision}");
        }
        let form = required.error_for(&client(r#"{"elicitation":{}}"#), Revision::V2025_11_25);
        assert_eq!(form.unwrap_err(), QuestionError::Undeclared(Mode::Url));
        assert_eq!(UrlElicitationRequired::new("m", Vec::new()), Err(QuestionError::NothingRequired));
        let without = UrlElicitation::new("m", "https://a.example/").unwrap();
        assert_eq!(UrlElicitationRequired::new("m", vec![without]), Err(QuestionError::NoId));
    }

    /// R-ERR-01, R-REQ-03; case 13: read with all that it carries, and passed on as it came.
    #[test]
    fn a_required_error_of_a_peer_keeps_all_its_data() {
        let error = r#"{"x":1e999,"message":"Pay","code":-32042,"data":{"y":[1.0],"elicitations":[ {"mode":"url","elicitationId":"e","url":"https://pay.example/1","message":"m","z":9007199254740993} ]}}"#;
        let required = UrlElicitationRequired::parse(error).unwrap().unwrap();
        assert_eq!((required.message(), required.elicitations().len()), ("Pay", 1));
        assert_eq!(required.error_for(&client(URL), Revision::V2025_11_25).unwrap().get(), error);
        assert_eq!(UrlElicitationRequired::parse(r#"{"code":-32602,"message":"m"}"#), Ok(None));
    }

    /// R-ERR-01: nothing but url mode, each with an id.
    #[test]
    fn a_required_error_that_asks_for_anything_else_is_refused() {
        let parse = |entries: &str| {
            let error = format!(r#"{{"code":-32042,"message":"m","data":{{"elicitations":{entries}}}}}"#);
            UrlElicitationRequired::parse(&error).unwrap_err()
        };
        let unknown = ElicitationError::Wire(WireError::UnknownMode);
        assert_eq!(parse(r#"[{"mode":"form","message":"m","requestedSchema":{}}]"#), unknown);
        assert_eq!(parse(r#"[{"message":"m","url":"https://a.example","elicitationId":"1"}]"#), unknown);
        for id in ["", r#","elicitationId":"""#, r#","elicitationId":null"#, r#","elicitationId":7"#] {
            let entry = format!(r#"[{{"mode":"url","message":"m","url":"https://a.example"{id}}}]"#);
            assert_eq!(parse(&entry), ElicitationError::NoId, "{id}");
        }
        assert_eq!(parse("[]"), ElicitationError::Wire(WireError::Missing("elicitations")));
        assert_eq!(parse("{}"), ElicitationError::Wire(WireError::WrongType("elicitations")));
        let bare = UrlElicitationRequired::parse(r#"{"code":-32042,"message":"m"}"#).unwrap_err();
        assert_eq!(bare, ElicitationError::Wire(WireError::Missing("data")));
    }

    /// R-ERR-02, R-URL-10: what the person agreed to is not asked again, but waited for; only completion allows a retry.
    #[test]
    fn what_is_to_be_asked_waited_for_and_done_are_three_things() {
        let required = UrlElicitationRequired::new("m", ["a", "b", "c"].map(elicitation).to_vec()).unwrap();
        let mut completions = Completions::new();
        let ids = |which: Vec<&UrlElicitation>| which.into_iter().filter_map(UrlElicitation::id).collect::<String>();
        let steps = |completions: &Completions| {
            let unasked = ids(required.unasked(completions).collect());
            (unasked, ids(required.awaited(completions).collect()), required.is_complete(completions))
        };
        assert_eq!(steps(&completions), ("abc".to_owned(), String::new(), false));
        for id in ["a", "b", "c"] {
            completions.ask(id);
        }
        completions.accept("a");
        completions.complete("b");
        assert_eq!(steps(&completions), ("c".to_owned(), "a".to_owned(), false));
        completions.accept("c");
        assert_eq!(steps(&completions), (String::new(), "ac".to_owned(), false), "consent is not completion");
        completions.complete("a");
        completions.complete("c");
        assert_eq!(steps(&completions), (String::new(), String::new(), true));
    }

    /// R-URL-01, R-SEC-04: one id for each, and no more of them than a person can answer.
    #[test]
    fn ids_are_unique_and_elicitations_are_bounded() {
        let many = |count: usize| (0..count).map(|id| elicitation(&id.to_string())).collect::<Vec<_>>();
        let most = UrlElicitationRequired::new("m", many(MAX_QUESTIONS)).unwrap();
        let error = most.error_for(&client(URL), Revision::V2025_11_25).unwrap();
        assert!(UrlElicitationRequired::parse(error.get()).is_ok());
        let entry = r#"{"mode":"url","elicitationId":"e","url":"https://a.example/","message":"m"}"#;
        let others = |count: usize| {
            let entries: Vec<_> = (0..count).map(|id| entry.replace(r#""e""#, &format!(r#""e{id}""#))).collect();
            format!(r#"{{"code":-32042,"message":"m","data":{{"elicitations":[{}]}}}}"#, entries.join(","))
        };
        let error = UrlElicitationRequired::parse(&others(MAX_QUESTIONS + 1)).unwrap_err();
        assert_eq!(error, WireError::TooMany("elicitations").into());
        let error = UrlElicitationRequired::new("m", many(MAX_QUESTIONS + 1)).unwrap_err();
        assert_eq!(error, WireError::TooMany("elicitations").into());

        let twice = format!(r#"{{"code":-32042,"message":"m","data":{{"elicitations":[{entry},{entry}]}}}}"#);
        assert_eq!(UrlElicitationRequired::parse(&twice).unwrap_err(), WireError::DuplicateId.into());
        let error = UrlElicitationRequired::new("m", vec![elicitation("a"), elicitation("a")]).unwrap_err();
        assert_eq!(error, WireError::DuplicateId.into());
    }

    #[test]
    fn no_message_no_url_and_no_id_shows_in_debug() {
        let required = UrlElicitationRequired::new("Connect first.", vec![elicitation("5Q0Z")]).unwrap();
        assert_eq!(format!("{required:?}"), "UrlElicitationRequired { elicitations: 1, .. }");
    }
}
