//! `[[upstream]]`: an MCP server behind the gateway.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::allow::{self, Allow};
use super::command::{self, Command};
use super::identity::Mode;
use super::need::{self, Need, Takes};
use super::provider::{Provider, Providers};
use super::reader::{Node, Table};
use super::text::{self, Text};
use super::{duration, name, target};

/// An MCP server behind the gateway, at `/mcp/{name}`.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// Its name, a part of the path.
    pub name: String,
    /// What people know it by; the name by default.
    pub title: Text,
    /// How it is reached. Written by the operator (R-SEC-05).
    pub transport: Transport,
    /// How long a call is held while its user is at a page, from the call's arrival; 0 s to 10 min, 40 s by default.
    pub hold: Duration,
    /// How long the first byte of an answer may take; 1 s to 1 h, 60 s by default.
    pub timeout: Duration,
    /// What a client gets that cannot show a URL.
    pub fallback: Fallback,
    /// The HTTP statuses by which the server says that a credential is bad; 401 by default, 403 possibly.
    pub reject: Vec<u16>,
    /// Whom it is for, where that is not everybody.
    pub allow: Option<Allow>,
    /// The credentials it needs.
    pub needs: Vec<Need>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Its MCP endpoint, streamable HTTP.
    Http(Url),
    /// A program that is started here, over its standard streams.
    Process(Command),
}

/// What a client gets that cannot show a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The call ends with an error that names the portal.
    Error,
}

impl Upstream {
    /// Where credentials go that are sent to this server: its name, and the origin of its URL or its command.
    pub fn destination(&self) -> usher_store::Destination {
        let target = match &self.transport {
            Transport::Http(url) => url.origin().ascii_serialization(),
            Transport::Process(command) => command.line(),
        };
        usher_store::Destination { upstream: self.name.clone(), target }
    }

    /// Whether each header or variable that it needs of `provider` can be made of `secrets`.
    pub fn takes(&self, provider: &Provider, secrets: &BTreeMap<String, SecretString>) -> bool {
        self.needs.iter().filter(|need| need.provider == provider.name).all(|need| {
            need.headers.iter().all(|(_, template)| provider.header(template, secrets).is_ok())
                && need.env.iter().all(|(_, template)| provider.variable(template, secrets).is_ok())
        })
    }
}

/// Reads all upstreams, of which there must be one.
pub(super) fn read_all(root: &Table<'_>, providers: &Providers<'_>, mode: Mode) -> Option<Vec<Upstream>> {
    const EXAMPLE: &str = "a table [[upstream]] with name = \"weather\" and url = \"https://weather-mcp.example/mcp\"";
    let node = root.require("upstream", EXAMPLE)?;
    if node.is_empty_array() {
        node.fault("there is no upstream, and nothing to do", format!("add {EXAMPLE}"));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut upstreams: Vec<Upstream> = Vec::new();
    for table in node.tables("upstream") {
        let name = name::read(&table, &names);
        names.extend(name);
        let upstream = read(table, name, providers, mode, &upstreams);
        upstreams.extend(upstream);
    }
    Some(upstreams)
}

fn read(
    table: Table<'_>,
    name: Option<&str>,
    providers: &Providers<'_>,
    mode: Mode,
    before: &[Upstream],
) -> Option<Upstream> {
    let title = table.take("title").map(|node| text::read(&node));
    let (transport, takes) = transport(&table, mode);
    let hold = table.take("hold").map(|node| duration::read(&node, 0..=600));
    let timeout = table.take("timeout").map(|node| duration::read(&node, 1..=3600));
    if let Some(node) = table.take("fallback") {
        fallback(&node);
    }
    let reject = table.take("reject").map(|node| {
        if takes == Takes::Variables {
            node.fault("a command answers with no HTTP status", "remove it");
        }
        reject(&node)
    });
    let allow = table.take("allow").map(|node| allow::read(&node, mode));
    let needs = table.take("needs").map(|node| need::read_all(&node, providers, takes, before));
    table.close();
    let name = name?;
    Some(Upstream {
        name: name.to_owned(),
        title: title.flatten().unwrap_or_else(|| Text::from(name)),
        transport: transport?,
        hold: hold.flatten().unwrap_or(Duration::from_secs(40)),
        timeout: timeout.flatten().unwrap_or(Duration::from_mins(1)),
        fallback: Fallback::Error,
        reject: reject.unwrap_or_else(|| vec![401]),
        allow: allow.map_or(Some(None), |allow| allow.map(Some))?,
        needs: needs.unwrap_or_default(),
    })
}

/// How the server is reached, and how it takes credentials, which is known also where the former is wrong.
fn transport(table: &Table<'_>, mode: Mode) -> (Option<Transport>, Takes) {
    let (url, command) = (table.take("url"), table.take("command"));
    if let Some(node) = command {
        if url.is_some() {
            node.fault("a server is reached by url or by command", "keep one of them");
        }
        return (command::read(&node, table, mode).map(Transport::Process), Takes::Variables);
    }
    command::refuse(table);
    if url.is_none() {
        let fix = "add url = \"https://weather-mcp.example/mcp\", or command = [\"npx\", \"-y\", \"weather-mcp\"]";
        table.fault("url", "is missing", fix);
    }
    (url.and_then(|url| target::read(&url)).map(Transport::Http), Takes::Headers)
}

fn fallback(node: &Node<'_>) {
    match node.string("\"error\"") {
        Some("error") | None => {}
        Some("inbox") => node.fault("the inbox is not available in this version", "use fallback = \"error\""),
        Some(other) => node.fault(format!("there is no fallback {other:?}"), "use fallback = \"error\""),
    }
}

fn reject(node: &Node<'_>) -> Vec<u16> {
    const EXAMPLE: &str = "[401, 403]";
    let mut statuses = Vec::new();
    for node in node.array(EXAMPLE).unwrap_or_default() {
        let status = match node.integer(EXAMPLE) {
            Some(401) => 401,
            Some(403) => 403,
            Some(other) => {
                node.fault(format!("status {other} does not say that a credential is bad"), "use 401, 403 or both");
                continue;
            }
            None => continue,
        };
        if statuses.contains(&status) {
            node.fault(format!("{status} stands twice"), "keep one of them");
        }
        statuses.push(status);
    }
    statuses
}
