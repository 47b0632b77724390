use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;

use super::{ASKING_METHODS, Elicitation, MAX_QUESTIONS, QuestionError, WireError, raw};
use crate::{ClientCapabilities, Era, Revision, json};

/// An `input_required` result in the making: the questions of one round to one client, and the state that comes back with
/// their answers.
#[derive(Clone)]
pub struct Round<'c> {
    client: &'c ClientCapabilities,
    revision: Revision,
    questions: Vec<(String, Box<RawValue>)>,
    keys: HashSet<String>,
    state: Option<String>,
}

/// Why a round cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoundError {
    /// A call of this method may not be answered with a question (R-MRTR-01).
    #[error("{0:?} may not return input_required")]
    Method(String),
    /// Rounds are of the modern era.
    #[error("revision {0} has no rounds; ask by a request")]
    Era(Revision),
    /// Two questions under one key (R-MRTR-08).
    #[error("the key {0:?} is used twice")]
    DuplicateKey(String),
    /// Neither a question nor a state (R-MRTR-01).
    #[error("a round has to have a question or a state")]
    Empty,
    /// More questions than [`MAX_QUESTIONS`].
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The question under this key cannot be put to this client.
    #[error("the question {key:?} cannot be asked: {error}")]
    Question {
        /// Its key.
        key: String,
        /// Why not; [`missing_capability`](QuestionError::missing_capability) for the client.
        #[source]
        error: QuestionError,
    },
}

impl<'c> Round<'c> {
    /// A round that answers a request of this `method`, whose `_meta` declared these capabilities (R-MRTR-08).
    pub fn new(method: &str, client: &'c ClientCapabilities, revision: Revision) -> Result<Self, RoundError> {
        if !ASKING_METHODS.contains(&method) {
            return Err(RoundError::Method(method.to_owned()));
        }
        if revision.era() != Era::Modern {
            return Err(RoundError::Era(revision));
        }
        Ok(Self { client, revision, questions: Vec::new(), keys: HashSet::new(), state: None })
    }

    /// Adds a question under a key that no other one of this round has, if the client can be asked (R-CAP-03). At most
    /// [`MAX_QUESTIONS`].
    pub fn ask(&mut self, key: impl Into<String>, question: impl Into<Elicitation>) -> Result<(), RoundError> {
        let key = key.into();
        if self.keys.contains(&key) {
            return Err(RoundError::DuplicateKey(key));
        }
        if self.questions.len() >= MAX_QUESTIONS {
            return Err(WireError::TooMany("inputRequests").into());
        }
        match question.into().params_for(self.client, self.revision) {
            Ok(params) => {
                self.keys.insert(key.clone());
                self.questions.push((key, params));
                Ok(())
            }
            Err(error) => Err(RoundError::Question { key, error }),
        }
    }

    /// The same round with this state, which has to be [sealed](crate::StateKeys::seal): the client can change it.
    pub fn with_state(self, state: impl Into<String>) -> Self {
        Self { state: Some(state.into()), ..self }
    }

    /// The whole `result`. Without a question it has a state, and the client is only to call again (R-MRTR-05).
    pub fn result(&self) -> Result<Box<RawValue>, RoundError> {
        let mut text = String::from(r#"{"resultType":"input_required""#);
        if self.questions.is_empty() && self.state.is_none() {
            return Err(RoundError::Empty);
        }
        for (index, (key, params)) in self.questions.iter().enumerate() {
            text.push_str(if index == 0 { r#","inputRequests":{"# } else { "," });
            json::write_quoted(key, &mut text);
            text.push_str(r#":{"method":"elicitation/create","params":"#);
            text.push_str(params.get());
            text.push('}');
        }
        if !self.questions.is_empty() {
            text.push('}');
        }
        if let Some(state) = &self.state {
            text.push_str(r#","requestState":"#);
            json::write_quoted(state, &mut text);
        }
        text.push('}');
        Ok(raw(text)?)
    }
}

/// Names the keys only: questions and state are the user's.
impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.questions.iter().map(|(key, _)| key.as_str()).collect();
        f.debug_struct("Round").field("revision", &self.revision).field("keys", &keys).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
