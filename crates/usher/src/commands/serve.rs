//! `usher serve`: the gateway, until it is told to stop.

use std::{fmt::Write as _, io::IsTerminal as _, process::ExitCode, sync::Arc};

use elicit::SystemRandom;
use secrecy::ExposeSecret;
use serde_json::json;

use super::{ConfigArgs, colours, environment, fail, own_program, reload, stop::asked_to_stop};
use crate::{
    app::App,
    clock::SystemClock,
    config::{Config, Identity},
    identity::tokens::{Tokens, local_user},
    pages,
    serve::start,
    telemetry,
};

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print the sign-in link and the hosts' token even where standard output is no terminal.
    #[arg(long)]
    show_token: bool,
}

/// Runs the command.
pub async fn run(args: &Args) -> ExitCode {
    telemetry::install(environment("USHER_LOG").as_deref(), colours());
    #[cfg(feature = "fail-points")]
    if let Some(armed) = environment("USHER_FAIL_POINT")
        && let Err(error) = usher_store::FailPoint::arm(&armed)
    {
        return fail(&error);
    }
    let config = match Config::load(&args.config.config, &environment) {
        Ok(config) => config,
        Err(faults) => return fail(&faults),
    };
    let mut running =
        match start(config, None, Arc::new(SystemClock), Arc::new(SystemRandom), own_program().as_deref()).await {
            Ok(running) => running,
            Err(error) => return fail(&error),
        };
    // Before anybody reads that it is ready, and sends a signal.
    reload::at_hangup(Arc::clone(&running.app));
    // A log that a supervisor keeps is no place for secrets: only the person who looks on gets them (R-SEC-07).
    let tokens = running.app.identity.tokens();
    if let Some(tokens) = tokens.filter(|_| args.show_token || std::io::stdout().is_terminal()) {
        match pages::login::link(&running.app, &local_user()).await {
            Ok(link) => println!("{}", welcome(&running.app, tokens, &link)),
            Err(error) => return fail(&error),
        }
    } else {
        println!("{}", addresses(&running.app));
    }
    tokio::select! {
        () = asked_to_stop(false) => {}
        () = running.ended() => return fail(&"the server ended by itself; the log says why"),
    }
    eprintln!("usher: stopping; calls under way may finish");
    running.stop().await;
    ExitCode::SUCCESS
}

/// Where to go, and what to copy into a host.
fn welcome(app: &App, tokens: &Tokens, link: &str) -> String {
    format!(
        "Usher is ready.\n\n  Sign in (once, within 10 minutes):  {link}\n  Your connections:                   {}\n\n\
         Point your MCP host at it:\n\n{}\n",
        app.config.public_url.join("/"),
        host_config(app, tokens),
    )
}

/// Where everything is, without a secret.
fn addresses(app: &App) -> String {
    let mut text = format!("Usher is ready.\n\n  Your connections:  {}\n", app.config.public_url.join("/"));
    match &app.config.identity {
        // Writing into a string cannot fail.
        Identity::Local { tokens_file } => {
            let _ = writeln!(text, "  Tokens of hosts:   {}", tokens_file.display());
        }
        Identity::Oidc(oidc) => {
            let _ = writeln!(text, "  People sign in at: {}", oidc.issuer.as_str());
        }
    }
    for upstream in &app.config.upstreams {
        // Writing into a string cannot fail.
        let _ =
            writeln!(text, "  For hosts:         {}", app.config.public_url.join(&format!("/mcp/{}", upstream.name)));
    }
    if app.identity.tokens().is_none() {
        return text;
    }
    text.push_str(
        "\nTo sign in, run usher login. In a terminal, or with --show-token, usher serve prints a link and a block for \
         your host.\n",
    );
    text
}

/// The `mcpServers` block that many hosts read, with the first client's token.
pub fn host_config(app: &App, tokens: &Tokens) -> String {
    let (_, token) = tokens.first();
    let servers: serde_json::Map<String, serde_json::Value> = app
        .config
        .upstreams
        .iter()
        .map(|upstream| {
            let server = json!({
                "type": "http",
                "url": app.config.public_url.join(&format!("/mcp/{}", upstream.name)),
                "headers": { "Authorization": format!("Bearer {}", token.expose_secret()) },
            });
            (upstream.name.clone(), server)
        })
        .collect();
    format!("{:#}", json!({ "mcpServers": servers }))
}
