//! Reads what a request says: its body as JSON, strictly, and its query. All that is wrong is told at once, each fault with
//! its place.

use std::{borrow::Cow, cell::RefCell, collections::BTreeMap, ops::RangeInclusive, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use elicit::{RawObject, WireError};
use http::{HeaderMap, header};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::problem::{Problem, ProblemKind};
use crate::{
    body::{self, Unread},
    mcp::headers::is_type,
};

/// The largest body, in bytes.
pub(super) const BODY_AT_MOST: usize = 64 * 1024;

/// One thing that is wrong with a request.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct FieldFault {
    /// Where in the body, as a JSON pointer (RFC 6901).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "/user/subject")]
    pointer: Option<String>,
    /// Which parameter of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parameter: Option<String>,
    /// What is wrong, and what to do.
    detail: String,
}

impl FieldFault {
    pub(super) fn at(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: Some(pointer.into()), parameter: None, detail: detail.into() }
    }

    fn of_parameter(name: &str, detail: impl Into<String>) -> Self {
        Self { pointer: None, parameter: Some(name.to_owned()), detail: detail.into() }
    }
}

/// The faults of a request, as they are found.
#[derive(Debug, Default)]
pub(super) struct Found(RefCell<Vec<FieldFault>>);

impl Found {
    pub(super) fn add(&self, fault: FieldFault) {
        self.0.borrow_mut().push(fault);
    }

    /// `value`, where nothing is wrong.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, Problem> {
        let faults = self.0.into_inner();
        match value {
            Some(value) if faults.is_empty() => Ok(value),
            _ => Err(Problem::invalid(faults)),
        }
    }
}

/// Reads a body as JSON text.
pub(super) async fn text(headers: &HeaderMap, body: Body) -> Result<String, Problem> {
    as_json(headers, || body::whole(body, BODY_AT_MOST)).await
}

/// Reads a body that has nothing to say: none at all, or an empty object.
pub(super) async fn nothing(headers: &HeaderMap, body: Body) -> Result<(), Problem> {
    let bytes = body::whole(body, BODY_AT_MOST).await?;
    if bytes.is_empty() {
        return Ok(());
    }
    let text = as_json(headers, || std::future::ready(Ok(bytes))).await?;
    let found = Found::default();
    let done = Object::body(&text, &found)?.map(Object::close);
    found.or(done)
}

/// What is of another type is not even read.
async fn as_json<F: Future<Output = Result<Bytes, Unread>>>(
    headers: &HeaderMap,
    bytes: impl FnOnce() -> F,
) -> Result<String, Problem> {
    if !is_type(headers.get(header::CONTENT_TYPE), "application/json") {
        return Err(Problem::new(ProblemKind::MediaType, "the content type must be application/json"));
    }
    String::from_utf8(bytes().await?.into()).map_err(|_| Problem::new(ProblemKind::Malformed, "the body is not UTF-8"))
}

/// A member is not what it has to be, and its fault is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told;

/// An object of a body, whose members are taken one after the other; what is left at the end is a fault.
pub(super) struct Object<'a> {
    members: RawObject<'a>,
    pointer: String,
    found: &'a Found,
}

impl<'a> Object<'a> {
    /// The body itself. `None` where it is JSON and no object, which is a fault.
    pub(super) fn body(text: &'a str, found: &'a Found) -> Result<Option<Self>, Problem> {
        match RawObject::parse(text) {
            Ok(object) => Ok(Some(Self { members: object, pointer: String::new(), found })),
            Err(WireError::NotObject) => {
                found.add(FieldFault::at("", "the body is an object"));
                Ok(None)
            }
            Err(error) => Err(Problem::new(ProblemKind::Malformed, format!("the body cannot be read: {error}"))),
        }
    }

    /// Says what is wrong with a member.
    pub(super) fn fault(&self, name: &str, detail: impl Into<String>) {
        self.found.add(FieldFault::at(self.pointer_to(name), detail));
    }

    /// The same of a member of an object that was read before.
    pub(super) fn fault_within(&self, object: &str, name: &str, detail: impl Into<String>) {
        self.found.add(FieldFault::at(format!("{}/{name}", self.pointer_to(object)), detail));
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.required(name, "a text")?;
        self.as_text(name, value)
    }

    /// A text that may be left out.
    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Told> {
        self.take(name).map(|value| self.as_text(name, value).ok_or(Told)).transpose()
    }

    /// A whole number of seconds that may be left out.
    pub(super) fn optional_seconds(
        &mut self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<Duration>, Told> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.get().parse().ok().filter(|seconds| range.contains(seconds)) {
            Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
            None => {
                Err(self.told(name, format!("a whole number of seconds from {} to {}", range.start(), range.end())))
            }
        }
    }

    /// An object that may be left out.
    pub(super) fn optional_object(&mut self, name: &str) -> Result<Option<Self>, Told> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match RawObject::parse(value.get()) {
            Ok(members) => Ok(Some(Self { members, pointer: self.pointer_to(name), found: self.found })),
            Err(WireError::NotObject) => Err(self.told(name, "an object")),
            Err(error) => Err(self.told(name, error.to_string())),
        }
    }

    /// The text of an object that may be left out.
    pub(super) fn optional_raw_object(&mut self, name: &str) -> Result<Option<&'a str>, Told> {
        match self.take(name) {
            Some(value) if !value.get().starts_with('{') => Err(self.told(name, "an object")),
            value => Ok(value.map(RawValue::get)),
        }
    }

    fn told(&self, name: &str, detail: impl Into<String>) -> Told {
        self.fault(name, detail);
        Told
    }

    /// All that was asked for is taken: what is left is not known.
    pub(super) fn close(self) {
        let rest = self.members.to_json();
        // Keys that are no text have no pointer either.
        match serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(&rest) {
            Ok(rest) => rest.keys().for_each(|name| self.fault(name, "there is no such member")),
            Err(_) => self.fault("", "a name of a member is no text"),
        }
    }

    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let value = self.members.get(name);
        self.members.remove(name);
        value
    }

    fn required(&mut self, name: &str, what: &str) -> Option<&'a RawValue> {
        let value = self.take(name);
        if value.is_none() {
            self.fault(name, format!("{what} is needed here"));
        }
        value
    }

    fn as_text(&self, name: &str, value: &RawValue) -> Option<String> {
        let text = serde_json::from_str(value.get()).ok();
        if text.is_none() {
            self.fault(name, "a text");
        }
        text
    }

    /// RFC 6901, section 3.
    fn pointer_to(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }
}

/// The one parameter that a query may have, a number of seconds.
pub(super) fn seconds_of_query(query: Option<&str>, name: &str, most: u64) -> Result<Duration, Problem> {
    let (found, mut seconds) = (Found::default(), None);
    for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if key != name {
            found.add(FieldFault::of_parameter(&key, "there is no such parameter"));
        } else if seconds.is_some() {
            found.add(FieldFault::of_parameter(name, "it stands twice"));
        } else {
            let digits = value.bytes().all(|byte| byte.is_ascii_digit());
            let read = value.parse().ok().filter(|seconds| digits && *seconds <= most);
            if read.is_none() {
                found.add(FieldFault::of_parameter(name, format!("a whole number of seconds from 0 to {most}")));
            }
            seconds = Some(read.unwrap_or_default());
        }
    }
    found.or(Some(Duration::from_secs(seconds.unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str, read: impl FnOnce(&mut Object<'_>)) -> Vec<(String, String)> {
        let found = Found::default();
        if let Some(mut object) = Object::body(text, &found).unwrap() {
            read(&mut object);
            object.close();
        }
        let faults = found.0.into_inner();
        faults.into_iter().map(|fault| (fault.pointer.unwrap(), fault.detail)).collect()
    }

    /// RFC 6901: each fault is told with its place, all at once.
    #[test]
    fn all_faults_are_told_at_once() {
        let text = r#"{"a":1,"b":"x","c/~":[],"o":{"x":1},"s":1.5,"n":null}"#;
        let found = faults(text, |object| {
            object.text("a");
            object.text("missing");
            let _ = object.optional_seconds("s", 1..=10);
            if let Ok(Some(inner)) = object.optional_object("o") {
                inner.close();
            }
            let _ = object.optional_object("b");
        });
        let places: Vec<_> = found.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["/a", "/missing", "/s", "/o/x", "/b", "/c~1~0", "/n"]);
    }

    #[test]
    fn numbers_are_whole_and_in_range() {
        for (value, right) in [
            ("1", true),
            ("10", true),
            ("0", false),
            ("11", false),
            ("1.0", false),
            ("1e0", false),
            ("\"1\"", false),
            ("-1", false),
            ("null", false),
        ] {
            let found = faults(&format!("{{\"s\":{value}}}"), |object| {
                let _ = object.optional_seconds("s", 1..=10);
            });
            assert_eq!(found.is_empty(), right, "{value}");
        }
    }

    #[test]
    fn a_body_that_two_readers_could_read_differently_is_refused() {
        for text in ["", "{", r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, "{}{}", "NaN"] {
            assert!(Object::body(text, &Found::default()).is_err(), "{text}");
        }
        assert_eq!(faults("[]", |_| {}), [(String::new(), "the body is an object".to_owned())]);
    }

    #[test]
    fn a_query_has_one_parameter_once() {
        let read = |query: &str| seconds_of_query(Some(query), "wait", 60).ok().map(|wait| wait.as_secs());
        assert_eq!(seconds_of_query(None, "wait", 60).unwrap(), Duration::ZERO);
        assert_eq!((read("wait=0"), read("wait=60"), read("")), (Some(0), Some(60), Some(0)));
        for wrong in
            ["wait=61", "wait=-1", "wait=+1", "wait=1.5", "wait=", "wait=1&wait=1", "until=1", "wait=1&x", "Wait=1"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
