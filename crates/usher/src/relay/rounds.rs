//! The modern era's rounds: what the sealed request state holds, and how a retry is taken apart.

use std::time::Duration;

use elicit::{Action, Answer, Binding, DigestError, InputResponses, RawObject, Rejected, SealError, request_digest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use usher_store::{InteractionId, OPEN_AT_MOST};

use super::call::{Call, Caller};
use crate::{
    broker::INTERACTION_LIVES,
    mcp::{
        envelope::{Message, text_of},
        params::Params,
    },
};

/// How long a request state lives at most: longer than an interaction can be made to last after the state was sealed, so that
/// a person who finishes in the last second still gets an answer.
pub const STATE_LIVES: Duration = OPEN_AT_MOST.unsigned_abs().saturating_add(Duration::from_mins(1));

/// The same of a state without a question of ours.
const FOREIGN_STATE_LIVES: Duration = INTERACTION_LIVES.saturating_add(Duration::from_mins(1));

/// What one state carries.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Round {
    /// Rounds in a row that carried nothing but state.
    pub(super) quiet: u8,
    /// How many credentials the person gave for this call that the upstream then refused.
    #[serde(default)]
    pub(super) refused: u8,
    /// Whether the call is for our own tool that connects.
    #[serde(default)]
    pub(super) connects: bool,
    /// What the retry must name to go on with what was done for this call alone ([`usher_store::Claim::round`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) proof: String,
    /// Our questions.
    pub(super) ours: Vec<Ours>,
    /// The upstream's own state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upstream_state: Option<String>,
    /// Answers to the upstream's questions that came in a round in which we asked, a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) carried: Option<Box<RawValue>>,
}

/// One question of ours.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ours {
    /// Its key in `inputRequests`.
    pub(super) key: String,
    /// The provider that is asked for.
    pub(super) provider: String,
    /// The interaction.
    pub(super) interaction: String,
    /// Whether the person has consented to open the page.
    pub(super) accepted: bool,
}

impl Ours {
    pub(super) fn id(&self) -> Option<InteractionId> {
        InteractionId::parse(&self.interaction).ok()
    }
}

/// Why a state is not taken. Goes to the log; the client gets one fixed text.
#[derive(Debug, thiserror::Error)]
pub(super) enum StateError {
    #[error("the state is no string")]
    NoString,
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the arguments cannot be digested: {0}")]
    Digest(#[from] DigestError),
}

/// Why a state cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum CarryError {
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("the arguments cannot be digested: {0}")]
    Digest(#[from] DigestError),
    #[error("the state cannot be written")]
    Write,
}

fn binding(caller: &Caller, method: &str, params: Option<&RawValue>) -> Result<Binding, DigestError> {
    Ok(Binding {
        principal: caller.principal.clone(),
        upstream: caller.upstream().name.clone(),
        method: method.to_owned(),
        digest: request_digest(method, params.map(RawValue::get))?,
    })
}

fn seconds(caller: &Caller) -> u64 {
    u64::try_from(caller.app.clock.now().as_second()).unwrap_or_default()
}

/// Opens the state of a retry; `None` where the request carries none (`null` counts as absent).
pub(super) fn open(
    caller: &Caller,
    method: &str,
    raw_params: Option<&RawValue>,
    params: &Params<'_>,
) -> Result<Option<Round>, StateError> {
    let Some(raw) = params.request_state.filter(|raw| raw.get() != "null") else { return Ok(None) };
    let sealed = text_of(raw).ok_or(StateError::NoString)?;
    let binding = binding(caller, method, raw_params)?;
    Ok(Some(caller.app.relay.keys.state_keys().open_json(&sealed, &binding, seconds(caller))?))
}

/// Seals `round` for this call.
pub(super) fn seal(call: &Call, round: &Round) -> Result<String, CarryError> {
    let caller = &call.caller;
    // The body is the call as it goes upstream: rounds never change its name, arguments or URI.
    let Ok(Message::Request { params, .. }) = Message::parse(&call.body) else { return Err(CarryError::Write) };
    let binding = binding(caller, &call.method, params)?;
    let lives = if round.ours.is_empty() { FOREIGN_STATE_LIVES } else { STATE_LIVES };
    let expires_at = seconds(caller) + lives.as_secs();
    Ok(caller.app.relay.keys.state_keys().seal_json(&binding, round, expires_at, &*caller.app.random)?)
}

/// Seals the state of an upstream's own question, and what the call has used up for this round.
pub(super) fn seal_upstream(call: &Call, state: Option<&str>) -> Result<String, CarryError> {
    let round = Round { upstream_state: state.map(str::to_owned), proof: call.next_round.clone(), ..Round::default() };
    seal(call, &round)
}

/// What a retry says to our questions, and what is left of it for the upstream.
pub(super) struct Taken {
    /// The round with what was said.
    pub(super) round: Round,
    /// The first of our questions that was not accepted.
    pub(super) refused: Option<(Ours, Action)>,
    /// The answers that are not ours, a JSON object; none where there are none.
    pub(super) rest: Option<Box<RawValue>>,
}

/// Takes a retry apart. Missing and malformed answers leave their question open. In a round of ours the upstream asked
/// nothing, so answers to anything else are ignored (R-MRTR-04); in a round of the upstream's all of them go on to it.
pub(super) fn take(mut round: Round, responses: Option<&RawValue>) -> Taken {
    let read = responses.and_then(|raw| Some((raw, InputResponses::parse(raw.get()).ok()?)));
    let theirs = read.as_ref().map(|(raw, _)| (*raw).to_owned());
    let responses = read.map(|(_, read)| read);
    let mut refused = None;
    for ours in &mut round.ours {
        let said = responses.as_ref().and_then(|responses| responses.get(&ours.key));
        match said.and_then(|raw| Answer::parse(raw.get()).ok()).map(|answer| answer.action()) {
            Some(Action::Accept) => ours.accepted = true,
            Some(action) => refused = refused.or_else(|| Some((ours.clone(), action))),
            None => {}
        }
    }
    let rest = if round.ours.is_empty() { theirs } else { round.carried.clone() };
    Taken { round, refused, rest }
}

/// The call as the upstream gets it: its own state and its own answers, and nothing of ours.
pub(super) fn for_upstream(body: &[u8], upstream_state: Option<&str>, rest: Option<&RawValue>) -> Option<String> {
    let Ok(Message::Request { params: Some(params), .. }) = Message::parse(body) else { return None };
    let mut object = RawObject::parse(params.get()).ok()?;
    match upstream_state {
        Some(state) => object.set("requestState", serde_json::Value::from(state).to_string()),
        None => {
            object.remove("requestState");
        }
    }
    match rest {
        Some(rest) => object.set("inputResponses", rest.get().to_owned()),
        None => {
            object.remove("inputResponses");
        }
    }
    let mut envelope = RawObject::parse(std::str::from_utf8(body).ok()?).ok()?;
    envelope.set("params", object.to_json());
    Some(envelope.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn ours(key: &str) -> Ours {
        Ours { key: key.to_owned(), provider: "weather".to_owned(), interaction: String::new(), accepted: false }
    }

    /// R-MRTR-04: what is missing or malformed is open, what is unknown is ignored.
    #[test]
    fn a_retry_is_taken_apart() {
        let round = Round { ours: vec![ours("a"), ours("b"), ours("c")], ..Round::default() };
        let responses = raw(r#"{"theirs":{"n":1e999},"a":{"action":"accept"},"b":{"action":"perhaps"}}"#);
        let taken = take(round, Some(&responses));
        let accepted: Vec<bool> = taken.round.ours.iter().map(|ours| ours.accepted).collect();
        assert_eq!(accepted, [true, false, false]);
        assert!(taken.refused.is_none());
        assert!(taken.rest.is_none());
        let theirs = take(Round::default(), Some(&responses)).rest.unwrap();
        assert_eq!(theirs.get(), responses.get(), "where we asked nothing, all of them are the upstream's");
    }

    #[test]
    fn decline_and_cancel_are_told_apart() {
        for (action, expected) in [("decline", Action::Decline), ("cancel", Action::Cancel)] {
            let round = Round { ours: vec![ours("a")], ..Round::default() };
            let taken = take(round, Some(&raw(&format!(r#"{{"a":{{"action":"{action}"}}}}"#))));
            assert_eq!(taken.refused.unwrap().1, expected);
        }
    }

    /// The answers to an upstream's questions survive a round of ours in between.
    #[test]
    fn carried_answers_survive_a_round_of_ours() {
        let round = Round { carried: Some(raw(r#"{"x":1,"y":2}"#)), ours: vec![ours("a")], ..Round::default() };
        let taken = take(round, Some(&raw(r#"{"a":{"action":"accept"},"y":3}"#)));
        assert_eq!(taken.rest.unwrap().get(), r#"{"x":1,"y":2}"#);
    }

    /// R-GW-02: nothing else of the call changes on the way upstream.
    #[test]
    fn the_upstream_gets_its_own_state_and_nothing_of_ours() {
        let body = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"z":1e999,"requestState":"ours","name":"a","inputResponses":{"a":{}},"b":9007199254740993}}"#;
        assert_eq!(
            for_upstream(body, Some("theirs"), None).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"z":1e999,"requestState":"theirs","name":"a","b":9007199254740993}}"#
        );
    }
}
