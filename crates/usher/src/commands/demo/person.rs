//! Plays the person in the browser: follows links and redirects, keeps cookies, fills in forms.

use std::collections::BTreeMap;

use http::{Method, header};
use url::form_urlencoded;

use super::{html, trouble::Trouble};

/// More redirects than this in a row are a circle.
const REDIRECTS: usize = 5;

/// A person with a browser that knows one site.
pub(super) struct Person {
    http: reqwest::Client,
    origin: String,
    cookies: BTreeMap<String, String>,
}

/// A page that the person sees.
#[derive(Debug)]
pub(super) struct Page {
    /// The HTTP status.
    pub(super) status: u16,
    /// Where the person is: the path.
    pub(super) path: String,
    /// What the browser got.
    pub(super) html: String,
}

impl Page {
    /// The heading; empty where there is none.
    pub(super) fn heading(&self) -> String {
        html::heading(&self.html).unwrap_or_default()
    }
}

impl Person {
    /// A person who has never been at `origin`. `http` follows no redirect.
    pub(super) fn new(http: reqwest::Client, origin: &str) -> Self {
        Self { http, origin: origin.to_owned(), cookies: BTreeMap::new() }
    }

    /// Opens a link: a path, or a full URL of this site.
    pub(super) async fn open(&mut self, link: &str) -> Result<Page, Trouble> {
        let path = link.strip_prefix(&self.origin).unwrap_or(link);
        if !path.starts_with('/') {
            return Err(Trouble::unexpected("a link to Usher's own pages", &link));
        }
        self.go(Method::GET, path.to_owned(), None).await
    }

    /// Fills in the form of `page` that goes to `action`, and sends it.
    pub(super) async fn send(&mut self, page: &Page, action: &str, typed: &[(&str, &str)]) -> Result<Page, Trouble> {
        let Some(form) = html::form(&page.html, action) else {
            return Err(Trouble::unexpected("a form", &page.heading()));
        };
        let hidden = form.hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let body =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(hidden.chain(typed.iter().copied())).finish();
        self.go(Method::POST, form.action, Some(body)).await
    }

    async fn go(&mut self, mut method: Method, mut path: String, mut body: Option<String>) -> Result<Page, Trouble> {
        for _ in 0..REDIRECTS {
            let mut request = self.http.request(method, format!("{}{path}", self.origin));
            if !self.cookies.is_empty() {
                let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
                request = request.header(header::COOKIE, cookies.join("; "));
            }
            if let Some(body) = body.take() {
                // As browsers say that a form was sent from a page of the same site.
                request = request
                    .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .header(header::ORIGIN, &self.origin)
                    .header("sec-fetch-site", "same-origin")
                    .body(body);
            }
            let response = request.send().await?;
            for cookie in response.headers().get_all(header::SET_COOKIE) {
                self.keep(cookie.to_str().unwrap_or_default());
            }
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            match location.map(str::to_owned) {
                Some(location) if response.status().is_redirection() => (method, path) = (Method::GET, location),
                _ => return Ok(Page { status: response.status().as_u16(), path, html: response.text().await? }),
            }
        }
        Err(Trouble::unexpected("a page", &format!("more than {REDIRECTS} redirects, the last to {path}")))
    }

    /// Keeps a cookie, or forgets it.
    fn keep(&mut self, cookie: &str) {
        let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
        let Some((name, value)) = pair.split_once('=') else { return };
        if attributes.split(';').any(|attribute| attribute.trim().eq_ignore_ascii_case("max-age=0")) {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}
