//! What is around the service on this machine: whether it runs, a browser, the hosts.

use std::{io::ErrorKind, net::TcpListener, time::Duration};

use http::Method;

use super::{super::forward, finding::Finding};
use crate::{
    config::{Config, Identity},
    egress::{Egress, is_refused, reason},
    identity::{
        control::{ControlError, ControlFile},
        tokens::Tokens,
    },
};

/// How long the service on this machine may take to answer.
const DEADLINE: Duration = Duration::from_secs(5);

/// Whether the service runs, or could.
pub(super) async fn service(config: &Config, egress: &Egress) -> Finding {
    let control = match ControlFile::load(&config.control_file) {
        Ok(control) => control,
        Err(ControlError::Missing { .. }) => return asleep(config),
        Err(error) => return Finding::error("service", &error),
    };
    let url = control.url.origin().to_owned();
    let answer = control.request(egress, Method::GET, "/readyz").timeout(DEADLINE).send().await;
    match answer {
        Err(error) if is_refused(&error) => asleep(config),
        Err(error) if error.is_timeout() => {
            Finding::fault("service", format!("{} does not answer within 5 s", control.place()), "look at its log")
        }
        Err(error) => Finding::fault("service", format!("{}: {}", control.place(), reason(&error)), "look at its log"),
        Ok(_) if url != config.public_url.origin() => Finding::warning(
            "service",
            format!("it runs at {url}, and the configuration says {}", config.public_url.origin()),
            "start it again to have it read the configuration",
        ),
        Ok(answer) if answer.status().is_success() => Finding::ok("service", format!("it runs at {url}")),
        Ok(answer) if answer.status().as_u16() == 503 => {
            Finding::fault("service", format!("it runs at {url}, and its store does not answer"), "see the next lines")
        }
        Ok(answer) => Finding::fault(
            "service",
            format!("another program answers at {url} (HTTP {})", answer.status().as_u16()),
            "stop it, or change listen.address and public_url",
        ),
    }
}

/// It does not run: whether its address is free.
fn asleep(config: &Config) -> Finding {
    match TcpListener::bind(config.listen) {
        Ok(_) => Finding::ok("service", format!("it does not run; usher serve would listen on {}", config.listen)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Finding::fault(
            "service",
            format!("it does not run, and another program listens on {}", config.listen),
            "stop that program, or change listen.address and public_url",
        ),
        Err(error) => Finding::fault(
            "service",
            format!("it does not run, and cannot listen on {}: {error}", config.listen),
            "change listen.address and public_url",
        ),
    }
}

/// Whether `usher login` could open a browser here.
pub(super) fn browser(env: &dyn Fn(&str) -> Option<String>) -> Finding {
    if forward::can_show(env) {
        return Finding::ok("browser", "usher login can open one");
    }
    Finding::warning(
        "browser",
        "none can be opened here, for want of a screen or a browser",
        "usher login prints its link instead, for a browser on this machine",
    )
}

/// The tokens of hosts, and what to put into a host's configuration.
pub(super) fn hosts(config: &Config) -> Vec<Finding> {
    let Identity::Local { tokens_file } = &config.identity else { return Vec::new() };
    let file = tokens_file.display();
    if !tokens_file.try_exists().unwrap_or(true) {
        return vec![Finding::ok("hosts", format!("{file}, made at the first start with a token for one host"))];
    }
    let tokens = match Tokens::load(tokens_file) {
        Ok(tokens) => tokens,
        Err(error) => return vec![Finding::error("hosts", &error)],
    };
    let names: Vec<_> = tokens.clients().map(elicit::ClientId::as_str).collect();
    let first = tokens.first().0.as_str();
    let mut findings = vec![Finding::ok("hosts", format!("{file} has a token for {}", names.join(", ")))];
    findings.extend(config.upstreams.iter().map(|upstream| {
        let url = config.public_url.join(&format!("/mcp/{}", upstream.name));
        let found = format!(
            "point a host at {url} with the header Authorization: Bearer and its token, that of {first} for example"
        );
        Finding::ok(format!("host for {}", upstream.name), found)
    }));
    findings
}
