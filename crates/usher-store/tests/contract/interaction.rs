use elicit::SystemRandom;
use usher_store::{
    Advanced, AskReason, AuditAction, DeclinedBy, FailureReason, InteractionId, InteractionState, NewInteraction,
    OPEN_AT_MOST, Obstacle, StateName, Step, StoreError,
};

use crate::samples::{HOUR, at, client, completed, connect, consented, destination, done, question, user};
use crate::setup::Database;

pub(crate) async fn a_question_that_is_open_is_not_asked_twice(database: Database) {
    let store = database.store().await;
    let first = store.ask(&[question("user-1")], None, at(0)).await.unwrap();
    let opened = done(store.advance(first[0].clone(), Step::Open, at(1)).await.unwrap());
    let rejected = NewInteraction { reason: AskReason::Rejected, ..question("user-1") };

    let again = store.ask(&[rejected], None, at(2)).await.unwrap();

    assert_eq!(again[0].id, opened.id);
    assert_eq!(again[0].state, opened.state);
    assert_eq!(again[0].version, opened.version);
    assert_eq!(again[0].reason, AskReason::Rejected, "the newest reason counts");
    let audit = store.audit_of(&user("user-1"), 10).await.unwrap();
    let asked = |row: &&usher_store::AuditRow| row.action == Some(AuditAction::InteractionAsked);
    assert_eq!(audit.iter().filter(asked).count(), 1);
}

/// R-ID-01, R-GW-04: what the user agrees to for one is not agreed to for another.
pub(crate) async fn another_client_provider_or_destination_is_another_question(database: Database) {
    let store = database.store().await;
    let mut other_client = question("user-1");
    other_client.principal.client = client("client-2");
    let other_provider = NewInteraction { provider: "maps".to_owned(), ..question("user-1") };
    let other_upstream = NewInteraction { destination: destination("almanac"), ..question("user-1") };
    let mut other_target = question("user-1");
    "https://elsewhere.example".clone_into(&mut other_target.destination.target);

    let all = [question("user-1"), question("user-2"), other_client, other_provider, other_upstream, other_target];
    let asked = store.ask(&all, None, at(0)).await.unwrap();

    let ids: Vec<_> = asked.iter().map(|interaction| &interaction.id).collect();
    let new: Vec<_> = all.iter().map(|new| &new.id).collect();
    assert_eq!(ids, new);
}

pub(crate) async fn asking_again_lengthens_and_never_shortens(database: Database) {
    let store = database.store().await;
    let until = |seconds| NewInteraction { expires_at: at(seconds), ..question("user-1") };
    for (asked, lasts) in [(600, 600), (300, 600), (900, 900)] {
        let found = store.ask(&[until(asked)], None, at(0)).await.unwrap();
        assert_eq!(found[0].expires_at, at(lasts));
    }
}

/// Whoever asks without end keeps no question, and no key of its seal, for longer than [`OPEN_AT_MOST`].
pub(crate) async fn asking_again_and_again_ends_after_three_hours(database: Database) {
    let store = database.store().await;
    let ask = async |now: i64| {
        let new = NewInteraction { expires_at: at(now + 900), ..question("user-1") };
        let found = store.ask(&[new], None, at(now)).await.unwrap().remove(0);
        (found.id, found.expires_at)
    };
    let end = 3 * HOUR;
    assert_eq!(OPEN_AT_MOST.as_secs(), end);
    let (first, _) = ask(0).await;
    for now in (800..end).step_by(800) {
        assert_eq!(ask(now).await, (first.clone(), at((now + 900).min(end))));
    }
    assert_eq!(ask(end - 1).await, (first.clone(), at(end)));
    let (second, until) = ask(end).await;
    assert_ne!(second, first);
    assert_eq!(until, at(end + 900));
}

pub(crate) async fn several_questions_come_back_in_their_order(database: Database) {
    let store = database.store().await;
    let new: Vec<_> =
        (0..20).map(|number| NewInteraction { provider: format!("provider-{number}"), ..question("user-1") }).collect();
    let repeated = [new.as_slice(), &new[..1]].concat();

    let asked = store.ask(&repeated, None, at(0)).await.unwrap();

    for (new, asked) in repeated.iter().zip(&asked) {
        assert_eq!(asked.id, new.id);
        assert_eq!(asked.provider, new.provider);
    }
    assert_eq!(asked.len(), 21);
}

/// R-SEC-01: an interaction expires.
pub(crate) async fn an_overdue_question_makes_way_for_a_new_one(database: Database) {
    let store = database.store().await;
    let first = store.ask(&[question("user-1")], None, at(0)).await.unwrap();
    let later = NewInteraction { expires_at: at(1200), ..question("user-1") };

    let second = store.ask(std::slice::from_ref(&later), None, at(600)).await.unwrap();

    assert_eq!(second[0].id, later.id);
    assert_eq!(second[0].state, InteractionState::Created);
    let first = store.interaction(&first[0].id, at(0)).await.unwrap().unwrap();
    assert_eq!(first.state, InteractionState::Expired, "written, not only shown");
}

/// R-SEC-01: an interaction expires, also before anybody prunes.
pub(crate) async fn an_interaction_past_its_end_shows_as_expired(database: Database) {
    let store = database.store().await;
    let id = store.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0).id;

    let before = store.interaction(&id, at(599)).await.unwrap().unwrap();
    let after = store.interaction(&id, at(600)).await.unwrap().unwrap();
    let listed = store.interactions(std::slice::from_ref(&id), at(600)).await.unwrap();

    assert_eq!(before.state, InteractionState::Created);
    assert_eq!(after.state, InteractionState::Expired);
    assert_eq!(listed[0].state, InteractionState::Expired);
    assert!(store.waiting_interactions(&user("user-1"), at(600)).await.unwrap().is_empty());
}

/// R-SEC-07: a user sees their own questions only.
pub(crate) async fn a_user_sees_their_own_open_interactions_newest_first(database: Database) {
    let store = database.store().await;
    let mut asked = Vec::new();
    for (number, provider) in ["one", "two", "three"].into_iter().enumerate() {
        let new = NewInteraction { provider: provider.to_owned(), ..question("user-1") };
        let now = at(i64::try_from(number).unwrap());
        asked.push(store.ask(&[new], None, now).await.unwrap().remove(0));
    }
    store.ask(&[question("user-2")], None, at(0)).await.unwrap();
    let declined = Step::Decline { by: DeclinedBy::Page };
    done(store.advance(asked[1].clone(), declined, at(5)).await.unwrap());

    let waiting = store.waiting_interactions(&user("user-1"), at(6)).await.unwrap();

    assert_eq!(waiting, [asked[2].clone(), asked[0].clone()]);
}

pub(crate) async fn many_interactions_are_read_at_once(database: Database) {
    let store = database.store().await;
    let new: Vec<_> = (0..300)
        .map(|number| NewInteraction { provider: format!("provider-{number}"), ..question("user-1") })
        .collect();
    store.ask(&new, None, at(0)).await.unwrap();
    let mut ids: Vec<_> = new.into_iter().map(|new| new.id).collect();
    ids.push(InteractionId::new(&SystemRandom));

    for count in [0, 1, 8, 9, 128, 129, 301] {
        let found = store.interactions(&ids[301 - count..], at(1)).await.unwrap();
        assert_eq!(found.len(), count.saturating_sub(1), "the last id is unknown");
    }
    let unknown = store.interaction(&ids[300], at(1)).await.unwrap();
    assert_eq!(unknown, None);
}

/// R-SEC-03: each step is audited.
pub(crate) async fn an_interaction_goes_from_asked_to_completed(database: Database) {
    let store = database.store().await;
    let interaction = completed(&store, question("user-1"), connect("s-1")).await;

    let read = store.interaction(&interaction.id, at(9999)).await.unwrap().unwrap();
    assert_eq!(read, interaction);
    assert_eq!(read.state, InteractionState::Completed { at: at(3) });
    assert_eq!(read.version, 4);
    let audit = store.audit_of(&user("user-1"), 10).await.unwrap();
    let actions: Vec<_> = audit.iter().rev().map(|row| row.action.unwrap()).collect();
    assert_eq!(
        actions,
        [
            AuditAction::InteractionAsked,
            AuditAction::InteractionOpened,
            AuditAction::InteractionConsented,
            AuditAction::CredentialConnected,
            AuditAction::InteractionCompleted,
        ]
    );
    for row in &audit {
        assert_eq!(row.interaction.as_ref(), Some(&interaction.id));
        assert_eq!(row.client.as_ref(), Some(&client("client-1")));
        assert_eq!(row.provider.as_deref(), Some("weather"));
        assert_eq!(row.upstream.as_deref(), Some("forecast"));
    }
}

/// R-SEC-01: what has expired has no effect.
pub(crate) async fn an_expired_interaction_does_not_complete(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;

    let late = store.complete(interaction, connect("s-1"), at(600)).await.unwrap();

    let Advanced::Refused(error) = late else { panic!("{late:?}") };
    assert_eq!(error.from, StateName::Expired);
    assert_eq!(error.to, StateName::Completed);
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
}

pub(crate) async fn a_failed_interaction_can_be_started_again(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;
    let reason = FailureReason::ProviderUnreachable;
    let failed = done(store.advance(interaction, Step::Fail(reason), at(3)).await.unwrap());
    assert_eq!(failed.state, InteractionState::Failed { at: at(3), reason });
    let read = store.interaction(&failed.id, at(4)).await.unwrap().unwrap();
    assert_eq!(read, failed);
    assert!(store.waiting_interactions(&user("user-1"), at(4)).await.unwrap().is_empty());

    let opened = done(store.advance(read, Step::Restart, at(5)).await.unwrap());

    assert_eq!(opened.state, InteractionState::Opened { at: at(5) });
    let read = store.interaction(&opened.id, at(6)).await.unwrap().unwrap();
    assert_eq!(read, opened);
}

pub(crate) async fn starting_again_makes_no_second_open_question(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;
    let step = Step::Fail(FailureReason::Interrupted);
    let failed = done(store.advance(interaction, step, at(3)).await.unwrap());
    let newer = store.ask(&[question("user-1")], None, at(4)).await.unwrap();
    assert_ne!(newer[0].id, failed.id);

    let again = store.advance(failed.clone(), Step::Restart, at(5)).await.unwrap();

    let Advanced::Refused(error) = again else { panic!("{again:?}") };
    assert_eq!(error.obstacle, Obstacle::Superseded);
    assert_eq!((error.from, error.to), (StateName::Failed, StateName::Opened));
    let read = store.interaction(&failed.id, at(6)).await.unwrap().unwrap();
    assert_eq!(read, failed);
}

pub(crate) async fn a_refused_step_changes_nothing(database: Database) {
    let store = database.store().await;
    let asked = store.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0);

    let refused = store.advance(asked.clone(), Step::Consent, at(1)).await.unwrap();
    let early = store.complete(asked.clone(), connect("s-1"), at(1)).await.unwrap();

    let Advanced::Refused(error) = refused else { panic!("{refused:?}") };
    assert_eq!(
        error.to_string(),
        "an interaction that is created cannot become consented: the one does not follow the other"
    );
    assert!(matches!(early, Advanced::Refused(_)), "nobody has consented");
    let read = store.interaction(&asked.id, at(1)).await.unwrap().unwrap();
    assert_eq!(read, asked);
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
}

pub(crate) async fn an_impossible_row_is_an_error(database: Database) {
    let store = database.store().await;
    let asked = store.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0);
    assert_eq!(database.run("UPDATE interactions SET state = 'sung'").await, 1);

    let error = store.interaction(&asked.id, at(1)).await.unwrap_err();

    assert!(matches!(error, StoreError::ImpossibleRow { .. }));
    assert_eq!(error.to_string(), "interactions holds an impossible row: the state \"sung\"");
}

/// R-ID-02, R-GW-04: who named the client is part of what was asked; nobody makes it look verified afterwards.
pub(crate) async fn who_named_the_client_cannot_be_changed(database: Database) {
    let store = database.store().await;
    let by = Some("key-1".to_owned());
    for (asked_by, edit) in [(by.clone(), "NULL"), (by, "'key-2'"), (None, "'key-1'")] {
        let new = NewInteraction { asked_by: asked_by.clone(), ..question("user-1") };
        let asked = store.ask(&[new], None, at(0)).await.unwrap().remove(0);
        assert_eq!(asked.asked_by, asked_by);
        assert_eq!(database.run(&format!("UPDATE interactions SET asked_by = {edit}")).await, 1);
        let read = store.interaction(&asked.id, at(1)).await.unwrap().unwrap();
        let error = store.advance(read, Step::Open, at(1)).await.unwrap_err();
        assert!(error.is_tampered(), "{error}");
        database.run("DELETE FROM interactions").await;
    }
}

pub(crate) async fn a_claim_with_a_nul_is_kept(database: Database) {
    let store = database.store().await;
    let new = NewInteraction { client_claim: Some("Host\0 1.0".to_owned()), ..question("user-1") };

    let asked = store.ask(&[new], None, at(0)).await.unwrap();

    assert_eq!(asked[0].client_claim.as_deref(), Some("Host\u{fffd} 1.0"));
}
