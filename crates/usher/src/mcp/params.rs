//! The few parameters that the gateway reads. Everything else in `params` is passed over and passed on.

use std::borrow::Cow;

use elicit::{ClientCapabilities, Revision};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::envelope::{present, text_of};
use crate::claim;

/// What the gateway reads of a request's `params`. A member that stands twice is an error.
#[derive(Debug, Default, Deserialize)]
pub struct Params<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    uri: Option<&'a RawValue>,
    /// `_meta`, raw.
    #[serde(borrow, default, deserialize_with = "present", rename = "_meta")]
    pub meta: Option<&'a RawValue>,
    /// Modern: answers to questions, raw.
    #[serde(borrow, default, deserialize_with = "present", rename = "inputResponses")]
    pub input_responses: Option<&'a RawValue>,
    /// Modern: the state that a round carries, raw.
    #[serde(borrow, default, deserialize_with = "present", rename = "requestState")]
    pub request_state: Option<&'a RawValue>,
}

/// A parameter is missing, stands twice, or is of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid params: {0}")]
pub struct ParamsError(pub String);

impl<'a> Params<'a> {
    /// Reads them; absent params are empty ones.
    pub fn parse(raw: Option<&'a RawValue>) -> Result<Self, ParamsError> {
        match raw {
            None => Ok(Self::default()),
            Some(raw) => serde_json::from_str(raw.get()).map_err(|error| ParamsError(short(&error))),
        }
    }

    /// The tool's or prompt's name, or the resource's URI, for the methods that have one.
    pub fn subject(&self, method: &str) -> Result<Option<Cow<'a, str>>, ParamsError> {
        let (member, raw) = match method {
            "tools/call" | "prompts/get" => ("name", self.name),
            "resources/read" => ("uri", self.uri),
            _ => return Ok(None),
        };
        let text = raw.and_then(text_of).ok_or_else(|| ParamsError(format!("`{member}` must be a string")))?;
        Ok(Some(text))
    }
}

/// What a modern request says of itself in `_meta`.
#[derive(Debug)]
pub struct ModernMeta {
    /// What the client can do, for this request alone.
    pub capabilities: ClientCapabilities,
    /// `clientInfo.name`: a claim, never a fact.
    pub client_claim: Option<String>,
}

#[derive(Default, Deserialize)]
struct MetaWire<'a> {
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present", rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

fn meta_wire(meta: Option<&RawValue>) -> Result<MetaWire<'_>, ParamsError> {
    match meta {
        None => Ok(MetaWire::default()),
        Some(raw) => {
            serde_json::from_str(raw.get()).map_err(|error| ParamsError(format!("`_meta`: {}", short(&error))))
        }
    }
}

/// Whether a request carries the modern era's mark, whatever its value. What cannot be read is an error in both eras: a
/// reader less strict than we are could see the mark where we do not.
pub fn is_modern(params: Option<&RawValue>) -> Result<bool, ParamsError> {
    let meta = Params::parse(params)?.meta.filter(|meta| meta.get() != "null");
    Ok(meta_wire(meta)?.version.is_some())
}

/// What a modern request says its client can do, as it is written.
pub fn raw_capabilities(params: Option<&RawValue>) -> Option<&RawValue> {
    meta_wire(Params::parse(params).ok()?.meta).ok()?.capabilities
}

/// The version that a modern request names; it is looked at before anything that a later version may have changed.
pub fn modern_version(meta: Option<&RawValue>) -> Result<Cow<'_, str>, ParamsError> {
    let lacks = || ParamsError("`_meta` lacks `io.modelcontextprotocol/protocolVersion`".to_owned());
    meta_wire(meta)?.version.and_then(text_of).ok_or_else(lacks)
}

impl ModernMeta {
    /// Reads the required members (R-CAP-05: a request without them is malformed).
    pub fn parse(meta: Option<&RawValue>) -> Result<Self, ParamsError> {
        let wire = meta_wire(meta)?;
        let raw = wire
            .capabilities
            .ok_or_else(|| ParamsError("`_meta` lacks `io.modelcontextprotocol/clientCapabilities`".to_owned()))?;
        let capabilities = ClientCapabilities::parse(raw.get())
            .map_err(|_| ParamsError("`io.modelcontextprotocol/clientCapabilities` must be an object".to_owned()))?;
        Ok(Self { capabilities, client_claim: client_claim(wire.client_info) })
    }
}

/// The caller's progress token, raw: a string or an integer.
pub fn progress_token(meta: Option<&RawValue>) -> Option<&RawValue> {
    meta_wire(meta)
        .ok()?
        .progress_token
        .filter(|raw| raw.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()))
}

/// What a legacy client says of itself in `initialize`.
#[derive(Debug)]
pub struct InitializeParams {
    /// What the client can do, for the session.
    pub capabilities: ClientCapabilities,
    /// `clientInfo.name`: a claim, never a fact.
    pub client_claim: Option<String>,
}

impl InitializeParams {
    /// Reads them from `params` of `initialize`.
    pub fn parse(params: Option<&RawValue>) -> Result<Self, ParamsError> {
        #[derive(Default, Deserialize)]
        struct Wire<'a> {
            #[serde(borrow, default, deserialize_with = "present")]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow, default, deserialize_with = "present", rename = "clientInfo")]
            client_info: Option<&'a RawValue>,
        }
        let wire: Wire<'_> = match params {
            None => Wire::default(),
            Some(raw) => serde_json::from_str(raw.get()).map_err(|error| ParamsError(short(&error)))?,
        };
        let capabilities = match wire.capabilities {
            None => ClientCapabilities::none(),
            Some(raw) => ClientCapabilities::parse(raw.get())
                .map_err(|_| ParamsError("`capabilities` must be an object".to_owned()))?,
        };
        Ok(Self { capabilities, client_claim: client_claim(wire.client_info) })
    }
}

/// The revision that an upstream chose in the result of `initialize`.
pub fn negotiated_revision(result: &RawValue) -> Option<Revision> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow, default, deserialize_with = "present", rename = "protocolVersion")]
        version: Option<&'a RawValue>,
    }
    let wire: Wire<'_> = serde_json::from_str(result.get()).ok()?;
    Revision::parse(&text_of(wire.version?)?)
}

fn client_claim(info: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Wire {
        name: Option<String>,
        title: Option<String>,
    }
    let wire: Wire = serde_json::from_str(info?.get()).ok()?;
    claim::clean(&wire.title.or(wire.name)?)
}

/// The parser's reason without a position, which would speak of a part that the reader cannot find.
fn short(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_subject_that_stands_twice_is_refused() {
        let params = raw(r#"{"name":"safe","n\u0061me":"danger"}"#);
        assert!(Params::parse(Some(&params)).is_err());
    }

    /// R-CAP-05: missing required `_meta` is an invalid request.
    #[test]
    fn required_meta_is_required() {
        for (meta, lacks) in [
            ("{}", "protocolVersion"),
            (r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#, "clientCapabilities"),
            (
                r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":true}"#,
                "object",
            ),
        ] {
            let meta = raw(meta);
            let error = modern_version(Some(&meta))
                .map(drop)
                .and_then(|()| ModernMeta::parse(Some(&meta)).map(drop))
                .unwrap_err();
            assert!(error.0.contains(lacks), "{error}");
        }
    }

    /// R-ID-02: what a client says of itself is kept as a claim, short and with nothing hidden in it.
    #[test]
    fn a_claimed_name_is_cut_and_cleaned() {
        let name = format!("a\\u0007{}", "x".repeat(200));
        let params = raw(&format!(r#"{{"capabilities":{{}},"clientInfo":{{"name":"{name}"}}}}"#));
        let claim = InitializeParams::parse(Some(&params)).unwrap().client_claim.unwrap();
        assert_eq!(claim, format!("a‹U+0007›{}…", "x".repeat(70)));
    }

    #[test]
    fn a_progress_token_is_kept_as_written() {
        let meta = raw(r#"{"progressToken":9007199254740993}"#);
        assert_eq!(progress_token(Some(&meta)).unwrap().get(), "9007199254740993");
        let meta = raw(r#"{"progressToken":{}}"#);
        assert!(progress_token(Some(&meta)).is_none());
    }

    #[test]
    fn the_subject_of_each_asking_method_is_found() {
        let params = raw(r#"{"name":"a","uri":"b"}"#);
        let params = Params::parse(Some(&params)).unwrap();
        assert_eq!(params.subject("tools/call").unwrap().unwrap(), "a");
        assert_eq!(params.subject("prompts/get").unwrap().unwrap(), "a");
        assert_eq!(params.subject("resources/read").unwrap().unwrap(), "b");
        assert!(params.subject("tools/list").unwrap().is_none());
    }
}
