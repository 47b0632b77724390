use elicit::SystemRandom;
use usher_store::{AuditAction, AuditEntry, InteractionId, Outcome};

use crate::samples::{at, client, user};
use crate::setup::Database;

/// R-SEC-03: who, what, when and outcome.
pub(crate) async fn lines_come_back_newest_first_and_only_to_their_user(database: Database) {
    let store = database.store().await;
    let full = AuditEntry {
        action: AuditAction::InteractionRefused,
        outcome: Outcome::Refused,
        principal: Some((user("user-1"), Some(client("client-1")))),
        upstream: Some("forecast".to_owned()),
        provider: Some("weather".to_owned()),
        interaction: Some(InteractionId::new(&SystemRandom)),
        detail: Some("another user was signed in"),
        operation: None,
    };
    let bare = AuditEntry {
        principal: Some((user("user-1"), None)),
        ..AuditEntry::new(AuditAction::CredentialRejected, Outcome::Failure)
    };
    let of_stranger = AuditEntry { principal: Some((user("user-2"), None)), ..bare.clone() };
    let of_nobody = AuditEntry::new(AuditAction::TokenRefused, Outcome::Refused);
    for (second, entry) in [full.clone(), bare, of_stranger, of_nobody].into_iter().enumerate() {
        store.audit(entry, at(i64::try_from(second).unwrap())).await.unwrap();
    }

    let lines = store.audit_of(&user("user-1"), 10).await.unwrap();

    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].action, Some(AuditAction::CredentialRejected));
    assert_eq!((lines[0].outcome, lines[0].at), (Outcome::Failure, at(1)));
    assert_eq!(lines[0].client, None);
    let line = &lines[1];
    assert_eq!(line.action, Some(full.action));
    assert_eq!((line.outcome, line.at), (full.outcome, at(0)));
    assert_eq!((&line.user, &line.client), (&user("user-1"), &Some(client("client-1"))));
    assert_eq!((&line.upstream, &line.provider), (&full.upstream, &full.provider));
    assert_eq!(line.interaction, full.interaction);
    assert_eq!(line.detail.as_deref(), full.detail);
    assert_eq!(store.audit_of(&user("user-1"), 1).await.unwrap(), lines[..1]);
}

/// A replica of a newer version may write while an older one still runs.
pub(crate) async fn a_line_of_a_newer_version_is_kept_and_shown_as_unknown(database: Database) {
    let store = database.store().await;
    let entry = AuditEntry {
        principal: Some((user("user-1"), None)),
        ..AuditEntry::new(AuditAction::CredentialRejected, Outcome::Failure)
    };
    store.audit(entry, at(0)).await.unwrap();
    assert_eq!(database.run("UPDATE audit SET action = 'credential.polished'").await, 1);

    let lines = store.audit_of(&user("user-1"), 10).await.unwrap();

    assert_eq!(lines[0].action, None);
}
