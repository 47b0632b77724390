//! Tokens are renewed ahead of their end, so that nobody waits for one: those of each provider for themselves, a few at a time,
//! on whichever replica comes first.

use std::{sync::Arc, time::Duration};

use elicit::Random;
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};
use usher_store::{DueRefresh, StoreError};

use crate::app::App;

/// How often it is looked for what is due.
const EVERY: Duration = Duration::from_secs(5);
/// How many tokens of one provider are renewed at a time: it has other customers.
const OF_ONE: usize = 8;
/// How many of all.
const OF_ALL: usize = 32;
/// How long others have their turn after that.
const BETWEEN: Duration = Duration::from_millis(50);
/// How many are looked up at once.
const BATCH: u32 = 256;

/// Renews what is due at each provider.
pub(super) async fn ahead(app: Arc<App>) {
    let places = Arc::new(Semaphore::new(OF_ALL));
    let mut providers = JoinSet::new();
    for provider in app.broker.fresh.providers() {
        providers.spawn(of_provider(Arc::clone(&app), provider.name.clone(), Arc::clone(&places)));
    }
    // None of them ends.
    while providers.join_next().await.is_some() {}
}

async fn of_provider(app: Arc<App>, provider: String, places: Arc<Semaphore>) {
    let mut told = false;
    loop {
        // Replicas that start together, and providers, take turns.
        sleep(EVERY / 2 + share(EVERY, &*app.random)).await;
        while app.broker.fresh.rest_of(&provider).is_none() {
            match renew(&app, &provider, &places).await {
                Ok(more) => {
                    told = false;
                    if !more {
                        break;
                    }
                }
                Err(error) => {
                    if !told {
                        tracing::warn!(provider, %error, "what is due cannot be refreshed ahead: the store");
                    }
                    told = true;
                    break;
                }
            }
            sleep(BETWEEN).await;
        }
    }
}

/// Renews what is due now. Whether there may be more.
async fn renew(app: &Arc<App>, provider: &str, places: &Arc<Semaphore>) -> Result<bool, StoreError> {
    let due = app.store.due_refreshes(provider, app.clock.now(), BATCH).await?;
    let is_full = due.len() >= BATCH as usize;
    let mut due = shuffled(due, &*app.random).into_iter();
    let mut at_work = JoinSet::new();
    let mut failed = None;
    loop {
        // A store that fails is not asked about all the others.
        while at_work.len() < OF_ONE
            && failed.is_none()
            && app.broker.fresh.rest_of(provider).is_none()
            && let Some(one) = due.next()
        {
            let (app, places) = (Arc::clone(app), Arc::clone(places));
            at_work.spawn(async move {
                // Nobody closes it.
                let _place = places.acquire_owned().await;
                app.broker.fresh.renew_ahead(&one).await
            });
        }
        match at_work.join_next().await {
            None => break,
            Some(Ok(Ok(()))) => {}
            Some(Ok(Err(error))) => failed = Some(error),
            Some(Err(error)) => tracing::error!(%error, "a credential was not refreshed"),
        }
    }
    failed.map_or(Ok(is_full), Err)
}

/// In another order on each replica, so that they do not all begin with the same.
fn shuffled(mut due: Vec<DueRefresh>, random: &dyn Random) -> Vec<DueRefresh> {
    for at in (1..due.len()).rev() {
        let mut bytes = [0_u8; 8];
        random.fill(&mut bytes);
        let other = usize::try_from(u64::from_be_bytes(bytes) % (at as u64 + 1)).unwrap_or(at);
        due.swap(at, other);
    }
    due
}

/// A part of `whole`, at random.
fn share(whole: Duration, random: &dyn Random) -> Duration {
    let mut byte = [0_u8];
    random.fill(&mut byte);
    whole * u32::from(byte[0]) / 256
}
