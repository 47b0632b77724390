use http::Method;

use super::page::{origin_of, resolve};
use super::{Page, Person};

/// How many pages and redirects there may be at an issuer.
const STEPS: usize = 5;

/// The way over an issuer, such as [`Idp`](crate::idp::Idp): there, through its question of who it is, and back.
impl Person {
    /// From a page that leads to an issuer, by a redirect or by itself, to the address at our pages that the issuer sends the
    /// browser back to, which is not visited. Chooses this user where the issuer asks.
    pub async fn at_issuer(&self, page: &Page, user: &str) -> String {
        let onward = page.location().or(page.refresh());
        let mut url = resolve(&page.url, onward.unwrap_or_else(|| panic!("it leads nowhere: {}", page.describe())));
        let mut form = None;
        for _ in 0..STEPS {
            if origin_of(&url) == self.origin() {
                return url;
            }
            let visit = form.take().unwrap_or_else(|| self.visit(Method::GET, &url).from_site(self.origin()));
            let page = visit.stay().send().await;
            match page.location() {
                Some(location) => url = resolve(&page.url, location),
                None => form = Some(self.submission(&page, &page.main_form(), Some(user), &[])),
            }
        }
        panic!("the issuer does not come to an end: {url}")
    }

    /// The same, and back at our pages.
    pub async fn sign_in_at(&self, page: &Page, user: &str) -> Page {
        let url = self.at_issuer(page, user).await;
        self.come_back(&url).await
    }

    /// Opens an address of ours as a browser does that another site sends there.
    pub async fn come_back(&self, url: &str) -> Page {
        self.visit(Method::GET, url).from_site("https://issuer.example").send().await
    }
}
