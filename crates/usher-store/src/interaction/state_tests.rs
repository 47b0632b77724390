use elicit::{ClientId, Principal, SystemRandom, UserId};
use jiff::Timestamp;

use super::{DeclinedBy, EXCHANGE_LASTS, FailureReason, InteractionState as S, Obstacle, StateName, Step};
use crate::{AskReason, Destination, Interaction, InteractionId};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn all() -> [S; 8] {
    [
        S::Created,
        S::Opened { at: at(1) },
        S::Consented { at: at(1) },
        S::Exchanging { at: at(1) },
        S::Completed { at: at(1) },
        S::Declined { at: at(1) },
        S::Failed { at: at(1), reason: FailureReason::Interrupted },
        S::Expired,
    ]
}

fn interaction(state: S) -> Interaction {
    Interaction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal {
            user: UserId::new("https://issuer.example", "user-1").unwrap(),
            client: ClientId::new("client-1").unwrap(),
        },
        client_claim: None,
        asked_by: None,
        provider: "weather".to_owned(),
        destination: Destination { upstream: "forecast".to_owned(), target: "https://forecast.example".to_owned() },
        reason: AskReason::Missing,
        created_at: at(0),
        expires_at: at(100),
        state,
        version: 7,
    }
}

/// The whole table: from each state, which steps lead where.
#[test]
fn each_step_leads_where_it_should_and_nowhere_else() {
    let now = at(2);
    let reason = FailureReason::ProviderUnreachable;
    let opened = Some(S::Opened { at: now });
    let consented = Some(S::Consented { at: now });
    let declined = Some(S::Declined { at: now });
    let failed = Some(S::Failed { at: now, reason });
    let expired = Some(S::Expired);
    let [_, is_opened, is_consented, is_exchanging, ..] = all().map(Some);
    // The columns: created, opened, consented, exchanging, completed, declined, failed, expired.
    let table = [
        (Step::Open, [opened, is_opened, is_consented, is_exchanging, None, None, None, None]),
        (Step::Consent, [None, consented, is_consented, is_exchanging, None, None, None, None]),
        (
            Step::Decline { by: DeclinedBy::Client },
            [declined, declined, declined, declined, None, None, declined, None],
        ),
        (Step::Fail(reason), [failed, failed, failed, failed, None, None, None, None]),
        (Step::Restart, [None, None, None, None, None, None, opened, None]),
        (Step::Withdraw, [expired, expired, expired, expired, None, None, expired, None]),
    ];
    for (step, expected) in table {
        for (from, expected) in all().into_iter().zip(expected) {
            let next = interaction(from).step(step, now);
            if let Some(state) = expected {
                let next = next.unwrap();
                assert_eq!(next.state, state, "{from:?} {step:?}");
                let changed = i64::from(state != from);
                assert_eq!(next.version, 7 + changed, "{from:?} {step:?}");
            } else {
                let error = next.unwrap_err();
                assert_eq!(error.from, from.name(), "{step:?}");
                assert_eq!(error.to, step.target(), "{from:?}");
                assert_eq!(error.obstacle, Obstacle::Order);
            }
        }
    }
}

/// R-OAUTH-02, R-OAUTH-03: without consent nothing completes, and nothing of a provider's without the claim of its
/// flow.
#[test]
fn only_what_was_consented_to_or_is_exchanged_completes() {
    for follows in [StateName::Consented, StateName::Exchanging] {
        for from in all() {
            let completed = interaction(from).completed(follows, at(2));
            if from.name() == follows {
                let completed = completed.unwrap();
                assert_eq!(completed.state, S::Completed { at: at(2) });
                assert_eq!(completed.version, 8);
            } else {
                assert_eq!(completed.unwrap_err().from, from.name());
            }
        }
    }
}

/// R-OAUTH-02, R-SEC-04: an exchange that was cut off is a failure that can be started again, and completes no more.
#[test]
fn an_exchange_that_takes_too_long_has_failed() {
    let began = at(1);
    let shown = |now| interaction(S::Exchanging { at: began }).at(now).state;
    let over = began + EXCHANGE_LASTS;
    assert_eq!(shown(at(60)), S::Exchanging { at: began });
    assert_eq!(shown(over), S::Failed { at: over, reason: FailureReason::Interrupted });
    assert_eq!(shown(at(100)), S::Expired, "its end comes first");

    let late = interaction(S::Exchanging { at: began }).completed(StateName::Exchanging, over).unwrap_err();
    assert_eq!((late.from, late.obstacle), (StateName::Failed, Obstacle::Order));
    let again = interaction(S::Exchanging { at: began }).step(Step::Restart, over).unwrap();
    assert_eq!((again.state, again.version), (S::Opened { at: over }, 8));
}

/// R-SEC-01: past its end nothing goes on, and what was answered stays answered.
#[test]
fn past_its_end_no_step_is_possible() {
    for from in all() {
        let shown = interaction(from).at(at(100)).state;
        let stays = matches!(from, S::Completed { .. } | S::Declined { .. });
        assert_eq!(shown, if stays { from } else { S::Expired });
        for step in [
            Step::Open,
            Step::Consent,
            Step::Decline { by: DeclinedBy::Page },
            Step::Fail(FailureReason::StoreTrouble),
            Step::Restart,
        ] {
            assert!(interaction(from).step(step, at(100)).is_err(), "{from:?} {step:?}");
        }
        for follows in [StateName::Consented, StateName::Exchanging] {
            assert!(interaction(from).completed(follows, at(100)).is_err(), "{from:?}");
        }
    }
}

#[test]
fn an_error_names_both_states() {
    let error = interaction(S::Expired).step(Step::Open, at(2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an interaction that is expired cannot become opened: the one does not follow the other"
    );
}
