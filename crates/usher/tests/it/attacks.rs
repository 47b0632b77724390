//! Attacks that need more than one person, client or server, or that are tried at every route and entry at once. Those on one
//! part alone stand beside its other tests; `docs/threat-model.md` names them all.

mod addresses;
mod bodies;
mod callback;
mod consent;
mod https;
mod markup;
mod requests;
mod rounds;
mod two_people;
mod unknown;

use usher_testkit::{client::Modern, person::Page};

use crate::harness::Stage;

/// A modern client that can show links, of this user, at this server.
fn client_at(stage: &Stage, server: &str, user: &str, client: &str) -> Modern {
    let endpoint = format!("{}/mcp/{server}", stage.origin);
    let token = stage.idp().access_token(user).client(client).audience(endpoint.clone()).mint();
    Modern::new(endpoint).token(token).elicitation(&["form", "url"])
}

fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}
