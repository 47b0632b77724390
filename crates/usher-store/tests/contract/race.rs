//! What happens once, happens once, however many try.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use elicit::SystemRandom;
use tokio::sync::Barrier;
use usher_store::{
    Advanced, Completion, DeclinedBy, FailureReason, NewBrowserSession, NewInteraction, SessionId, Step, Store,
};

use crate::samples::{
    DAY, LONGEST, at, browsing, client, completed, connect, consent, consented, destination, done, question,
    random_token, user,
};
use crate::setup::Database;

pub(crate) const RIVALS: usize = 8;

/// Runs the same attempt many times at once. On PostgreSQL half of them go through
/// another replica.
pub(crate) async fn rivals<T, F>(database: &Database, attempt: impl Fn(usize, Store) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let one = database.store().await;
    let two = match database.kind {
        usher_store::Kind::Sqlite => one.clone(),
        usher_store::Kind::Postgres => database.store().await,
    };
    let barrier = Arc::new(Barrier::new(RIVALS));
    let tasks: Vec<_> = (0..RIVALS)
        .map(|number| {
            let store = if number % 2 == 0 { one.clone() } else { two.clone() };
            let attempt = attempt(number, store);
            let barrier = Arc::clone(&barrier);
            tokio::spawn(async move {
                barrier.wait().await;
                attempt.await
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

/// R-MRTR-03: an answer counts once.
pub(crate) async fn of_two_submissions_one_is_done(database: Database) {
    let store = database.store().await;
    let asked = store.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0);

    let results = rivals(&database, |number, store| {
        let asked = asked.clone();
        let step = if number % 2 == 0 { Step::Open } else { Step::Decline { by: DeclinedBy::Client } };
        async move { store.advance(asked, step, at(1)).await.unwrap() }
    })
    .await;

    let winners: Vec<_> = results
        .iter()
        .filter_map(|result| match result {
            Advanced::Done(interaction) => Some(interaction),
            Advanced::Lost => None,
            Advanced::Refused(error) => panic!("{error}"),
        })
        .collect();
    assert_eq!(winners.len(), 1);
    let read = store.interaction(&asked.id, at(2)).await.unwrap().unwrap();
    assert_eq!(read, *winners[0]);
    assert_eq!(store.audit_of(&user("user-1"), 100).await.unwrap().len(), 2);
}

/// R-MRTR-03: a form that was submitted twice stores one credential.
pub(crate) async fn of_two_completions_one_stores(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;

    let results = rivals(&database, |number, store| {
        let interaction = interaction.clone();
        let with = connect(&format!("s-{number}"));
        async move { store.complete(interaction, with, at(3)).await.unwrap() }
    })
    .await;

    let done = results.iter().filter(|result| matches!(result, Advanced::Done(_))).count();
    let lost = results.iter().filter(|result| matches!(result, Advanced::Lost)).count();
    assert_eq!((done, lost), (1, RIVALS - 1));
    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(credential.version, 1);
}

pub(crate) async fn of_two_uses_of_a_link_one_signs_in(database: Database) {
    let store = database.store().await;
    let link = random_token();
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();

    let results = rivals(&database, |_, store| {
        let (link, session) = (link.clone(), random_token());
        async move {
            let user = store.use_login_link(&link, browsing(&session, at(DAY)), at(1)).await.unwrap();
            let signed_in = store.browser_session(&session, LONGEST, at(2)).await.unwrap().is_some();
            assert_eq!(user.is_some(), signed_in);
            signed_in
        }
    })
    .await;

    assert_eq!(results.iter().filter(|signed_in| **signed_in).count(), 1);
}

/// R-OAUTH-02: a sign-in counts once, on whichever replica.
pub(crate) async fn of_two_uses_of_a_sign_in_one_counts(database: Database) {
    let store = database.store().await;
    let (id, before) = (random_token(), random_token());
    store.use_sign_in(&random_token(), at(600), &user("user-1"), browsing(&before, at(DAY)), at(0)).await.unwrap();

    let results = rivals(&database, |_, store| {
        let (id, before, session) = (id.clone(), before.clone(), random_token());
        async move {
            let new = NewBrowserSession { before: Some(&before), ..browsing(&session, at(DAY)) };
            let used = store.use_sign_in(&id, at(600), &user("user-1"), new, at(1)).await.unwrap();
            assert_eq!(store.browser_session(&session, LONGEST, at(2)).await.unwrap().is_some(), used);
            used
        }
    })
    .await;

    assert_eq!(results.iter().filter(|used| **used).count(), 1);
    assert!(store.browser_session(&before, LONGEST, at(2)).await.unwrap().is_none());
}

/// R-DONE-01: one replica delivers the notice.
pub(crate) async fn of_two_claims_of_a_notice_one_is_true(database: Database) {
    let store = database.store().await;
    let key = SessionId::new(&SystemRandom).key();
    let asked = store.ask(&[question("user-1")], Some(&key), at(0)).await.unwrap().remove(0);
    let id = asked.id.clone();
    let consented = consent(&store, asked).await;
    done(store.complete(consented, connect("s-1"), at(3)).await.unwrap());

    let results = rivals(&database, |_, store| {
        let (id, key) = (id.clone(), key.clone());
        async move { store.claim_notice(&id, &key).await.unwrap() }
    })
    .await;

    assert_eq!(results.iter().filter(|claimed| **claimed).count(), 1);
}

pub(crate) async fn asking_at_once_makes_one_question(database: Database) {
    let results = rivals(&database, |_, store| async move {
        store.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0).id
    })
    .await;

    let ids: HashSet<_> = results.into_iter().collect();
    assert_eq!(ids.len(), 1);
    let store = database.store().await;
    assert_eq!(store.audit_of(&user("user-1"), 100).await.unwrap().len(), 1);
}

/// R-OAUTH-04: no approval is lost, whether the record exists or not.
pub(crate) async fn two_clients_completing_at_once_both_get_their_approval(database: Database) {
    let store = database.store().await;
    for (provider, stored) in [("weather", false), ("maps", true)] {
        let question_of = |client_id: String| {
            let mut new = NewInteraction { provider: provider.to_owned(), ..question("user-1") };
            new.principal.client = client(&client_id);
            new
        };
        if stored {
            completed(&store, question_of("client-0".to_owned()), connect("s-0")).await;
        }
        let mut ready = Vec::new();
        for number in 0..RIVALS {
            ready.push(consented(&store, question_of(format!("client-{number}"))).await);
        }

        let results = rivals(&database, |number, store| {
            let interaction = ready[number].clone();
            let with = if stored { Completion::Allow } else { connect("s-1") };
            async move { store.complete(interaction, with, at(3)).await.unwrap() }
        })
        .await;

        assert!(results.iter().all(|result| matches!(result, Advanced::Done(_))), "{results:?}");
        let credential = store.credential(&user("user-1"), provider).await.unwrap().unwrap();
        for number in 0..RIVALS {
            let id = client(&format!("client-{number}"));
            assert!(credential.allows(&id, &destination("forecast")), "{provider} {number}");
        }
    }
}

pub(crate) async fn askers_of_several_do_not_wait_for_each_other(database: Database) {
    let results = rivals(&database, |number, store| async move {
        let mut new: Vec<_> = (0..30)
            .map(|provider| NewInteraction { provider: format!("provider-{provider}"), ..question("user-1") })
            .collect();
        if number % 2 == 0 {
            new.reverse();
        }
        store.ask(&new, None, at(0)).await.unwrap().len()
    })
    .await;

    assert_eq!(results, [30; RIVALS]);
}

pub(crate) async fn asking_and_pruning_do_not_wait_for_each_other(database: Database) {
    let store = database.store().await;
    let new = |expires_at| -> Vec<_> {
        (0..200)
            .map(|provider| NewInteraction {
                provider: format!("provider-{provider}"),
                expires_at,
                ..question("user-1")
            })
            .collect()
    };
    store.ask(&new(at(10)), None, at(0)).await.unwrap();

    rivals(&database, |number, store| {
        let new = new(at(900));
        async move {
            if number % 2 == 0 {
                store.prune(at(20)).await.unwrap();
            } else {
                store.ask(&new, None, at(20)).await.unwrap();
            }
        }
    })
    .await;

    assert_eq!(store.waiting_interactions(&user("user-1"), at(21)).await.unwrap().len(), 200);
}

pub(crate) async fn restarting_and_asking_leave_one_open_question(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;
    let step = Step::Fail(FailureReason::ProviderUnreachable);
    let failed = done(store.advance(interaction, step, at(3)).await.unwrap());

    rivals(&database, |number, store| {
        let failed = failed.clone();
        async move {
            if number % 2 == 0 {
                let _ = store.advance(failed, Step::Restart, at(4)).await.unwrap();
            } else {
                store.ask(&[question("user-1")], None, at(4)).await.unwrap();
            }
        }
    })
    .await;

    assert_eq!(store.waiting_interactions(&user("user-1"), at(5)).await.unwrap().len(), 1);
}
