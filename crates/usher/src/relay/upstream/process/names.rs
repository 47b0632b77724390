//! Ids on a process's one channel. Calls of several requests share it, so each gets an id of ours there, and its progress
//! token with it; everything that comes back for it gets the client's own again. Everything else keeps its text (R-GW-02).

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed as _, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::mcp::{
    envelope::{Message, text_of, with_part},
    params::{Params, progress_token},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client called its request.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) id: Box<RawValue>,
    pub(super) token: Option<Box<RawValue>>,
}

impl Names {
    /// Those of a request.
    pub(super) fn of(id: &RawValue, params: Option<&RawValue>) -> Self {
        let token = Params::parse(params).ok().and_then(|params| progress_token(params.meta));
        Self { id: id.to_owned(), token: token.map(ToOwned::to_owned) }
    }
}

/// A line of the channel: no line break stands in it. In JSON, one can only be white space.
pub(super) fn line(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}

/// A request of a client, under our name for it.
pub(super) fn outgoing(message: &str, names: &Names, ours: u64) -> String {
    let text = put(message, &["id"], &ours.to_string());
    match names.token {
        Some(_) => put(&text, &["params", "_meta", "progressToken"], &ours.to_string()),
        None => text,
    }
}

/// A message of the process for a request, under the client's names for it.
pub(super) fn incoming(message: &str, names: &Names, kind: Kind) -> String {
    match kind {
        Kind::Response => {
            let text = put(message, &["id"], names.id.get());
            // The result of a subscription names it again.
            let names_it = memchr::memmem::find(text.as_bytes(), SUBSCRIPTION.as_bytes()).is_some();
            if names_it { put(&text, &["result", "_meta", SUBSCRIPTION], names.id.get()) } else { text }
        }
        Kind::Progress => match &names.token {
            Some(token) => put(message, &["params", "progressToken"], token.get()),
            None => message.to_owned(),
        },
        Kind::Subscription | Kind::Cancelled => {
            let text = put(message, &["params", "_meta", SUBSCRIPTION], names.id.get());
            put(&text, &["params", "requestId"], names.id.get())
        }
    }
}

/// What a message of a process has to do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Response,
    Progress,
    /// What a subscription brings.
    Subscription,
    /// The end of a request on the server's account.
    Cancelled,
}

/// The request that a message of the process belongs to, by our name for it. What a legacy server cancels is a question of its
/// own; a modern one asks none, and ends a subscription so.
pub(super) fn belongs(message: &Message<'_>, is_modern: bool) -> Option<(u64, Kind)> {
    let (method, params) = match message {
        Message::Response { id, .. } => return Some((number(id)?, Kind::Response)),
        Message::Notification { method, params } => (method, *params),
        Message::Request { .. } => return None,
    };
    if method == "notifications/progress" {
        return Some((number(at(params?, &["progressToken"])?)?, Kind::Progress));
    }
    let subscription = at(params?, &["_meta", SUBSCRIPTION]).and_then(number);
    if method == "notifications/cancelled" {
        if !is_modern {
            return None;
        }
        let request = at(params?, &["requestId"]).and_then(number);
        return Some((subscription.or(request)?, Kind::Cancelled));
    }
    Some((subscription?, Kind::Subscription))
}

/// The id that a `notifications/cancelled` names.
pub(super) fn cancelled(params: Option<&RawValue>) -> Option<&RawValue> {
    at(params?, &["requestId"])
}

/// The same notification about the request of another name.
pub(super) fn renamed(message: &str, name: &str) -> String {
    put(message, &["params", "requestId"], name)
}

/// A question's id as the client sees it: which run of the program asked stands in it, so that an answer never reaches
/// another run, whose own question may have the same id.
pub(super) fn asked(run: u64, id: &RawValue) -> String {
    serde_json::Value::from(format!("run-{run}:{}", id.get())).to_string()
}

/// The question's own id, if this run asked it.
pub(super) fn answered(run: u64, id: &RawValue) -> Option<Box<RawValue>> {
    let text = text_of(id)?;
    let own = text.strip_prefix("run-")?.strip_prefix(&run.to_string())?.strip_prefix(':')?;
    RawValue::from_string(own.to_owned()).ok()
}

/// A message with another id.
pub(super) fn with_id(message: &str, id: &str) -> String {
    put(message, &["id"], id)
}

fn number(raw: &RawValue) -> Option<u64> {
    raw.get().parse().ok()
}

fn at<'a>(raw: &'a RawValue, path: &[&str]) -> Option<&'a RawValue> {
    path.iter().try_fold(raw, |raw, key| member(raw.get(), key))
}

/// The text with `value` at `path`, if something stands there.
fn put(text: &str, path: &[&str], value: &str) -> String {
    let Some((first, rest)) = path.split_first() else { return text.to_owned() };
    let found = member(text, first).and_then(|raw| at(raw, rest));
    found.and_then(|part| with_part(text, part, value)).unwrap_or_else(|| text.to_owned())
}

/// The value of a member of an object. Others may stand twice: they are not read. This one may not.
fn member<'a>(object: &'a str, key: &str) -> Option<&'a RawValue> {
    let mut json = serde_json::Deserializer::from_str(object);
    Member(key).deserialize(&mut json).ok().flatten()
}

struct Member<'k>(&'k str);

impl<'de> serde::de::DeserializeSeed<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key != self.0 {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value()?).is_some() {
                return Err(A::Error::custom("it stands twice"));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(message: &str) -> Names {
        let Ok(Message::Request { id, params, .. }) = Message::parse(message.as_bytes()) else { panic!("{message}") };
        Names::of(id, params)
    }

    fn back(message: &str, names: &Names) -> (u64, String) {
        let (ours, kind) = belongs(&Message::parse(message.as_bytes()).unwrap(), true).unwrap();
        (ours, incoming(message, names, kind))
    }

    /// R-GW-02: a request keeps everything but its names, and what comes back has the client's.
    #[test]
    fn a_request_goes_out_under_our_name_and_comes_back_under_its_own() {
        let request = r#"{"jsonrpc":"2.0","x":1e999,"id":"a\u0062","method":"tools/call","params":{"name":"t","_meta":{"progressToken":9007199254740993,"z":1.0}}}"#;
        let names = names(request);
        assert_eq!(
            outgoing(request, &names, 7),
            r#"{"jsonrpc":"2.0","x":1e999,"id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7,"z":1.0}}}"#
        );
        let progress =
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1.50}}"#;
        let expected = progress.replace("\"progressToken\":7", "\"progressToken\":9007199254740993");
        assert_eq!(back(progress, &names), (7, expected));
        let response = r#"{"id":7,"jsonrpc":"2.0","result":{"b":1e999,"a":[]}}"#;
        assert_eq!(
            back(response, &names),
            (7, r#"{"id":"a\u0062","jsonrpc":"2.0","result":{"b":1e999,"a":[]}}"#.to_owned())
        );
    }

    /// R-GW-02: what is passed over may stand twice, and blanks stay.
    #[test]
    fn a_member_that_nobody_reads_may_stand_twice() {
        let request = r#"{ "x":1, "x":2, "jsonrpc":"2.0", "id":5, "method":"a", "params":{"k":1,"k":2,"_meta":{"progressToken":"t"}} }"#;
        assert_eq!(
            outgoing(request, &names(request), 9),
            request.replace("\"id\":5", "\"id\":9").replace("\"t\"", "9")
        );
        let response = r#"{"r":1,"r":2, "jsonrpc":"2.0","id":9,"result":{}}"#;
        assert_eq!(back(response, &names(request)).1, response.replace(":9", ":5"));
    }

    #[test]
    fn a_subscription_keeps_its_name() {
        let request = r#"{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{}}"#;
        let names = names(request);
        for (message, expected) in [
            (
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
                r#"{"jsonrpc":"2.0","id":"s","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}"#,
            ),
        ] {
            assert_eq!(back(message, &names), (3, expected.to_owned()));
        }
    }

    #[test]
    fn what_belongs_to_no_request_is_told_apart() {
        for message in [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        ] {
            assert_eq!(belongs(&Message::parse(message.as_bytes()).unwrap(), false), None, "{message}");
        }
    }

    /// R-ID-01: an answer never reaches another run of the program than the one that asked.
    #[test]
    fn an_answer_belongs_to_one_run() {
        for id in ["0", "\"a:b\"", "9007199254740993"] {
            let id = RawValue::from_string(id.to_owned()).unwrap();
            let shown = RawValue::from_string(asked(12, &id)).unwrap();
            assert_eq!(answered(12, &shown).map(|id| id.get().to_owned()).as_deref(), Some(id.get()));
            assert!(answered(1, &shown).is_none() && answered(13, &shown).is_none());
        }
        for made_up in ["0", "\"run-12:\"", "\"run-12:0 0\"", "\"x\""] {
            assert!(answered(12, &RawValue::from_string(made_up.to_owned()).unwrap()).is_none(), "{made_up}");
        }
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(line("{\n  \"a\": \"b\\n\"\r\n}"), "{   \"a\": \"b\\n\"  }");
    }
}
