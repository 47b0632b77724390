use http::{HeaderMap, StatusCode};

use super::form::{self, Form};
use super::html;

/// A page as it arrived.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its address after redirects.
    pub url: String,
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The HTML.
    pub html: String,
    /// Redirects on the way: status and `Location`.
    pub hops: Vec<(StatusCode, String)>,
}

impl Page {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// `Location` of a redirect that was not followed (it leads to another origin).
    pub fn location(&self) -> Option<&str> {
        self.header("location")
    }

    /// Where the page goes on to by itself.
    pub fn refresh(&self) -> Option<&str> {
        self.header("refresh")?.strip_prefix("0; url=")
    }

    /// What a person reads, blanks collapsed.
    pub fn text(&self) -> String {
        html::text(&self.html)
    }

    /// The text of the first `h1`.
    pub fn heading(&self) -> Option<String> {
        html::text_of(&self.html, "h1")
    }

    /// The text of `title`.
    pub fn title(&self) -> Option<String> {
        html::text_of(&self.html, "title")
    }

    /// All forms.
    pub fn forms(&self) -> Vec<Form> {
        form::forms(&self.html)
    }

    /// All links: address and text.
    pub fn links(&self) -> Vec<(String, String)> {
        html::links(&self.html)
    }

    /// The first form for which `wanted` holds.
    pub fn form_with(&self, wanted: impl Fn(&Form) -> bool) -> Option<Form> {
        self.forms().into_iter().find(wanted)
    }

    /// The form with a button that [`Form::button`] finds. Panics when there is none.
    pub fn form_by_button(&self, text: &str) -> Form {
        let found = self.form_with(|form| form.button(text).is_some());
        found.unwrap_or_else(|| panic!("no button {text:?} on {}", self.describe()))
    }

    /// The form whose action starts with this path. Panics when there is none.
    pub fn form_by_action(&self, path: &str) -> Form {
        let found = self.form_with(|form| path_of(&self.resolve(&form.action)).starts_with(path));
        found.unwrap_or_else(|| panic!("no form to {path} on {}", self.describe()))
    }

    /// The first form that is posted and is not for signing out or the language. Panics when there is none.
    pub fn main_form(&self) -> Form {
        let found = self.form_with(|form| form.method == http::Method::POST && !form.is_aside());
        found.unwrap_or_else(|| panic!("no form on {}", self.describe()))
    }

    /// Status, address and text, for panics and assertions.
    pub fn describe(&self) -> String {
        format!("{} {}: {}", self.status, self.url, self.text())
    }

    /// An address of the page made absolute.
    pub fn resolve(&self, reference: &str) -> String {
        resolve(&self.url, reference)
    }
}

/// `http://host:port` of an address.
pub(super) fn origin_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}

/// The host without its port.
pub(super) fn host_of(url: &str) -> &str {
    let authority = origin_of(url).split("://").last().unwrap_or_default();
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

/// The path, at least `/`.
pub(super) fn path_of(url: &str) -> &str {
    let rest = &url[origin_of(url).len()..];
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    if path.is_empty() { "/" } else { path }
}

/// Enough of RFC 3986 for our own pages: no dot segments.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    let origin = origin_of(base);
    let page = base.split('#').next().unwrap_or(base);
    match reference {
        "" => page.to_owned(),
        _ if reference.contains("://") => reference.to_owned(),
        _ if reference.starts_with("//") => {
            format!("{}:{reference}", base.split(':').next().unwrap_or("http"))
        }
        _ if reference.starts_with('/') => format!("{origin}{reference}"),
        _ if reference.starts_with('?') => format!("{origin}{}{reference}", path_of(base)),
        _ if reference.starts_with('#') => format!("{page}{reference}"),
        _ => {
            let path = path_of(base);
            let directory = path.rfind('/').map_or("/", |end| &path[..=end]);
            format!("{origin}{directory}{reference}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_against_the_page() {
        let base = "http://h:1/a/b?c#d";
        for (reference, expected) in [
            ("", "http://h:1/a/b?c"),
            ("/x", "http://h:1/x"),
            ("x", "http://h:1/a/x"),
            ("?x", "http://h:1/a/b?x"),
            ("//e/x", "http://e/x"),
            ("https://e/x", "https://e/x"),
        ] {
            assert_eq!(resolve(base, reference), expected);
        }
        assert_eq!((host_of(base), path_of("http://h:1")), ("h", "/"));
    }
}
