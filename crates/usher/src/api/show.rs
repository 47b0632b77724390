//! `GET /api/v1/interactions/{id}`: a server looks at its interaction, and may wait for what becomes of it.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    response::Response,
};
use http::HeaderMap;
use tokio::time::Instant;
use usher_store::{ApiScope, AuditAction, InteractionId};

use super::{
    answer::{self, Interaction},
    fields::seconds_of_query,
    key::{Caller, turned_away},
    problem::{Problem, ProblemKind},
};
use crate::{app::App, broker::Followed};

/// The longest wait, in seconds.
const WAIT_AT_MOST: u64 = 60;

/// When to come back where no place is free to wait.
const FULL: Duration = Duration::from_secs(10);

/// Look at an interaction, or wait for it.
///
/// With `wait`, the answer comes as soon as the interaction is no longer open: completed, declined, failed or expired. It comes at
/// the end of the time as well, or when the service stops, with whatever state it is in then.
#[utoipa::path(
    get,
    path = "/api/v1/interactions/{id}",
    tag = "interactions",
    operation_id = "showInteraction",
    security(("key" = ["interactions:read"])),
    params(
        ("id" = String, Path, description = "The id of the interaction."),
        ("wait" = Option<u64>, Query, description = "How long to wait, in seconds.", minimum = 0, maximum = 60),
    ),
    responses(
        (status = 200, description = "The interaction as it is now.", body = Interaction),
        super::openapi::ShowProblems,
    )
)]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    id: Result<Path<InteractionId>, PathRejection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let arrived = Instant::now();
    let caller = Caller::of(&app, &headers, ApiScope::InteractionsRead).await?;
    let wait = seconds_of_query(query.as_deref(), "wait", WAIT_AT_MOST)?;
    let Ok(Path(id)) = id else { return Err(Problem::no_interaction()) };
    let server = &caller.key.server;
    let followed = if wait.is_zero() {
        app.broker.of_server(&id, server).await?
    } else {
        let _place = app.broker.limits.api_wait(&caller.key.id).map_err(|_| {
            turned_away(&app, AuditAction::ApiLimited, &caller.key);
            let detail = "too many requests wait for interactions (limits.api_waits, limits.api_waits_total)";
            Problem::new(ProblemKind::TooManyRequests, detail).retry_after(FULL)
        })?;
        app.broker.follow(&id, server, arrived + wait, &app.stopping).await?
    };
    match followed {
        Followed::Own(interaction) => Ok(answer::ok(&Interaction::of(&app, &interaction))),
        none => Err(caller.found_none(&app, &none)),
    }
}
