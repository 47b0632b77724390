use std::time::Duration;

use super::{Gate, Refusal, Upstream};
use crate::{DEADLINE, Era, LEGACY, MODERN};

/// Which eras an upstream serves at its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eras {
    /// Only the legacy one.
    Legacy,
    /// Only the modern one.
    Modern,
    /// Both, told apart by what a request carries.
    Both,
}

impl Eras {
    pub(crate) fn serves(self, era: Era) -> bool {
        match self {
            Self::Both => true,
            Self::Legacy => era == Era::Legacy,
            Self::Modern => era == Era::Modern,
        }
    }
}

/// The settings of an upstream that stay for its life.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) eras: Eras,
    pub(crate) sessions: bool,
    pub(crate) get_stream: bool,
    pub(crate) get_gate: Option<Gate>,
    pub(crate) always_sse: bool,
    pub(crate) patience: Duration,
    pub(crate) capabilities: String,
    pub(crate) server_info: String,
    pub(crate) instructions: Option<String>,
    pub(crate) legacy_versions: Vec<String>,
    pub(crate) modern_versions: Vec<String>,
    pub(crate) probe: (u16, String),
    pub(crate) required: Option<(String, String, Refusal)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            eras: Eras::Both,
            sessions: true,
            get_stream: true,
            get_gate: None,
            always_sse: false,
            patience: DEADLINE,
            capabilities: r#"{"tools":{"listChanged":true},"prompts":{},"resources":{},"logging":{}}"#
                .to_owned(),
            server_info: r#"{"name":"fake-upstream","version":"1"}"#.to_owned(),
            instructions: None,
            legacy_versions: vec![LEGACY.to_owned(), "2025-06-18".to_owned()],
            modern_versions: vec![MODERN.to_owned()],
            probe: (
                400,
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#
                    .to_owned(),
            ),
            required: None,
        }
    }
}

impl Builder {
    /// Serves these eras.
    pub fn eras(mut self, eras: Eras) -> Self {
        self.eras = eras;
        self
    }

    /// Gives out no session ids (legacy).
    pub fn without_sessions(mut self) -> Self {
        self.sessions = false;
        self
    }

    /// Answers a GET with 405 (legacy).
    pub fn without_get_stream(mut self) -> Self {
        self.get_stream = false;
        self
    }

    /// Answers a GET, head and all, once this gate is open (legacy).
    pub fn get_waits(mut self, gate: &Gate) -> Self {
        self.get_gate = Some(gate.clone());
        self
    }

    /// Answers every request by a stream of events, as some SDKs do.
    pub fn always_sse(mut self) -> Self {
        self.always_sse = true;
        self
    }

    /// How long a question waits for its answer (legacy) before that counts as a violation.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The server's capabilities (JSON text).
    pub fn capabilities(mut self, raw: &str) -> Self {
        raw.clone_into(&mut self.capabilities);
        self
    }

    /// The server's name and version (JSON text).
    pub fn server_info(mut self, raw: &str) -> Self {
        raw.clone_into(&mut self.server_info);
        self
    }

    /// The server's instructions.
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = Some(text.to_owned());
        self
    }

    /// The legacy revisions it speaks, the preferred one first.
    pub fn legacy_versions(mut self, versions: &[&str]) -> Self {
        self.legacy_versions = versions.iter().map(|&version| version.to_owned()).collect();
        self
    }

    /// How a server without the modern era answers a modern request.
    pub fn answer_to_modern(mut self, status: u16, body: &str) -> Self {
        self.probe = (status, body.to_owned());
        self
    }

    /// Requires this header on every HTTP request, `initialize` and `server/discover` included.
    pub fn require(mut self, header: &str, value: &str, refusal: Refusal) -> Self {
        self.required = Some((header.to_owned(), value.to_owned(), refusal));
        self
    }

    /// Opens the upstream at a free port of 127.0.0.1.
    pub async fn start(self) -> Upstream {
        Upstream::open(self).await
    }
}
