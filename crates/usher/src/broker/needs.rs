//! Which credentials a call needs.

use elicit::{ASKING_METHODS, Principal};
use usher_store::{Destination, ExactCall, Operation};

use crate::config::{Need, Upstream};

/// A request of a client, as far as it matters for what it needs.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// Where the call goes.
    pub upstream: &'a Upstream,
    /// The method.
    pub method: &'a str,
    /// The tool's or prompt's name, or the resource's URI.
    pub subject: Option<&'a str>,
    /// The whole call, where something is done anew for this very call ([`Broker::asks_per_call`](super::Broker)).
    pub operation: Option<&'a Operation>,
    /// The [round](usher_store::Claim::round) of the server's own questions that the call brings the answers of; empty where it
    /// brings none.
    pub round: &'a str,
}

impl Call<'_> {
    /// Whether the call cannot go on without the credential. Handshakes, listings and everything else that names
    /// nothing never block: a credential that is there is injected, one that is not is not asked for (R-GW-06).
    pub fn requires(&self, need: &Need) -> bool {
        self.may_ask() && self.subject.is_some_and(|subject| need.asks(self.method, subject))
    }

    /// Whether somebody may be asked because of the call.
    pub fn may_ask(&self) -> bool {
        self.subject.is_some() && ASKING_METHODS.contains(&self.method)
    }

    /// The call as the store knows it, where the whole of it is known.
    pub(super) fn exact<'c>(&'c self, destination: &'c Destination) -> Option<ExactCall<'c>> {
        let digest = self.operation?.digest()?;
        Some(ExactCall { principal: self.principal, destination, digest, round: self.round })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use elicit::{ClientId, UserId};

    use super::*;
    use crate::config::{Fallback, Pattern, Text, Transport};

    fn upstream(on: &[&str]) -> Upstream {
        Upstream {
            name: "weather".to_owned(),
            title: Text::plain("Weather"),
            transport: Transport::Http("https://weather.example/mcp".parse().unwrap()),
            hold: Duration::from_secs(40),
            timeout: Duration::from_mins(1),
            fallback: Fallback::Error,
            reject: vec![401],
            allow: None,
            needs: vec![Need {
                provider: "weather".to_owned(),
                on: match on {
                    [] => ["tools/*", "prompts/*", "resources/*"].map(|all| Pattern::parse(all).unwrap()).into(),
                    on => on.iter().map(|pattern| Pattern::parse(pattern).unwrap()).collect(),
                },
                headers: Vec::new(),
                env: Vec::new(),
                scopes: Vec::new(),
            }],
        }
    }

    /// R-GW-06: handshakes and listings never block on a credential; R-GW-03: tools, prompts and resources alike do.
    #[test]
    fn only_calls_that_name_something_block() {
        let principal =
            Principal { user: UserId::new("issuer", "subject").unwrap(), client: ClientId::new("client").unwrap() };
        let upstream = upstream(&[]);
        let requires = |method, subject| {
            Call { principal: &principal, upstream: &upstream, method, subject, operation: None, round: "" }
                .requires(&upstream.needs[0])
        };
        for method in ["initialize", "server/discover", "tools/list", "ping", "subscriptions/listen", "x/unknown"] {
            assert!(!requires(method, None), "{method}");
        }
        for method in ASKING_METHODS {
            assert!(requires(method, Some("anything")), "{method}");
        }
    }

    #[test]
    fn patterns_limit_what_blocks() {
        let principal =
            Principal { user: UserId::new("issuer", "subject").unwrap(), client: ClientId::new("client").unwrap() };
        let upstream = upstream(&["tools/get_*", "resources/*"]);
        let requires = |method, subject| {
            Call {
                principal: &principal,
                upstream: &upstream,
                method,
                subject: Some(subject),
                operation: None,
                round: "",
            }
            .requires(&upstream.needs[0])
        };
        assert!(requires("tools/call", "get_forecast"));
        assert!(!requires("tools/call", "set_forecast"));
        assert!(!requires("prompts/get", "get_forecast"));
        assert!(requires("resources/read", "file:///a/b"));
    }
}
