use std::fmt::Write as _;

use crate::{LEGACY, MODERN};

/// What a request needs beside its body.
#[derive(Clone, Debug)]
pub enum Speech {
    /// A modern request of this method.
    Modern(&'static str),
    /// A legacy message of this session; none before there is one.
    Legacy(Option<String>),
}

/// One request as bytes, made anew for each call with its own id.
#[derive(Clone, Debug)]
pub struct Message {
    host: String,
    path: String,
    token: String,
    speech: Speech,
}

/// A client that can show links.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}"#;

impl Message {
    /// A request to this path at this host (`127.0.0.1:8420`).
    pub fn new(host: impl Into<String>, path: impl Into<String>, token: impl Into<String>, speech: Speech) -> Self {
        Self { host: host.into(), path: path.into(), token: token.into(), speech }
    }

    /// `tools/call` with arguments of about `size` bytes, and further params: `,"a":1`.
    pub fn call(&self, id: usize, size: usize, more: &str) -> Vec<u8> {
        let meta = if matches!(self.speech, Speech::Modern(_)) { format!(",{META}") } else { String::new() };
        let place = "Berlin, ".repeat(size / 8);
        let params = format!(r#"{{"name":"get_forecast","arguments":{{"place":"{place}","days":3}}{meta}{more}}}"#);
        self.bytes(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
    }

    /// `initialize` of a client that can show links.
    pub fn initialize(&self) -> Vec<u8> {
        let params = format!(
            r#"{{"protocolVersion":"{LEGACY}","capabilities":{{"elicitation":{{"form":{{}},"url":{{}}}}}},"clientInfo":{{"name":"load","version":"1"}}}}"#
        );
        self.bytes(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#))
    }

    /// A POST with this body.
    pub fn bytes(&self, body: &str) -> Vec<u8> {
        let mut text = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.path, self.host, self.token
        );
        match &self.speech {
            Speech::Modern(method) => {
                let _ = write!(
                    text,
                    "MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\nMcp-Name: get_forecast\r\n"
                );
            }
            Speech::Legacy(Some(session)) => {
                let _ = write!(text, "MCP-Protocol-Version: {LEGACY}\r\nMcp-Session-Id: {session}\r\n");
            }
            Speech::Legacy(None) => {}
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
        text.into_bytes()
    }
}
