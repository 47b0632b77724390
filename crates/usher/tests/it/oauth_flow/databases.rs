//! The whole way on each database, and two replicas on one.

use std::{path::Path, sync::Arc};

use elicit::SystemRandom;
use secrecy::SecretString;
use tokio::net::TcpListener;
use usher::{
    broker::{Back, Came},
    config::Config,
    identity::{
        browser::{Form, SignedIn},
        tokens::local_user,
    },
    serve::start,
};
use usher_store::AuditAction;
use usher_testkit::oauth::Endpoint;

use super::scene::{CALL, Change, Scene, id_of, is_heading, parameter, went};
use crate::{
    database::Database,
    harness::{ACCEPT, Folder, USHER},
    needs_modern::retry,
};

macro_rules! on_each_database {
    ($($story:ident;)*) => {
        mod sqlite {
            $(#[test]
            fn $story() {
                crate::database::on_sqlite(super::$story);
            })*
        }
        mod postgres {
            $(#[test]
            #[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
            fn $story() {
                crate::database::on_postgres(super::$story);
            })*
        }
    };
}

on_each_database! {
    an_account_is_connected_and_used;
}

async fn an_account_is_connected_and_used(database: Database) {
    let more = Database::section(&database.url);
    let scene = Scene::in_folder(Change { more, ..Change::default() }, database.folder).await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let denied = scene.back_as(&person, &asked.url(), "deny").await;
    let page = person.come_back(&denied).await;
    person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    assert!(went(&retry(&client, CALL, &asked, ACCEPT).await));
    assert_eq!(scene.audited(AuditAction::CredentialConnected).await, 1);
    assert_eq!(scene.provider.counts().exchanges, 1);
    scene.provider.assert_clean();
}

/// R-OAUTH-02: a callback that reaches two replicas at once: the provider sees one exchange.
async fn a_callback_at_two_replicas_is_one_exchange(database: Database) {
    let more = Database::section(&database.url);
    let other_folder = Folder::new();
    for file in ["usher.keys", "usher.tokens"] {
        std::fs::copy(database.folder.path().join(file), other_folder.path().join(file)).unwrap();
    }
    let scene = Scene::in_folder(Change { more, ..Change::default() }, database.folder).await;
    let text = std::fs::read_to_string(scene.stage.folder.path().join("usher.toml")).unwrap();
    let config = Config::parse(&text, &other_folder.path().join("usher.toml"), &|_| None).unwrap_or_else(|_| panic!());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock = scene.stage.clock.clone();
    let other = start(config, Some(listener), clock, Arc::new(SystemRandom), Some(Path::new(USHER))).await.unwrap();

    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let address = scene.back(&person, &asked.url()).await;
    let cookie = |flow: bool| {
        let is_ours = |name: &str| name.ends_with("-flow") == flow && !name.ends_with("-place") && !name.ends_with("-language");
        person.cookies().into_iter().find(|cookie| is_ours(&cookie.name)).unwrap().value
    };
    let id = id_of(&asked.url());
    let session = SignedIn::new(local_user(), SecretString::from(cookie(false)));
    let state = parameter(&address, "state");
    let back = || Back {
        id: id.clone(),
        user: local_user(),
        state: SecretString::from(state.split_once('.').unwrap().1),
        browser: Some(format!("{}.{}", cookie(true), session.csrf(Form::Callback(&id)))),
        provider: "forge".to_owned(),
        issuer: None,
        query: url::Url::parse(&address).unwrap().query_pairs().into_owned().collect(),
    };
    let here = &scene.stage.app().broker;
    let there = &other.app.broker;
    let (one, two, three, four) =
        tokio::join!(here.come_back(back()), there.come_back(back()), here.come_back(back()), there.come_back(back()));
    let came: Vec<_> = [one, two, three, four].into_iter().map(Result::unwrap).collect();
    assert!(came.iter().all(|came| *came == Came::Settled), "{came:?}");
    assert_eq!(scene.provider.count(Endpoint::Token), 1);
    assert_eq!(scene.audited(AuditAction::CredentialConnected).await, 1);
    assert_eq!(scene.audited(AuditAction::CallbackRefused).await, 3);
    assert!(went(&retry(&scene.stage.modern(), CALL, &asked, ACCEPT).await));
    other.stop().await;
}

#[test]
#[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
fn two_replicas_exchange_one_code_once() {
    crate::database::on_postgres(a_callback_at_two_replicas_is_one_exchange);
}
