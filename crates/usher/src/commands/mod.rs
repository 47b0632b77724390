//! The command line. Commands read the environment, install the crypto provider and the log subscriber; nothing else does.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to the person at the terminal")]

mod api_keys;
mod change;
pub mod config;
mod connections;
pub mod demo;
mod direct;
pub mod doctor;
mod forward;
mod guard;
pub mod keys;
mod let_go;
pub mod login;
mod providers;
mod reload;
pub mod serve;
mod stop;
mod table;
mod users;

use std::{io::IsTerminal, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// The elicitation gateway for MCP.
#[derive(Debug, Parser)]
#[command(name = "usher", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway with its pages and its vault.
    Serve(serve::Args),
    /// Watch the main job: a tool call asks for an API key on a safe page, and goes on.
    Demo(demo::Args),
    /// Sign in to the pages in this machine's browser, by a one-time link.
    Login(login::Args),
    /// Look at everything that the service needs, and say what to do about it. Changes nothing.
    Doctor(doctor::Args),
    /// The configuration file.
    Config {
        #[command(subcommand)]
        command: config::Command,
    },
    /// Ends what a killed service leaves behind; the service runs it for itself.
    #[command(hide = true)]
    Guard,
    /// The master keys that everything is sealed with.
    Keys {
        #[command(subcommand)]
        command: keys::Command,
    },
    /// The keys by which servers beside Usher ask through its API.
    ApiKeys {
        #[command(subcommand)]
        command: api_keys::Command,
    },
    /// Print the description of the API (OpenAPI 3.1).
    Openapi,
    /// The people of whom something is stored.
    Users {
        #[command(subcommand)]
        command: users::Command,
    },
    /// The services at which people connect accounts.
    Providers {
        #[command(subcommand)]
        command: providers::Command,
    },
    /// What people connected.
    Connections {
        #[command(subcommand)]
        command: connections::Command,
    },
}

/// Where the configuration is.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// The configuration file.
    #[arg(long, default_value = "usher.toml", value_name = "PATH")]
    pub config: PathBuf,
}

/// Parses the command line and runs the command.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    if matches!(cli.command, Command::Guard) {
        return guard::run(std::io::stdin().lock());
    }
    install_crypto_provider();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("usher: the runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(&args).await,
            Command::Demo(args) => demo::run(args).await,
            Command::Login(args) => login::run(args).await,
            Command::Doctor(args) => doctor::run(&args).await,
            Command::Config { command } => config::run(&command),
            Command::Keys { command } => keys::run(&command).await,
            Command::ApiKeys { command } => api_keys::run(&command).await,
            Command::Openapi => {
                print!("{}", crate::api::description());
                ExitCode::SUCCESS
            }
            Command::Providers { command } => providers::run(&command).await,
            Command::Users { command } => users::run(&command).await,
            Command::Connections { command } => connections::run(&command).await,
            Command::Guard => ExitCode::SUCCESS,
        }
    });
    // A blocking task that hangs, such as a name look-up, does not hold the process.
    runtime.shutdown_background();
    code
}

/// The one crypto provider of the process. A second call changes nothing.
pub fn install_crypto_provider() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Our own program, to run it again; none where the system does not tell.
pub(crate) fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// A variable of the environment.
#[allow(clippy::disallowed_methods, reason = "commands are where the environment is read")]
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether log lines get colours: at a terminal, unless `NO_COLOR` says no.
pub(crate) fn colours() -> bool {
    std::io::stderr().is_terminal() && environment("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Says on standard error what went wrong.
pub(crate) fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("usher: {error}");
    ExitCode::FAILURE
}
