use std::fmt::Debug;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use jiff::SignedDuration;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{AssertSqlSafe, Row as _};
use usher_store::{Completion, Kind, NewBrowserSession, NewInteraction, Operation, Store, Vault};

use crate::oauth_client::registered;
use crate::samples::{
    DAY, at, browsing, client, completed, connect, connected, consented, granted, question, random_token, secrets,
    session, user,
};
use crate::setup::Database;

/// R-OAUTH-01, R-SEC-03, R-SEC-07: no secret lies in the database in the clear, not
/// in any table, and not in SQLite's files, the write-ahead log included.
pub(crate) async fn no_secret_lies_in_the_database(database: Database) {
    let store = database.store().await;
    let planted = plant(&store).await;

    let contents = match database.kind {
        Kind::Sqlite => files(&database),
        Kind::Postgres => dump(&database).await,
    };

    assert!(found(&contents, "forecast"), "the search itself finds what is there");
    for secret in planted {
        for form in
            [secret.clone(), hex(secret.as_bytes()), STANDARD_NO_PAD.encode(&secret), URL_SAFE_NO_PAD.encode(&secret)]
        {
            assert!(!found(&contents, &form), "{form} lies in the database");
        }
    }
}

/// Puts a secret wherever one can go. Long texts, so that none is there by chance.
async fn plant(store: &Store) -> Vec<String> {
    let first = "first-secret-of-the-credential".to_owned();
    let second = "second-secret-of-the-credential".to_owned();
    let upstream = "upstream-session-secret".to_owned();
    completed(store, question("user-1"), connect(&first)).await;
    completed(store, question("user-1"), connect(&second)).await;
    let mut other = question("user-1");
    other.principal.client = client("client-2");
    completed(store, other, Completion::Allow).await;
    let (link, unused, browser) = (random_token(), random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.create_login_link(&unused, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&browser, at(DAY)), at(1)).await.unwrap();
    let (id, signed_in, kept) = (random_token(), random_token(), SecretString::from("kept-in-the-browser-session"));
    let at_issuer = NewBrowserSession { kept: Some(&kept), ..browsing(&signed_in, at(DAY)) };
    store.use_sign_in(&id, at(600), &user("user-1"), at_issuer, at(1)).await.unwrap();
    let arguments = "private-argument-of-a-call".to_owned();
    let params = format!(r#"{{"name":"send","arguments":{{"to":"{arguments}"}}}}"#);
    let operation = Some(Operation::exact("tools/call", Some(&params)).unwrap());
    store.ask(&[NewInteraction { operation, ..question("user-3") }], None, at(0)).await.unwrap();
    let new = session();
    assert_eq!(new.upstream_session.as_ref(), Some(&upstream));
    let session_id = new.id.expose().to_owned();
    store.create_session(new, at(0)).await.unwrap();
    let tokens = [link, unused, browser, id, signed_in, kept].map(|token| token.expose_secret().to_owned());
    let (key, old) = store.create_api_key(crate::api_key::reading(), at(0)).await.unwrap();
    let (_, new) = store.rotate_api_key(&key.id, SignedDuration::from_hours(1), at(1)).await.unwrap().unwrap();
    // The id is no secret.
    let keys = [old, new].map(|text| text.expose_secret().rsplit_once(&format!("{}_", key.id)).unwrap().1.to_owned());
    [vec![first, second, upstream, session_id, arguments], tokens.to_vec(), keys.to_vec(), plant_grant(store).await]
        .concat()
}

/// A grant, a way back from a provider, and a registration.
async fn plant_grant(store: &Store) -> Vec<String> {
    connected(store, question("user-4"), 4).await;
    let leaving = consented(store, question("user-5")).await;
    let (state, kept) = (random_token(), SecretString::from("pkce-verifier-of-the-flow"));
    assert!(store.begin_flow(&leaving.id, &state, "cookie-of-the-browser", &kept, at(3)).await.unwrap());
    store.keep_oauth_client(registered("c-1"), at(0)).await.unwrap();
    let fixed = [
        "access-token-4",
        "refresh-token-4",
        "grant-client-secret",
        "cookie-of-the-browser",
        "registered-secret-of-c-1",
        "registration-token-of-c-1",
    ];
    let states = [state, kept].map(|token| token.expose_secret().to_owned());
    states.into_iter().chain(fixed.map(str::to_owned)).collect()
}

fn files(database: &Database) -> Vec<u8> {
    let mut contents = Vec::new();
    for name in ["usher.db", "usher.db-wal", "usher.db-shm"] {
        let bytes = std::fs::read(database.directory.join(name)).unwrap();
        assert!(!bytes.is_empty(), "{name} is in use");
        contents.extend(bytes);
    }
    contents
}

async fn dump(database: &Database) -> Vec<u8> {
    let mut raw = database.raw().await;
    let tables =
        sqlx::query("SELECT CAST(table_name AS TEXT) FROM information_schema.tables WHERE table_schema = 'public'")
            .fetch_all(&mut raw)
            .await
            .unwrap();
    assert!(tables.len() >= 9);
    let mut contents = Vec::new();
    for table in tables {
        let table: String = table.try_get(0).unwrap();
        let sql = format!("SELECT CAST(t AS TEXT) FROM {table} t");
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut raw).await.unwrap() {
            contents.extend(row.try_get::<String, _>(0).unwrap().into_bytes());
        }
    }
    contents
}

fn found(contents: &[u8], text: &str) -> bool {
    contents.windows(text.len()).any(|window| window == text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// R-SEC-03: nothing that is logged by its `Debug` shows a secret.
pub(crate) async fn no_debug_text_shows_a_secret(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-shown-nowhere")).await;
    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    let new = session();
    store.create_session(new.clone(), at(0)).await.unwrap();
    let found = store.session(&new.id, at(1)).await.unwrap().unwrap();
    let key_text = std::fs::read_to_string(database.directory.join("usher.keys")).unwrap();
    let key = key_text.lines().find(|line| line.contains(" active ")).and_then(|line| line.split(' ').nth(1)).unwrap();
    let vault = Vault::new(database.keys.clone(), std::sync::Arc::new(elicit::SystemRandom));
    let completion = Completion::Connect { secrets: secrets("s-shown-nowhere") };
    connected(&store, question("user-4"), 4).await;
    let lease = store.lease_refresh(&user("user-4"), "weather", 1, "replica", at(4)).await.unwrap();
    let (grant, client) = (granted(5), registered("c-1"));
    let leaving = consented(&store, question("user-5")).await;
    let kept = "pkce-verifier-of-the-flow".into();
    assert!(store.begin_flow(&leaving.id, &random_token(), "browser", &kept, at(3)).await.unwrap());
    let state = random_token();
    assert!(store.begin_flow(&leaving.id, &state, "browser", &kept, at(3)).await.unwrap());
    let flow = store.claim_flow(&leaving.id, &state, "browser", at(4)).await.unwrap().unwrap();
    let plain: [&dyn Debug; 6] = [&credential, &completion, &new, &new.id, &found, &store];
    let shown = plain.into_iter().chain([&*database.keys as &dyn Debug, &vault, &lease, &grant, &client, &flow]);
    let mut hidden: Vec<SecretString> =
        vec!["s-shown-nowhere".into(), "upstream-session-secret".into(), new.id.expose().into(), key.into()];
    let of_grants = ["access-token-", "refresh-token-", "grant-client-secret", "-of-c-1", "pkce-verifier-of-the-flow"];
    hidden.extend(of_grants.map(SecretString::from));
    for value in shown {
        let text = format!("{value:?} {value:#?}");
        assert!(text.len() > 10);
        for secret in &hidden {
            assert!(!text.contains(secret.expose_secret()), "{text}");
        }
    }
}
