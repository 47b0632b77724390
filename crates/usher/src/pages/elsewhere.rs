//! What a browser shows that came by another name for this host: the right address, as text to type.

use askama::Template;
use axum::response::{Html as HtmlBody, IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};

use super::{
    headers::protect,
    language::Language,
    words::{Html, Words},
};

/// Bare: style and script would be asked of the wrong host as well. No link, since somebody else may have sent the person
/// here, who is to compare the address before they go there.
#[derive(Template)]
#[template(path = "elsewhere.html")]
struct Elsewhere<'a> {
    words: Words,
    origin: &'a str,
    next: Html,
}

/// Whether the request is a browser's that wants a page.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let types = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    types.flat_map(|value| value.split(',')).any(|range| {
        let kind = range.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("text/html")
    })
}

/// The page, for an installation at `origin`.
pub(crate) fn page(headers: &HeaderMap, origin: &str) -> Response {
    let words = Words::of(Language::choose(None, None, headers));
    let mut response = match (Elsewhere { words, origin, next: words.rich::<&str>("elsewhere.next", &[]) }).render() {
        Ok(html) => (StatusCode::MISDIRECTED_REQUEST, HtmlBody(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    };
    protect(response.headers_mut());
    response
}
