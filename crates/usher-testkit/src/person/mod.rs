//! A person with a browser at our pages, played by plain HTTP.

mod cookies;
mod form;
mod html;
mod issuer;
mod page;
mod visit;

pub use cookies::Cookie;
pub use form::{Button, Form, Input};
pub use page::Page;
pub use visit::Visit;

use std::sync::{Arc, Mutex};

use http::Method;

use crate::record::lock;
use cookies::Jar;

/// Words on buttons that say no.
const NO: [&str; 4] = ["decline", "拒绝", "not now", "leave"];

/// A person with a browser of their own. Clones share it.
#[derive(Clone, Debug)]
pub struct Person {
    agent: reqwest::Client,
    origin: String,
    language: Option<String>,
    jar: Arc<Mutex<Jar>>,
}

impl Person {
    /// Somebody who visits pages of this origin, such as `http://127.0.0.1:8420`.
    pub fn new(origin: impl Into<String>) -> Self {
        let origin = origin.into().trim_end_matches('/').to_owned();
        Self { agent: crate::agent(), origin, language: None, jar: Arc::default() }
    }

    /// Sends this `Accept-Language`.
    pub fn language(mut self, language: &str) -> Self {
        self.language = Some(language.to_owned());
        self
    }

    /// Sends everything by this client: one that trusts a [`Front`](crate::tls::Front).
    pub fn through(mut self, agent: reqwest::Client) -> Self {
        self.agent = agent;
        self
    }

    /// The origin of the pages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A request, which can be made to look like somebody else's.
    pub fn visit(&self, method: Method, url: &str) -> Visit {
        Visit::new(self, method, &self.absolute(url))
    }

    /// Opens a path or address as if it was typed.
    pub async fn get(&self, url: &str) -> Page {
        self.visit(Method::GET, url).send().await
    }

    /// Sends a form of our own pages.
    pub async fn post_form(&self, url: &str, fields: &[(&str, &str)]) -> Page {
        self.visit(Method::POST, url).fields(fields).send().await
    }

    /// Fills fields of a form and presses its button: the one named by `button` (see [`Form::button`]), or the first.
    pub async fn submit(&self, page: &Page, form: &Form, button: Option<&str>, fields: &[(&str, &str)]) -> Page {
        self.submission(page, form, button, fields).send().await
    }

    /// What [`submit`](Self::submit) sends.
    pub fn submission(&self, page: &Page, form: &Form, button: Option<&str>, fields: &[(&str, &str)]) -> Visit {
        let pressed = match button {
            Some(text) => Some(
                form.button(text)
                    .unwrap_or_else(|| panic!("no button {text:?} in {:?} on {}", form.buttons, page.text())),
            ),
            None => form.buttons.first(),
        };
        let action = pressed.and_then(|button| button.action.as_ref()).unwrap_or(&form.action);
        let url = page.resolve(action);
        let pairs = form.pairs(pressed, fields);
        let visit = self.visit(form.method.clone(), &url).referer(&page.url);
        visit.owned_fields(pairs).same_origin()
    }

    /// Opens a sign-in link and presses its button.
    pub async fn sign_in(&self, link: &str) -> Page {
        self.signing_in(link).await.send().await
    }

    /// Opens a sign-in link; what its button sends.
    pub async fn signing_in(&self, link: &str) -> Visit {
        let page = self.get(link).await;
        assert_eq!(page.status, 200, "the sign-in page: {}", page.describe());
        let form = page.main_form();
        self.submission(&page, &form, None, &[])
    }

    /// Opens the page of an interaction, fills it and agrees.
    pub async fn connect(&self, url: &str, fields: &[(&str, &str)]) -> Page {
        let page = self.get(url).await;
        self.agree(&page, fields).await
    }

    /// Fills the form of a page that was opened and agrees.
    pub async fn agree(&self, page: &Page, fields: &[(&str, &str)]) -> Page {
        self.agreement(page, fields).send().await
    }

    /// What [`agree`](Self::agree) sends.
    pub fn agreement(&self, page: &Page, fields: &[(&str, &str)]) -> Visit {
        let form = page.form_with(|form| {
            let known = fields.iter().all(|(name, _)| form.input(name).is_some());
            known && !form.is_aside() && form.buttons.iter().any(|button| !says_no(button))
        });
        let form = form.unwrap_or_else(|| {
            let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
            panic!("no form with {names:?} and a button that agrees on {}", page.describe())
        });
        let button = form.buttons.iter().find(|button| !says_no(button)).map(Button::key);
        self.submission(page, &form, button.as_deref(), fields)
    }

    /// Opens the page of an interaction and declines.
    pub async fn decline(&self, url: &str) -> Page {
        let page = self.get(url).await;
        self.refuse(&page).await
    }

    /// Declines on a page that was opened.
    pub async fn refuse(&self, page: &Page) -> Page {
        self.refusal(page).send().await
    }

    /// What [`refuse`](Self::refuse) sends.
    pub fn refusal(&self, page: &Page) -> Visit {
        let form = page.form_with(|form| form.buttons.iter().any(says_no));
        let form = form.unwrap_or_else(|| panic!("no button that declines on {}", page.describe()));
        let button = form.buttons.iter().find(|button| says_no(button)).map(Button::key);
        self.submission(page, &form, button.as_deref(), &[])
    }

    /// The cookies now held.
    pub fn cookies(&self) -> Vec<Cookie> {
        lock(&self.jar).cookies.clone()
    }

    /// Every `Set-Cookie` line ever received, as it came.
    pub fn set_cookie_lines(&self) -> Vec<String> {
        lock(&self.jar).lines.clone()
    }

    /// Forgets all cookies.
    pub fn clear_cookies(&self) {
        lock(&self.jar).cookies.clear();
    }

    /// Puts a cookie into the browser, as another page on the host might.
    pub fn plant_cookie(&self, set_cookie: &str) {
        let origin = self.origin.clone();
        lock(&self.jar).take(&origin, set_cookie);
    }

    fn absolute(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.origin) } else { url.to_owned() }
    }
}

fn says_no(button: &Button) -> bool {
    let told = [&button.text, &button.name, &button.value].map(|text| text.to_lowercase());
    let action = button.action.as_deref().unwrap_or_default();
    NO.iter().any(|word| told.iter().any(|text| text.contains(word)) || action.contains(word))
}
