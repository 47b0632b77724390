//! Asks in the modern era: a result that requires input, and the wait of the retry that brings it.

use axum::response::Response;
use elicit::{QuestionError, RoundError, UrlElicitation};
use usher_store::{Interaction, fail_point};

use super::{
    call::{Attempt, Call, REFUSED_AT_MOST},
    ending::Ending,
    reply,
    rounds::{self, Ours, Round},
    sought::{needed, sought},
};
use crate::broker::{Missing, Waited};

/// How many rounds in a row may carry nothing but state while a person is at the page. Clients cap rounds near ten.
const QUIET_ROUNDS: u8 = 2;

/// The elicitation of one interaction.
pub(super) fn elicitation(call: &Call, interaction: &Interaction) -> Result<UrlElicitation, QuestionError> {
    let url = call.caller.app.config.public_url.join(&format!("/connect/{}", interaction.id));
    UrlElicitation::new(sought(call, &interaction.provider).why(interaction.reason), url)?
        .with_id(interaction.id.as_str())
}

/// A question that cannot be put in the protocol's words.
pub(super) fn unaskable(call: &Call, error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a question of ours cannot be asked");
    let text = "a question that this call needs cannot be asked";
    reply::error(http::StatusCode::OK, Some(&call.id), elicit::codes::INTERNAL_ERROR, text)
}

/// Asks for `missing`: one url elicitation each, and the state. `before` is the round that this one follows.
pub(super) async fn ask(call: &Call, missing: &[Missing], before: &Round) -> Response {
    if !call.screen.modes().url {
        return point_to_portal(call, missing).await;
    }
    let interactions = match put(call, missing).await {
        Ok(interactions) => interactions,
        Err(response) => return response,
    };
    let mut round = Round {
        upstream_state: before.upstream_state.clone(),
        carried: before.carried.clone(),
        connects: call.connects,
        refused: before.refused,
        // What is asked for anew takes the place of what was used up.
        proof: if missing.iter().any(|one| call.caller.app.broker.is_per_call(&one.provider)) {
            String::new()
        } else {
            before.proof.clone()
        },
        ..Round::default()
    };
    let mut questions = no_questions(call);
    for interaction in &interactions {
        // A round of ours has no questions but ours, so no key of the upstream's can be the same.
        let key = format!("usher_connect_{}", interaction.provider);
        questions = questions.and_then(|mut questions| match elicitation(call, interaction) {
            Ok(question) => questions.ask(&key, question).map(|()| questions),
            Err(error) => Err(RoundError::Question { key: key.clone(), error }),
        });
        round.ours.push(Ours {
            key,
            provider: interaction.provider.clone(),
            interaction: interaction.id.to_string(),
            accepted: false,
        });
    }
    round_result(call, questions, &round)
}

/// Puts the questions into the store. No session is owed a notice.
async fn put(call: &Call, missing: &[Missing]) -> Result<Vec<Interaction>, Response> {
    let caller = &call.caller;
    let asked = caller.app.broker.ask(call.for_broker(), caller.client_claim.as_deref(), missing, None).await;
    asked.map_err(|refusal| call.end(&Ending::refused(refusal)))
}

/// A client that cannot show a link: the question waits on the portal, and the error says so.
pub(super) async fn point_to_portal(call: &Call, missing: &[Missing]) -> Response {
    if let Err(response) = put(call, missing).await {
        return response;
    }
    let [needed, to_do] = needed(call, missing);
    call.end(&Ending::NoUrlMode { needed, to_do })
}

/// The questions of a round that are still to come.
fn no_questions(call: &Call) -> Result<elicit::Round<'_>, RoundError> {
    elicit::Round::new(&call.method, call.screen.capabilities(), call.screen.revision)
}

fn round_result(call: &Call, questions: Result<elicit::Round<'_>, RoundError>, round: &Round) -> Response {
    match rounds::seal(call, round) {
        Ok(state) => match questions.and_then(|questions| questions.with_state(state).result()) {
            Ok(result) => reply::result(&call.id, result.get()),
            Err(error) => unaskable(call, &error),
        },
        Err(error) => {
            tracing::warn!(%error, "a question cannot be asked because its state cannot be made");
            reply::error(
                http::StatusCode::OK,
                Some(&call.id),
                elicit::codes::INTERNAL_ERROR,
                "this call is too large to ask a question for",
            )
        }
    }
}

/// Waits for the questions that the person accepted, then goes on, asks again, or ends the call.
pub(super) async fn settle(call: &Call, missing: &[Missing], round: &Round) -> Response {
    let app = &call.caller.app;
    let ids: Vec<_> = round
        .ours
        .iter()
        .filter(|ours| missing.iter().any(|one| one.provider == ours.provider))
        .filter_map(Ours::id)
        .collect();
    match app.broker.wait(&ids, call.caller.held_until(), &app.stopping).await {
        Err(error) => call.end(&Ending::Store(error)),
        Ok(Waited::Completed) => {
            fail_point!(RetryWoken);
            // What comes after the wait takes no room during it.
            match Box::pin(call.attempt()).await {
                Attempt::Done(response) => response,
                Attempt::Ask(missing) => {
                    let refused = |one: &Missing| {
                        one.was_not_enough() && round.ours.iter().any(|ours| ours.provider == one.provider)
                    };
                    let refused = round.refused + u8::from(missing.iter().any(refused));
                    if refused >= REFUSED_AT_MOST {
                        return call.end(&Ending::StillRejected);
                    }
                    Box::pin(ask(call, &missing, &Round { refused, ..round.clone() })).await
                }
            }
        }
        Ok(Waited::Declined(id)) => {
            let provider = round
                .ours
                .iter()
                .find(|ours| ours.interaction == id.as_str())
                .map_or("", |ours| ours.provider.as_str());
            call.end(&Ending::declined(call, &id, provider).await)
        }
        Ok(Waited::Open { seen: true }) if round.quiet < QUIET_ROUNDS => {
            round_result(call, no_questions(call), &Round { quiet: round.quiet + 1, ..round.clone() })
        }
        Ok(Waited::Open { .. } | Waited::Over) => Box::pin(ask(call, missing, round)).await,
    }
}
