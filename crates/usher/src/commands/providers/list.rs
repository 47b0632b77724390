//! `usher providers list`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::{configured, kind};
use crate::{
    commands::{ConfigArgs, change::shown, fail, table},
    config::{Config, Provider, ProviderKind, definition::catalogue},
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// As JSON: an array of objects.
    #[arg(long)]
    json: bool,
}

/// A provider as it is listed.
struct Row {
    name: String,
    title: String,
    kind: &'static str,
    configured: bool,
    /// The file of the catalogue that says how it works.
    catalogue: Option<String>,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let config = match configured(&args.config.config) {
        Ok(config) => config,
        Err(faults) => return fail(&faults),
    };
    let rows = rows(config.as_ref());
    if args.json {
        println!("{:#}", Value::from(rows.iter().map(object).collect::<Vec<_>>()));
        return ExitCode::SUCCESS;
    }
    if config.is_none() {
        eprintln!("There is no {}: these are the ones that the catalogue knows.", args.config.config.display());
    }
    let mut lines = vec![["NAME", "TITLE", "KIND", "CONFIGURED"].map(str::to_owned)];
    lines.extend(rows.iter().map(line));
    print!("{}", table::text(&lines));
    ExitCode::SUCCESS
}

/// Those of the configuration in its order, then the others of the catalogue.
fn rows(config: Option<&Config>) -> Vec<Row> {
    let configured = config.map(|config| config.providers.as_slice()).unwrap_or_default();
    let mut rows: Vec<Row> = configured.iter().map(row).collect();
    let is_used = |name: &str| rows.iter().any(|row| row.name == name || row.catalogue.as_deref() == Some(name));
    let others: Vec<Row> = catalogue::names().filter(|name| !is_used(name)).map(known).collect();
    rows.extend(others);
    rows
}

fn row(provider: &Provider) -> Row {
    let catalogue = match &provider.kind {
        ProviderKind::OAuth(oauth) => oauth.catalogue.clone(),
        _ => None,
    };
    Row {
        name: provider.name.clone(),
        title: provider.title.get("en").to_owned(),
        kind: kind(&provider.kind),
        configured: true,
        catalogue,
    }
}

fn known(name: &str) -> Row {
    // A file of the catalogue that has faults is found by a test; its name is listed all the same.
    let definition = catalogue::find(name).and_then(Result::ok);
    let title = definition.as_ref().and_then(|definition| definition.title.as_ref()).map(|title| title.get("en"));
    Row {
        name: name.to_owned(),
        title: title.unwrap_or(name).to_owned(),
        kind: "oauth",
        configured: false,
        catalogue: Some(name.to_owned()),
    }
}

fn line(row: &Row) -> [String; 4] {
    let configured = match (&row.catalogue, row.configured) {
        (_, false) => "no".to_owned(),
        (Some(catalogue), true) if *catalogue == row.name => "yes, as the catalogue knows it".to_owned(),
        (Some(catalogue), true) => format!("yes, as {catalogue} of the catalogue"),
        (None, true) => "yes".to_owned(),
    };
    [shown(&row.name), shown(&row.title), row.kind.to_owned(), configured]
}

fn object(row: &Row) -> Value {
    json!({
        "name": row.name,
        "title": row.title,
        "kind": row.kind,
        "configured": row.configured,
        "catalogue": row.catalogue,
    })
}
