//! `usher providers test`.

use std::{collections::BTreeMap, process::ExitCode};

use elicit::SystemRandom;
use url::Url;

use super::{probe, server};
use crate::{
    clock::SystemClock,
    commands::{
        ConfigArgs,
        change::shown,
        doctor::finding::{Finding, tell},
        environment, fail,
    },
    config::{Check, Config, Provider, ProviderKind, definition::catalogue},
    egress::{Egress, place, reason},
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// The provider's name in the configuration.
    name: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// What a person would choose of its addresses, where that is left to them: host=acme.
    #[arg(long = "value", value_name = "NAME=VALUE", value_parser = value)]
    values: Vec<(String, String)>,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// One `NAME=VALUE`.
fn value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Runs the command. It fails if something is wrong; a warning is no failure.
pub(super) async fn run(args: &Args) -> ExitCode {
    let config = match Config::load(&args.config.config, &environment) {
        Ok(config) => config,
        Err(faults) => return fail(&faults),
    };
    let Some(provider) = config.provider(&args.name) else { return fail(&unknown(&args.name)) };
    let egress = match Egress::allowing(config.egress.clone()) {
        Ok(egress) => egress,
        Err(error) => return fail(&format!("the HTTP client cannot be made: {error}")),
    };
    let chosen: BTreeMap<String, String> = args.values.iter().cloned().collect();
    tell(&examine(&config, provider, &chosen, &egress).await, args.json)
}

fn unknown(name: &str) -> String {
    let shown = shown(name);
    if catalogue::has(name) {
        return format!("{shown} is in the catalogue, and not configured; what it needs: usher providers show {shown}");
    }
    format!("there is no provider {shown} in the configuration; see which there are: usher providers list")
}

async fn examine(
    config: &Config,
    provider: &Provider,
    chosen: &BTreeMap<String, String>,
    egress: &Egress,
) -> Vec<Finding> {
    match &provider.kind {
        ProviderKind::OAuth(account) => {
            probe::examine(config, &provider.name, account, chosen, egress, &SystemClock, &SystemRandom).await
        }
        ProviderKind::Secret { check: Some(check), .. } => vec![checked(check, egress).await],
        ProviderKind::Secret { check: None, .. } => {
            vec![Finding::ok("check", "none is configured: what people enter is taken as it is")]
        }
        ProviderKind::External(external) => {
            vec![probe::reach("page", root(external.url.sample()), false, egress).await]
        }
        ProviderKind::Mcp(account) => server::examine(config, provider, account, egress).await,
        ProviderKind::Approval => vec![Finding::ok("approval", "nobody else is asked: people approve on a page here")],
    }
}

/// The page itself is a visit's: only its host is asked.
fn root(url: &Url) -> Url {
    url.join("/").unwrap_or_else(|_| url.clone())
}

/// Whether the check tells who brings a credential from who brings none.
async fn checked(check: &Check, egress: &Egress) -> Finding {
    const CHECK: &str = "check";
    let at = place(&check.get);
    match egress.operator().get(check.get.clone()).timeout(probe::DEADLINE).send().await {
        Ok(answer) if matches!(answer.status().as_u16(), 401 | 403) => {
            Finding::ok(CHECK, format!("{at} refuses who brings nothing (HTTP {})", answer.status().as_u16()))
        }
        Ok(answer) if answer.status().is_success() => Finding::warning(
            CHECK,
            format!("{at} is content without a credential (HTTP {})", answer.status().as_u16()),
            "it cannot tell a good one from a bad one; name an address that needs it",
        ),
        Ok(answer) => Finding::warning(
            CHECK,
            format!("{at} answers HTTP {} to who brings nothing", answer.status().as_u16()),
            "a bad credential is one that it refuses with 401 or 403; see that provider.check.get is right",
        ),
        Err(error) => Finding::fault(
            CHECK,
            format!("{at}: {}", reason(&error)),
            "see that provider.check.get is right; nobody can connect until then",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_name() {
        assert_eq!(value("host=acme=x"), Ok(("host".to_owned(), "acme=x".to_owned())));
        assert!(value("acme").is_err());
    }
}
