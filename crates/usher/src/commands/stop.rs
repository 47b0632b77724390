//! How a command is told to stop.

/// Resolves at Ctrl-C, or at SIGTERM where there is one. With `terminal`, at the end of the terminal too: a service that was
/// started to outlive its terminal must not end with it.
pub(super) async fn asked_to_stop(terminal: bool) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let hung_up = async {
            match terminal.then(|| signal(SignalKind::hangup())) {
                Some(Ok(mut hangup)) => drop(hangup.recv().await),
                _ => std::future::pending().await,
            }
        };
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                () = hung_up => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    #[cfg(not(unix))]
    let _ = terminal;
    let _ = tokio::signal::ctrl_c().await;
}
