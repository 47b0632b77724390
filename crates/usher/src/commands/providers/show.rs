//! `usher providers show`.

use std::{fmt::Write as _, process::ExitCode};

use super::{configured, described, kind};
use crate::{
    commands::{ConfigArgs, change::shown, fail},
    config::{
        ClientAuthentication, Config, Definition, McpAuthorization, OAuth, Per, Provider, ProviderKind, PublicUrl,
        Registration, closest,
        definition::{ChosenBy, catalogue},
    },
    oauth,
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// The provider's name, in the configuration or in the catalogue.
    name: String,
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let config = match configured(&args.config.config) {
        Ok(config) => config,
        Err(faults) => return fail(&faults),
    };
    match text(config.as_ref(), &args.name) {
        Ok(text) => print!("{text}"),
        Err(error) => return fail(&error),
    }
    ExitCode::SUCCESS
}

/// All that is known of a provider, or why there is none of this name.
fn text(config: Option<&Config>, name: &str) -> Result<String, String> {
    if let Some((config, provider)) = config.and_then(|config| Some((config, config.provider(name)?))) {
        return Ok(of_configured(config, provider));
    }
    match catalogue::find(name) {
        Some(Ok(definition)) => Ok(of_catalogue(config, name, &definition)),
        Some(Err(faults)) => Err(faults.to_string()),
        None => Err(unknown(config, name)),
    }
}

fn unknown(config: Option<&Config>, name: &str) -> String {
    let own = config.map(|config| config.providers.as_slice()).unwrap_or_default();
    let names: Vec<&str> = catalogue::names().collect();
    let own = own.iter().map(|provider| provider.name.as_str());
    let fix = match closest(name, own.chain(names.iter().copied())) {
        Some(close) => format!("did you mean {close}?"),
        None => "see which there are: usher providers list".to_owned(),
    };
    format!("there is no provider {}; {fix}", shown(name))
}

fn of_configured(config: &Config, provider: &Provider) -> String {
    let known = match &provider.kind {
        ProviderKind::OAuth(oauth) => oauth.catalogue.as_deref(),
        _ => None,
    };
    let known = known.map_or(String::new(), |name| format!(", as {name} of the catalogue"));
    let mut text =
        Text::titled(&provider.title, &provider.name, &format!("configured, kind {}{known}", kind(&provider.kind)));
    match &provider.kind {
        ProviderKind::OAuth(oauth) => {
            text.section("Set up", &account(config, &provider.name, oauth));
            text.section("How it works", &described::definition(&oauth.definition));
            text.scopes(&oauth.definition);
            text.documentation(&oauth.definition);
        }
        ProviderKind::Mcp(mcp) => text.section("Set up", &server(config, &provider.name, mcp)),
        ProviderKind::Secret { fields, check } => {
            let mut lines: Vec<_> = fields.iter().map(|field| ("asked for", shown(field.label.get("en")))).collect();
            let checked = check.as_ref().map(|check| format!("GET {}", shown(&crate::egress::place(&check.get))));
            lines.push(("checked", checked.unwrap_or_else(|| "no".to_owned())));
            text.section("Set up", &lines);
        }
        ProviderKind::External(external) => {
            let per = match external.per {
                Per::Call => "for each call",
                Per::User => "once for each person",
            };
            text.section("Set up", &[("people go to", shown(&external.url.origin())), ("how often", per.to_owned())]);
        }
        ProviderKind::Approval => text.section("Set up", &[("people approve", "each call, on a page here".to_owned())]),
    }
    text.0
}

fn of_catalogue(config: Option<&Config>, name: &str, definition: &Definition) -> String {
    let title = definition.title.clone().unwrap_or_else(|| name.into());
    let mut text = Text::titled(&title, name, "in the catalogue, not configured");
    let mut lines = vec![("redirect URI", redirect_uri(config.map(|config| &config.public_url), name))];
    lines.extend(definition.register_at.iter().map(|at| ("register at", at.to_string())));
    text.section("Set up", &lines);
    let _ = write!(text.0, "\n{}", example(name, definition));
    text.section("How it works", &described::definition(definition));
    text.scopes(definition);
    text.documentation(definition);
    text.0
}

/// What stands in a configuration for it.
fn example(name: &str, definition: &Definition) -> String {
    let mut text = format!("  [[provider]]\n  name = \"{name}\"\n  client_id = \"…\"\n");
    if definition.client_authentication != ClientAuthentication::None {
        let _ = writeln!(text, "  client_secret_file = \"{name}.secret\"");
    }
    if !definition.scope_text.is_empty() {
        text.push_str("  scopes = [\"…\"]          # as few as do; in words below\n");
    }
    let chosen = definition.inputs.iter().filter(|input| input.chosen_by == ChosenBy::Operator);
    let values = chosen.map(|input| {
        let example = input.default.as_deref().or(input.example.as_deref()).unwrap_or("…");
        format!("{} = \"{example}\"", input.name)
    });
    let values: Vec<_> = values.collect();
    if !values.is_empty() {
        let _ = writeln!(text, "  values = {{ {} }}", values.join(", "));
    }
    text
}

/// Without a configuration nobody knows where the service will be reached.
fn redirect_uri(public_url: Option<&PublicUrl>, name: &str) -> String {
    public_url.map_or_else(
        || format!("your public_url and /callback/{name}"),
        |public_url| oauth::redirect_uri(public_url, name, None),
    )
}

fn account(config: &Config, name: &str, oauth: &OAuth) -> Vec<described::Line> {
    let definition = &oauth.definition;
    let mut lines = Vec::new();
    let redirect = redirect_uri(Some(&config.public_url), name);
    if definition.registration == Registration::Static {
        lines.push(("redirect URI", format!("{redirect}   (register exactly this one)")));
        lines.extend(definition.register_at.iter().map(|at| ("register at", at.to_string())));
        lines.push(("client_id", oauth.client_id.as_deref().map_or("missing".to_owned(), shown)));
        lines.push(("client_secret", secret(definition, oauth).to_owned()));
    } else {
        lines.push(("redirect URI", redirect));
    }
    lines.push(("scopes", list(&oauth.scopes)));
    for (upstream, need) in
        config.upstreams.iter().flat_map(|upstream| upstream.needs.iter().map(move |need| (upstream, need)))
    {
        if need.provider == name {
            let more = if need.scopes.is_empty() { String::new() } else { format!(", with {}", list(&need.scopes)) };
            lines.push(("needed by", format!("{}{more}", upstream.name)));
        }
    }
    lines.extend(oauth.values.iter().map(|(name, value)| ("chosen", format!("{name} = {}", shown(value)))));
    lines.extend(oauth.inputs().map(|input| ("asked of people", shown(input.label.get("en")))));
    lines
}

fn secret(definition: &Definition, oauth: &OAuth) -> &'static str {
    match (&oauth.client_secret, definition.client_authentication) {
        (Some(_), _) => "given",
        (None, ClientAuthentication::None) => "none, as for a public client",
        (None, _) => "given elsewhere: it cannot be had here",
    }
}

fn server(config: &Config, name: &str, mcp: &McpAuthorization) -> Vec<described::Line> {
    let known = match mcp.registration {
        Registration::Automatic => "found out at the server",
        Registration::Static => "registered by you",
        Registration::Dynamic => "registers itself (RFC 7591)",
        Registration::MetadataDocument => "is the address of a document about it",
    };
    let issuer =
        mcp.issuer.as_ref().map_or_else(|| "the one that the server names".to_owned(), |issuer| shown(issuer.as_str()));
    let mut lines = vec![("our client", known.to_owned()), ("issuer", issuer)];
    lines.extend(mcp.client_id.iter().map(|id| ("client_id", shown(id))));
    if let Some(issuer) = &mcp.issuer {
        let redirect = oauth::redirect_uri(&config.public_url, name, Some(issuer.as_str()));
        lines.push(("redirect URI", redirect));
    }
    lines.push(("scopes", list(&mcp.scopes)));
    lines
}

fn list(scopes: &[String]) -> String {
    if scopes.is_empty() {
        return "none is asked for".to_owned();
    }
    scopes.iter().map(|scope| shown(scope)).collect::<Vec<_>>().join(", ")
}

/// What is printed.
struct Text(String);

impl Text {
    fn titled(title: &crate::config::Text, name: &str, what: &str) -> Self {
        Self(format!("{} ({}): {what}\n", shown(title.get("en")), shown(name)))
    }

    /// Writing into a string cannot fail.
    fn section(&mut self, head: &str, lines: &[described::Line]) {
        let _ = writeln!(self.0, "\n{head}");
        for (label, said) in lines {
            let _ = writeln!(self.0, "  {label:18} {said}");
        }
    }

    fn scopes(&mut self, definition: &Definition) {
        if definition.scope_text.is_empty() {
            return;
        }
        let width = definition.scope_text.keys().map(|scope| scope.chars().count()).max().unwrap_or_default();
        let _ = writeln!(self.0, "\nScopes in words");
        for (scope, text) in &definition.scope_text {
            let _ = writeln!(self.0, "  {scope:width$}  {}", shown(text.get("en")));
        }
    }

    fn documentation(&mut self, definition: &Definition) {
        if definition.documentation.is_empty() {
            return;
        }
        let read = definition.read.as_ref().map_or(String::new(), |read| format!(", read on {read}"));
        let _ = writeln!(self.0, "\nThe provider's own documentation{read}");
        for link in &definition.documentation {
            let _ = writeln!(self.0, "  {link}");
        }
    }
}
