//! `usher doctor`: looks at everything that the service needs, and says of each what was found and what to do.
//!
//! It changes nothing and starts nothing, and works beside a service that runs as well as without one.

mod clock;
mod command;
pub(in crate::commands) mod finding;
mod issuer;
mod machine;
mod probe;
mod store;
mod upstream;

use std::process::ExitCode;

use futures_util::future::join_all;

use self::{clock::Sample, finding::Finding};
use super::{ConfigArgs, environment, fail};
use crate::{
    clock::SystemClock,
    config::{Config, Faults, Identity},
    egress::Egress,
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command. It fails if something is wrong; a warning is no failure.
pub async fn run(args: &Args) -> ExitCode {
    let findings = match Config::load(&args.config.config, &environment) {
        Err(faults) => of_faults(&faults),
        Ok(config) => match Egress::allowing(config.egress.clone()) {
            Ok(egress) => examine(&args.config, &config, &egress).await,
            Err(error) => return fail(&format!("the HTTP client cannot be made: {error}")),
        },
    };
    finding::tell(&findings, args.json)
}

/// Without a configuration there is nothing else to look at.
fn of_faults(faults: &Faults) -> Vec<Finding> {
    let place = |fault: &crate::config::Fault| {
        let mut place = fault.file.display().to_string();
        for number in [fault.line, fault.column].into_iter().filter(|number| *number > 0) {
            place = format!("{place}:{number}");
        }
        format!("{place}: {} {}", fault.path, fault.message)
    };
    faults.0.iter().map(|fault| Finding::fault("configuration", place(fault), &fault.fix)).collect()
}

async fn examine(args: &ConfigArgs, config: &Config, egress: &Egress) -> Vec<Finding> {
    let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let (upstreams, providers) = (count(config.upstreams.len(), "upstream"), count(config.providers.len(), "provider"));
    let read = format!("{}: {upstreams}, {providers}", args.config.display());
    let mut findings = vec![Finding::ok("configuration", read)];
    let (service, (store, database_clock)) =
        tokio::join!(machine::service(config, egress), store::examine(config, &SystemClock));
    findings.extend([service]);
    findings.extend(store);
    let mut samples: Vec<Sample> = database_clock.into_iter().collect();
    if let Identity::Oidc(oidc) = &config.identity {
        let (of_issuer, sample) = issuer::examine(oidc, egress, &SystemClock).await;
        findings.extend(of_issuer);
        samples.extend(sample);
    }
    let probes = config.upstreams.iter().map(|upstream| upstream::examine(upstream, egress, &SystemClock));
    for (finding, sample) in join_all(probes).await {
        findings.push(finding);
        samples.extend(sample);
    }
    findings.push(clock::finding(&samples));
    findings.push(machine::browser(&environment));
    findings.extend(machine::hosts(config));
    findings
}
