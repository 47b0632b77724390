//! The way to a provider and back (R-OAUTH-02).

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use usher_store::{
    Advanced, AuditAction, DeclinedBy, EXCHANGE_LASTS, FLOW_LASTS, FailureReason, Flow, Interaction, InteractionState,
    NewInteraction, Step, Store,
};

use crate::race::{RIVALS, rivals};
use crate::samples::{
    HOUR, at, client, connect, consent, consented, destination, done, exchanging, granted, question, random_token, user,
};
use crate::setup::Database;

const BROWSER: &str = "a browser and its session";

async fn begin(store: &Store, interaction: &Interaction) -> secrecy::SecretString {
    let state = random_token();
    assert!(store.begin_flow(&interaction.id, &state, BROWSER, &"verifier".into(), at(10)).await.unwrap());
    state
}

/// A user's question that was consented to, and the state of its flow.
async fn left(store: &Store, subject: &str) -> (Interaction, secrecy::SecretString) {
    let interaction = consented(store, question(subject)).await;
    let state = begin(store, &interaction).await;
    (interaction, state)
}

/// R-OAUTH-02: what was kept comes back once, and the interaction is exchanging from then on.
pub(crate) async fn a_flow_is_claimed_once(database: Database) {
    let store = database.store().await;
    let (interaction, state) = left(&store, "user-1").await;

    let Flow { interaction: exchanging, kept } =
        store.claim_flow(&interaction.id, &state, BROWSER, at(11)).await.unwrap().unwrap();

    assert_eq!(kept.expose_secret(), "verifier");
    assert_eq!(exchanging.state, InteractionState::Exchanging { at: at(11) });
    assert_eq!(exchanging.version, interaction.version + 1);
    assert_eq!(store.interaction(&interaction.id, at(12)).await.unwrap().as_ref(), Some(&exchanging));
    assert!(exchanging.state.is_open());
    assert!(store.claim_flow(&interaction.id, &state, BROWSER, at(11)).await.unwrap().is_none(), "it is used");
    assert!(
        !store.begin_flow(&interaction.id, &random_token(), BROWSER, &"v".into(), at(12)).await.unwrap(),
        "one exchange at a time"
    );
    done(store.complete(exchanging, granted(1), at(12)).await.unwrap());
}

/// R-OAUTH-02: a callback that comes twice at once, on whichever replica, exchanges its code once.
pub(crate) async fn of_many_claims_of_a_flow_one_gets_it(database: Database) {
    let store = database.store().await;
    let (interaction, state) = left(&store, "user-1").await;

    let results = rivals(&database, |_, store| {
        let (id, state) = (interaction.id.clone(), state.clone());
        async move { store.claim_flow(&id, &state, BROWSER, at(11)).await.unwrap().is_some() }
    })
    .await;

    assert_eq!(results.len(), RIVALS);
    assert_eq!(results.iter().filter(|claimed| **claimed).count(), 1);
}

/// R-OAUTH-02: another state, another browser and another interaction are refused, and use nothing up.
pub(crate) async fn a_flow_is_for_its_state_and_its_browser_alone(database: Database) {
    let store = database.store().await;
    let (interaction, state) = left(&store, "user-1").await;
    let (other, other_state) = left(&store, "user-2").await;

    for (id, state, browser) in [
        (&interaction.id, &random_token(), BROWSER),
        (&interaction.id, &other_state, BROWSER),
        (&other.id, &state, BROWSER),
        (&interaction.id, &state, "another browser"),
        (&interaction.id, &state, ""),
        (&interaction.id, &"".into(), BROWSER),
    ] {
        assert!(store.claim_flow(id, state, browser, at(11)).await.unwrap().is_none(), "{browser}");
    }

    assert!(store.claim_flow(&interaction.id, &state, BROWSER, at(11)).await.unwrap().is_some());
    assert!(store.claim_flow(&other.id, &other_state, BROWSER, at(11)).await.unwrap().is_some());
}

/// R-OAUTH-02: whoever goes to the provider once more comes back from there, and not from before.
pub(crate) async fn the_newest_way_out_is_the_one_way_back(database: Database) {
    let store = database.store().await;
    let (interaction, first) = left(&store, "user-1").await;
    let second = begin(&store, &interaction).await;

    assert!(store.claim_flow(&interaction.id, &first, BROWSER, at(11)).await.unwrap().is_none());
    assert!(store.claim_flow(&interaction.id, &second, BROWSER, at(11)).await.unwrap().is_some());
}

/// R-OAUTH-02: it is short-lived, and never outlives its question.
pub(crate) async fn a_flow_that_is_too_old_is_none(database: Database) {
    let store = database.store().await;
    let lasting = NewInteraction { expires_at: at(HOUR), ..question("user-1") };
    let lasting = consented(&store, lasting).await;
    let state = begin(&store, &lasting).await;
    let over = at(10) + FLOW_LASTS;
    assert!(store.claim_flow(&lasting.id, &state, BROWSER, over).await.unwrap().is_none());
    let before = over - SignedDuration::from_micros(1);
    assert!(store.claim_flow(&lasting.id, &state, BROWSER, before).await.unwrap().is_some());

    let (brief, state) = left(&store, "user-2").await;
    assert!(store.claim_flow(&brief.id, &state, BROWSER, at(600)).await.unwrap().is_none(), "the question is over");
    assert!(!store.begin_flow(&brief.id, &state, BROWSER, &"v".into(), at(600)).await.unwrap());
}

/// R-OAUTH-02, R-OAUTH-04: what is over, taken back or has failed is not exchanged; nothing begins without consent.
pub(crate) async fn a_flow_ends_with_its_question(database: Database) {
    let store = database.store().await;
    for (number, step) in
        [Step::Decline { by: DeclinedBy::Client }, Step::Withdraw, Step::Fail(FailureReason::ProviderDeclined)]
            .into_iter()
            .enumerate()
    {
        let (interaction, state) = left(&store, &format!("user-{number}")).await;
        let ended = done(store.advance(interaction, step, at(11)).await.unwrap());
        assert!(store.claim_flow(&ended.id, &state, BROWSER, at(12)).await.unwrap().is_none(), "{step:?}");
        assert!(!store.begin_flow(&ended.id, &state, BROWSER, &"v".into(), at(12)).await.unwrap(), "{step:?}");
        if let InteractionState::Failed { .. } = ended.state {
            // Consented to anew, the way of before is none.
            let again = done(store.advance(ended, Step::Restart, at(13)).await.unwrap());
            let again = done(store.advance(again, Step::Consent, at(13)).await.unwrap());
            assert!(store.claim_flow(&again.id, &state, BROWSER, at(14)).await.unwrap().is_none());
            begin(&store, &again).await;
        }
    }
    let (interaction, state) = left(&store, "user-7").await;
    let _ = store.revoke_client(&user("user-7"), &client("client-1"), at(11)).await.unwrap();
    assert!(store.claim_flow(&interaction.id, &state, BROWSER, at(12)).await.unwrap().is_none());

    let asked = store.ask(&[question("user-8")], None, at(0)).await.unwrap().remove(0);
    let early = store.begin_flow(&asked.id, &state, BROWSER, &"v".into(), at(1)).await.unwrap();
    assert!(!early, "nobody has agreed");
    let opened = done(store.advance(asked, Step::Open, at(1)).await.unwrap());
    assert!(!store.begin_flow(&opened.id, &state, BROWSER, &"v".into(), at(1)).await.unwrap());
    let unknown = usher_store::InteractionId::new(&elicit::SystemRandom);
    assert!(!store.begin_flow(&unknown, &state, BROWSER, &"v".into(), at(1)).await.unwrap());
    assert!(store.claim_flow(&unknown, &state, BROWSER, at(1)).await.unwrap().is_none());
}

/// R-OAUTH-02, R-SEC-04: a process that died in the middle leaves a failure that can be started again; what it would have
/// stored later is refused.
pub(crate) async fn an_exchange_that_was_cut_off_can_be_started_again(database: Database) {
    let store = database.store().await;
    let (interaction, state) = left(&store, "user-1").await;
    let flow = store.claim_flow(&interaction.id, &state, BROWSER, at(11)).await.unwrap().unwrap();
    let over = at(11) + EXCHANGE_LASTS;

    let shown = store.interaction(&interaction.id, over).await.unwrap().unwrap();
    assert_eq!(shown.state, InteractionState::Failed { at: over, reason: FailureReason::Interrupted });
    assert!(store.waiting_interactions(&user("user-1"), over).await.unwrap().is_empty());
    let late = store.complete(flow.interaction.clone(), granted(1), over).await.unwrap();
    assert!(matches!(late, Advanced::Refused(_)), "{late:?}");
    let asked = store.ask(&[question("user-1")], None, over).await.unwrap().remove(0);
    assert_eq!((&asked.id, asked.state), (&interaction.id, shown.state), "it is no second question");

    let again = done(store.advance(shown, Step::Restart, over).await.unwrap());
    // By the clock of a replica that runs behind, it came in time.
    let lost = store.complete(flow.interaction, granted(1), at(12)).await.unwrap();
    assert_eq!(lost, Advanced::Lost);
    let again = exchanging(&store, consent(&store, again).await).await;
    done(store.complete(again, granted(2), at(50)).await.unwrap());
    let stored = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(stored.secrets["access_token"].expose_secret(), "access-token-2");
}

/// A person who declines in the middle is heard: nothing is stored.
pub(crate) async fn declining_during_an_exchange_stores_nothing(database: Database) {
    let store = database.store().await;
    let exchanging = exchanging(&store, consented(&store, question("user-1")).await).await;
    let read = store.interaction(&exchanging.id, at(3)).await.unwrap().unwrap();
    done(store.advance(read, Step::Decline { by: DeclinedBy::Page }, at(3)).await.unwrap());

    assert_eq!(store.complete(exchanging, granted(1), at(4)).await.unwrap(), Advanced::Lost);

    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
}

/// R-OAUTH-02, R-OAUTH-03: a grant needs the claim of its flow, and nothing else completes with one.
pub(crate) async fn a_grant_completes_what_is_exchanged_alone(database: Database) {
    let store = database.store().await;
    let consented = consented(&store, question("user-1")).await;
    let refused = store.complete(consented.clone(), granted(1), at(3)).await.unwrap();
    assert!(matches!(refused, Advanced::Refused(_)), "{refused:?}");
    let exchanging = exchanging(&store, consented).await;
    let refused = store.complete(exchanging.clone(), connect("s-1"), at(3)).await.unwrap();
    assert!(matches!(refused, Advanced::Refused(_)), "{refused:?}");
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
    done(store.complete(exchanging, granted(1), at(3)).await.unwrap());
}

/// R-OAUTH-02: whoever writes to the database has no flow of theirs claimed, and no question that was changed exchanged.
pub(crate) async fn a_flow_that_was_changed_in_the_database_is_refused(database: Database) {
    let store = database.store().await;
    let [(one, one_state), (other, _)] = [left(&store, "user-1").await, left(&store, "user-2").await];
    let of_other = |column: &str| format!("{column} = (SELECT {column} FROM interactions WHERE id = '{}')", other.id);
    // Another's verifier behind one's own state.
    database.run(&format!("UPDATE interactions SET {} WHERE id = '{}'", of_other("flow"), one.id)).await;

    let error = store.claim_flow(&one.id, &one_state, BROWSER, at(11)).await.unwrap_err();

    assert!(error.is_tampered(), "{error}");
    let audit = store.audit_of(&user("user-1"), 1).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::InteractionTampered));
    let read = store.interaction(&one.id, at(12)).await.unwrap().unwrap();
    assert_eq!(read.state, one.state, "nothing is exchanged");

    let state = begin(&store, &one).await;
    let moved = destination("elsewhere").target;
    database.run(&format!("UPDATE interactions SET target = '{moved}' WHERE id = '{}'", one.id)).await;
    assert!(store.claim_flow(&one.id, &state, BROWSER, at(13)).await.unwrap_err().is_tampered());
    let begun = store.begin_flow(&one.id, &state, BROWSER, &"v".into(), at(13)).await;
    assert!(begun.unwrap_err().is_tampered(), "nor does one begin");
}

/// R-SEC-07: what was kept goes when it is used or too old.
pub(crate) async fn a_flow_goes_when_it_is_of_no_more_use(database: Database) {
    let store = database.store().await;
    let kept = async || {
        let sql = "UPDATE interactions SET return_hash = NULL WHERE flow IS NOT NULL OR flow_hash IS NOT NULL";
        database.run(sql).await
    };
    let (used, state) = left(&store, "user-1").await;
    let (declined, _) = left(&store, "user-2").await;
    let lasting = NewInteraction { expires_at: at(HOUR), ..question("user-3") };
    begin(&store, &consented(&store, lasting).await).await;
    left(&store, "user-4").await;
    assert_eq!(kept().await, 4);

    store.claim_flow(&used.id, &state, BROWSER, at(11)).await.unwrap().unwrap();
    assert_eq!(kept().await, 3);
    done(store.advance(declined, Step::Decline { by: DeclinedBy::Page }, at(11)).await.unwrap());
    assert_eq!(kept().await, 2);
    // The one's question is over, the other's way back is.
    assert_eq!(store.prune(at(600)).await.unwrap().flows, 0);
    assert_eq!(kept().await, 1);
    assert_eq!(store.prune(at(10) + FLOW_LASTS).await.unwrap().flows, 1);
    assert_eq!(kept().await, 0);
}
