//! Our registrations at authorization servers (R-OAUTH-05).

use secrecy::ExposeSecret as _;
use usher_store::{OAuthClient, Store};

use crate::race::rivals;
use crate::samples::at;
use crate::setup::Database;

pub(crate) const ISSUER: &str = "https://tracker.example";
pub(crate) const BACK: &str = "https://usher.example/callback/tracker/1";

pub(crate) fn registered(id: &str) -> OAuthClient {
    OAuthClient {
        issuer: ISSUER.to_owned(),
        redirect_uri: BACK.to_owned(),
        id: id.to_owned(),
        secret: Some(format!("registered-secret-of-{id}").into()),
        method: "client_secret_post".to_owned(),
        expires_at: None,
        registration: Some("https://tracker.example/register/1".to_owned()),
        token: Some(format!("registration-token-of-{id}").into()),
    }
}

async fn stored(store: &Store) -> Option<OAuthClient> {
    store.oauth_client(ISSUER, BACK).await.unwrap()
}

/// R-OAUTH-05: it is found by its issuer and redirect URI, and by no other.
pub(crate) async fn a_registration_is_its_issuer_s_alone(database: Database) {
    let store = database.store().await;
    assert!(stored(&store).await.is_none());
    let kept = store.keep_oauth_client(registered("c-1"), at(0)).await.unwrap();
    assert_eq!(kept.id, "c-1");

    let found = stored(&store).await.unwrap();

    assert_eq!((found.id.as_str(), found.method.as_str(), found.expires_at), ("c-1", "client_secret_post", None));
    assert_eq!(found.secret.unwrap().expose_secret(), "registered-secret-of-c-1");
    assert_eq!(found.token.unwrap().expose_secret(), "registration-token-of-c-1");
    assert_eq!(found.registration.as_deref(), Some("https://tracker.example/register/1"));
    assert_eq!((found.issuer.as_str(), found.redirect_uri.as_str()), (ISSUER, BACK));
    for (issuer, back) in [("https://tracker.example/", BACK), ("https://other.example", BACK), (ISSUER, "")] {
        assert!(store.oauth_client(issuer, back).await.unwrap().is_none(), "{issuer} {back}");
    }
    let moved = OAuthClient { issuer: "https://other.example".to_owned(), ..registered("c-2") };
    assert_eq!(store.keep_oauth_client(moved, at(1)).await.unwrap().id, "c-2", "another issuer gets another one");
    assert_eq!(stored(&store).await.unwrap().id, "c-1");
}

/// Replicas that register at once use one registration from then on.
pub(crate) async fn the_first_registration_wins(database: Database) {
    let results = rivals(&database, |number, store| async move {
        store.keep_oauth_client(registered(&format!("c-{number}")), at(0)).await.unwrap().id
    })
    .await;
    let store = database.store().await;
    let first = stored(&store).await.unwrap().id;
    assert!(results.iter().all(|id| *id == first), "{results:?}");
    assert_eq!(store.keep_oauth_client(registered("late"), at(1)).await.unwrap().id, first);
}

/// A secret that has expired makes way, and so does what cannot be read: else nobody could connect there again.
pub(crate) async fn an_expired_or_unreadable_registration_makes_way(database: Database) {
    let store = database.store().await;
    let brief = OAuthClient { expires_at: Some(at(100)), ..registered("c-1") };
    store.keep_oauth_client(brief, at(0)).await.unwrap();
    assert_eq!(store.keep_oauth_client(registered("c-2"), at(99)).await.unwrap().id, "c-1");
    assert_eq!(stored(&store).await.unwrap().expires_at, Some(at(100)));

    assert_eq!(store.keep_oauth_client(registered("c-2"), at(100)).await.unwrap().id, "c-2");

    let other = OAuthClient { issuer: "https://other.example".to_owned(), ..registered("c-9") };
    store.keep_oauth_client(other, at(101)).await.unwrap();
    let sealed = "sealed = (SELECT sealed FROM oauth_clients WHERE issuer = 'https://other.example')";
    database.run(&format!("UPDATE oauth_clients SET {sealed} WHERE issuer = '{ISSUER}'")).await;
    assert!(stored(&store).await.is_none(), "another issuer's is not used here");
    assert_eq!(store.keep_oauth_client(registered("c-3"), at(102)).await.unwrap().id, "c-3");
    assert_eq!(stored(&store).await.unwrap().id, "c-3");
}

/// What its server does not know any more is forgotten, unless it is another one by now.
pub(crate) async fn a_registration_is_forgotten_by_its_id(database: Database) {
    let store = database.store().await;
    store.keep_oauth_client(registered("c-1"), at(0)).await.unwrap();
    assert!(!store.forget_oauth_client(ISSUER, BACK, "c-0").await.unwrap());
    assert!(stored(&store).await.is_some());
    assert!(store.forget_oauth_client(ISSUER, BACK, "c-1").await.unwrap());
    assert!(stored(&store).await.is_none());
    assert!(!store.forget_oauth_client(ISSUER, BACK, "c-1").await.unwrap());
}
