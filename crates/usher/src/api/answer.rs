//! What the API says of an interaction.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use usher_store::InteractionState;
use utoipa::ToSchema;

use crate::app::App;

/// An interaction: one visit of a person to one of Usher's pages.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Interaction {
    /// Its id.
    #[schema(pattern = "^[A-Za-z0-9_-]{43}$")]
    id: String,
    /// The page. Show it to the person; it carries nothing but the id, and asks who they are.
    #[schema(format = "uri")]
    url: String,
    /// How far it has come.
    state: State,
    /// The provider whose credential is asked for.
    provider: String,
    /// Why it is asked for.
    reason: Reason,
    /// When it was asked first.
    #[schema(format = "date-time")]
    created_at: String,
    /// When it ends by itself. To ask the same again is to have it last longer.
    #[schema(format = "date-time")]
    expires_at: String,
    /// Why it did not work out, in the state `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<&'static str>,
}

/// Nothing is missing: the connection is there, and allowed for this client at this server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Connected {
    /// Always `completed`.
    state: CompletedState,
    /// The provider whose credential was asked for.
    provider: String,
}

/// What came of asking.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Asked {
    /// It is being asked.
    Interaction(Interaction),
    /// Nothing is missing.
    Connected(Connected),
}

/// How far an interaction has come.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// Nobody has opened the page yet.
    Created,
    /// The person opened it.
    Opened,
    /// The person agreed, and it is being done.
    Consented,
    /// Done.
    Completed,
    /// The person declined.
    Declined,
    /// It did not work out, and can be started again on its page.
    Failed,
    /// It ended by itself, or was taken back.
    Expired,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CompletedState {
    Completed,
}

/// Why a credential is asked for.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
    /// None is stored.
    Missing,
    /// The stored one was rejected.
    Rejected,
    /// The person has not allowed this client to use it.
    NewClient,
    /// The person has not allowed it to be sent to this server, at its address.
    NewDestination,
    /// What the person granted is not enough: more scopes are needed.
    MoreScopes,
}

impl Interaction {
    pub(super) fn of(app: &App, interaction: &usher_store::Interaction) -> Self {
        let (state, failure) = match interaction.state {
            InteractionState::Created => (State::Created, None),
            InteractionState::Opened { .. } => (State::Opened, None),
            InteractionState::Consented { .. } | InteractionState::Exchanging { .. } => (State::Consented, None),
            InteractionState::Completed { .. } => (State::Completed, None),
            InteractionState::Declined { .. } => (State::Declined, None),
            InteractionState::Failed { reason, .. } => (State::Failed, Some(reason.as_str())),
            InteractionState::Expired => (State::Expired, None),
        };
        Self {
            id: interaction.id.to_string(),
            url: app.config.public_url.join(&format!("/connect/{}", interaction.id)),
            state,
            provider: interaction.provider.clone(),
            reason: interaction.reason.into(),
            created_at: interaction.created_at.to_string(),
            expires_at: interaction.expires_at.to_string(),
            failure,
        }
    }

    /// Where it can be looked at.
    pub(super) fn location(&self) -> String {
        format!("/api/v1/interactions/{}", self.id)
    }
}

impl Connected {
    pub(super) fn new(provider: String) -> Self {
        Self { state: CompletedState::Completed, provider }
    }
}

impl From<usher_store::AskReason> for Reason {
    fn from(reason: usher_store::AskReason) -> Self {
        use usher_store::AskReason as R;
        match reason {
            R::Missing => Self::Missing,
            R::Rejected => Self::Rejected,
            R::NewClient => Self::NewClient,
            R::NewDestination => Self::NewDestination,
            R::MoreScopes => Self::MoreScopes,
        }
    }
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, kind: &'static str, body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(text) => {
            (status, [(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(text)).into_response()
        }
        // Texts and numbers alone: this cannot fail.
        Err(error) => {
            tracing::error!(%error, "an answer of the API cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The usual one.
pub(super) fn ok(body: &impl Serialize) -> Response {
    json(StatusCode::OK, "application/json", body)
}
