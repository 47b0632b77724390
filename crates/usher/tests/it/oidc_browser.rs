//! Browsers that sign in at an issuer (identity mode oidc), over plain HTTP.

mod eras;
mod issuer_trouble;
mod links;
mod neighbours;
mod replies;
mod scene;
mod secrecy;
mod sessions;
mod signing_in;
mod signing_out;
mod tokens;

use usher_testkit::person::Page;

fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}

/// Nobody was signed in, and the page says what happened.
fn is_refused(page: &Page, status: u16, words: &str) {
    assert_eq!(page.status, status, "{}", page.describe());
    is_heading(page, "You are not signed in");
    assert!(page.text().contains(words), "{words}: {}", page.describe());
}
