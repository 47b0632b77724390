//! What a person meets in the browser, over plain HTTP.

mod activity;
mod again;
mod appearance;
mod clients;
mod elsewhere;
mod forgery;
mod keys;
mod links;
mod portal;
mod sessions;
mod signing_in;

use elicit::{ClientId, Principal, SystemRandom, UserId};
use usher::{clock::Clock as _, identity::tokens::local_user, pages};
use usher_store::{AskReason, AuditAction, AuditRow, InteractionId, NewInteraction, Outcome};
use usher_testkit::person::{Page, Person};

use crate::harness::{CALLS, Stage};

/// The link of a question for the weather's key.
async fn link(stage: &Stage) -> String {
    stage.modern().call(CALLS[0].0, CALLS[0].1).await.url()
}

/// The link of a question that is somebody else's.
async fn foreign_link(stage: &Stage) -> String {
    let now = stage.clock.now();
    let new = NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal {
            user: UserId::new("https://accounts.example", "mallory-7").unwrap(),
            client: ClientId::new("client-of-mallory").unwrap(),
        },
        client_claim: Some("Claim of Mallory".to_owned()),
        asked_by: None,
        provider: "weather".to_owned(),
        destination: stage.app().config.upstreams[0].destination(),
        reason: AskReason::Missing,
        operation: None,
        expires_at: now + std::time::Duration::from_mins(15),
    };
    let asked = stage.app().store.ask(&[new], None, now).await.unwrap();
    format!("{}/connect/{}", stage.origin, asked[0].id)
}

/// A sign-in link for the owner.
async fn sign_in_link(stage: &Stage) -> String {
    pages::login::link(stage.app(), &local_user()).await.unwrap()
}

/// A person of whom the service knows nothing yet.
fn stranger(stage: &Stage) -> Person {
    Person::new(&stage.origin).language("en")
}

/// What the audit log says of the owner, the newest first.
async fn audit(stage: &Stage) -> Vec<AuditRow> {
    stage.app().store.audit_of(&local_user(), 1000).await.unwrap()
}

async fn refusals(stage: &Stage, action: AuditAction) -> usize {
    let rows = audit(stage).await;
    rows.iter().filter(|row| row.action == Some(action) && row.outcome == Outcome::Refused).count()
}

fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}
