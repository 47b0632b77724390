//! What happened, as its person reads it.

use elicit::UserId;
use usher::{clock::Clock as _, identity::tokens::local_user};
use usher_store::{AuditAction, AuditEntry, Outcome};

use super::{is_heading, stranger};
use crate::harness::Stage;

async fn write(stage: &Stage, user: UserId, action: AuditAction, times: usize) {
    for _ in 0..times {
        let entry = AuditEntry { principal: Some((user.clone(), None)), ..AuditEntry::new(action, Outcome::Refused) };
        stage.app().store.audit(entry, stage.clock.now()).await.unwrap();
    }
}

/// R-SEC-03: a person can read what was done in their name and what was refused; the newest first, page by page.
#[tokio::test]
async fn what_happened_is_read_page_by_page() {
    let stage = Stage::new().await;
    write(&stage, local_user(), AuditAction::SessionRefused, 70).await;
    let person = stage.connected().await;
    is_heading(&stranger(&stage).get("/activity").await, "Sign in");
    let first = person.get("/activity").await;
    is_heading(&first, "What happened");
    let text = first.text();
    let place = |said: &str| text.find(said).unwrap_or_else(|| panic!("{said}: {text}"));
    assert!(place("A question was answered") < place("An app asked you a question"), "{text}");
    assert!(text.contains("Provider: Weather") && text.contains("A browser signed in"), "{text}");
    assert_eq!(first.html.matches("<time ").count(), 50);
    let (older, _) = first.links().into_iter().find(|(href, _)| href.starts_with("/activity?before=")).unwrap();
    let second = person.get(&older).await;
    assert!(second.html.contains("<span class=\"state bad\">Refused</span>"));
    assert!(second.links().iter().any(|(href, text)| href == "/activity" && text == "Newest"));
    assert!(
        !second.html.contains("before=\"") && !second.links().iter().any(|(_, text)| text == "Older"),
        "the last page"
    );
    assert!(second.links().iter().any(|(href, _)| href.starts_with(&older) && href.contains("lang=zh-CN")));
}

/// R-ID-03: a cursor of somebody else's page leads to one's own lines, and what is none to the newest.
#[tokio::test]
async fn a_cursor_leads_nowhere_but_to_ones_own_lines() {
    let stage = Stage::new().await;
    let mallory = UserId::new("https://accounts.example", "mallory-7").unwrap();
    write(&stage, local_user(), AuditAction::PageRefused, 2).await;
    write(&stage, mallory.clone(), AuditAction::FormRefused, 3).await;
    let cursor = stage.app().store.audit_page(&mallory, None, 1).await.unwrap().older.unwrap();
    let person = stage.person().await;
    for query in [
        format!("before={cursor}"),
        "before=99999999".to_owned(),
        "before=-1".to_owned(),
        "before=%22%3E%3Cscript%3E".to_owned(),
    ] {
        let page = person.get(&format!("/activity?{query}")).await;
        assert!(page.text().contains("A request to these pages did not come from you"), "{query}: {}", page.text());
        assert!(!page.text().contains("A server wanted a secret"), "{query}");
        assert!(!page.html.contains("<script>"), "{query}");
    }
}
