use std::collections::HashMap;
use std::fmt;

use serde_json::value::RawValue;

use super::{ASKING_METHODS, InputRequired, MAX_ROUNDS, RawObject, RequestId, Rounds, WireError, mode_of};
use crate::{Mode, Outcome, json, text};

/// The retry of a request that required input: takes the answers, and writes the request anew when all are there
/// (R-MRTR-05).
///
/// It is made by the [`Rounds`] of that request, writes that request alone, and is used up by writing it.
pub struct Retry<'r> {
    rounds: &'r mut Rounds,
    questions: Vec<Question>,
    places: HashMap<String, usize>,
    /// As it came, with its quotes.
    state: Option<String>,
}

struct Question {
    key: String,
    /// Of an elicitation; sampling and roots have none.
    mode: Option<Mode>,
    /// A JSON object.
    answer: Option<String>,
}

/// Why a request cannot be retried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryError {
    /// A call of this method leads to no questions (R-MRTR-01).
    #[error("a call of {0:?} may lead to no questions; those that may are {allowed}", allowed = ASKING_METHODS.join(", "))]
    Method(String),
    /// Nobody asked under this key.
    #[error("nothing was asked under the key {0:?}")]
    UnknownKey(String),
    /// The answer is to another kind of question: form, url, or neither.
    #[error("the answer under {0:?} is to a question of another kind")]
    OtherKind(String),
    /// The questions under these keys have no answer yet.
    #[error("not answered: {}", text::line(&format!("{:?}", .0), 200))]
    Missing(Vec<String>),
    /// A page that the call cannot go on without is not finished: there is no retry before (R-ERR-02).
    #[error("a page that the call needs is not finished")]
    Incomplete,
    /// The retry has the id of an earlier try, of which it is independent.
    #[error("a retry needs an id of its own")]
    SameId,
    /// The server asked again and again: the call ends (R-MRTR-05).
    #[error("the call was sent again {MAX_ROUNDS} times and led to a question each time; it ends here")]
    TooManyRounds,
    /// The request, or the result of sampling or roots, cannot be read.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl<'r> Retry<'r> {
    pub(super) fn new(rounds: &'r mut Rounds, required: &InputRequired<'_>) -> Self {
        let questions: Vec<Question> = required
            .requests
            .iter()
            .map(|request| Question {
                key: request.key.clone().into_owned(),
                mode: (request.method == "elicitation/create")
                    .then(|| mode_of(request.params.map(RawValue::get)).unwrap_or(Mode::Form)),
                answer: None,
            })
            .collect();
        let places = questions.iter().enumerate().map(|(place, question)| (question.key.clone(), place)).collect();
        Self { rounds, questions, places, state: required.request_state_raw.map(|state| state.get().to_owned()) }
    }

    /// Gives the answer to the elicitation under `key`. Another one takes its place.
    pub fn answer(&mut self, key: &str, outcome: &Outcome) -> Result<(), RetryError> {
        let question = self.question(key)?;
        let fits = match outcome {
            Outcome::Form(_) => question.mode == Some(Mode::Form),
            Outcome::Url(_) => question.mode == Some(Mode::Url),
            Outcome::Unanswered(_) => question.mode.is_some(),
        };
        if !fits {
            return Err(RetryError::OtherKind(key.to_owned()));
        }
        question.answer = Some(outcome.to_json());
        Ok(())
    }

    /// Gives the result, a JSON object, of the `sampling/createMessage` or `roots/list` under `key`.
    pub fn result(&mut self, key: &str, result: &str) -> Result<(), RetryError> {
        RawObject::parse(result)?;
        let question = self.question(key)?;
        if question.mode.is_some() {
            return Err(RetryError::OtherKind(key.to_owned()));
        }
        question.answer = Some(result.to_owned());
        Ok(())
    }

    /// The keys without an answer, in the order of the questions.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().filter(|question| question.answer.is_none()).map(|question| question.key.as_str())
    }

    /// The whole JSON-RPC message of the retry, under an `id` that no earlier try of the call had: the request with the
    /// answers under their keys and the state as it came, byte for byte. What an earlier round left of both goes, and where
    /// there is no state none is invented.
    pub fn request(mut self, id: &RequestId) -> Result<String, RetryError> {
        let params = self.write(id)?;
        let mut message = self.rounds.message()?;
        message.set("id", id.to_json());
        message.set("params", params);
        Ok(message.to_json())
    }

    /// The `params` alone, for a host whose transport writes the rest of the [message](Self::request), under this `id`.
    pub fn params(mut self, id: &RequestId) -> Result<String, RetryError> {
        self.write(id)
    }

    fn write(&mut self, id: &RequestId) -> Result<String, RetryError> {
        let missing: Vec<String> = self.missing().map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(RetryError::Missing(missing));
        }
        self.rounds.take_id(id)?;
        let message = self.rounds.message()?;
        let params = message.get("params").ok_or(WireError::Missing("params"))?;
        let mut params = RawObject::parse(params.get())?;
        if self.questions.is_empty() {
            params.remove("inputResponses");
        } else {
            params.set("inputResponses", self.responses());
        }
        match &self.state {
            Some(state) => params.set("requestState", state.clone()),
            None => drop(params.remove("requestState")),
        }
        Ok(params.to_json())
    }

    fn question(&mut self, key: &str) -> Result<&mut Question, RetryError> {
        let place = self.places.get(key).copied();
        place.and_then(|place| self.questions.get_mut(place)).ok_or_else(|| RetryError::UnknownKey(key.to_owned()))
    }

    fn responses(&self) -> String {
        let mut text = String::from("{");
        for question in &self.questions {
            let Some(answer) = &question.answer else { continue };
            if text.len() > 1 {
                text.push(',');
            }
            json::write_quoted(&question.key, &mut text);
            text.push(':');
            text.push_str(answer);
        }
        text.push('}');
        text
    }
}

/// The keys, and whether there are answers: those are the person's, and the state is the server's.
impl fmt::Debug for Retry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("questions", &self.questions).finish_non_exhaustive()
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("key", &self.key)
            .field("answered", &self.answer.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
