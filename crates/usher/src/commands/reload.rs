//! How a running service is told to read its key file again.

#[cfg(unix)]
use std::io::IsTerminal as _;
use std::sync::Arc;

use crate::app::App;

/// Has the key file read again at each SIGHUP, where there is one. Not where a terminal is attached: there it says that the
/// terminal is gone, and ends the service, unless that was started to outlive it.
pub(super) fn at_hangup(app: Arc<App>) {
    #[cfg(unix)]
    if !is_attached() {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangup) = signal(SignalKind::hangup()) {
            tokio::spawn(async move {
                while hangup.recv().await.is_some() {
                    app.keys.reload();
                }
            });
        }
    }
    #[cfg(not(unix))]
    let _ = app;
}

#[cfg(unix)]
fn is_attached() -> bool {
    std::io::stdin().is_terminal() || std::io::stdout().is_terminal() || std::io::stderr().is_terminal()
}
