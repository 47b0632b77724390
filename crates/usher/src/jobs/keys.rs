//! The master keys of the running service: read anew when their file changes, and what older ones wrapped wrapped anew.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Notify, time::MissedTickBehavior};
use usher_store::{KeyFile, KeyFileError, KeyRing, KeyWrap as _, Rewrapped, Store, StoreError};

use crate::app::App;

/// How often the file is looked at. What is looked at is its state, not its text.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How often what older keys wrapped is looked for. Without an older key nothing is asked of the store.
const REWRAP_EVERY: Duration = Duration::from_mins(1);
/// Rows after which others get their turn.
const ROWS: u64 = 500;
/// And for how long.
const PAUSE: Duration = Duration::from_millis(50);

/// The keys of the running service and the file that they come from.
pub struct Keys {
    /// The keys now.
    pub ring: Arc<KeyRing>,
    file: PathBuf,
    /// What the file was when the keys were read from it.
    read: Stamp,
    reload: Notify,
    changed: Notify,
}

/// Why other keys are not taken; those of before stay.
#[derive(Debug, thiserror::Error)]
enum ReloadError {
    #[error(transparent)]
    File(#[from] KeyFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReloadError {
    /// Whether it stays so until the file changes. What the store says may change without the file: it is there again, or
    /// what needed a key that is not in the file is gone.
    fn is_final(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// Tells one state of a file from another without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Option<[i128; 5]>);

impl Stamp {
    /// The state of the file at `path`, to be taken before it is read.
    pub(crate) fn of(path: &Path) -> Self {
        Self(std::fs::metadata(path).ok().map(|found| stamp(&found)))
    }
}

#[cfg(unix)]
fn stamp(found: &std::fs::Metadata) -> [i128; 5] {
    use std::os::unix::fs::MetadataExt;
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    [
        found.dev().into(),
        found.ino().into(),
        found.len().into(),
        nanos(found.mtime(), found.mtime_nsec()),
        // Also a mode that was put right.
        nanos(found.ctime(), found.ctime_nsec()),
    ]
}

#[cfg(not(unix))]
fn stamp(found: &std::fs::Metadata) -> [i128; 5] {
    let changed = found.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let nanos = changed.and_then(|since| i128::try_from(since.as_nanos()).ok()).unwrap_or_default();
    [0, 0, found.len().into(), nanos, 0]
}

impl Keys {
    /// The keys in `ring`, which were read from `file` when that was as `read` says.
    pub(crate) fn new(ring: Arc<KeyRing>, file: PathBuf, read: Stamp) -> Self {
        Self { ring, file, read, reload: Notify::new(), changed: Notify::new() }
    }

    /// Has the file read again soon, whether or not it seems to have changed.
    pub fn reload(&self) {
        self.reload.notify_one();
    }
}

/// Takes the keys of a file that has changed, if they open all that is stored.
pub(super) async fn watch(app: Arc<App>) {
    let mut seen = app.keys.read.clone();
    let mut told = None;
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let asked = tokio::select! {
            _ = ticks.tick() => false,
            () = app.keys.reload.notified() => true,
        };
        let stamp = Stamp::of(&app.keys.file);
        if !asked && stamp == seen {
            continue;
        }
        match reload(&app.keys, &app.store).await {
            Ok(()) => {
                told = None;
                seen = stamp;
            }
            Err(error) => {
                if error.is_final() {
                    seen = stamp;
                }
                let text = error.to_string();
                if asked || told.as_ref() != Some(&text) {
                    let path = app.keys.file.display();
                    tracing::error!(%path, error = text, "the key file has changed and is not used; the keys of before stay");
                }
                told = Some(text);
            }
        }
    }
}

async fn reload(keys: &Keys, store: &Store) -> Result<(), ReloadError> {
    let fresh = KeyFile::load(&keys.file)?;
    store.check_keys(&fresh).await?;
    let (active, older) = (fresh.active_id(), fresh.older_ids());
    keys.ring.replace(fresh);
    tracing::info!(active, ?older, "the key file was read again");
    keys.changed.notify_one();
    Ok(())
}

/// Wraps anew, at the start and after each change, until nothing needs an older key.
pub(super) async fn rewrap(app: Arc<App>) {
    let mut ticks = tokio::time::interval(REWRAP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unreadable = 0;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = app.keys.changed.notified() => {}
        }
        match rewrap_all(&app.store).await {
            Ok(done) => {
                if done.rewrapped > 0 {
                    tracing::info!(
                        rows = done.rewrapped,
                        "wrapped with the active master key what older ones had wrapped"
                    );
                }
                if done.unreadable != unreadable {
                    unreadable = done.unreadable;
                    tracing::warn!(
                        rows = unreadable,
                        "some rows do not open with the key that they name, because they were changed outside Usher; \
                         they stay as they are"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(%error, "what older master keys wrapped cannot be wrapped anew; it goes on later");
            }
        }
    }
}

async fn rewrap_all(store: &Store) -> Result<Rewrapped, StoreError> {
    let mut total = Rewrapped::default();
    loop {
        let done = store.rewrap(ROWS).await?;
        total.rewrapped += done.rewrapped;
        // Each run meets those of the tables that it comes to anew.
        total.unreadable = done.unreadable;
        if !done.more {
            return Ok(total);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_store_does_not_take_is_looked_at_again() {
        let ids = || vec!["k1".to_owned()];
        for error in [StoreError::MissingKey { ids: ids() }, StoreError::WrongKey { ids: ids() }] {
            assert!(!ReloadError::from(error).is_final());
        }
        let garbled = KeyFile::parse("no key").unwrap_err();
        assert!(ReloadError::from(garbled).is_final());
    }
}
