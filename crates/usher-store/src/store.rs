//! The store: its parts, and how a transaction begins and ends.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elicit::Random;
use sqlx::{Any, AnyPool, Transaction};
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use crate::listen::Outbox;
use crate::{Event, StoreError, Vault, silence};

/// No call into the store lasts longer than this (R-SEC-04).
const DEADLINE: Duration = Duration::from_secs(10);

/// Durable state in SQLite or PostgreSQL. Clones share connections.
///
/// Every call ends within ten seconds, with [`StoreError::Unavailable`] where the
/// database does not answer. What a call returns as done is committed: on the disk
/// (SQLite) or at the server (PostgreSQL).
#[derive(Clone)]
pub struct Store {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) kind: Kind,
    pub(crate) instance: String,
    pub(crate) vault: Arc<Vault>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) reader: AnyPool,
    /// On SQLite one connection, so that writers queue up instead of colliding.
    pub(crate) writer: AnyPool,
    pub(crate) events: broadcast::Sender<Event>,
    /// To the task that tells other replicas; `None` on SQLite and once closed.
    pub(crate) outbox: Mutex<Option<Outbox>>,
    pub(crate) tasks: Mutex<JoinSet<()>>,
}

/// The database behind a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A file, for one process.
    Sqlite,
    /// A server, for one or several replicas.
    Postgres,
}

impl Store {
    /// Which database it is.
    pub fn kind(&self) -> Kind {
        self.shared.kind
    }

    /// Eight random lower-case letters and digits, made once and kept in the
    /// store: tells two installations apart, for example in cookie names.
    pub fn instance(&self) -> &str {
        &self.shared.instance
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        Self::within(async {
            sqlx::query("SELECT 1").execute(&self.shared.reader).await?;
            Ok(())
        })
        .await
    }

    /// Tells other replicas what is still to be told and closes all connections.
    /// Calls after this fail with [`StoreError::Unavailable`].
    pub async fn close(&self) {
        drop(lock(&self.shared.outbox).take());
        let mut tasks = std::mem::take(&mut *lock(&self.shared.tasks));
        // The listener ends with its own pool; only the sender has something to finish.
        let drained = tokio::time::timeout(Duration::from_secs(1), tasks.join_next()).await;
        if drained.is_err() {
            tracing::warn!("the store was closed with events unsent");
        }
        tasks.shutdown().await;
        self.shared.writer.close().await;
        self.shared.reader.close().await;
    }

    /// Hints of changes from now on, made here or by another replica.
    ///
    /// Subscribe first, then read the row: what happens in between is then not missed.
    /// A hint may be lost with the connection, so also read again now and then.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.shared.events.subscribe()
    }

    /// To be called after the commit.
    pub(crate) fn publish(&self, event: Event) {
        // No receiver is no failure.
        let _ = self.shared.events.send(event.clone());
        if let Some(outbox) = &*lock(&self.shared.outbox) {
            outbox.put(event);
        }
    }

    /// A transaction that writes.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(match self.shared.kind {
            // Plain BEGIN takes the write lock too late: "database is locked",
            // whatever the busy time-out.
            Kind::Sqlite => self.shared.writer.begin_with("BEGIN IMMEDIATE").await?,
            Kind::Postgres => self.shared.writer.begin().await?,
        })
    }

    /// Boxed, so that whoever awaits it sees one type that can go between threads.
    pub(crate) fn within<'a, T: 'a>(
        work: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>> {
        Box::pin(async {
            let mut work = std::pin::pin!(work);
            // Dropped before the work is, and with it the connection that goes back to its pool.
            let mut unfinished = Unfinished(true);
            let done = tokio::time::timeout(DEADLINE, &mut work).await;
            unfinished.0 = done.is_err();
            done.unwrap_or_else(|_| {
                Err(StoreError::Unavailable(format!("no answer within {} seconds", DEADLINE.as_secs())))
            })
        })
    }
}

/// A call that may end, by its deadline or because nobody waits for it any more, before the database has answered.
struct Unfinished(bool);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.0 {
            silence::suspect();
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("kind", &self.shared.kind)
            .field("instance", &self.shared.instance)
            .finish_non_exhaustive()
    }
}

/// A panic elsewhere while it was held leaves nothing half done in what we lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
