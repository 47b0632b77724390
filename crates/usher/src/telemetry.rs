//! What the service logs, and where: lines on standard error, each readable alone.

use tracing_subscriber::EnvFilter;

/// What is logged by default. The database library is left out: its errors come back to whoever called it, who says what
/// they mean.
pub const DEFAULT: &str = "info,sqlx=off";

/// Installs the log subscriber. `filter` is in the syntax of `tracing`'s env filter, such as `info` or `usher=debug`; a
/// filter that cannot be read counts as [`DEFAULT`]. `colours` is for a person at a terminal.
pub fn install(filter: Option<&str>, colours: bool) {
    let filter = filter.and_then(|filter| EnvFilter::try_new(filter).ok()).unwrap_or_else(|| EnvFilter::new(DEFAULT));
    // A subscriber that is there already belongs to whoever embeds this library.
    let _ =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).try_init();
}
