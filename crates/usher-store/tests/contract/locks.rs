//! Whoever changes several questions locks them in one order: PostgreSQL only.

use std::future::Future;
use std::time::Duration;

use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Executor as _, Row as _};
use usher_store::{APPROVAL_LASTS, Completion, ExactCall, Interaction, NewInteraction, Operation, Store};

use crate::samples::{at, completed, destination, question, user};
use crate::setup::Database;

const WAITS: &str = "SELECT COUNT(*) AS number FROM pg_locks \
     WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())";

fn about(provider: &str) -> NewInteraction {
    let operation = Operation::exact("tools/call", Some(r#"{"name":"delete"}"#)).unwrap();
    NewInteraction { provider: provider.to_owned(), operation: Some(operation), ..question("user-1") }
}

async fn key_of(raw: &mut AnyConnection, id: &str) -> String {
    let sql = format!("SELECT ask_key FROM interactions WHERE id = '{id}'");
    raw.fetch_one(AssertSqlSafe(sql)).await.unwrap().get("ask_key")
}

async fn lock(raw: &mut AnyConnection, id: &str) {
    let sql = format!("SELECT id FROM interactions WHERE id = '{id}' FOR UPDATE");
    raw.execute(AssertSqlSafe(sql)).await.unwrap();
}

/// Somebody holds the first of two questions; what waits for it must hold nothing yet, so that the second can be had as well.
async fn waits_with_empty_hands(
    database: &Database,
    [first, second]: [&str; 2],
    work: impl Future<Output = ()> + Send + 'static,
) {
    let (mut raw, mut look) = (database.raw().await, database.raw().await);
    raw.execute("BEGIN").await.unwrap();
    lock(&mut raw, first).await;
    let work = tokio::spawn(work);
    let blocked = async {
        while look.fetch_one(WAITS).await.unwrap().get::<i64, _>("number") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), blocked).await.expect("it waits for the first");
    let both = tokio::time::timeout(Duration::from_millis(500), lock(&mut raw, second)).await;
    raw.close().await.unwrap();
    look.close().await.unwrap();
    work.await.unwrap();
    assert!(both.is_ok(), "it held the second before the first");
}

/// Two of the same client, in the order of what they ask.
async fn in_order(database: &Database, questions: Vec<Interaction>) -> Vec<Interaction> {
    let mut raw = database.raw().await;
    let mut keyed = Vec::new();
    for question in questions {
        keyed.push((key_of(&mut raw, question.id.as_str()).await, question));
    }
    raw.close().await.unwrap();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    keyed.into_iter().map(|(_, question)| question).collect()
}

fn ids(questions: &[Interaction]) -> [&str; 2] {
    [questions[0].id.as_str(), questions[1].id.as_str()]
}

/// R-MRTR-03: the names of the providers say nothing of the order.
pub(crate) async fn a_claim_locks_in_the_order_of_all(database: Database) {
    let store = database.store().await;
    for number in 0.. {
        let names = [format!("a{number}"), format!("b{number}")];
        let mut approved = Vec::new();
        for name in &names {
            approved.push(completed(&store, about(name), Completion::Once { lasts: APPROVAL_LASTS }).await);
        }
        let ordered = in_order(&database, approved.clone()).await;
        if ordered == approved {
            continue;
        }
        let claims = store.clone();
        waits_with_empty_hands(&database, ids(&ordered), async move {
            let new = about("");
            let digest = *new.operation.as_ref().unwrap().digest().unwrap();
            let call =
                ExactCall { principal: &new.principal, destination: &new.destination, digest: &digest, round: "" };
            let _ = claims.claim(call, &[&names[0], &names[1]], at(4)).await;
        })
        .await;
        break;
    }
}

/// An approval that comes before an open question in the order of all, and the question.
async fn an_approval_and_then_a_question(database: &Database, store: &Store) -> Vec<Interaction> {
    for number in 0.. {
        let open = store
            .ask(
                &[NewInteraction { destination: destination(&format!("s{number}")), ..question("user-1") }],
                None,
                at(0),
            )
            .await
            .unwrap()
            .remove(0);
        let approved = completed(store, about(&format!("p{number}")), Completion::Once { lasts: APPROVAL_LASTS }).await;
        let ordered = in_order(database, vec![open, approved.clone()]).await;
        if ordered[0] == approved {
            return ordered;
        }
        let _ = store.forget_user(&user("user-1"), at(5)).await.unwrap();
    }
    unreachable!("half of them are")
}

/// R-OAUTH-04: open questions and approvals in one order, not the ones after the others.
pub(crate) async fn a_revocation_locks_in_the_order_of_all(database: Database) {
    let store = database.store().await;
    let ordered = an_approval_and_then_a_question(&database, &store).await;
    let client = ordered[0].principal.client.clone();
    waits_with_empty_hands(&database, ids(&ordered), async move {
        let _ = store.revoke_client(&user("user-1"), &client, at(6)).await;
    })
    .await;
}

pub(crate) async fn forgetting_locks_in_the_order_of_all(database: Database) {
    let store = database.store().await;
    let ordered = an_approval_and_then_a_question(&database, &store).await;
    waits_with_empty_hands(&database, ids(&ordered), async move {
        let _ = store.forget_user(&user("user-1"), at(6)).await;
    })
    .await;
}
