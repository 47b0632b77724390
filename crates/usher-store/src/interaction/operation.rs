//! The call that a question is asked for.

use std::fmt;

use elicit::{Digest, DigestError, RawObject, request_digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The most of one call that a person is asked to approve, in bytes: its name and its arguments together.
pub const OPERATION_AT_MOST: usize = 64 * 1024;

/// The longest name of a call that is kept only to be shown, in characters.
const NAME_AT_MOST: usize = 200;

/// The most of a name that the audit log tells, in characters.
const TOLD_AT_MOST: usize = 100;

/// The call that a question is asked for: by name where its answer is good for others too, whole where it is good for this
/// very call alone.
///
/// Arguments may be anything about anybody: they are stored sealed, and `Debug` does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct Operation {
    method: String,
    subject: String,
    exact: Option<Exact>,
}

/// All that such a call asks for.
#[derive(Clone, PartialEq, Eq)]
struct Exact {
    arguments: Option<String>,
    digest: Digest,
}

/// Why a call cannot be put before a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// It is longer than [`OPERATION_AT_MOST`]. No part of it is left out for that.
    #[error("name and arguments are longer than {} KiB, more than a person can be shown", OPERATION_AT_MOST / 1024)]
    TooLarge,
    /// It has no exact meaning: a key stands twice, it is nested too deep, or it names nothing.
    #[error("the arguments cannot be shown exactly: {0}")]
    Digest(#[from] DigestError),
    /// Its name is no text.
    #[error("the name is no text")]
    Name,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    method: String,
    subject: String,
    exact: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
}

impl Operation {
    /// A call by its name alone, which is only shown; a long one is cut.
    pub fn named(method: &str, subject: &str) -> Self {
        let subject = subject.chars().take(NAME_AT_MOST).collect();
        Self { method: method.to_owned(), subject, exact: None }
    }

    /// The whole of a call of `tools/call`, `prompts/get` or `resources/read` with these raw parameters.
    pub fn exact(method: &str, params: Option<&str>) -> Result<Self, OperationError> {
        let digest = request_digest(method, params)?;
        let members = RawObject::parse(params.unwrap_or("{}")).map_err(|_| DigestError::ParametersNoObject)?;
        let (name, arguments) = match method {
            "resources/read" => (members.get("uri"), None),
            _ => (members.get("name"), members.get("arguments")),
        };
        let name = name.ok_or(OperationError::Name)?.get();
        let arguments = arguments.map(RawValue::get);
        if name.len() + arguments.map_or(0, str::len) > OPERATION_AT_MOST {
            return Err(OperationError::TooLarge);
        }
        let subject = serde_json::from_str(name).map_err(|_| OperationError::Name)?;
        let exact = Exact { arguments: arguments.map(str::to_owned), digest };
        Ok(Self { method: method.to_owned(), subject, exact: Some(exact) })
    }

    /// The method: `tools/call`, `prompts/get` or `resources/read`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The name of the tool or prompt, or the URI of the resource.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The arguments as they were written, where there are any and the whole call is kept.
    pub fn arguments(&self) -> Option<&str> {
        self.exact.as_ref()?.arguments.as_deref()
    }

    /// What tells this call from any other (R-MRTR-02); `None` where it is kept by its name alone.
    pub fn digest(&self) -> Option<&Digest> {
        self.exact.as_ref().map(|exact| &exact.digest)
    }

    /// The call for the audit log, in one line: its method, its name, and of the exact call the first 16 digits of its digest.
    /// Never its arguments.
    pub fn told(&self) -> String {
        let digest = self.digest().map(Digest::to_hex);
        let digest = digest.as_deref().and_then(|digest| digest.get(..16)).map(|digest| format!(" #{digest}"));
        format!("{} {}{}", self.method, elicit::text::line(&self.subject, TOLD_AT_MOST), digest.unwrap_or_default())
    }

    /// The same by its name alone.
    pub(crate) fn without_arguments(&self) -> Self {
        Self::named(&self.method, &self.subject)
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            method: self.method.clone(),
            subject: self.subject.clone(),
            exact: self.exact.is_some(),
            arguments: self.arguments().map(str::to_owned),
        })
    }

    /// The digest is made anew of what is shown, so that nobody approves one thing and reads another.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let Written { method, subject, exact, arguments } = serde_json::from_slice(bytes).ok()?;
        if !exact {
            return Some(Self { method, subject, exact: None });
        }
        let name = Value::from(subject);
        let params = match (method.as_str(), arguments) {
            ("resources/read", _) => format!("{{\"uri\":{name}}}"),
            (_, None) => format!("{{\"name\":{name}}}"),
            (_, Some(arguments)) => format!("{{\"name\":{name},\"arguments\":{arguments}}}"),
        };
        Self::exact(&method, Some(&params)).ok()
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("method", &self.method)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> String {
        format!(r#"{{"name":"pay","arguments":{arguments},"_meta":{{"progressToken":1}}}}"#)
    }

    /// R-MRTR-02, R-FORM-11: what is read back is the call to the last digit, and so is its digest.
    #[test]
    fn a_call_survives_its_bytes_exactly() {
        for (method, params) in [
            ("tools/call", call(r#"{"amount":9007199254740993,"note":"a\u0000\ud83d\ude00\"","big":1e999}"#)),
            ("tools/call", call("null")),
            ("tools/call", r#"{"name":"pay"}"#.to_owned()),
            ("prompts/get", r#"{"name":"p\"lan\n","arguments":{ "a" : "b" }}"#.to_owned()),
            ("resources/read", r#"{"uri":"file:///a%20b"}"#.to_owned()),
        ] {
            let operation = Operation::exact(method, Some(&params)).unwrap();
            let read = Operation::parse(&operation.to_bytes().unwrap()).unwrap();
            assert!(read == operation, "{params}");
            assert_eq!(read.digest(), Some(&request_digest(method, Some(&params)).unwrap()), "{params}");
        }
    }

    /// R-MRTR-02: numbers that a double cannot tell apart are two calls; what is only written otherwise is one.
    #[test]
    fn calls_are_told_apart_by_the_exact_text_of_numbers() {
        let digest =
            |arguments: &str| *Operation::exact("tools/call", Some(&call(arguments))).unwrap().digest().unwrap();
        assert_ne!(digest(r#"{"id":9007199254740993}"#), digest(r#"{"id":9007199254740992}"#));
        assert_eq!(digest(r#"{"a":1,"b":"\u0061"}"#), digest(r#"{ "b":"a", "a":1 }"#));
    }

    #[test]
    fn what_cannot_be_shown_whole_and_exactly_is_refused() {
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(OPERATION_AT_MOST));
        assert_eq!(Operation::exact("tools/call", Some(&call(&long))), Err(OperationError::TooLarge));
        let most = format!(r#"{{"text":"{}"}}"#, "x".repeat(60 * 1024));
        assert!(Operation::exact("tools/call", Some(&call(&most))).is_ok());
        for (params, error) in [
            (call(r#"{"a":1,"a":2}"#), OperationError::Digest(DigestError::DuplicateKey)),
            (r#"{"arguments":{}}"#.to_owned(), OperationError::Digest(DigestError::MissingParameter("name"))),
            (r#"{"name":7}"#.to_owned(), OperationError::Name),
            (r#"{"name":"\ud800"}"#.to_owned(), OperationError::Name),
        ] {
            assert_eq!(Operation::exact("tools/call", Some(&params)), Err(error), "{params}");
        }
        assert!(Operation::exact("tools/list", None).is_err());
    }

    #[test]
    fn a_name_that_is_only_shown_is_cut() {
        let named = Operation::named("tools/call", &"字".repeat(1000));
        assert_eq!(named.subject().chars().count(), NAME_AT_MOST);
        assert!(named.digest().is_none() && named.arguments().is_none());
        assert!(Operation::parse(&named.to_bytes().unwrap()) == Some(named));
    }

    /// R-SEC-03, R-SEC-07
    #[test]
    fn a_call_is_told_by_its_name_and_digest_in_one_line() {
        let operation =
            Operation::exact("tools/call", Some(r#"{"name":"pay\u001b\n","arguments":{"to":"alice"}}"#)).unwrap();
        let told = operation.told();
        let digest = &operation.digest().unwrap().to_hex()[..16];
        assert!(told.starts_with("tools/call pay") && told.ends_with(&format!(" #{digest}")), "{told}");
        assert!(!told.contains("alice") && !told.chars().any(char::is_control), "{told}");
        assert!(Operation::named("tools/call", &"x".repeat(200)).told().chars().count() <= 120);
    }

    /// R-SEC-07
    #[test]
    fn arguments_are_in_no_log() {
        let operation = Operation::exact("tools/call", Some(&call(r#"{"to":"alice"}"#))).unwrap();
        assert!(!format!("{operation:?}").contains("alice"));
    }
}
