//! Asks in the legacy era: `elicitation/create` on the stream of the client's own call, which is held until the person is
//! done; and -32042 when that takes longer than a call can wait.

use std::{sync::Arc, time::Duration};

use axum::response::Response;
use elicit::{CompleteNotice, Elicitation, QuestionError, RequestId, UrlElicitationRequired};
use http::StatusCode;
use tokio::time::Instant;
use usher_store::{Interaction, Session, fail_point};

use super::{
    answers::{Heard, Part, Question, Said},
    ask_modern::{elicitation, unaskable},
    call::{Attempt, Call, REFUSED_AT_MOST},
    cancels::Followed,
    ending::Ending,
    held::{self, Held},
    notices,
    pipe::Gone,
    reply,
    sought::{sought, to_do},
};
use crate::broker::{Missing, Waited};

/// How much of its time a call must still have to take over a question whose asker has left.
const WORTH_ASKING: Duration = Duration::from_secs(3);

/// Asks for what is missing. Called only for clients that declared url mode.
pub(super) async fn ask(
    call: Call,
    session: Arc<Session>,
    missing: Vec<Missing>,
    accepts_events: bool,
    followed: Followed,
) -> Response {
    // From before the question is stored, so that a cancellation of this very moment counts.
    followed.hold();
    if followed.is_cancelled() {
        // A cancelled call gets no answer.
        return reply::accepted();
    }
    let holds = accepts_events && !call.caller.upstream().hold.is_zero() && !call.caller.app.stopping.is_cancelled();
    // Before anything is asked: what is refused leaves no question behind.
    let Ok(waits) = holds.then(|| call.caller.place.wait()).transpose() else {
        return call.end(&Ending::too_many_held(&call));
    };
    let interactions = match put(&call, &session, &missing).await {
        Ok(interactions) => interactions,
        Err(response) => return response,
    };
    let Some(waits) = waits else { return required(&call, &interactions) };
    let call = call.apart();
    let (held, response, listed) = held::resumable(&call, &session.key);
    let pipe = held.pipe();
    tokio::spawn(async move {
        // Whoever has left or cancelled gets no answer, and nothing goes upstream.
        let gone = hold(&call, &session, interactions, held, &followed).await.is_err() && !followed.is_cancelled();
        let (app, key) = (Arc::clone(&call.caller.app), session.key.clone());
        drop((call, session, followed, waits));
        if gone {
            Box::pin(notices::put_back(&app, &key, pipe.end().notices())).await;
        }
        // A completion of the last moment was left to this call, which may not have told of it.
        Box::pin(notices::deliver_due(&app, &key)).await;
        if listed.is_some() {
            // The stream stays a while for a client that did not get all of it.
            pipe.gone().await;
            Box::pin(notices::put_back(&app, &key, pipe.end().notices())).await;
        }
    });
    response
}

/// Puts the questions into the store and keeps the session alive until they are over (R-GW-09).
async fn put(call: &Call, session: &Session, missing: &[Missing]) -> Result<Vec<Interaction>, Response> {
    let caller = &call.caller;
    let asked = caller
        .app
        .broker
        .ask(call.for_broker(), caller.client_claim.as_deref(), missing, Some(&session.key))
        .await
        .map_err(|refusal| call.end(&Ending::refused(refusal)))?;
    if let Some(last) = asked.iter().map(|interaction| interaction.expires_at).max()
        && last > session.expires_at
        && let Err(error) = caller.app.store.extend_session(&session.key, last, caller.app.clock.now()).await
    {
        return Err(call.end(&Ending::Store(error)));
    }
    Ok(asked)
}

/// -32042 with the same elicitations that were asked (R-ERR-01).
fn required(call: &Call, interactions: &[Interaction]) -> Response {
    let to_do = to_do(call, interactions.iter().map(|one| one.provider.as_str()));
    let message = format!("{to_do} first, then send this request again.");
    let elicitations: Result<_, _> = interactions.iter().map(|one| elicitation(call, one)).collect();
    let error = elicitations
        .and_then(|elicitations| UrlElicitationRequired::new(message, elicitations))
        .and_then(|required| required.error_for(call.screen.capabilities(), call.screen.revision));
    match error {
        Ok(error) => reply::error_raw(StatusCode::OK, &call.id, &error),
        Err(error) => unaskable(call, &error),
    }
}

/// Asks for one credential after the other, and goes on when none is missing.
async fn hold(
    call: &Call,
    session: &Session,
    mut interactions: Vec<Interaction>,
    mut held: Held,
    followed: &Followed,
) -> Result<(), Gone> {
    let mut refused = 0;
    loop {
        let Some(interaction) = interactions.first() else {
            held.finish(call.end(&Ending::StillRejected)).await;
            return Ok(());
        };
        match settle(call, session, interaction, &mut held, followed).await? {
            Outcome::Completed => {}
            Outcome::Alone => continue,
            Outcome::Ends(ending) => {
                held.finish(call.end(&ending)).await;
                return Ok(());
            }
            Outcome::TimeIsUp => {
                held.finish(required(call, &interactions)).await;
                return Ok(());
            }
        }
        wait_for_reader(call, &held, followed).await?;
        followed.pass();
        let attempt = held.quietly(call.attempt()).await?;
        followed.hold();
        let missing = match attempt {
            Attempt::Done(response) => {
                if call.connects {
                    held.message(TOOLS_CHANGED).await?;
                }
                // The response may be a stream, in which the upstream hears of a cancellation.
                followed.pass();
                held.finish(response).await;
                return Ok(());
            }
            Attempt::Ask(missing) => missing,
        };
        let again = |one: &Missing| one.provider == interaction.provider && one.was_not_enough();
        refused += u8::from(missing.iter().any(again));
        if refused >= REFUSED_AT_MOST {
            held.finish(call.end(&Ending::StillRejected)).await;
            return Ok(());
        }
        interactions = match Box::pin(put(call, session, &missing)).await {
            Ok(interactions) => interactions,
            Err(response) => {
                held.finish(response).await;
                return Ok(());
            }
        };
    }
}

/// The client lists the tools anew.
pub(super) const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

enum Outcome {
    Completed,
    Ends(Ending),
    TimeIsUp,
    /// The call that asked has left: this one is to ask itself.
    Alone,
}

/// Takes part in one question until something became of it. Calls of a session that lack the same ask once.
async fn settle(
    call: &Call,
    session: &Session,
    interaction: &Interaction,
    held: &mut Held,
    followed: &Followed,
) -> Result<Outcome, Gone> {
    let answers = &call.caller.app.relay.answers;
    if followed.is_cancelled() {
        return Err(Gone);
    }
    let mut part = answers.part(&session.key, &interaction.id, &*call.caller.app.random);
    if let Some(question) = part.question() {
        match create(call, session, interaction, question) {
            Ok(create) => {
                held.message(&create).await?;
                fail_point!(QuestionSent);
            }
            Err(error) => {
                tracing::error!(%error, "a question of ours cannot be asked");
                return Ok(Outcome::TimeIsUp);
            }
        }
    }
    let what = format!("Waiting for you to {}", sought(call, &interaction.provider).to_do());
    let question = part.question().map(|question| question.id.clone());
    let pipe = held.pipe();
    let step_back = async {
        pipe.left().await;
        if let Some(question) = &question {
            answers.step_back(&session.key, &interaction.id, question);
        }
        std::future::pending::<()>().await;
    };
    let outcome = tokio::select! {
        outcome = held.during(&what, outcome(call, interaction, &mut part)) => Some(outcome?),
        () = followed.cancelled() => None,
        () = step_back => None,
    };
    if let Some(question) = part.question() {
        withdraw(held, question).await?;
    }
    let Some(outcome) = outcome.filter(|_| !followed.is_cancelled()) else { return Err(Gone) };
    if matches!(outcome, Outcome::Completed) {
        if !pipe.is_read() {
            // Another stream of the session may bring the notice meanwhile.
            drop(part);
            Box::pin(notices::deliver_due(&call.caller.app, &session.key)).await;
            wait_for_reader(call, held, followed).await?;
            Box::pin(notice(call, session, interaction, held)).await?;
        } else if part.question().is_some() || !answers.is_asking(&session.key, &interaction.id) {
            Box::pin(notice(call, session, interaction, held)).await?;
        }
    }
    Ok(outcome)
}

/// Nothing goes upstream for a client that may have left: a call whose stream broke off waits for the client to come back.
async fn wait_for_reader(call: &Call, held: &Held, followed: &Followed) -> Result<(), Gone> {
    let pipe = held.pipe();
    if pipe.is_read() {
        return Ok(());
    }
    tokio::select! {
        read = pipe.read() => read,
        () = followed.cancelled() => Err(Gone),
        () = tokio::time::sleep_until(call.caller.held_until()) => Err(Gone),
        () = call.caller.app.stopping.cancelled() => Err(Gone),
    }
}

/// The completion notice, where this call is the one to send it (R-DONE-01). It has room in the stream before it is claimed:
/// a client that has left leaves it to the session's next stream.
async fn notice(call: &Call, session: &Session, interaction: &Interaction, held: &Held) -> Result<(), Gone> {
    held.pipe().room().await?;
    fail_point!(WaiterWoken);
    let store = &call.caller.app.store;
    match store.claim_notice(&interaction.id, &session.key).await {
        Ok(true) => {
            fail_point!(NoticeClaimed);
            let notice = CompleteNotice::new(interaction.id.as_str()).to_json();
            if !held.notice(&notice, &interaction.id) {
                Box::pin(notices::put_back(&call.caller.app, &session.key, [interaction.id.clone()])).await;
                return Err(Gone);
            }
            fail_point!(NoticeWritten);
        }
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "a completion notice cannot be claimed"),
    }
    Ok(())
}

/// Waits for the client's answer and the page, whichever decides.
async fn outcome(call: &Call, interaction: &Interaction, part: &mut Part) -> Outcome {
    let app = &call.caller.app;
    let provider = || interaction.provider.clone();
    let ids = [interaction.id.clone()];
    let mut page = std::pin::pin!(app.broker.wait(&ids, call.caller.held_until(), &app.stopping));
    loop {
        let heard = tokio::select! {
            waited = &mut page => return match waited {
                Ok(Waited::Completed) => Outcome::Completed,
                Ok(Waited::Declined(_)) => {
                    Outcome::Ends(Box::pin(Ending::declined(call, &interaction.id, &interaction.provider)).await)
                },
                Ok(Waited::Open { .. }) => Outcome::TimeIsUp,
                Ok(Waited::Over) => Outcome::Ends(Ending::Dismissed { provider: provider() }),
                Err(error) => Outcome::Ends(Ending::Store(error)),
            },
            heard = part.heard() => heard,
        };
        match heard {
            // Accept means that the person consented to open the page, not that it is done (R-URL-10).
            Heard::Said(Said::Accepted) => {}
            Heard::Said(Said::Declined) => {
                return Outcome::Ends(match Box::pin(app.broker.declined_by_client(&interaction.id)).await {
                    Ok(()) => Box::pin(Ending::declined(call, &interaction.id, &interaction.provider)).await,
                    Err(error) => Ending::Store(error),
                });
            }
            Heard::Said(Said::Dismissed) => {
                app.broker.dismissed(call.for_broker(), &interaction.provider);
                return Outcome::Ends(Ending::Dismissed { provider: provider() });
            }
            Heard::Left => {
                let time_left = call.caller.held_until() >= Instant::now() + WORTH_ASKING;
                if time_left && matches!(Box::pin(app.broker.became(&ids)).await, Ok(Waited::Open { .. })) {
                    return Outcome::Alone;
                }
            }
        }
    }
}

fn create(
    call: &Call,
    session: &Session,
    interaction: &Interaction,
    question: &Question,
) -> Result<String, QuestionError> {
    let id = RequestId::from(question.id.as_str());
    Elicitation::from(elicitation(call, interaction)?).request(&id, &session.capabilities, session.revision)
}

/// Takes a question back that was not answered, so that no dialog stays open for a call that is over.
async fn withdraw(held: &Held, question: &Question) -> Result<(), Gone> {
    if !question.is_open() {
        return Ok(());
    }
    let id = serde_json::Value::from(question.id.as_str());
    held.message(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"no longer needed"}}}}"#
    ))
    .await
}
