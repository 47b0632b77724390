use serde_json::{Value, json};

use crate::{Era, Revision, codes};

/// The JSON-RPC `error` object for a modern request that cannot go on without a capability that its
/// client did not declare (R-CAP-05); over HTTP with status 400. `required` has the shape of client
/// capabilities, as [`Mode::required_capabilities`](crate::Mode::required_capabilities) makes it.
pub fn missing_capability(message: &str, required: Value) -> Value {
    let mut error = json!({
        "code": codes::MISSING_REQUIRED_CLIENT_CAPABILITY,
        "message": message,
        "data": { "requiredCapabilities": null },
    });
    error["data"]["requiredCapabilities"] = required;
    error
}

/// The JSON-RPC `error` object for a protocol version that is not one of
/// [`Revision::SUPPORTED`]; over HTTP with status 400.
pub fn unsupported_version(requested: &str) -> Value {
    version_error(requested, |_| true)
}

/// Like [`unsupported_version`] for a request of the modern era. It names modern revisions alone, as the
/// `supportedVersions` of `server/discover` do: a client compares the two lists.
pub fn unsupported_modern_version(requested: &str) -> Value {
    version_error(requested, |revision| revision.era() == Era::Modern)
}

fn version_error(requested: &str, names: impl Fn(&Revision) -> bool) -> Value {
    let supported: Vec<&str> =
        Revision::SUPPORTED.iter().filter(|revision| names(revision)).map(|revision| revision.as_str()).collect();
    json!({
        "code": codes::UNSUPPORTED_PROTOCOL_VERSION,
        "message": "Unsupported protocol version",
        "data": { "supported": supported, "requested": requested },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    /// R-CAP-05
    #[test]
    fn the_missing_capability_is_named_in_the_shape_of_capabilities() {
        insta::assert_snapshot!(
            missing_capability("This tool asks by url.", Mode::Url.required_capabilities()),
            @r#"{"code":-32021,"message":"This tool asks by url.","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}"#
        );
        insta::assert_snapshot!(
            Mode::Form.required_capabilities(),
            @r#"{"elicitation":{"form":{}}}"#
        );
    }

    #[test]
    fn an_unsupported_version_is_answered_by_those_that_are() {
        insta::assert_snapshot!(
            unsupported_version("1900-01-01"),
            @r#"{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18"],"requested":"1900-01-01"}}"#
        );
        insta::assert_snapshot!(
            unsupported_modern_version("1900-01-01"),
            @r#"{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}"#
        );
    }
}
