//! What a third party granted (R-OAUTH-01, R-OAUTH-05).

use std::collections::BTreeSet;

use secrecy::ExposeSecret as _;
use usher_store::{
    AuditAction, Completion, Credential, CredentialKey, CredentialStatus, DEMANDED_AT_MOST, NewInteraction, Store,
};

use crate::samples::{
    HOUR, access, at, client, completed, connect, connected, consented, destination, done, exchanging, grant, granted,
    question, scopes, user,
};
use crate::setup::Database;

async fn stored(store: &Store) -> Credential {
    store.credential(&user("user-1"), "weather").await.unwrap().unwrap()
}

/// R-OAUTH-01, R-OAUTH-05: all of it is kept, with the registration that it was made to.
pub(crate) async fn a_grant_comes_back_whole(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;

    let read = stored(&store).await;

    assert_eq!((read.version, read.status, read.attempts), (1, CredentialStatus::Working, 0));
    assert_eq!(read.secrets["access_token"].expose_secret(), "access-token-1");
    let (found, expected) = (read.grant.unwrap(), grant(1));
    assert_eq!(found.refresh_token.unwrap().expose_secret(), "refresh-token-1");
    assert_eq!((found.expires_at, found.refresh_at), (expected.expires_at, expected.refresh_at));
    assert_eq!((found.scopes, found.demanded), (expected.scopes, expected.demanded));
    assert_eq!((found.account, found.values), (expected.account, expected.values));
    let (server, expected) = (found.server, expected.server);
    assert_eq!((server.issuer, server.token_endpoint), (expected.issuer, expected.token_endpoint));
    assert_eq!((server.revocation_endpoint, server.resource), (None, None));
    assert_eq!(server.client.secret.unwrap().expose_secret(), "grant-client-secret");
    assert_eq!((server.client.id, server.client.method), (expected.client.id, expected.client.method));
    assert_eq!(server.client.redirect_uri, expected.client.redirect_uri);
    let audit = store.audit_of(&user("user-1"), 2).await.unwrap();
    assert_eq!(audit[1].action, Some(AuditAction::CredentialConnected));

    // The least that there can be.
    let bare = usher_store::Grant {
        refresh_token: None,
        expires_at: None,
        refresh_at: None,
        scopes: BTreeSet::new(),
        account: None,
        ..grant(2)
    };
    let completion = Completion::Grant { secrets: access(2), grant: Box::new(bare) };
    let again = exchanging(&store, consented(&store, question("user-1")).await).await;
    done(store.complete(again, completion, at(4)).await.unwrap());
    let found = stored(&store).await.grant.unwrap();
    assert!(found.refresh_token.is_none() && found.expires_at.is_none() && found.refresh_at.is_none());
    assert!(found.scopes.is_empty() && found.account.is_none());
}

/// R-OAUTH-04: more scopes later leave the old grant in use until the new one is there, and what was agreed to stays.
pub(crate) async fn the_old_grant_stays_until_the_new_one_is_there(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let mut other = question("user-1");
    other.principal.client = client("client-2");
    let exchanging = exchanging(&store, consented(&store, other).await).await;
    assert_eq!(stored(&store).await.secrets["access_token"].expose_secret(), "access-token-1");

    done(store.complete(exchanging, granted(2), at(4)).await.unwrap());

    let second = stored(&store).await;
    assert_eq!((second.version, second.secrets["access_token"].expose_secret()), (2, "access-token-2"));
    for id in ["client-1", "client-2"] {
        assert!(second.allows(&client(id), &destination("forecast")), "{id}");
    }
    // What is allowed to one more leaves the grant as it is.
    let mut third = question("user-1");
    third.principal.client = client("client-3");
    completed(&store, third, Completion::Allow).await;
    let third = stored(&store).await;
    assert_eq!(third.grant.unwrap().refresh_at, grant(2).refresh_at);
    assert!(third.secrets.contains_key("access_token") && third.version == 3);
    // And what is entered replaces it.
    completed(&store, question("user-1"), connect("s-1")).await;
    let entered = stored(&store).await;
    assert!(entered.grant.is_none() && entered.secrets.contains_key("api_key"));
    assert!(store.due_refreshes("weather", at(HOUR), 10).await.unwrap().is_empty());
}

/// R-OAUTH-01: nobody gets another's grant by moving its row.
pub(crate) async fn a_moved_grant_does_not_open(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    connected(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-2") }, 2).await;
    for (subject, provider) in [("user-2", "weather"), ("user-1", "maps"), ("user-9", "elsewhere")] {
        let key = CredentialKey::of(&user(subject), provider);
        let sql = format!(
            "UPDATE credentials SET credential_key = '{key}', subject = '{subject}', provider = '{provider}' \
             WHERE provider <> 'maps' OR subject = 'user-1'"
        );
        assert_eq!(database.run(&sql).await, 1, "{subject} {provider}");

        let error = store.credential(&user(subject), provider).await.unwrap_err();

        assert!(error.is_tampered(), "{subject} {provider}: {error}");
        let lease = store.lease_refresh(&user(subject), provider, 1, "one", at(HOUR)).await;
        assert!(lease.unwrap_err().is_tampered(), "nor is it refreshed");
    }
    let others = store.credential(&user("user-2"), "maps").await.unwrap().unwrap();
    assert_eq!(others.secrets["access_token"].expose_secret(), "access-token-2");
}

/// R-OAUTH-05: a token is not the token of another server because a row says so: it is sealed with its server.
pub(crate) async fn a_grant_whose_value_is_another_s_does_not_open(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    connected(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-1") }, 2).await;
    let other = "(SELECT sealed FROM credentials WHERE provider = 'maps')";
    database.run(&format!("UPDATE credentials SET sealed = {other} WHERE provider = 'weather'")).await;
    assert!(store.credential(&user("user-1"), "weather").await.unwrap_err().is_tampered());
}

/// A grant that is too narrow for one thing is good for all others, until its user grants more.
pub(crate) async fn a_grant_that_lacks_scopes_is_narrow(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    connected(&store, question("user-1"), 1).await;
    let write = scopes(&["write"]);

    assert!(!store.demand_scopes(&owner, "weather", 7, &write, at(4)).await.unwrap(), "another version was used");
    assert!(!store.demand_scopes(&owner, "maps", 1, &write, at(4)).await.unwrap());
    assert!(store.demand_scopes(&owner, "weather", 1, &write, at(4)).await.unwrap());

    let narrow = stored(&store).await;
    assert_eq!((narrow.status, narrow.version, narrow.updated_at), (CredentialStatus::Narrow, 2, at(4)));
    assert!(narrow.status.is_usable());
    let kept = narrow.grant.unwrap();
    assert_eq!((kept.demanded, kept.refresh_at), (write.clone(), Some(at(3000))));
    let audit = store.audit_of(&owner, 1).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialNarrow));
    // Once more says the same, and writes nothing.
    assert!(store.demand_scopes(&owner, "weather", 2, &write, at(5)).await.unwrap());
    assert_eq!(stored(&store).await.version, 2);
    let many: Vec<String> = (0..DEMANDED_AT_MOST).map(|number| format!("scope-{number}")).collect();
    assert!(store.demand_scopes(&owner, "weather", 2, &many.iter().cloned().collect(), at(6)).await.unwrap());
    assert_eq!(stored(&store).await.grant.unwrap().demanded.len(), DEMANDED_AT_MOST);

    let mut wider = grant(2);
    wider.scopes = scopes(&["read", "write"]);
    let again = exchanging(&store, consented(&store, question("user-1")).await).await;
    let completion = Completion::Grant { secrets: access(2), grant: Box::new(wider) };
    done(store.complete(again, completion, at(7)).await.unwrap());
    let read = stored(&store).await;
    assert_eq!((read.status, read.grant.unwrap().demanded.len()), (CredentialStatus::Working, 0));

    assert!(store.reject_credential(&owner, "weather", read.version, at(8)).await.unwrap());
    let rejected = stored(&store).await;
    assert!(!rejected.status.is_usable());
    assert!(!store.demand_scopes(&owner, "weather", rejected.version, &write, at(9)).await.unwrap());
    completed(&store, question("user-1"), connect("s-1")).await;
    let entered = stored(&store).await;
    assert!(!store.demand_scopes(&owner, "weather", entered.version, &write, at(9)).await.unwrap(), "it is no grant");
}

/// R-SEC-07: who is forgotten leaves no grant and no way back.
pub(crate) async fn a_forgotten_user_leaves_no_grant(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let waiting = consented(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-1") }).await;
    let state = crate::samples::random_token();
    assert!(store.begin_flow(&waiting.id, &state, "browser", &"verifier".into(), at(4)).await.unwrap());
    connected(&store, question("user-2"), 2).await;
    let usher_store::Lease::Held(lease) =
        store.lease_refresh(&user("user-1"), "weather", 1, "one", at(5)).await.unwrap()
    else {
        panic!("nobody else wants it")
    };

    let forgotten = store.forget_user(&user("user-1"), at(6)).await.unwrap();

    assert_eq!((forgotten.connections, forgotten.questions), (1, 2));
    assert!(store.claim_flow(&waiting.id, &state, "browser", at(7)).await.unwrap().is_none());
    assert!(store.refreshed(lease, access(2), grant(2), at(7)).await.unwrap().is_none(), "it does not come back");
    for table in ["credentials", "interactions"] {
        let sql = format!("UPDATE {table} SET version = version WHERE subject = 'user-1'");
        assert_eq!(database.run(&sql).await, 0, "{table}");
    }
    assert_eq!(store.due_refreshes("weather", at(HOUR), 10).await.unwrap().len(), 1, "the other one's is there");
}
