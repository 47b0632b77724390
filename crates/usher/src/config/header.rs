//! Names of headers that the gateway adds to a request.

use http::HeaderName;

use super::reader::Node;
use super::template::Template;

/// What a header is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A call to an upstream.
    Upstream,
    /// A check of a credential.
    Check,
}

/// Reads a `header = { Name = "template" }` table. The fields of the templates are the caller's to check.
pub(super) fn read_all<'r>(node: &Node<'r>, request: Request) -> Vec<(HeaderName, Template, Node<'r>)> {
    const EXAMPLE: &str = "header = { Authorization = \"Bearer {api_key}\" }";
    let mut headers: Vec<(HeaderName, Template, Node<'r>)> = Vec::new();
    let Some(table) = node.table(EXAMPLE) else {
        return headers;
    };
    let entries = table.entries();
    if entries.is_empty() {
        node.fault("names no header", format!("for example {EXAMPLE}"));
    }
    for (key, node) in entries {
        let name = name(key, &node, request);
        let template = node.string("\"Bearer {api_key}\"").and_then(|text| template(text, &node));
        let (Some(name), Some(template)) = (name, template) else {
            continue;
        };
        if headers.iter().any(|(other, ..)| *other == name) {
            node.fault(format!("the header {name} stands twice; case does not matter"), "keep one of them");
            continue;
        }
        headers.push((name, template, node));
    }
    headers
}

fn template(text: &str, node: &Node<'_>) -> Option<Template> {
    match Template::parse(text) {
        Ok(template) if template.is_header_value() => return Some(template),
        Ok(_) => node.fault("cannot stand in a header", "use visible ASCII characters, without spaces at the ends"),
        Err(error) => node.fault(error.to_string(), "write a field as {api_key}, and a brace itself as {{ or }}"),
    }
    None
}

fn name(key: &str, node: &Node<'_>, request: Request) -> Option<HeaderName> {
    let Ok(name) = HeaderName::from_bytes(key.as_bytes()) else {
        node.fault(format!("{key:?} is no header name"), "use letters, digits and hyphens, for example X-Api-Key");
        return None;
    };
    if let Some(reason) = forbidden(name.as_str(), request) {
        node.fault(
            format!("the header {name} cannot be set: {reason}"),
            "send the credential in another header, Authorization or X-Api-Key for example",
        );
        return None;
    }
    Some(name)
}

/// Why a header (in lower case) is not the operator's to set.
fn forbidden(name: &str, request: Request) -> Option<&'static str> {
    Some(match name {
        "host" => "it names the server, and comes from the URL",
        "content-length" | "transfer-encoding" | "trailer" | "expect" => {
            "it frames the body, and a second one would let a request hide in another"
        }
        "connection" | "keep-alive" | "te" | "upgrade" => "it concerns one connection, not the server behind it",
        "content-type" | "content-encoding" => "it describes the body, which is the client's",
        "accept" | "accept-encoding" if request == Request::Upstream => "it says which answers the gateway can read",
        "accept-encoding" => "it says which answers the gateway can read",
        "cookie" | "set-cookie" => "cookies belong to a browser, and the server may set its own",
        "origin" | "referer" => "servers use it to tell browsers from others",
        "forwarded" | "via" => "it tells where a request came from, which is not for a template to say",
        "last-event-id" => "it belongs to the protocol: the client resumes a stream with it",
        _ if name.starts_with("proxy-") => "it is read by proxies, not by the server",
        _ if name.starts_with("mcp-") => "it belongs to the protocol, and the gateway sets it",
        _ if name.starts_with("x-forwarded-") => {
            "it tells where a request came from, which is not for a template to say"
        }
        _ if name.starts_with("sec-") || name.starts_with("access-control-") => {
            "it is a browser's, and servers trust it for that"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_transport_and_the_protocol_are_not_for_templates() {
        for name in [
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "content-type",
            "cookie",
            "accept",
            "mcp-session-id",
            "mcp-protocol-version",
            "mcp-anything",
            "last-event-id",
            "x-forwarded-for",
            "origin",
        ] {
            assert!(forbidden(name, Request::Upstream).is_some(), "{name}");
        }
        for name in ["authorization", "x-api-key", "api-key", "private-token", "user-agent"] {
            assert_eq!(forbidden(name, Request::Upstream), None, "{name}");
        }
        assert_eq!(forbidden("accept", Request::Check), None, "a check may ask for a media type");
    }
}
