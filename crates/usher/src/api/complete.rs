//! `POST /api/v1/interactions/{id}/complete`: a server says that a visit to an external page is done.

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
    problem::Problem,
};
use crate::{app::App, broker::NotCompleted};

/// Say that a visit to an external page is done.
///
/// For providers of kind `external` alone: of all others, only the person can say so on the page. The person must have gone there,
/// so the interaction is `consented`. To say it twice is no fault.
#[utoipa::path(
    post,
    path = "/api/v1/interactions/{id}/complete",
    tag = "interactions",
    operation_id = "completeInteraction",
    security(("key" = ["interactions:write"])),
    params(("id" = String, Path, description = "The id of the interaction.")),
    responses(
        (status = 200, description = "It is completed.", body = Interaction),
        super::openapi::CompleteProblems,
    )
)]
pub(super) async fn complete(
    State(app): State<Arc<App>>,
    id: Result<Path<InteractionId>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (caller, id) = Caller::changing(&app, id, &headers, body).await?;
    match app.broker.complete_for(&caller.key, &id).await {
        Ok(interaction) => Ok(answer::ok(&Interaction::of(&app, &interaction))),
        Err(NotCompleted::NotFound) => {
            // Read once more for what there is not as well, so that both take the same time.
            let found = app.broker.of_server(&id, &caller.key.server).await?;
            Err(caller.found_none(&app, &found))
        }
        Err(error) => Err(error.into()),
    }
}
