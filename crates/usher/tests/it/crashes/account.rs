//! Crashes while an account is let go: its provider may have been told or not.

use usher::{
    clock::{Clock as _, SystemClock},
    identity::tokens::local_user,
};
use usher_store::{AuditAction, FailPoint};
use usher_testkit::{oauth::Provider, upstream::Upstream};

use super::scene::{Scene, broke};
use crate::{
    database::Database,
    harness::{CALLS, Setup, answered},
    letting_go::revocation,
    refresh::scene::{furnish, grant, granted, prepared, store_grant},
};

const PAGE: &str = "/connections/hub/disconnect";

/// The person gives the account up: it is used until that is committed, and never after; its provider is told once more where the
/// process was killed before it could say that it was.
pub(super) async fn lets_go(database: Database, point: FailPoint) {
    let hub = Provider::start().await;
    let more = format!("{}{}", revocation(&hub), Database::section(&database.url));
    let setup = prepared(Setup { more, ..Setup::default() }, &hub);
    let mut scene = Scene::prepared(database, point, Upstream::start().await, &setup).await;
    furnish(&scene.upstream, &hub);
    let (method, params) = CALLS[0];
    let modern = scene.modern();
    let asked = modern.call(method, params).await;
    let (granted, now) = (granted(&hub, "user-1").await, SystemClock.now());
    let store = scene.database.store().await;
    store_grant(&store, &asked.url(), &granted, grant(&hub, &granted, now), now).await;
    store.close().await;
    assert!(answered(&modern.call(method, params).await));
    let person = scene.person().await;
    let page = person.get(PAGE).await;
    let visit = person.agreement(&page, &[]);
    tokio::join!(broke(visit.try_send()), scene.crash());

    let (kept, listed) = match point {
        FailPoint::Leaving => (true, 1),
        FailPoint::LetGo => (false, 0),
        _ => (false, 1),
    };
    let store = scene.database.store().await;
    assert_eq!(store.credential(&local_user(), "hub").await.unwrap().is_some(), kept);
    assert_eq!(store.connections(&local_user()).await.unwrap().readable.len(), listed);
    store.close().await;
    let told = usize::from(matches!(point, FailPoint::Revoked | FailPoint::LetGo));
    assert_eq!(hub.counts().revocations, told);

    scene.start_again().await;
    let next = modern.call(method, params).await;
    assert_eq!((answered(&next), next.is_input_required()), (kept, !kept), "{}", next.text());
    let page = person.get(PAGE).await;
    if listed == 0 {
        assert_eq!(page.status, 404);
    } else {
        let gone = person.agree(&page, &[]).await;
        assert!(gone.text().contains("has ended the access too"), "{}", gone.describe());
    }
    assert_eq!(hub.grants_of("user-1"), 0);
    assert!(modern.call(method, params).await.is_input_required());
    for action in [AuditAction::CredentialDisconnected, AuditAction::GrantRevoked] {
        assert_eq!(scene.database.audited(action, None).await, 1, "{action:?}");
    }
    hub.assert_clean();
}
