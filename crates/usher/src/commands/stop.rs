//! How a command is told to stop.

/// Resolves at Ctrl-C, or at SIGTERM where there is one. With `terminal`, at the end of the terminal too: not for a
/// service, which may have been started to outlive its terminal (a handler would undo what `nohup` does).
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
