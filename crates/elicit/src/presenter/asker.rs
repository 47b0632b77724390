/// Which server asks: what the host knows of it, apart from what it says of itself (R-SEC-02).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asker {
    /// The name under which the host's own configuration has the server. Never a word of the server's.
    pub server: String,
    /// Where the host reaches it: the origin of its URL, or the command that was started. A fact, too.
    pub address: Option<String>,
    /// The name that the server gives itself (`serverInfo`): a claim, to be shown as one, and cleaned.
    pub claimed_name: Option<String>,
}

impl Asker {
    /// The server that the host knows by this name.
    pub fn new(server: impl Into<String>) -> Self {
        Self { server: server.into(), address: None, claimed_name: None }
    }

    /// The same server, reached at this address.
    pub fn at(self, address: impl Into<String>) -> Self {
        Self { address: Some(address.into()), ..self }
    }

    /// The same server, which calls itself so.
    pub fn claiming(self, name: impl Into<String>) -> Self {
        Self { claimed_name: Some(name.into()), ..self }
    }
}
