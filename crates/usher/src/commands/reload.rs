//! How a running service is told to read its key file again.

use std::{io::IsTerminal as _, sync::Arc};

use crate::app::App;

/// Has the key file read again at each SIGHUP, where there is one. Not at a terminal: there it says that the terminal is
/// gone, and the service with it, unless it was started to outlive it.
pub(super) fn at_hangup(app: Arc<App>) {
    #[cfg(unix)]
    if !std::io::stdout().is_terminal() {
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
