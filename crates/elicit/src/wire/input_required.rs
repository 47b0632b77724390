use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Elicitation, ElicitationError, MAX_QUESTIONS, RawObject, ResultType, WireError, mode_of, present};
use crate::{ClientCapabilities, Mode, Modes, Revision, json};

/// A result that asks for input before the request can be completed: one half of a round, as whoever answers reads it. It
/// is written by a [`Round`](crate::Round).
#[derive(Clone)]
pub struct InputRequired<'a> {
    /// The questions, in the order of the text. May be empty: then the request is only to be made
    /// again, with the state.
    pub requests: Vec<InputRequest<'a>>,
    /// The asker's own state, which goes back to it as it is.
    pub request_state: Option<Cow<'a, str>>,
    /// The state in the text that it came in, with its quotes, which a [retry](crate::Rounds::retry) echoes (R-MRTR-05).
    pub request_state_raw: Option<&'a RawValue>,
}

/// One question of a round.
#[derive(Clone)]
pub struct InputRequest<'a> {
    /// The key that its answer goes under; unique in its round.
    pub key: Cow<'a, str>,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: Cow<'a, str>,
    /// The parameters as they came: an object.
    pub params: Option<&'a RawValue>,
    /// The whole question as it came.
    pub raw: &'a RawValue,
}

impl<'a> InputRequired<'a> {
    /// Reads a result of the modern era; `None` for a complete one, which a missing `resultType` means too. Any other
    /// `resultType` is an error (R-MRTR-07): who declared an extension that defines it looks at [`ResultType::of`] first.
    ///
    /// Keys are unique, there are at most [`MAX_QUESTIONS`], each is one of the three that the protocol allows, and an
    /// elicitation has a mode that exists (R-MRTR-08, R-REQ-02); anything else is an error, which ends the call. `null`
    /// counts as absent for both fields, of which one has to be there.
    pub fn parse(result_raw: &'a str) -> Result<Option<Self>, WireError> {
        let result = RawObject::parse(result_raw)?;
        match ResultType::of(&result)? {
            ResultType::InputRequired => {}
            ResultType::Complete => return Ok(None),
            ResultType::Other(_) => return Err(WireError::UnknownResultType),
        }
        let questions = present(&result, "inputRequests");
        let state = present(&result, "requestState");
        if questions.is_none() && state.is_none() {
            return Err(WireError::NothingRequired);
        }
        let request_state = match state {
            Some(state) => Some(json::text(state.get()).ok_or(WireError::WrongType("requestState"))?),
            None => None,
        };
        let requests = match questions {
            Some(questions) if json::is_object(questions.get()) => requests_of(&RawObject::parse(questions.get())?)?,
            Some(_) => return Err(WireError::WrongType("inputRequests")),
            None => Vec::new(),
        };
        Ok(Some(Self { requests, request_state, request_state_raw: state }))
    }

    /// All capabilities that the questions need and that this client did not declare on this very request (R-CAP-03,
    /// R-CAP-05, R-MRTR-08), as one object for [`missing_capability`](crate::missing_capability); `None` where it declared
    /// all.
    pub fn undeclared(&self, caps: &ClientCapabilities, revision: Revision) -> Option<Value> {
        let mut missing = Map::new();
        for required in self.requests.iter().filter_map(|request| request.undeclared(caps, revision)) {
            merge(&mut missing, required);
        }
        (!missing.is_empty()).then_some(Value::Object(missing))
    }
}

fn requests_of<'a>(questions: &RawObject<'a>) -> Result<Vec<InputRequest<'a>>, WireError> {
    if questions.members().count() > MAX_QUESTIONS {
        return Err(WireError::TooMany("inputRequests"));
    }
    questions.members().map(|(key, raw)| InputRequest::parse(key, raw)).collect()
}

/// Adds capabilities to others. They are our own, three levels deep at most.
fn merge(into: &mut Map<String, Value>, capabilities: Value) {
    let Value::Object(capabilities) = capabilities else { return };
    for (name, capability) in capabilities {
        match into.get_mut(&name) {
            Some(Value::Object(there)) => merge(there, capability),
            _ => drop(into.insert(name, capability)),
        }
    }
}

impl<'a> InputRequest<'a> {
    fn parse(key: &Cow<'a, [u8]>, raw: &'a RawValue) -> Result<Self, WireError> {
        let key = match key {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes.clone()).ok().map(Cow::Owned),
        }
        .ok_or(WireError::KeyNotText)?;
        let request = RawObject::parse(raw.get())?;
        let method = request.get("method").ok_or(WireError::Missing("method"))?;
        let method = json::text(method.get()).ok_or(WireError::WrongType("method"))?;
        let params = present(&request, "params");
        if params.is_some_and(|params| !json::is_object(params.get())) {
            return Err(WireError::WrongType("params"));
        }
        match &*method {
            "elicitation/create" => {
                let params = params.ok_or(WireError::Missing("params"))?;
                mode_of(Some(params.get()))?;
            }
            "sampling/createMessage" if params.is_none() => {
                return Err(WireError::Missing("params"));
            }
            "sampling/createMessage" | "roots/list" => {}
            _ => return Err(WireError::UnknownQuestion),
        }
        Ok(Self { key, method, params, raw })
    }

    /// The question to a person, if its mode is one of those that we `declared` on this very request (R-CAP-04); `None` for
    /// sampling and roots.
    pub fn elicitation(&self, revision: Revision, declared: Modes) -> Result<Option<Elicitation>, ElicitationError> {
        match self.params {
            Some(params) if self.method == "elicitation/create" => {
                Elicitation::parse(params.get(), revision)?.within(declared).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn undeclared(&self, caps: &ClientCapabilities, revision: Revision) -> Option<Value> {
        let params = self.params.map(RawValue::get);
        match &*self.method {
            "elicitation/create" => {
                // Only an unknown mode has none, and parsing refused it.
                let mode = mode_of(params).unwrap_or(Mode::Form);
                (!caps.modes(revision).supports(mode)).then(|| mode.required_capabilities())
            }
            "sampling/createMessage" if !caps.sampling_tools() && with_tools(params) => {
                Some(json!({ "sampling": { "tools": {} } }))
            }
            "sampling/createMessage" if !caps.sampling() => Some(json!({ "sampling": {} })),
            "roots/list" if !caps.roots() => Some(json!({ "roots": {} })),
            _ => None,
        }
    }
}

fn with_tools(params: Option<&str>) -> bool {
    params
        .and_then(|params| RawObject::parse(params).ok())
        .is_some_and(|params| params.contains("tools") || params.contains("toolChoice"))
}

/// Names keys and methods only: questions and state are the user's.
impl fmt::Debug for InputRequired<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputRequired")
            .field("requests", &self.requests)
            .field("request_state", &self.request_state.as_ref().map(|_| "…"))
            .finish()
    }
}

impl fmt::Debug for InputRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputRequest").field("key", &self.key).field("method", &self.method).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
