use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::page::{origin_of, resolve};
use super::{Page, Person};
use crate::record::lock;
use crate::{DEADLINE, within};

/// How many redirects within the origin are followed.
const HOPS: usize = 10;

/// One request of a browser, with the headers that a browser sends by itself.
#[derive(Clone, Debug)]
pub struct Visit {
    person: Person,
    method: Method,
    url: String,
    fields: Vec<(String, String)>,
    referer: Option<String>,
    site: String,
    origin: Option<String>,
    changes: Vec<(String, Option<String>)>,
    follow: bool,
    patience: Duration,
}

impl Visit {
    pub(super) fn new(person: &Person, method: Method, url: &str) -> Self {
        // A form comes from a page of ours, an address is typed.
        let post = method == Method::POST;
        Self {
            person: person.clone(),
            url: url.to_owned(),
            fields: Vec::new(),
            referer: None,
            site: if post { "same-origin" } else { "none" }.to_owned(),
            origin: post.then(|| origin_of(url).to_owned()),
            changes: Vec::new(),
            follow: true,
            patience: DEADLINE,
            method,
        }
    }

    /// Sends these form fields.
    pub fn fields(self, fields: &[(&str, &str)]) -> Self {
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        self.owned_fields(fields.iter().map(own).collect())
    }

    pub(super) fn owned_fields(mut self, fields: Vec<(String, String)>) -> Self {
        self.fields = fields;
        self
    }

    /// Comes from this page.
    pub fn referer(mut self, url: &str) -> Self {
        self.referer = Some(url.to_owned());
        self
    }

    pub(super) fn same_origin(mut self) -> Self {
        self.site = "same-origin".into();
        self
    }

    /// Comes from a page of another site (`https://evil.example`), as the person's browser would send it: with its
    /// origin, and without the cookies that `SameSite` keeps back.
    pub fn from_site(mut self, origin: &str) -> Self {
        self.site = "cross-site".into();
        self.origin = (self.method != Method::GET).then(|| origin.to_owned());
        self.referer = Some(format!("{origin}/"));
        self
    }

    /// Sets a header in place of the browser's, cookies included.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.changes.push((name.to_owned(), Some(value.to_owned())));
        self
    }

    /// Leaves a header out that the browser would send.
    pub fn omit(mut self, name: &str) -> Self {
        self.changes.push((name.to_owned(), None));
        self
    }

    /// Waits so long for each answer, in place of the usual deadline.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Follows no redirect.
    pub fn stay(mut self) -> Self {
        self.follow = false;
        self
    }

    /// Sends it, and follows redirects within the origin.
    pub async fn send(self) -> Page {
        let what = format!("{} {}", self.method, self.url);
        self.try_send().await.unwrap_or_else(|fault| panic!("{what}: {fault:?}"))
    }

    /// Sends it where the connection may be refused or cut before an answer.
    pub async fn try_send(mut self) -> Result<Page, reqwest::Error> {
        let mut hops = Vec::new();
        loop {
            let mut page = self.once().await?;
            let next = page.location().map(|location| resolve(&self.url, location));
            let redirect = page.status.is_redirection() && self.follow;
            match next {
                Some(next) if redirect && origin_of(&next) == origin_of(&self.url) => {
                    hops.push((page.status, page.location().unwrap_or_default().to_owned()));
                    assert!(hops.len() <= HOPS, "more than {HOPS} redirects: {hops:?}");
                    // 307 and 308 keep method and fields.
                    if ![StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT].contains(&page.status) {
                        self.method = Method::GET;
                        self.fields.clear();
                        self.origin = None;
                    }
                    self.url = next;
                }
                _ => {
                    page.hops = hops;
                    return Ok(page);
                }
            }
        }
    }

    async fn once(&self) -> Result<Page, reqwest::Error> {
        let what = format!("{} {}", self.method, self.url);
        let mut url = self.url.clone();
        let form = encode(&self.fields);
        if self.method == Method::GET && !self.fields.is_empty() {
            url = format!("{}?{form}", url.split('?').next().unwrap_or_default());
        }
        let mut request = self.person.agent.request(self.method.clone(), &url).headers(self.headers(&url));
        if self.method != Method::GET {
            request = request.body(form);
        }
        within(self.patience, &format!("no page from {what}"), async {
            let response = request.send().await?;
            let (status, headers) = (response.status(), response.headers().clone());
            for line in headers.get_all(header::SET_COOKIE) {
                let line = String::from_utf8_lossy(line.as_bytes());
                lock(&self.person.jar).take(&url, &line);
            }
            let html = response.text().await?;
            Ok(Page { url: url.clone(), status, headers, html, hops: Vec::new() })
        })
        .await
    }

    fn headers(&self, url: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: Option<&str>| {
            let name: HeaderName = name.parse().unwrap_or_else(|_| panic!("no header name: {name}"));
            match value {
                Some(value) => {
                    let value = HeaderValue::from_bytes(value.as_bytes()).expect("a header value");
                    headers.insert(name, value);
                }
                None => drop(headers.remove(name)),
            }
        };
        set("accept", Some("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"));
        set("accept-language", Some(self.person.language.as_deref().unwrap_or("en")));
        set("sec-fetch-site", Some(&self.site));
        set("sec-fetch-mode", Some("navigate"));
        set("sec-fetch-dest", Some("document"));
        set("sec-fetch-user", Some("?1"));
        if self.method != Method::GET {
            set("content-type", Some("application/x-www-form-urlencoded"));
        }
        set("origin", self.origin.as_deref());
        set("referer", self.referer.as_deref());
        let link = self.method == Method::GET;
        let cookie = lock(&self.person.jar).header(url, self.site == "cross-site", link);
        set("cookie", cookie.as_deref());
        for (name, value) in &self.changes {
            set(name, value.as_deref());
        }
        headers
    }
}

/// `application/x-www-form-urlencoded`.
fn encode(fields: &[(String, String)]) -> String {
    let part = |text: &str| {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            b' ' => "+".to_owned(),
            _ => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect::<String>()
    };
    let pair = |(name, value): &(String, String)| format!("{}={}", part(name), part(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_like_a_browser_does() {
        let fields = [("a b".to_owned(), "ä&=+%\n".to_owned()), ("c".to_owned(), String::new())];
        assert_eq!(encode(&fields), "a+b=%C3%A4%26%3D%2B%25%0A&c=");
    }
}
