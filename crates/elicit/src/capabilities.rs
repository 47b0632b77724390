//! What a client declared that it can answer.

mod declare;

pub use declare::CLIENT_CAPABILITIES;

use serde_json::{Value, json};

use crate::{RawObject, Revision, WireError, json};

/// How a question is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Fields that the client shows.
    Form,
    /// A page that the person visits.
    Url,
}

impl Mode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Url => "url",
        }
    }

    /// The client capabilities that a question in this mode needs, for
    /// [`missing_capability`](crate::missing_capability) (R-CAP-05).
    pub fn required_capabilities(self) -> Value {
        json!({ "elicitation": { self.as_str(): {} } })
    }
}

/// The modes that a client can be asked in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modes {
    /// Forms.
    pub form: bool,
    /// Visits to a page.
    pub url: bool,
}

impl Modes {
    /// No elicitation at all.
    pub const NONE: Self = Self { form: false, url: false };

    /// Whether a question in `mode` may be sent (R-CAP-03).
    pub fn supports(self, mode: Mode) -> bool {
        match mode {
            Mode::Form => self.form,
            Mode::Url => self.url,
        }
    }
}

/// Why a text is no capabilities object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client capabilities cannot be read: {0}")]
pub struct CapabilitiesError(#[from] WireError);

/// A client's capabilities: the text as it came (R-REQ-03), and what of it decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCapabilities {
    raw: String,
    elicitation: Option<Declared>,
    sampling: Option<Sampling>,
    roots: bool,
}

/// The sub-keys of an `elicitation` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Declared {
    form: Entry,
    url: Entry,
}

/// The sub-keys of a `sampling` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sampling {
    tools: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Absent,
    Object,
    /// Neither an object nor null: not what the schema says, so it declares nothing.
    Other,
}

impl ClientCapabilities {
    /// Reads the `capabilities` of `initialize`, or the
    /// `io.modelcontextprotocol/clientCapabilities` of a modern request. Anything but one JSON
    /// object without repeated keys is an error; unknown keys are kept (R-CAP-02).
    pub fn parse(raw: &str) -> Result<Self, CapabilitiesError> {
        let object = RawObject::parse(raw)?;
        let elicitation = nested(&object, "elicitation")?
            .map(|declared| Declared { form: entry(&declared, "form"), url: entry(&declared, "url") });
        let sampling =
            nested(&object, "sampling")?.map(|sampling| Sampling { tools: entry(&sampling, "tools") == Entry::Object });
        let roots = entry(&object, "roots") == Entry::Object;
        Ok(Self { raw: raw.to_owned(), elicitation, sampling, roots })
    }

    /// A client that declared nothing: `{}`.
    pub fn none() -> Self {
        Self { raw: "{}".to_owned(), elicitation: None, sampling: None, roots: false }
    }

    /// The text as it came.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The modes that this client can be asked in under `revision` (R-CAP-02, R-CAP-07).
    ///
    /// `{"elicitation":{}}` is form only, also beside keys that we do not know; a mode counts when
    /// its value is an object. 2025-06-18 knows no modes: any object is form. What is not an object
    /// (`true`, say) declares nothing.
    pub fn modes(&self, revision: Revision) -> Modes {
        let Some(declared) = self.elicitation.filter(|_| revision.has_elicitation()) else {
            return Modes::NONE;
        };
        let unnamed = declared.form == Entry::Absent && declared.url == Entry::Absent;
        if unnamed || !revision.has_url_mode() {
            return Modes { form: true, url: false };
        }
        Modes { form: declared.form == Entry::Object, url: declared.url == Entry::Object }
    }

    /// Whether the client answers `sampling/createMessage`.
    pub fn sampling(&self) -> bool {
        self.sampling.is_some()
    }

    /// Whether the client answers `sampling/createMessage` with tools in it.
    pub fn sampling_tools(&self) -> bool {
        self.sampling.is_some_and(|sampling| sampling.tools)
    }

    /// Whether the client answers `roots/list`.
    pub fn roots(&self) -> bool {
        self.roots
    }
}

fn entry(object: &RawObject<'_>, key: &str) -> Entry {
    match object.get(key) {
        None => Entry::Absent,
        Some(value) if json::is_null(value.get()) => Entry::Absent,
        Some(value) if json::is_object(value.get()) => Entry::Object,
        Some(_) => Entry::Other,
    }
}

/// The object under `key`; `None` where it is absent or something else.
fn nested<'a>(object: &RawObject<'a>, key: &str) -> Result<Option<RawObject<'a>>, WireError> {
    match object.get(key) {
        Some(value) if json::is_object(value.get()) => RawObject::parse(value.get()).map(Some),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Modes = Modes { form: true, url: false };
    const URL: Modes = Modes { form: false, url: true };
    const BOTH: Modes = Modes { form: true, url: true };

    /// R-CAP-02, R-CAP-03, R-CAP-07: which modes each declaration opens, under each revision.
    #[test]
    fn a_client_is_asked_in_the_modes_that_it_declared() {
        // capabilities; modes under 2025-11-25 and 2026-07-28; under 2025-06-18
        let table = [
            ("{}", Modes::NONE, Modes::NONE),
            (r#"{"elicitation":{}}"#, FORM, FORM),
            (r#"{"elicitation":{"form":{}}}"#, FORM, FORM),
            (r#"{"elicitation":{"url":{}}}"#, URL, FORM),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, BOTH, FORM),
            (r#"{"elicitation":{"url":{"a":1},"form":{"b":2}}}"#, BOTH, FORM),
            // Unknown sub-keys are tolerated, and are no mode.
            (r#"{"elicitation":{"foo":{}}}"#, FORM, FORM),
            (r#"{"elicitation":{"foo":{},"url":{}}}"#, URL, FORM),
            (r#"{"elicitation":{"form":{},"foo":7}}"#, FORM, FORM),
            // Null is how some serialisers write "absent".
            (r#"{"elicitation":null}"#, Modes::NONE, Modes::NONE),
            (r#"{"elicitation":{"form":{},"url":null}}"#, FORM, FORM),
            (r#"{"elicitation":{"form":null,"url":{}}}"#, URL, FORM),
            (r#"{"elicitation":{"form":null,"url":null}}"#, FORM, FORM),
            // What is no object declares nothing.
            (r#"{"elicitation":true}"#, Modes::NONE, Modes::NONE),
            (r#"{"elicitation":"url"}"#, Modes::NONE, Modes::NONE),
            (r#"{"elicitation":["url"]}"#, Modes::NONE, Modes::NONE),
            (r#"{"elicitation":{"url":true}}"#, Modes::NONE, FORM),
            (r#"{"elicitation":{"form":false}}"#, Modes::NONE, FORM),
            // Other capabilities are not elicitation.
            (r#"{"sampling":{},"roots":{}}"#, Modes::NONE, Modes::NONE),
            (r#"{"experimental":{"elicitation":{}}}"#, Modes::NONE, Modes::NONE),
            // White space and escapes are no difference.
            ("\n{ \"elicitation\" :\t{ \"url\" : { } } }", URL, FORM),
            (r#"{"\u0065licitation":{"\u0075rl":{}}}"#, URL, FORM),
        ];
        for (raw, modes, oldest) in table {
            let capabilities = ClientCapabilities::parse(raw).unwrap();
            for revision in Revision::ALL {
                let expected = match revision {
                    Revision::V2024_11_05 | Revision::V2025_03_26 => Modes::NONE,
                    Revision::V2025_06_18 => oldest,
                    Revision::V2025_11_25 | Revision::V2026_07_28 => modes,
                };
                assert_eq!(capabilities.modes(*revision), expected, "{revision}: {raw}");
            }
        }
    }

    /// R-CAP-03: modes gate each mode alone.
    #[test]
    fn modes_support_what_they_hold() {
        for modes in [Modes::NONE, FORM, URL, BOTH] {
            assert_eq!(modes.supports(Mode::Form), modes.form);
            assert_eq!(modes.supports(Mode::Url), modes.url);
        }
        assert_eq!(Modes::default(), Modes::NONE);
    }

    /// R-CAP-02, R-REQ-03: unknown keys are kept as they came.
    #[test]
    fn the_text_is_kept_as_it_came() {
        let raw = r#"{ "x.example/y": 1e999, "elicitation":{"url":{}, "foo":[9007199254740993]} }"#;
        assert_eq!(ClientCapabilities::parse(raw).unwrap().as_str(), raw);
        assert_eq!(ClientCapabilities::none().as_str(), "{}");
        assert_eq!(ClientCapabilities::none(), ClientCapabilities::parse("{}").unwrap());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let error = |raw| ClientCapabilities::parse(raw).unwrap_err();
        for raw in ["null", "true", "[]", r#""elicitation""#, "7"] {
            assert_eq!(error(raw), CapabilitiesError(WireError::NotObject), "{raw}");
        }
        for raw in ["", "{", "{}{}", "{\"a\":}", "\u{feff}{}"] {
            assert_eq!(error(raw), CapabilitiesError(WireError::NotJson), "{raw}");
        }
    }

    #[test]
    fn two_declarations_of_one_thing_are_refused() {
        for raw in [r#"{"elicitation":{},"elicitation":{"url":{}}}"#, r#"{"elicitation":{"url":{},"\u0075rl":null}}"#] {
            assert_eq!(
                ClientCapabilities::parse(raw).unwrap_err(),
                CapabilitiesError(WireError::DuplicateKey),
                "{raw}"
            );
        }
    }

    #[test]
    fn sampling_and_roots_are_objects_too() {
        let none = ClientCapabilities::parse(r#"{"sampling":true,"roots":null}"#).unwrap();
        assert!(!none.sampling() && !none.sampling_tools() && !none.roots());
        let plain = ClientCapabilities::parse(r#"{"sampling":{},"roots":{}}"#).unwrap();
        assert!(plain.sampling() && !plain.sampling_tools() && plain.roots());
        let tools = ClientCapabilities::parse(r#"{"sampling":{"tools":{}}}"#).unwrap();
        assert!(tools.sampling() && tools.sampling_tools() && !tools.roots());
    }
}
