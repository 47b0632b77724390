//! Errors as problem details (RFC 9457). The types are stable names; what a program decides by is the type, not the text.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use usher_store::StoreError;
use utoipa::ToSchema;

use super::fields::FieldFault;
use crate::{
    body::Unread,
    broker::{NotCompleted, Refusal},
};

/// The body of an error (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct Details {
    /// What kind of problem it is: one of a fixed list, to be compared as text.
    #[serde(rename = "type")]
    #[schema(example = "urn:usher:problem:invalid")]
    kind: &'static str,
    /// The same for people.
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What happened here, and what to do.
    detail: String,
    /// Everything that is wrong with the request, of the type `invalid`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<FieldFault>,
}

/// Defines the types of problems once.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $status:ident, $name:literal, $title:literal;)*) => {
        /// What kind of problem it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ProblemKind {
            $($(#[$doc])* $variant,)*
        }

        impl ProblemKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The `type` of the problem.
            pub fn urn(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("urn:usher:problem:", $name),)*
                }
            }

            /// The `status` that it comes with.
            pub fn status(self) -> StatusCode {
                match self {
                    $(Self::$variant => StatusCode::$status,)*
                }
            }

            /// The `title` of the problem.
            pub(super) fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title,)*
                }
            }
        }
    };
}

kinds! {
    /// The body is not JSON, holds a member twice, or broke off.
    Malformed = BAD_REQUEST, "malformed", "The body cannot be read";
    /// There is no key, or it is none of ours, expired or revoked.
    Unauthenticated = UNAUTHORIZED, "unauthenticated", "A key of the API is needed";
    /// The key may not do this.
    InsufficientScope = FORBIDDEN, "insufficient-scope", "The key may not do this";
    /// The server of the key is not configured any more.
    NoServer = FORBIDDEN, "no-server", "The server of the key is not there";
    /// The request comes from a page of another origin, or through a proxy.
    Forbidden = FORBIDDEN, "forbidden", "The request is refused";
    /// There is nothing here, or nothing for this key.
    NotFound = NOT_FOUND, "not-found", "There is nothing here";
    /// There is another method.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method-not-allowed", "The method is another one";
    /// The body did not come in time.
    TooSlow = REQUEST_TIMEOUT, "too-slow", "The body did not come in time";
    /// The interaction was answered before.
    Answered = CONFLICT, "answered", "The interaction was answered before";
    /// It is no visit to an external page, or its person is not there.
    NotCompletable = CONFLICT, "not-completable", "The interaction cannot be completed from here";
    /// The body is over the limit.
    TooLarge = PAYLOAD_TOO_LARGE, "too-large", "The body is too large";
    /// The body is of another type.
    MediaType = UNSUPPORTED_MEDIA_TYPE, "media-type", "The body must be JSON";
    /// The request is for another host.
    Misdirected = MISDIRECTED_REQUEST, "misdirected", "The request is for another host";
    /// What the request says is not right; `errors` has it all.
    Invalid = UNPROCESSABLE_ENTITY, "invalid", "The request is not right";
    /// The key was used too often.
    TooManyRequests = TOO_MANY_REQUESTS, "too-many-requests", "Too many requests";
    /// The user, the client or the server was asked about too often, or too much is open.
    TooManyQuestions = TOO_MANY_REQUESTS, "too-many-questions", "Too many questions";
    /// The person declined this a while ago.
    Declined = TOO_MANY_REQUESTS, "declined", "The person declined this a while ago";
    /// The store does not answer.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service cannot answer at the moment";
}

/// An error on its way out.
#[derive(Debug)]
pub(super) struct Problem {
    kind: ProblemKind,
    detail: String,
    errors: Vec<FieldFault>,
    retry_after: Option<Duration>,
    challenge: Option<String>,
}

/// When to come back to a store that did not answer.
const AGAIN: Duration = Duration::from_secs(5);

impl Problem {
    pub(super) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), retry_after: None, challenge: None }
    }

    /// All that is wrong with a request.
    pub(super) fn invalid(errors: Vec<FieldFault>) -> Self {
        let detail = match errors.len() {
            1 => "one thing is not right: see errors".to_owned(),
            count => format!("{count} things are not right: see errors"),
        };
        Self { errors, ..Self::new(ProblemKind::Invalid, detail) }
    }

    /// One for the interaction that is not there, or not for this key: the same in every part.
    pub(super) fn no_interaction() -> Self {
        Self::new(ProblemKind::NotFound, "this key knows no interaction of this id")
    }

    pub(super) fn retry_after(self, after: Duration) -> Self {
        Self { retry_after: Some(after), ..self }
    }

    /// With a challenge (RFC 6750, section 3).
    pub(super) fn challenge(self, challenge: String) -> Self {
        Self { challenge: Some(challenge), ..self }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request of the API could not be served");
        Self::new(ProblemKind::Unavailable, "Usher cannot reach its store at the moment").retry_after(AGAIN)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let detail = refusal.to_string();
        match refusal {
            Refusal::Declined { retry_after, .. } => Self::new(ProblemKind::Declined, detail).retry_after(retry_after),
            Refusal::TooManyOpen { retry_after } | Refusal::TooMany { retry_after } => {
                Self::new(ProblemKind::TooManyQuestions, detail).retry_after(retry_after)
            }
            Refusal::NoOperation(_) => Self::invalid(vec![FieldFault::at(
                "/operation",
                "the call is needed here: what the \
                 person does is good for this call alone",
            )]),
            Refusal::Store(error) => error.into(),
        }
    }
}

impl From<NotCompleted> for Problem {
    fn from(not: NotCompleted) -> Self {
        let detail = not.to_string();
        match not {
            NotCompleted::NotFound => Self::no_interaction(),
            NotCompleted::NotExternal | NotCompleted::State(_) | NotCompleted::Changed => {
                Self::new(ProblemKind::NotCompletable, detail)
            }
            NotCompleted::Busy => Self::new(ProblemKind::Unavailable, detail).retry_after(AGAIN),
            NotCompleted::Store(error) => error.into(),
        }
    }
}

impl From<Unread> for Problem {
    fn from(unread: Unread) -> Self {
        let kind = match unread {
            Unread::TooLarge => ProblemKind::TooLarge,
            Unread::Broken => ProblemKind::Malformed,
            Unread::Slow => ProblemKind::TooSlow,
        };
        Self::new(kind, format!("{unread}: at most {} KiB, within 30 seconds", super::fields::BODY_AT_MOST / 1024))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.kind.status();
        let body = Details {
            kind: self.kind.urn(),
            title: self.kind.title(),
            status: status.as_u16(),
            detail: self.detail,
            errors: self.errors,
        };
        let mut response = super::answer::json(status, "application/problem+json", &body);
        let headers = response.headers_mut();
        if let Some(after) = self.retry_after {
            // Rounded up, so that whoever keeps to it is served.
            let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if let Some(Ok(challenge)) = self.challenge.map(HeaderValue::try_from) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Refused before any route was looked at.
pub(crate) fn at_the_door(status: StatusCode, detail: String) -> Response {
    let misdirected = status == StatusCode::MISDIRECTED_REQUEST;
    Problem::new(if misdirected { ProblemKind::Misdirected } else { ProblemKind::Forbidden }, detail).into_response()
}

pub(super) async fn not_found() -> Problem {
    Problem::new(ProblemKind::NotFound, "there is no such address; see /api/openapi.json")
}

pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(ProblemKind::MethodNotAllowed, "this address takes the methods of the Allow header")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What programs decide by is one name for each problem, and each is in the guide.
    #[test]
    fn every_problem_has_a_name_of_its_own_that_the_guide_tells() {
        let names: BTreeSet<_> = ProblemKind::ALL.iter().map(|kind| kind.urn()).collect();
        assert_eq!(names.len(), ProblemKind::ALL.len());
        let guide = include_str!("../../../../docs/api.md");
        for kind in ProblemKind::ALL {
            let row = format!("| `{}` | {} |", kind.urn(), kind.status().as_u16());
            assert!(guide.contains(&row), "docs/api.md lacks the row {row}");
        }
    }

    #[test]
    fn a_time_to_come_back_is_never_too_early() {
        for (after, header) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_500, "60")] {
            let problem = Problem::new(ProblemKind::TooManyRequests, "").retry_after(Duration::from_millis(after));
            assert_eq!(problem.into_response().headers()[header::RETRY_AFTER], header, "{after}");
        }
    }
}
