//! What is approved for one call alone.

use elicit::SystemRandom;
use secrecy::SecretString;
use usher_store::{
    APPROVAL_LASTS, Asked, AskingClient, AuditAction, Claim, Claimed, Completion, DeclinedBy, ExactCall, Interaction,
    InteractionId, NewInteraction, OpenLimits, Operation, Step, Store, StoreError, VISIT_LASTS,
};

use crate::samples::{HOUR, at, client, completed, consented, destination, done, principal, question, user};
use crate::setup::Database;

const ONCE: Completion = Completion::Once { lasts: APPROVAL_LASTS };
const LIMITS: OpenLimits = OpenLimits { user: 100, client: 100 };
const PRIVATE: &str = "letter-of-alice-to-bob";

fn operation(number: &str) -> Operation {
    let params = format!(r#"{{"name":"delete","arguments":{{"id":{number},"why":"{PRIVATE}"}}}}"#);
    Operation::exact("tools/call", Some(&params)).unwrap()
}

/// A question about one call.
fn about(number: &str) -> NewInteraction {
    NewInteraction { operation: Some(operation(number)), ..question("user-1") }
}

async fn approved(store: &Store, new: NewInteraction) -> Interaction {
    completed(store, new, ONCE).await
}

async fn claim(store: &Store, new: &NewInteraction, now: i64) -> bool {
    let digest = *new.operation.as_ref().unwrap().digest().unwrap();
    let call = ExactCall { principal: &new.principal, destination: &new.destination, digest: &digest, round: "" };
    let lacking = store.unapproved(call, &[&new.provider], at(now)).await.unwrap();
    let claimed = store.claim(call, &[&new.provider], at(now)).await.unwrap();
    assert_eq!(matches!(claimed, Claimed::All(_)), lacking.is_empty(), "looking and taking agree");
    matches!(claimed, Claimed::All(_))
}

/// R-MRTR-03
pub(crate) async fn an_approval_is_used_once(database: Database) {
    let store = database.store().await;
    assert!(!claim(&store, &about("1"), 1).await);
    let asked = store.ask(&[about("1")], None, at(0)).await.unwrap().remove(0);
    assert!(!claim(&store, &about("1"), 1).await, "asked is not approved");
    crate::samples::consent(&store, asked.clone()).await;
    assert!(!claim(&store, &about("1"), 2).await, "nor is consent");
    let consented = store.interaction(&asked.id, at(2)).await.unwrap().unwrap();
    done(store.complete(consented, ONCE, at(3)).await.unwrap());

    assert!(claim(&store, &about("1"), 4).await);
    assert!(!claim(&store, &about("1"), 4).await);

    let rows = store.audit_of(&user("user-1"), 100).await.unwrap();
    let count = |action| rows.iter().filter(|row| row.action == Some(action)).count();
    assert_eq!((count(AuditAction::OperationApproved), count(AuditAction::OperationUsed)), (1, 1));
    // R-SEC-03: which call, and nothing of its arguments.
    let told = format!("tools/call delete #{}", &operation("1").digest().unwrap().to_hex()[..16]);
    for row in rows {
        let tells = matches!(row.action, Some(AuditAction::OperationApproved | AuditAction::OperationUsed));
        assert_eq!(row.operation, tells.then(|| told.clone()), "{:?}", row.action);
    }
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
}

/// R-MRTR-02, R-ID-01: numbers that a double cannot tell apart are two calls.
pub(crate) async fn an_approval_is_for_its_own_call_alone(database: Database) {
    let store = database.store().await;
    let right = about("9007199254740993");
    approved(&store, right.clone()).await;
    let mut other_client = right.clone();
    other_client.principal.client = client("client-2");
    let mut other_target = right.clone();
    "https://elsewhere.example".clone_into(&mut other_target.destination.target);
    for other in [
        about("9007199254740992"),
        NewInteraction { principal: principal("user-2"), ..right.clone() },
        other_client,
        other_target,
        NewInteraction { destination: destination("almanac"), ..right.clone() },
        NewInteraction { provider: "maps".to_owned(), ..right.clone() },
    ] {
        assert!(!claim(&store, &other, 4).await, "{other:?}");
    }
    assert!(claim(&store, &right, 4).await);
}

pub(crate) async fn an_approval_lasts_a_quarter_of_an_hour(database: Database) {
    let store = database.store().await;
    let lasts = APPROVAL_LASTS.as_secs();
    approved(&store, about("1")).await;
    assert!(!claim(&store, &about("1"), 3 + lasts).await);
    assert!(claim(&store, &about("1"), 2 + lasts).await);
    let lasts = VISIT_LASTS.as_secs();
    for (number, late) in [("2", 1), ("3", 0)] {
        completed(&store, about(number), Completion::Once { lasts: VISIT_LASTS }).await;
        store.prune(at(2 + lasts)).await.unwrap();
        assert_eq!(claim(&store, &about(number), 2 + lasts + late).await, late == 0, "a payment waits for a day");
    }
}

/// The call `about` that comes with the answers of `round`.
async fn claim_in(store: &Store, about: &NewInteraction, round: &str, now: i64) -> Option<Claim> {
    let digest = *about.operation.as_ref().unwrap().digest().unwrap();
    let call = ExactCall { principal: &about.principal, destination: &about.destination, digest: &digest, round };
    match store.claim(call, &[&about.provider], at(now)).await.unwrap() {
        Claimed::All(claim) => Some(claim),
        Claimed::Lacking(_) => None,
    }
}

async fn give_back(store: &Store, about: &NewInteraction, round: &str, claim: &Claim) {
    let digest = *about.operation.as_ref().unwrap().digest().unwrap();
    let call = ExactCall { principal: &about.principal, destination: &about.destination, digest: &digest, round };
    store.give_back(call, claim, at(5)).await.unwrap();
}

/// R-MRTR-03: what was used is good for the round that follows, once; neither an earlier round nor the call from the beginning
/// finds anything.
pub(crate) async fn each_round_uses_what_the_one_before_left(database: Database) {
    let store = database.store().await;
    approved(&store, about("1")).await;
    let first = claim_in(&store, &about("1"), "", 4).await.unwrap();
    assert!(!first.is_empty() && first.round().len() == 43);
    assert!(claim_in(&store, &about("2"), first.round(), 4).await.is_none(), "another call");
    let second = claim_in(&store, &about("1"), first.round(), 4).await.unwrap();
    assert_ne!(first.round(), second.round());
    for used in ["", first.round(), "x"] {
        assert!(claim_in(&store, &about("1"), used, 4).await.is_none(), "{used}");
    }
    store.prune(at(4 + 2 * HOUR)).await.unwrap();
    assert!(claim_in(&store, &about("1"), second.round(), 4 + 2 * HOUR).await.is_some(), "as long as a round lasts");
    assert_eq!(database.run("UPDATE interactions SET proof_round = ''").await, 1);
    assert!(claim_in(&store, &about("1"), "", 4 + 2 * HOUR).await.is_none(), "an edited round is none");
}

/// What was not run is given back as it was: to the same round, and for no longer.
pub(crate) async fn what_is_given_back_can_be_used_again(database: Database) {
    let store = database.store().await;
    approved(&store, about("1")).await;
    let first = claim_in(&store, &about("1"), "", 4).await.unwrap();
    give_back(&store, &about("1"), "", &first).await;
    assert!(claim_in(&store, &about("1"), first.round(), 5).await.is_none());
    assert!(claim_in(&store, &about("1"), "", 3 + APPROVAL_LASTS.as_secs()).await.is_none(), "for no longer");
    let again = claim_in(&store, &about("1"), "", 5).await.unwrap();
    give_back(&store, &about("1"), "", &first).await;
    assert!(claim_in(&store, &about("1"), "", 5).await.is_none(), "an old claim gives nothing back");
    let second = claim_in(&store, &about("1"), again.round(), 5).await.unwrap();
    give_back(&store, &about("1"), again.round(), &second).await;
    assert!(claim_in(&store, &about("1"), "", 5).await.is_none());
    let second = claim_in(&store, &about("1"), again.round(), 5).await.unwrap();
    let _ = store.revoke_client(&user("user-1"), &about("1").principal.client, at(5)).await.unwrap();
    give_back(&store, &about("1"), again.round(), &second).await;
    assert!(claim_in(&store, &about("1"), again.round(), 5).await.is_none(), "what was taken away stays so");
    let rows = store.audit_of(&user("user-1"), 100).await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.action == Some(AuditAction::OperationReturned)).count(), 2);
}

/// R-OAUTH-04
pub(crate) async fn a_revoked_client_calls_nothing_that_was_approved(database: Database) {
    let store = database.store().await;
    approved(&store, about("1")).await;
    let mut other = about("1");
    other.principal.client = client("client-2");
    approved(&store, other.clone()).await;
    let one = AskingClient { questions: 0, approvals: 1 };
    let both = store.asking_clients(&user("user-1"), at(3)).await.unwrap();
    assert_eq!(both.into_values().collect::<Vec<_>>(), [one, one]);
    let withdrawn = store.revoke_client(&user("user-1"), &about("1").principal.client, at(3)).await.unwrap();
    assert_eq!((withdrawn.approvals, withdrawn.providers.len()), (1, 0));
    let audited = store.audit_of(&user("user-1"), 1).await.unwrap().remove(0);
    assert_eq!(audited.action, Some(AuditAction::ClientRevoked));
    let left = store.asking_clients(&user("user-1"), at(3)).await.unwrap();
    assert_eq!(left.keys().collect::<Vec<_>>(), [&other.principal.client]);
    assert!(store.asking_clients(&user("user-1"), at(3 + APPROVAL_LASTS.as_secs())).await.unwrap().is_empty());
    assert!(!claim(&store, &about("1"), 4).await);
    assert!(claim(&store, &other, 4).await, "another client's approval stays");
}

/// R-MRTR-03: of calls that are alike and come at once, one goes on.
pub(crate) async fn of_many_claims_at_once_one_succeeds(database: Database) {
    let store = database.store().await;
    approved(&store, about("1")).await;
    let new = about("1");
    let digest = *new.operation.as_ref().unwrap().digest().unwrap();
    let claims = (0..12).map(|_| {
        let (store, new) = (store.clone(), new.clone());
        tokio::spawn(async move {
            let call =
                ExactCall { principal: &new.principal, destination: &new.destination, digest: &digest, round: "" };
            matches!(store.claim(call, &[&new.provider], at(4)).await.unwrap(), Claimed::All(_))
        })
    });
    let mut won = 0;
    for claim in claims.collect::<Vec<_>>() {
        won += usize::from(claim.await.unwrap());
    }
    assert_eq!(won, 1);
}

pub(crate) async fn several_approvals_are_used_together_or_not_at_all(database: Database) {
    let store = database.store().await;
    let second = NewInteraction { provider: "maps".to_owned(), ..about("1") };
    approved(&store, about("1")).await;
    let new = about("1");
    let digest = *new.operation.as_ref().unwrap().digest().unwrap();
    let call = ExactCall { principal: &new.principal, destination: &new.destination, digest: &digest, round: "" };
    let both = ["weather", "maps"];
    let lacking = store.claim(call, &both, at(4)).await.unwrap();
    assert_eq!(lacking, Claimed::Lacking(vec!["maps".to_owned()]));
    approved(&store, second).await;
    assert!(matches!(store.claim(call, &both, at(4)).await.unwrap(), Claimed::All(_)));
}

/// R-SEC-01: each call is its own question; a decline rests that call and no other.
pub(crate) async fn each_call_is_its_own_question_and_rests_alone(database: Database) {
    let store = database.store().await;
    let asked = store.ask(&[about("1"), about("2"), question("user-1")], None, at(0)).await.unwrap();
    assert!(asked[0].id != asked[1].id && asked[0].id != asked[2].id);
    let again = store.ask(&[about("1")], None, at(1)).await.unwrap();
    assert_eq!(again[0].id, asked[0].id, "the same call joins");
    done(store.advance(asked[0].clone(), Step::Decline { by: DeclinedBy::Page }, at(2)).await.unwrap());
    assert!(matches!(store.ask_within(&[about("1")], None, LIMITS, at(3)).await.unwrap(), Asked::Resting { .. }));
    assert!(matches!(store.ask_within(&[about("3")], None, LIMITS, at(3)).await.unwrap(), Asked::Open(_)));
    assert!(store.rest_of(&asked[0].id, at(3)).await.unwrap().is_some());
    assert!(store.rest_of(&asked[1].id, at(3)).await.unwrap().is_none());
    approved(&store, NewInteraction { id: InteractionId::new(&SystemRandom), ..about("1") }).await;
    assert!(store.rest_of(&asked[0].id, at(4)).await.unwrap().is_none(), "answered after all");
}

/// R-GW-04: whoever writes to the database approves nothing.
pub(crate) async fn an_approval_that_was_written_or_changed_in_the_database_is_none(database: Database) {
    let store = database.store().await;
    let change = async |sql: &str| assert!(database.run(sql).await > 0, "{sql}");
    store.ask(&[about("1")], None, at(0)).await.unwrap();
    change("UPDATE interactions SET state = 'completed', state_at = 1800000003000000, proof_until = 1800000903000000")
        .await;
    assert!(!claim(&store, &about("1"), 4).await);
    change("UPDATE interactions SET proof = seal").await;
    assert!(!claim(&store, &about("1"), 4).await);
    change("DELETE FROM interactions").await;

    let right = approved(&store, about("1")).await;
    let other = store.ask(&[about("2")], None, at(0)).await.unwrap().remove(0);
    let copy = format!(
        "UPDATE interactions SET state = 'completed', state_at = 1800000003000000, proof_until = 1800000903000000, \
         proof = (SELECT proof FROM interactions WHERE id = '{}') WHERE id = '{}'",
        right.id, other.id
    );
    change(&copy).await;
    assert!(!claim(&store, &about("2"), 4).await, "the proof of another call");
    let aim = format!(
        "UPDATE interactions SET ask_key = (SELECT ask_key FROM interactions WHERE id = '{}') WHERE id = '{}'",
        other.id, right.id
    );
    change(&format!("UPDATE interactions SET proof = NULL WHERE id = '{}'", other.id)).await;
    change(&aim).await;
    assert!(!claim(&store, &about("2"), 4).await, "an approval that was pointed at another call");
    change("UPDATE interactions SET proof_until = proof_until + 600000000").await;
    assert!(!claim(&store, &about("2"), 604).await, "one that was made to last longer");
    let rows = store.audit_of(&user("user-1"), 100).await.unwrap();
    assert!(rows.iter().filter(|row| row.action == Some(AuditAction::InteractionTampered)).count() >= 3, "{rows:?}");
}

/// R-ID-01, R-GW-04: what one user approved is no approval of another's, whether its proof or the whole row is moved.
pub(crate) async fn an_approval_that_was_moved_to_another_user_is_none(database: Database) {
    let store = database.store().await;
    let theirs = NewInteraction { principal: principal("user-2"), ..about("1") };
    let right = approved(&store, about("1")).await;
    let other = store.ask(std::slice::from_ref(&theirs), None, at(0)).await.unwrap().remove(0);
    let copied = format!(
        "UPDATE interactions SET state = 'completed', state_at = 1800000003000000, \
         proof = (SELECT proof FROM interactions WHERE id = '{}') WHERE id = '{}'",
        right.id, other.id
    );
    assert_eq!(database.run(&copied).await, 1);
    assert!(!claim(&store, &theirs, 4).await, "the proof of another user's call");

    database.run("CREATE TABLE place AS SELECT * FROM interactions WHERE subject = 'user-2'").await;
    database.run("DELETE FROM interactions WHERE subject = 'user-2'").await;
    let moved = "UPDATE interactions SET subject = 'user-2', ask_key = (SELECT ask_key FROM place), \
                 user_key = (SELECT user_key FROM place)";
    assert_eq!(database.run(moved).await, 1);
    assert!(!claim(&store, &theirs, 4).await, "the whole row");
    assert!(!claim(&store, &about("1"), 4).await, "and it is no longer the first user's");
}

/// R-GW-04: nobody is shown, and nobody approves, another call than the one that was asked for.
pub(crate) async fn an_edited_call_is_not_shown_and_not_approved(database: Database) {
    let store = database.store().await;
    let one = consented(&store, about("1")).await;
    let two = store.ask(&[about("2")], None, at(0)).await.unwrap().remove(0);
    let read = store.operation(&one, at(3)).await.unwrap().unwrap();
    let all = store.operations(&[&one], at(3)).await.unwrap();
    assert_eq!(all.get(&one.id), Some(&read), "one by one and all at once are the same");
    assert!(read == operation("1"));
    let sql = format!(
        "UPDATE interactions SET operation = (SELECT operation FROM interactions WHERE id = '{}') WHERE id = '{}'",
        two.id, one.id
    );
    assert_eq!(database.run(&sql).await, 1);
    assert!(store.operations(&[&one], at(3)).await.unwrap().is_empty(), "a list leaves it out");
    let error = store.operation(&one, at(3)).await.unwrap_err();
    assert!(error.is_tampered(), "{error}");
    let refused = store.complete(one.clone(), ONCE, at(3)).await;
    assert!(matches!(refused, Err(StoreError::Unopened { .. })), "{refused:?}");
    database.run("UPDATE interactions SET operation = NULL").await;
    let refused = store.complete(one, ONCE, at(3)).await.unwrap();
    assert!(matches!(refused, usher_store::Advanced::Refused(_)), "{refused:?}");
    assert!(!claim(&store, &about("1"), 4).await);
}

/// R-SEC-07: what a call was called with is sealed, and goes when it is used, declined or over.
pub(crate) async fn a_call_is_sealed_and_goes_when_it_is_of_no_more_use(database: Database) {
    let store = database.store().await;
    let kept = async |interaction: &Interaction| store.operation(interaction, at(4)).await.unwrap().is_some();
    let used = approved(&store, about("1")).await;
    assert!(kept(&used).await);
    assert!(claim(&store, &about("1"), 4).await);
    assert!(!kept(&used).await);
    let declined = store.ask(&[about("2")], None, at(0)).await.unwrap().remove(0);
    let declined = done(store.advance(declined, Step::Decline { by: DeclinedBy::Client }, at(3)).await.unwrap());
    let named = store.operation(&declined, at(4)).await.unwrap().unwrap();
    assert!(named == Operation::named("tools/call", "delete"), "only its name stays, for its owner");
    let waits = approved(&store, about("3")).await;
    let open = store.ask(&[about("4")], None, at(0)).await.unwrap().remove(0);
    store.prune(at(600)).await.unwrap();
    assert!(kept(&waits).await, "an approved call may still come");
    assert!(!kept(&open).await, "its question is over");
    let pruned = store.prune(at(600 + APPROVAL_LASTS.as_secs())).await.unwrap();
    assert_eq!(pruned.operations, 1);
    assert!(!kept(&waits).await);
    for number in ["5", "6"] {
        let asked = store.ask(&[about(number)], None, at(0)).await.unwrap().remove(0);
        if number == "5" {
            done(store.advance(asked.clone(), Step::Withdraw, at(1)).await.unwrap());
        } else {
            let _ = store.revoke_client(&user("user-1"), &asked.principal.client, at(1)).await.unwrap();
        }
        assert!(!kept(&asked).await, "withdrawn");
    }
    assert_eq!(store.prune(at(2 * HOUR)).await.unwrap().operations, 0);
}

/// R-OAUTH-02: a way back works once, for the browser that left, and for the newest leave.
pub(crate) async fn a_way_back_works_once(database: Database) {
    let store = database.store().await;
    let [first, second] = ["first-token-0123456789", "second-token-0123456789"].map(SecretString::from);
    let asked = store.ask(&[about("1")], None, at(0)).await.unwrap().remove(0);
    assert!(!store.keep_return(&asked.id, &first, "browser").await.unwrap(), "only after consent");
    let one = crate::samples::consent(&store, asked).await;
    assert!(store.keep_return(&one.id, &first, "browser").await.unwrap());
    let take = async |token: &SecretString, browser: &str, now: i64| {
        store.take_return(&one.id, token, browser, at(now)).await.unwrap()
    };
    assert!(!take(&first, "another browser", 3).await);
    assert!(!take(&second, "browser", 3).await);
    assert!(take(&first, "browser", 3).await);
    assert!(!take(&first, "browser", 3).await, "once");
    for token in [&first, &second] {
        assert!(store.keep_return(&one.id, token, "browser").await.unwrap());
    }
    assert!(!take(&first, "browser", 3).await, "the newest leave counts");
    assert!(!take(&second, "browser", 600).await, "it ends with the question");
    assert!(take(&second, "browser", 599).await);
}
