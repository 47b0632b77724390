//! What must never be seen of an account.

use usher_store::AuditAction;
use usher_testkit::{oauth::Endpoint, person::Page};

use super::scene::{CALL, Scene, is_heading, parameter, went};
use crate::{harness::ACCEPT, needs_modern::retry, secrecy::Captured};

/// R-OAUTH-01, R-SEC-03, R-SEC-07: no code, state, verifier, cookie, token or secret of a visit to a provider stands in
/// the log, in the audit log, in the store, on a page, or in anything that the client gets, whether it works out or
/// not. The server gets the access token, and nothing else.
#[tokio::test]
async fn nothing_of_an_account_is_seen_anywhere_but_where_it_belongs() {
    let (captured, subscriber) = Captured::subscriber();
    let _here = tracing::subscriber::set_default(subscriber);
    let mut scene = Scene::new().await;
    let (client, person) = (scene.stage.modern(), scene.stage.person().await);
    let asked = scene.asked(&client).await;
    let mut received = asked.text();
    let mut pages: Vec<String> = Vec::new();
    let mut secrets: Vec<(String, String)> = Vec::new();
    let mut read = |page: &Page| pages.push(format!("{}\n{:?}\n{}", page.url, page.headers, page.html));
    for attempt in ["refused", "declined", "fine"] {
        read(&person.get(&asked.url()).await);
        let account = if attempt == "declined" { "deny" } else { "user-1" };
        let back = scene.back_as(&person, &asked.url(), account).await;
        secrets.push((format!("state {attempt}"), parameter(&back, "state").split_once('.').unwrap().1.to_owned()));
        if attempt == "refused" {
            scene.provider.forget_client(usher_testkit::oauth::CLIENT);
        }
        let page = person.come_back(&back).await;
        read(&page);
        if attempt == "refused" {
            let client =
                usher_testkit::oauth::Client::new(usher_testkit::oauth::CLIENT, usher_testkit::oauth::CLIENT_SECRET);
            scene.provider.put_client(client);
        }
        if attempt != "fine" {
            is_heading(&page, "This did not work");
            read(&person.submit(&page, &page.form_by_button("Start again"), None, &[]).await);
        }
    }
    for request in scene.provider.requests_to(Endpoint::Token) {
        let body = format!("http://form.example/?{}", request.text());
        secrets.push(("verifier".to_owned(), parameter(&body, "code_verifier")));
        let basic = request.header("authorization").unwrap().trim_start_matches("Basic ");
        secrets.push(("client secret as it is sent".to_owned(), basic.to_owned()));
    }
    let reply = retry(&client, CALL, &asked, ACCEPT).await;
    assert!(went(&reply), "{}", reply.text());
    received.push_str(&reply.text());
    read(&person.get("/").await);
    read(&person.get("/activity").await);
    let flow = person.cookies().into_iter().find(|cookie| cookie.name.ends_with("-flow")).unwrap();
    secrets.push(("flow cookie".to_owned(), flow.value));
    secrets
        .extend(scene.provider.secrets().into_iter().map(|secret| ("code, token or client secret".to_owned(), secret)));
    assert!(secrets.len() >= 9, "{}", secrets.len());

    let token = scene.sent().pop().unwrap();
    assert!(scene.provider.token_book().look_up(&token).is_some());
    assert!(secrets.iter().any(|(_, secret)| *secret == token));
    let sent: String =
        scene.stage.upstream.requests().iter().map(|request| format!("{request:?}").replace(&token, "")).collect();
    assert!(scene.audited(AuditAction::CredentialConnected).await == 1);
    let audit =
        format!("{:?}", scene.stage.app().store.audit_of(&usher::identity::tokens::local_user(), 1000).await.unwrap());
    let parts = format!("{:?} {:?}", scene.stage.app().config, scene.credential().await);
    scene.stage.stop().await;
    let files: String = std::fs::read_dir(scene.stage.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // The operator wrote the secret of our client there.
        .filter(|path| !path.ends_with("usher.toml"))
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
        .collect();
    let log = captured.text();
    for word in ["left for the provider", "a provider refuses our client", "connected", "did not agree at the provider"]
    {
        assert!(log.contains(word), "the capture works: {word}");
    }
    for (what, secret) in &secrets {
        for (place, text) in [
            ("log", &log),
            ("audit log", &audit),
            ("files", &files),
            ("pages", &pages.join("\n")),
            ("what the client received", &received),
            ("what the server got beside its token", &sent),
            ("Debug of our parts", &parts),
        ] {
            assert!(!text.contains(secret.as_str()), "{what} stands in {place}");
        }
    }
}
