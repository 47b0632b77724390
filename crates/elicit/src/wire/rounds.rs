use std::fmt;

use super::{
    ASKING_METHODS, Completions, InputRequired, RawObject, RequestId, Retry, RetryError, UrlElicitationRequired,
    WireError,
};
use crate::json;

/// How often one call is sent again because its server asks: 10. A server that asks once more gets no retry, and the call
/// ends (R-MRTR-05).
pub const MAX_ROUNDS: usize = 10;

/// A call whose server asks: the request as it was first sent, and how often it was sent again.
///
/// A host keeps it as long as the call lasts, and has every retry made by it. So answers and state go out with the request
/// that they belong to and with no other, under a new id each time, and not for ever (R-MRTR-05).
pub struct Rounds {
    request: Box<str>,
    method: String,
    /// Of every try.
    ids: Vec<RequestId>,
    count: usize,
}

impl Rounds {
    /// For the call that `request`, a whole JSON-RPC message, made at first. Its method is one of those that may
    /// [lead to a question](ASKING_METHODS).
    pub fn new(request: &str) -> Result<Self, RetryError> {
        let message = RawObject::parse(request)?;
        let id = message.get("id").ok_or(WireError::Missing("id"))?;
        let method = message.get("method").ok_or(WireError::Missing("method"))?;
        let method = json::text(method.get()).ok_or(WireError::WrongType("method"))?.into_owned();
        if !ASKING_METHODS.contains(&method.as_str()) {
            return Err(RetryError::Method(method));
        }
        Ok(Self { ids: vec![RequestId::read(id)?], method, request: request.into(), count: 0 })
    }

    /// The retry after `required`, the result of the latest try: the answers are given to it one by one, then it writes the
    /// message (R-MRTR-05). An error after [`MAX_ROUNDS`].
    pub fn retry(&mut self, required: &InputRequired<'_>) -> Result<Retry<'_>, RetryError> {
        self.check_left()?;
        self.count += 1;
        Ok(Retry::new(self, required))
    }

    /// The same call once more, after `required`, the error of the latest try (2025-11-25): the whole message, under an
    /// `id` that no earlier try had. Only when all that the error required [is complete](UrlElicitationRequired::is_complete)
    /// (R-ERR-02); an error after [`MAX_ROUNDS`], too.
    pub fn repeat(
        &mut self,
        required: &UrlElicitationRequired,
        completions: &Completions,
        id: &RequestId,
    ) -> Result<String, RetryError> {
        if !required.is_complete(completions) {
            return Err(RetryError::Incomplete);
        }
        self.check_left()?;
        self.take_id(id)?;
        self.count += 1;
        let mut message = self.message()?;
        message.set("id", id.to_json());
        Ok(message.to_json())
    }

    /// How often the call may still be sent again.
    pub fn left(&self) -> usize {
        MAX_ROUNDS.saturating_sub(self.count)
    }

    fn check_left(&self) -> Result<(), RetryError> {
        if self.left() == 0 { Err(RetryError::TooManyRounds) } else { Ok(()) }
    }

    pub(super) fn message(&self) -> Result<RawObject<'_>, WireError> {
        RawObject::parse(&self.request)
    }

    /// Notes the id of another try.
    pub(super) fn take_id(&mut self, id: &RequestId) -> Result<(), RetryError> {
        if self.ids.contains(id) {
            return Err(RetryError::SameId);
        }
        self.ids.push(id.clone());
        Ok(())
    }
}

/// What is called and how often: the parameters are the user's.
impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rounds").field("method", &self.method).field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UrlElicitation;

    const REQUEST: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":1e999}}}"#;

    fn required() -> InputRequired<'static> {
        InputRequired::parse(r#"{"resultType":"input_required","requestState":"s"}"#).unwrap().unwrap()
    }

    fn pages() -> UrlElicitationRequired {
        let page = UrlElicitation::new("m", "https://a.example/").unwrap().with_id("e").unwrap();
        UrlElicitationRequired::new("m", vec![page]).unwrap()
    }

    /// R-MRTR-05: no server keeps a call going for ever.
    #[test]
    fn a_call_is_sent_again_ten_times_at_most() {
        let mut rounds = Rounds::new(REQUEST).unwrap();
        for round in 0..MAX_ROUNDS {
            assert_eq!(rounds.left(), MAX_ROUNDS - round);
            let id = RequestId::from(2 + i64::try_from(round).unwrap());
            assert!(rounds.retry(&required()).unwrap().request(&id).is_ok());
        }
        assert_eq!(rounds.retry(&required()).unwrap_err(), RetryError::TooManyRounds);
    }

    /// R-ERR-02: the same call under another id, after completion and not before; and a server whose pages are complete
    /// and never enough does not keep it going either.
    #[test]
    fn a_call_that_required_pages_is_repeated_when_they_are_complete() {
        let (mut rounds, mut completions) = (Rounds::new(REQUEST).unwrap(), Completions::new());
        completions.ask("e");
        completions.accept("e");
        let id = |round: usize| RequestId::from(2 + i64::try_from(round).unwrap());
        assert_eq!(rounds.repeat(&pages(), &completions, &id(0)), Err(RetryError::Incomplete));
        completions.complete("e");
        assert_eq!(rounds.repeat(&pages(), &completions, &RequestId::from(1)), Err(RetryError::SameId));
        let repeated = rounds.repeat(&pages(), &completions, &id(0)).unwrap();
        assert_eq!(repeated, REQUEST.replace(r#""id":1"#, r#""id":2"#));
        for round in 1..MAX_ROUNDS {
            assert!(rounds.repeat(&pages(), &completions, &id(round)).is_ok());
        }
        assert_eq!(rounds.repeat(&pages(), &completions, &id(99)), Err(RetryError::TooManyRounds));
    }

    /// R-MRTR-01
    #[test]
    fn only_a_call_that_may_lead_to_a_question_has_rounds() {
        let error = Rounds::new(r#"{"id":1,"method":"tools/list\n"}"#).unwrap_err();
        insta::assert_snapshot!(error, @r#"a call of "tools/list\n" may lead to no questions; those that may are tools/call, prompts/get, resources/read"#);
        for (text, error) in [
            ("[]", WireError::NotObject),
            (r#"{"method":"tools/call"}"#, WireError::Missing("id")),
            (r#"{"id":null,"method":"tools/call"}"#, WireError::WrongType("id")),
            (r#"{"id":1}"#, WireError::Missing("method")),
        ] {
            assert_eq!(Rounds::new(text).unwrap_err(), RetryError::Wire(error), "{text}");
        }
    }

    #[test]
    fn no_parameter_shows_in_debug() {
        let shown = format!("{:?}", Rounds::new(REQUEST).unwrap());
        assert_eq!(shown, r#"Rounds { method: "tools/call", count: 0, .. }"#);
    }
}
