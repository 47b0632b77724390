//! The description of the API (OpenAPI 3.1), made from the types and handlers: `/api/openapi.json` and `docs/openapi.json`.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use utoipa::{
    IntoResponses, Modify, OpenApi, PartialSchema, ToSchema,
    openapi::{
        self, Content, HeaderBuilder, Ref, RefOr, ResponseBuilder,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use super::{
    ask, cancel, complete,
    problem::{Details, ProblemKind},
    show,
};

/// The whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Usher",
        version = "1",
        description = "Ask a person for a credential or an approval on one of Usher's pages, and learn what becomes of it. No answer holds a credential.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(ask::ask, show::show, complete::complete, cancel::cancel, document),
    modifiers(&Common),
    tags((name = "interactions", description = "Visits of people to Usher's pages."))
)]
struct Description;

/// What an error is called in it.
const PROBLEM: &str = "Problem";

/// The way in, and what all errors are.
struct Common;

impl Modify for Common {
    fn modify(&self, description: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("usher_…")
            .description(Some("A key of the server, made by usher api-keys create."))
            .build();
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
        let mut schemas = vec![(PROBLEM.to_owned(), Details::schema())];
        Details::schemas(&mut schemas);
        components.schemas.extend(schemas);
    }
}

/// What each request with a key may be answered.
const ALWAYS: [ProblemKind; 7] = [
    ProblemKind::Unauthenticated,
    ProblemKind::InsufficientScope,
    ProblemKind::NoServer,
    ProblemKind::Forbidden,
    ProblemKind::Misdirected,
    ProblemKind::TooManyRequests,
    ProblemKind::Unavailable,
];

/// What one with a body may be answered as well.
const BODY: [ProblemKind; 5] =
    [ProblemKind::Malformed, ProblemKind::TooSlow, ProblemKind::TooLarge, ProblemKind::MediaType, ProblemKind::Invalid];

/// The problems of asking.
pub(super) struct AskProblems;

impl IntoResponses for AskProblems {
    fn responses() -> Responses {
        problems(&[&ALWAYS, &BODY, &[ProblemKind::TooManyQuestions, ProblemKind::Declined]])
    }
}

/// The problems of looking.
pub(super) struct ShowProblems;

impl IntoResponses for ShowProblems {
    fn responses() -> Responses {
        problems(&[&ALWAYS, &[ProblemKind::NotFound, ProblemKind::Invalid]])
    }
}

/// The problems of completing.
pub(super) struct CompleteProblems;

impl IntoResponses for CompleteProblems {
    fn responses() -> Responses {
        problems(&[&ALWAYS, &BODY, &[ProblemKind::NotFound, ProblemKind::NotCompletable]])
    }
}

/// The problems of taking back.
pub(super) struct CancelProblems;

impl IntoResponses for CancelProblems {
    fn responses() -> Responses {
        problems(&[&ALWAYS, &BODY, &[ProblemKind::NotFound, ProblemKind::Answered]])
    }
}

type Responses = BTreeMap<String, RefOr<openapi::Response>>;

/// One response for each status, which names its types.
fn problems(kinds: &[&[ProblemKind]]) -> Responses {
    let mut descriptions: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for kind in kinds.iter().copied().flatten() {
        let description = format!("{} (`{}`).", kind.title(), kind.urn());
        descriptions.entry(kind.status().as_u16()).or_default().push(description);
    }
    let response = |(status, description): (u16, Vec<String>)| {
        let content = Content::new(Some(Ref::from_schema_name(PROBLEM)));
        let mut response =
            ResponseBuilder::new().description(description.join(" ")).content("application/problem+json", content);
        for (name, statuses, what) in [
            ("Retry-After", &[429, 503][..], "When to come back, in seconds."),
            ("WWW-Authenticate", &[401][..], "The challenge (RFC 6750)."),
        ] {
            if statuses.contains(&status) {
                let header = HeaderBuilder::new().schema(Some(String::schema())).description(Some(what)).build();
                response = response.header(name, header);
            }
        }
        (status.to_string(), response.build().into())
    };
    descriptions.into_iter().map(response).collect()
}

/// The text of the description, as it is published.
pub fn text() -> String {
    let mut text = Description::openapi().to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

/// This description.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    operation_id = "description",
    security(()),
    responses((status = 200, description = "OpenAPI 3.1.", body = serde_json::Value))
)]
pub(super) async fn document() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(text);
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (kind, TEXT.as_str()).into_response()
}
