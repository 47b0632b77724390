//! Each upstream: whether it can be reached, and what it speaks. No credential of anybody is sent.

use elicit::Revision;

use super::{clock::Sample, command, finding::Finding, probe::probe};
use crate::{
    clock::Clock,
    config::{Transport, Upstream},
    egress::Egress,
};

/// What an upstream said when it was asked in one era.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// It speaks these revisions.
    Speaks(Vec<Revision>),
    /// It demands a credential: HTTP 401 or 403.
    Demands(u16),
    /// Something else, in a few of our own words.
    Other(String),
}

/// What became of asking an upstream in both eras.
#[derive(Debug, Clone)]
pub(super) struct Probed {
    pub(super) modern: Said,
    pub(super) legacy: Said,
    pub(super) clock: Option<Sample>,
}

pub(super) async fn examine(upstream: &Upstream, egress: &Egress, clock: &dyn Clock) -> (Finding, Option<Sample>) {
    let subject = format!("upstream {}", upstream.name);
    let (probed, todo) = match &upstream.transport {
        Transport::Http(url) => (
            probe(&upstream.name, url, egress, clock).await,
            "see that it runs and that upstream.url is right; calls to it fail until then",
        ),
        Transport::Process(command) => (
            command::probe(command).await,
            "see that upstream.command is right and that its program is in the PATH that passes; calls to it fail until then",
        ),
    };
    match probed {
        Ok(probed) => (of_probe(&subject, upstream, &probed), probed.clock),
        Err(why) => (Finding::fault(subject, why, todo), None),
    }
}

fn of_probe(subject: &str, upstream: &Upstream, probed: &Probed) -> Finding {
    let mut revisions: Vec<Revision> = [&probed.modern, &probed.legacy]
        .into_iter()
        .filter_map(|said| match said {
            Said::Speaks(revisions) => Some(revisions.as_slice()),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    revisions.sort_unstable();
    revisions.dedup();
    let demands = [&probed.modern, &probed.legacy].into_iter().find_map(|said| match said {
        Said::Demands(status) => Some(*status),
        _ => None,
    });
    let demand = demands.map(|status| format!("demands a credential (HTTP {status})"));
    if revisions.is_empty() {
        return match demand {
            Some(demand) if upstream.needs.is_empty() => Finding::warning(
                subject,
                format!("it is there and {demand}, and the configuration sends it none"),
                "add an [[upstream.needs]]",
            ),
            Some(demand) => Finding::ok(subject, format!("it is there and {demand}, which its users will give it")),
            None => silent(subject, probed),
        };
    }
    let spoken: Vec<_> = revisions.iter().map(|revision| revision.as_str()).collect();
    let also = demand.map(|demand| format!("; otherwise it {demand}")).unwrap_or_default();
    Finding::ok(subject, format!("speaks {}{also}", spoken.join(", ")))
}

/// It answers, and not as a server of this protocol.
fn silent(subject: &str, probed: &Probed) -> Finding {
    let words = |said: &Said| match said {
        Said::Other(words) => words.clone(),
        Said::Speaks(_) | Said::Demands(_) => "no revision that is known here".to_owned(),
    };
    let (modern, legacy) = (words(&probed.modern), words(&probed.legacy));
    let found = if modern == legacy {
        format!("it answers, and speaks no MCP: {modern}")
    } else {
        format!("it answers, and speaks no MCP: {modern} to server/discover, {legacy} to initialize")
    };
    Finding::fault(
        subject,
        found,
        "see that upstream.url is the address of its MCP endpoint, or upstream.command its program",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commands::doctor::finding::Verdict,
        config::{Config, folder::Folder},
    };

    fn told(modern: Said, legacy: Said, needs: &str) -> Finding {
        let folder = Folder::new();
        let text = format!(
            "[[provider]]\nname = \"p\"\nkind = \"secret\"\nfield = [{{ name = \"k\" }}]\n\
             [[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n{needs}"
        );
        let config = Config::parse(&text, &folder.path("usher.toml"), &|_| None).unwrap();
        of_probe("upstream a", &config.upstreams[0], &Probed { modern, legacy, clock: None })
    }

    #[test]
    fn what_an_upstream_said_is_told_with_what_to_do() {
        let needs = "needs = [{ provider = \"p\", header = { X-K = \"{k}\" } }]";
        let speaks = |revision| Said::Speaks(vec![revision]);
        let other = || Said::Other("HTTP 404".to_owned());
        let (modern, legacy) = (Revision::V2026_07_28, Revision::V2025_11_25);
        for (said, needs, verdict, found) in [
            ((speaks(modern), speaks(legacy)), "", Verdict::Ok, "speaks 2025-11-25, 2026-07-28"),
            ((other(), speaks(legacy)), "", Verdict::Ok, "speaks 2025-11-25"),
            ((Said::Demands(401), speaks(legacy)), needs, Verdict::Ok, "speaks 2025-11-25; otherwise it demands"),
            ((Said::Demands(401), Said::Demands(401)), needs, Verdict::Ok, "demands a credential (HTTP 401)"),
            ((Said::Demands(403), other()), "", Verdict::Warning, "sends it none"),
            ((other(), other()), "", Verdict::Fault, "speaks no MCP: HTTP 404"),
            ((Said::Speaks(Vec::new()), other()), "", Verdict::Fault, "to server/discover, HTTP 404 to initialize"),
        ] {
            let finding = told(said.0, said.1, needs);
            assert_eq!(finding.verdict, verdict, "{finding}");
            assert!(finding.found.contains(found), "{finding}");
            assert_eq!(finding.todo.is_some(), verdict != Verdict::Ok, "{finding}");
        }
    }
}
