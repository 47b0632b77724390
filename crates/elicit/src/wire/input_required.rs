use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{RawObject, ResultType, WireError, mode_of};
use crate::{ClientCapabilities, Mode, Revision, json};

/// A result that asks for input before the request can be completed: one half of a round.
#[derive(Clone)]
pub struct InputRequired<'a> {
    /// The questions, in the order of the text. May be empty: then the request is only to be made
    /// again, with the state.
    pub requests: Vec<InputRequest<'a>>,
    /// The asker's own state, which goes back to it as it is.
    pub request_state: Option<Cow<'a, str>>,
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
    /// Reads a result of the modern era; `None` where its `resultType` is another one.
    ///
    /// Keys are unique, each question is one of the three that the protocol allows, and an
    /// elicitation has a mode that exists (R-MRTR-08, R-REQ-02); anything else is an error, which
    /// ends the call. `null` counts as absent for both fields, of which one has to be there.
    pub fn parse(result_raw: &'a str) -> Result<Option<Self>, WireError> {
        let result = RawObject::parse(result_raw)?;
        if ResultType::of(&result)? != ResultType::InputRequired {
            return Ok(None);
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
            Some(questions) if json::is_object(questions.get()) => RawObject::parse(questions.get())?
                .members()
                .map(|(key, raw)| InputRequest::parse(key, raw))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(WireError::WrongType("inputRequests")),
            None => Vec::new(),
        };
        Ok(Some(Self { requests, request_state }))
    }

    /// The capabilities that the first question needs which this client did not declare on this
    /// very request (R-CAP-03, R-MRTR-08), for
    /// [`missing_capability`](crate::missing_capability); `None` where it declared all.
    pub fn undeclared(&self, caps: &ClientCapabilities, revision: Revision) -> Option<Value> {
        self.requests.iter().find_map(|request| request.undeclared(caps, revision))
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

    fn undeclared(&self, caps: &ClientCapabilities, revision: Revision) -> Option<Value> {
        let params = self.params.map(RawValue::get);
        match &*self.method {
            "elicitation/create" => {
                // Only an unknown mode has none, and parsing refused it.
                let mode = mode_of(params).unwrap_or(Mode::Form);
                (!caps.modes(revision).supports(mode)).then(|| mode.required_capabilities())
            }
            "sampling/createMessage" if !caps.sampling() => Some(json!({ "sampling": {} })),
            "sampling/createMessage" if !caps.sampling_tools() && with_tools(params) => {
                Some(json!({ "sampling": { "tools": {} } }))
            }
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

/// The value under `key` that is not `null`.
fn present<'a>(object: &RawObject<'a>, key: &str) -> Option<&'a RawValue> {
    object.get(key).filter(|value| !json::is_null(value.get()))
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

/// A whole `result` that asks these questions: each a key, unique among them, and the parameters of
/// its `elicitation/create`. `inputRequests` is left out where there are none but there is a state.
pub fn input_required(requests: &[(String, Value)], state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required" });
    if !requests.is_empty() || state.is_none() {
        let questions: Map<String, Value> = requests
            .iter()
            .map(|(key, params)| {
                let question = json!({ "method": "elicitation/create", "params": params });
                (key.clone(), question)
            })
            .collect();
        debug_assert_eq!(questions.len(), requests.len(), "a key was used twice");
        result["inputRequests"] = Value::Object(questions);
    }
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

#[cfg(test)]
mod tests;
