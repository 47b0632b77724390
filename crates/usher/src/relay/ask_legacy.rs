//! Asks in the legacy era: `elicitation/create` on the stream of the client's own call, which is held until the person is
//! done; and -32042 when that takes longer than a call can wait.

use std::sync::Arc;

use axum::response::Response;
use elicit::{Action, complete_notice, url_elicitation_required};
use http::StatusCode;
use usher_store::{AskReason, Interaction, Session};

use super::{
    answers::{HeldCall, Question, Said},
    ask_modern::elicitation,
    call::{Attempt, Call, REFUSED_AT_MOST},
    ending::{Ending, title},
    held::{self, Gone, Held},
    notices, reply,
};
use crate::broker::{Missing, Waited};

/// Asks for what is missing. Called only for clients that declared url mode.
pub(super) async fn ask(call: Call, session: Arc<Session>, missing: Vec<Missing>, accepts_events: bool) -> Response {
    let interactions = match put(&call, &session, &missing).await {
        Ok(interactions) => interactions,
        Err(response) => return response,
    };
    if !accepts_events || call.caller.upstream().hold.is_zero() || call.caller.app.stopping.is_cancelled() {
        return required(&call, &interactions);
    }
    let (held, response) = held::open(call.caller.app.relay.keep_alive, call.progress_token.clone());
    let waiting = call.caller.app.relay.answers.hold(&session.key, &call.id);
    tokio::spawn(async move {
        // Whoever has left or cancelled gets no answer, and nothing goes upstream.
        let _ = hold(&call, &session, interactions, held, waiting).await;
        // A completion of the last moment was left to this call, which may not have told of it.
        let app = &call.caller.app;
        if app.relay.streams.of(&session.key).is_some() {
            notices::deliver_due(app, &session.key).await;
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
        .ask(&caller.principal, caller.client_claim.as_deref(), caller.upstream(), missing, Some(&session.key))
        .await
        .map_err(|refusal| call.end(&Ending::refused(refusal, call)))?;
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
    let titles: Vec<String> = interactions.iter().map(|one| title(call, &one.provider)).collect();
    let message = format!("Connect {} first, then send this request again.", titles.join(" and "));
    let elicitations: Vec<_> = interactions.iter().map(|one| elicitation(call, one)).collect();
    reply::error_value(StatusCode::OK, Some(&call.id), &url_elicitation_required(&message, &elicitations))
}

/// Asks for one credential after the other, and goes on when none is missing.
async fn hold(
    call: &Call,
    session: &Session,
    mut interactions: Vec<Interaction>,
    mut held: Held,
    mut waiting: HeldCall,
) -> Result<(), Gone> {
    let app = &call.caller.app;
    let mut refused = 0;
    loop {
        let Some(interaction) = interactions.first() else {
            held.finish(call.end(&Ending::StillRejected)).await;
            return Ok(());
        };
        let mut question = app.relay.answers.question(&session.key, &interaction.id, &*app.random);
        held.message(&create(call, session, interaction, &question)).await?;
        let what = format!("Waiting for you to connect {}", title(call, &interaction.provider));
        let outcome = tokio::select! {
            outcome = held.during(&what, outcome(call, interaction, &mut question)) => outcome?,
            () = waiting.cancelled.cancelled() => {
                withdraw(&held, &question).await?;
                return Err(Gone);
            }
        };
        withdraw(&held, &question).await?;
        if waiting.cancelled.is_cancelled() {
            return Err(Gone);
        }
        // From here on the upstream may know the call, so that a cancellation is the upstream's to hear.
        drop(waiting);
        let missing = match outcome {
            Outcome::Completed => {
                if app.store.claim_notice(&interaction.id, &session.key).await.unwrap_or(false) {
                    held.message(&complete_notice(interaction.id.as_str())).await?;
                }
                match held.during("Going on", call.attempt()).await? {
                    Attempt::Done(response) => {
                        if call.connects {
                            held.message(TOOLS_CHANGED).await?;
                        }
                        held.finish(response).await;
                        return Ok(());
                    }
                    Attempt::Ask(missing) => {
                        let again =
                            |one: &Missing| one.provider == interaction.provider && one.reason == AskReason::Rejected;
                        refused += u8::from(missing.iter().any(again));
                        if refused >= REFUSED_AT_MOST {
                            held.finish(call.end(&Ending::StillRejected)).await;
                            return Ok(());
                        }
                        missing
                    }
                }
            }
            Outcome::Ends(ending) => {
                held.finish(call.end(&ending)).await;
                return Ok(());
            }
            Outcome::TimeIsUp => {
                held.finish(required(call, &interactions)).await;
                return Ok(());
            }
        };
        interactions = match put(call, session, &missing).await {
            Ok(interactions) => interactions,
            Err(response) => {
                held.finish(response).await;
                return Ok(());
            }
        };
        waiting = app.relay.answers.hold(&session.key, &call.id);
    }
}

/// The client lists the tools anew.
pub(super) const TOOLS_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

enum Outcome {
    Completed,
    Ends(Ending),
    TimeIsUp,
}

/// Waits for the client's answer and the page, whichever decides.
async fn outcome(call: &Call, interaction: &Interaction, question: &mut Question) -> Outcome {
    let app = &call.caller.app;
    let provider = || title(call, &interaction.provider);
    let ids = [interaction.id.clone()];
    let mut page = std::pin::pin!(app.broker.wait(&ids, call.caller.held_until(), &app.stopping));
    loop {
        tokio::select! {
            waited = &mut page => return match waited {
                Ok(Waited::Completed) => Outcome::Completed,
                Ok(Waited::Declined(_)) => Outcome::Ends(Ending::Declined { provider: provider() }),
                Ok(Waited::Open { .. }) => Outcome::TimeIsUp,
                Ok(Waited::Over) => Outcome::Ends(Ending::Dismissed { provider: provider() }),
                Err(error) => Outcome::Ends(Ending::Store(error)),
            },
            said = question.answered(), if question.is_open() => match said {
                // Accept means that the person consented to open the page, not that it is done (R-URL-10).
                Said::Answer(answer) if answer.action == Action::Accept => {}
                Said::Answer(answer) if answer.action == Action::Decline => {
                    return Outcome::Ends(match app.broker.declined_by_client(&interaction.id).await {
                        Ok(()) => Ending::Declined { provider: provider() },
                        Err(error) => Ending::Store(error),
                    });
                }
                Said::Answer(_) | Said::NotAsked => return Outcome::Ends(Ending::Dismissed { provider: provider() }),
            },
        }
    }
}

fn create(call: &Call, session: &Session, interaction: &Interaction, question: &Question) -> String {
    let params = elicitation(call, interaction).params(session.revision).unwrap_or_default();
    let id = serde_json::Value::from(question.id.as_str());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{params}}}"#)
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
