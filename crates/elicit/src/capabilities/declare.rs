use serde_json::value::RawValue;

use super::{CapabilitiesError, ClientCapabilities, Modes};
use crate::{Era, RawObject, Revision, WireError, json};

/// The member of a modern request's `_meta` that holds what its client can do (R-CAP-01).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

impl ClientCapabilities {
    /// The same capabilities with elicitation in exactly these modes, in the shape of `revision`: what a host declares
    /// (R-CAP-01). The modes are those that its [presenter](crate::Presenter::modes) handles; with none of them elicitation
    /// is not declared at all. Everything else stays as it was, in its own text (R-REQ-03).
    ///
    /// 2025-06-18 has no modes, so forms are `{}` there; in later ones each mode is named.
    pub fn with_modes(&self, modes: Modes, revision: Revision) -> Self {
        let Ok(mut object) = RawObject::parse(&self.raw) else { return self.clone() };
        let shown = Modes { form: modes.form && revision.has_elicitation(), url: modes.url && revision.has_url_mode() };
        if shown == Modes::NONE {
            object.remove("elicitation");
        } else {
            let declared = object.get("elicitation").map(RawValue::get).filter(|raw| json::is_object(raw));
            let Ok(mut declared) = RawObject::parse(declared.unwrap_or("{}")) else { return self.clone() };
            let named = revision.has_url_mode();
            name(&mut declared, "form", named && shown.form);
            name(&mut declared, "url", named && shown.url);
            object.set("elicitation", declared.to_json());
        }
        Self::parse(&object.to_json()).unwrap_or_else(|_| self.clone())
    }

    /// The parameters of a request with these capabilities in them, where `revision` has them: in `capabilities` of an
    /// `initialize`, or in `_meta` of every modern request (R-CAP-01). What stood there is replaced, all else stays.
    pub fn in_params(&self, params: &str, revision: Revision) -> Result<String, CapabilitiesError> {
        let mut object = RawObject::parse(params)?;
        match revision.era() {
            Era::Legacy => object.set("capabilities", self.raw.clone()),
            Era::Modern => {
                let meta = match object.get("_meta") {
                    None => "{}",
                    Some(meta) if json::is_object(meta.get()) => meta.get(),
                    Some(_) => return Err(WireError::WrongType("_meta").into()),
                };
                let mut meta = RawObject::parse(meta)?;
                meta.set(CLIENT_CAPABILITIES, self.raw.clone());
                object.set("_meta", meta.to_json());
            }
        }
        Ok(object.to_json())
    }
}

/// Has `mode` as an object or not at all; what an object holds stays.
fn name(declared: &mut RawObject<'_>, mode: &str, handled: bool) {
    if !handled {
        declared.remove(mode);
    } else if !declared.get(mode).is_some_and(|value| json::is_object(value.get())) {
        declared.set(mode, "{}".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Modes = Modes::NONE;
    const FORM: Modes = Modes { form: true, url: false };
    const URL: Modes = Modes { form: false, url: true };
    const BOTH: Modes = Modes { form: true, url: true };
    const OLDEST: Revision = Revision::V2025_06_18;
    const LEGACY: Revision = Revision::V2025_11_25;
    const MODERN: Revision = Revision::V2026_07_28;

    /// R-CAP-01; cases 2 and 3: the modes that are handled, in the shape of the revision, and nothing that is not.
    #[test]
    fn a_host_declares_what_it_handles() {
        let table = [
            ("{}", NONE, LEGACY, "{}"),
            ("{}", FORM, LEGACY, r#"{"elicitation":{"form":{}}}"#),
            ("{}", URL, LEGACY, r#"{"elicitation":{"url":{}}}"#),
            ("{}", BOTH, LEGACY, r#"{"elicitation":{"form":{},"url":{}}}"#),
            ("{}", BOTH, MODERN, r#"{"elicitation":{"form":{},"url":{}}}"#),
            ("{}", BOTH, OLDEST, r#"{"elicitation":{}}"#),
            ("{}", URL, OLDEST, "{}"),
            ("{}", BOTH, Revision::V2025_03_26, "{}"),
            // What was declared before is not overwritten by `{}`, and not kept without a handler.
            (
                r#"{"a":1e999,"elicitation":{"url":{"x":1},"y":2}}"#,
                BOTH,
                LEGACY,
                r#"{"a":1e999,"elicitation":{"url":{"x":1},"y":2,"form":{}}}"#,
            ),
            (
                r#"{"elicitation":{"url":{"x":1},"y":2},"a":1.0}"#,
                FORM,
                LEGACY,
                r#"{"elicitation":{"y":2,"form":{}},"a":1.0}"#,
            ),
            (r#"{"elicitation":{"url":{},"y":2},"a":1.0}"#, NONE, LEGACY, r#"{"a":1.0}"#),
            (r#"{"elicitation":{"form":{},"url":{},"y":2}}"#, BOTH, OLDEST, r#"{"elicitation":{"y":2}}"#),
            (r#"{"elicitation":true}"#, FORM, MODERN, r#"{"elicitation":{"form":{}}}"#),
            (r#"{"elicitation":{"form":null}}"#, FORM, MODERN, r#"{"elicitation":{"form":{}}}"#),
        ];
        for (before, modes, revision, after) in table {
            let declared = ClientCapabilities::parse(before).unwrap().with_modes(modes, revision);
            assert_eq!(declared.as_str(), after, "{before} {modes:?} {revision}");
            let read = declared.modes(revision);
            let handled =
                Modes { form: modes.form && revision.has_elicitation(), url: modes.url && revision.has_url_mode() };
            assert_eq!(read, handled, "{before} {modes:?} {revision}");
        }
    }

    /// R-CAP-01, R-REQ-03: on the handshake, or on every request.
    #[test]
    fn capabilities_stand_where_the_era_has_them() {
        let declared = ClientCapabilities::none().with_modes(FORM, MODERN);
        let params = r#"{"name":"t","_meta":{"k":1e999}}"#;
        assert_eq!(
            declared.in_params(params, MODERN).unwrap(),
            r#"{"name":"t","_meta":{"k":1e999,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}"#
        );
        assert_eq!(
            declared.in_params("{}", MODERN).unwrap(),
            r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}"#
        );
        assert_eq!(
            declared.in_params(r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}"#, LEGACY).unwrap(),
            r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}}}"#
        );
        let error = declared.in_params(r#"{"_meta":7}"#, MODERN).unwrap_err();
        assert_eq!(error, CapabilitiesError(WireError::WrongType("_meta")));
    }
}
