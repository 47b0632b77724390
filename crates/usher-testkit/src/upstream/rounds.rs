//! The memory behind `requestState`: what a stateless server would seal into it.

use super::run::Task;
use super::script::Step;
use super::{Answered, Question, Script};
use crate::json;
use crate::record::lock;

#[derive(Clone, Debug)]
pub(super) struct Round {
    id: String,
    method: String,
    params: String,
    place: usize,
    asked: Vec<String>,
    answers: Vec<Answered>,
}

/// Where a script starts.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The step with the question that this retry answers.
    pub(super) place: Option<usize>,
    pub(super) answers: Vec<Answered>,
}

impl Task {
    /// Remembers a round and returns its state, which is chosen so that careless handling shows.
    pub(super) fn remember(&self, question: &Question, place: usize, answers: &[Answered]) -> String {
        let state = format!("s{}.\"é\\u0041+/=\" ", self.inner.next());
        let round = Round {
            id: self.id.clone(),
            method: self.method.clone(),
            params: self.params.clone(),
            place,
            asked: question.asks.iter().map(|ask| ask.key.clone()).collect(),
            answers: answers.to_vec(),
        };
        lock(&self.inner.rounds).insert(state.clone(), round);
        state
    }

    /// Reads `requestState` and `inputResponses`; an error is the text of a refusal.
    pub(super) fn resume(&self, script: &Script) -> Result<Start, String> {
        let present = |key| json::at(&self.params, &[key]).filter(|raw| *raw != "null");
        let responses = match present("inputResponses") {
            Some(raw) => answers(raw).ok_or_else(|| self.object("inputResponses are no object"))?,
            None => Vec::new(),
        };
        let Some(state) = present("requestState") else {
            return self.without_state(script, responses);
        };
        let known = serde_json::from_str::<String>(state).ok();
        let round = known.and_then(|state| lock(&self.inner.rounds).get(&state).cloned());
        let Some(round) = round else {
            return Err(self.object(&format!("a requestState that was never given out: {state}")));
        };
        if round.id == self.id {
            self.object("the retry has the id of the first request");
        }
        if round.method != self.method || !same_request(&round.params, &self.params) {
            self.object("the retry is another request than the first one");
        }
        for answer in responses.iter().filter(|answer| !round.asked.contains(&answer.key)) {
            self.object(&format!("an answer to a question that was not asked: {}", answer.key));
        }
        let mut answers = round.answers;
        answers.retain(|old| !responses.iter().any(|new| new.key == old.key));
        answers.extend(responses);
        Ok(Start { place: Some(round.place), answers })
    }

    fn without_state(&self, script: &Script, answers: Vec<Answered>) -> Result<Start, String> {
        if answers.is_empty() {
            return Ok(Start::default());
        }
        let answered = |question: &Question| {
            let given = |key: &String| answers.iter().any(|answer| answer.key == *key);
            question.stateless && question.asks.iter().all(|ask| given(&ask.key))
        };
        let place = script.steps.iter().rposition(|step| matches!(step, Step::Ask(question) if answered(question)));
        match place {
            Some(_) => Ok(Start { place, answers }),
            None => Err(self.object("inputResponses without the requestState that was given out")),
        }
    }

    fn object(&self, text: &str) -> String {
        self.inner.violation(format!("{} (id {}): {text}", self.method, self.id));
        text.to_owned()
    }
}

fn answers(raw: &str) -> Option<Vec<Answered>> {
    let answer =
        |(key, raw): (String, &serde_json::value::RawValue)| Answered { key, raw: raw.get().to_owned(), error: false };
    Some(json::members(raw)?.into_iter().map(answer).collect())
}

/// Whether name or URI and arguments are the same, as JSON where it can be read, else as text.
fn same_request(first: &str, second: &str) -> bool {
    ["name", "uri", "arguments"].iter().all(|key| {
        let (first, second) = (json::at(first, &[key]), json::at(second, &[key]));
        let read = |raw: Option<&str>| -> Option<serde_json::Value> { serde_json::from_str(raw?).ok() };
        first == second || (read(first).is_some() && read(first) == read(second))
    })
}
