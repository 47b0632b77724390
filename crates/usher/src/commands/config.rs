//! `usher config`: reads the configuration without starting anything, and prints its schema.

use std::{fmt::Write as _, process::ExitCode};

use clap::Subcommand;

use super::{ConfigArgs, environment, fail};
use crate::config::{Config, Identity, Per, Provider, ProviderKind, Transport, schema};

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read the file as usher serve would, and say what was understood, or all that is wrong with it.
    Check(ConfigArgs),
    /// Print the JSON schema of the file, for editors.
    Schema,
}

/// Runs the command.
pub fn run(command: &Command) -> ExitCode {
    match command {
        Command::Schema => print!("{}", schema::text()),
        Command::Check(args) => match Config::load(&args.config, &environment) {
            Ok(config) => print!("{}", summary(&config)),
            Err(faults) => return fail(&faults),
        },
    }
    ExitCode::SUCCESS
}

/// What was understood, without a secret.
fn summary(config: &Config) -> String {
    let identity = match &config.identity {
        Identity::Local { tokens_file } => format!("local, tokens of hosts in {}", tokens_file.display()),
        Identity::Oidc(oidc) => format!("oidc, {}", oidc.issuer.as_str()),
    };
    let store = match &config.database {
        Some(file) => format!("SQLite, {}", file.display()),
        None => "PostgreSQL".to_owned(),
    };
    let mut text = format!(
        "The configuration is right.\n\n  reached at   {}\n  listens on   {}\n  store        {store}\n  keys         {}\n  \
         identity     {identity}\n",
        config.public_url.origin(),
        config.listen,
        config.keys_file.display(),
    );
    for provider in &config.providers {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  provider     {}: {}", provider.name, kind(provider));
    }
    for upstream in &config.upstreams {
        let needs: Vec<_> = upstream.needs.iter().map(|need| need.provider.as_str()).collect();
        let needs = if needs.is_empty() { "no credential".to_owned() } else { needs.join(", ") };
        let _ = writeln!(text, "  upstream     {}: {}, needs {needs}", upstream.name, place(&upstream.transport));
    }
    if let Identity::Oidc(oidc) = &config.identity
        && let Some(warning) = oidc.audience_warning()
    {
        let _ = writeln!(text, "\nA doubt: {warning}.");
    }
    text
}

/// What users do for a provider.
fn kind(provider: &Provider) -> String {
    match &provider.kind {
        ProviderKind::Secret { fields, check } => {
            let fields: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
            format!("{}{}", fields.join(", "), if check.is_some() { ", checked" } else { "" })
        }
        ProviderKind::OAuth(oauth) => {
            let host = oauth.definition.authorization_endpoint.as_str();
            let known = oauth.catalogue.as_deref().map_or(String::new(), |name| format!(", {name} of the catalogue"));
            format!("an account, at {host}{known}")
        }
        ProviderKind::Mcp(mcp) => {
            let issuer = mcp.issuer.as_ref().map_or("the issuer that it names", |issuer| issuer.as_str());
            format!("an account at the MCP server itself, by {issuer}")
        }
        ProviderKind::External(external) => {
            let per = match external.per {
                Per::Call => "for each call",
                Per::User => "once for each user",
            };
            let confirmed = if external.confirm.is_some() { ", confirmed by a request" } else { "" };
            format!("a visit to {}, {per}{confirmed}", external.url.origin())
        }
        ProviderKind::Approval => "an approval for each call".to_owned(),
    }
}

/// A URL stands without its query, in which an operator may have put a key.
fn place(transport: &Transport) -> String {
    match transport {
        Transport::Http(url) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
        Transport::Process(command) => command.line(),
    }
}
