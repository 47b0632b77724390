//! The page between the consent and somebody else's pages, from which the browser goes on by itself: see
//! [`onward`](crate::pages::onward).

use axum::response::Response;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use usher_store::InteractionId;

use super::{external::host, view::address};
use crate::{
    identity::browser::{Cookie, SignedIn},
    pages::{
        onward::onward,
        page::{Message, Page, Tone},
        visitor::{Visitor, set_cookies},
    },
};

/// Sends the browser on to `url`, with what it alone comes back with: set here, after the person agreed, and nowhere else
/// (R-SEC-06).
pub(super) fn leave(
    visitor: &Visitor,
    person: &SignedIn,
    id: &InteractionId,
    url: &Url,
    flow: &SecretString,
) -> Response {
    let page = visitor.page_at(&address(id, None), Some(person));
    let mut response = onward(visitor, leaving(page, url), url.as_str(), "common.go_on");
    set_cookies(&mut response, [visitor.cookies.set(Cookie::Flow, flow.expose_secret())]);
    response
}

fn leaving(page: Page, url: &Url) -> Message {
    let host = host(url);
    let heading = page.words().say("external.continue", &[("host", &host)]);
    Message::new(page, Tone::Plain, heading).saying("leaving.body", &[("host", host.as_str())])
}

#[cfg(test)]
pub(crate) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    /// The page of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let url = Url::parse("https://login.forge.example/authorize?client_id=usher").unwrap();
        let message = leaving(gallery::page(language, "/connect/AAA"), &url);
        vec![("leaving", message.go(url.as_str(), "common.go_on").render().unwrap())]
    }

    /// Where a browser does not go on by itself, its link does; and the page says where to.
    #[test]
    fn the_page_names_the_host_and_has_a_link_to_it() {
        let html = pages(Language::English).remove(0).1;
        assert!(html.contains("<h1>Continue to login.forge.example</h1>"), "{html}");
        assert!(html.contains("href=\"https://login.forge.example/authorize?client_id=usher\""), "{html}");
    }
}
