//! `POST /api/v1/interactions/{id}/cancel`: a server takes its question back.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};
use http::HeaderMap;
use usher_store::InteractionId;

use super::{
    answer::{self, Interaction},
    key::Caller,
    problem::{Problem, ProblemKind},
};
use crate::{app::App, broker::Withdrawn};

/// Take a question back.
///
/// Its page says that it is over. Nobody declined it, so it can be asked again at once. To take it back twice is no fault.
#[utoipa::path(
    post,
    path = "/api/v1/interactions/{id}/cancel",
    tag = "interactions",
    operation_id = "cancelInteraction",
    security(("key" = ["interactions:write"])),
    params(("id" = String, Path, description = "The id of the interaction.")),
    responses(
        (status = 200, description = "It is over.", body = Interaction),
        super::openapi::CancelProblems,
    )
)]
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    id: Result<Path<InteractionId>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (caller, id) = Caller::changing(&app, id, &headers, body).await?;
    match app.broker.withdraw_for(&caller.key, &id).await? {
        Withdrawn::Done(interaction) => Ok(answer::ok(&Interaction::of(&app, &interaction))),
        Withdrawn::Answered(interaction) => {
            let detail = format!("the interaction is {}, which stays", interaction.state.name());
            Err(Problem::new(ProblemKind::Answered, detail))
        }
        Withdrawn::None(none) => Err(caller.found_none(&app, &none)),
    }
}
