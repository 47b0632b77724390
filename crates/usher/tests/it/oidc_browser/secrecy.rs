//! What must never be seen of a sign-in.

use std::collections::BTreeMap;

use usher_testkit::idp::{CLIENT_SECRET, Endpoint};

use super::scene::{Scene, parameter, session};
use crate::secrecy::Captured;

/// R-SEC-03, R-SEC-07: no code, state, verifier, token, cookie or secret of a sign-in stands in the log, in the store or on a
/// page, whether it works out or not.
#[tokio::test]
async fn nothing_of_a_sign_in_is_logged_or_stored() {
    let (captured, subscriber) = Captured::subscriber();
    let _here = tracing::subscriber::set_default(subscriber);
    let scene = Scene::new().await;
    let mut secrets: BTreeMap<String, String> = BTreeMap::from([("secret".to_owned(), CLIENT_SECRET.to_owned())]);
    let mut pages = String::new();
    for (attempt, tokens) in
        ["fine", "refused"].into_iter().zip([serde_json::json!({}), serde_json::json!({ "id_token": "x.y.z" })])
    {
        scene.idp.set(|settings| settings.tokens = tokens);
        let (person, url) = scene.answered("user-1").await;
        for name in ["code", "state"] {
            secrets.insert(format!("{name} {attempt}"), parameter(&url, name).unwrap());
        }
        for cookie in person.cookies().into_iter().filter(|cookie| cookie.name.ends_with("-sign-in")) {
            secrets.insert(format!("cookie {attempt}"), cookie.value);
        }
        pages.push_str(&person.come_back(&url).await.html);
        let request = scene.idp.requests_to(Endpoint::Token).pop().unwrap();
        let basic = request.header("authorization").unwrap().trim_start_matches("Basic ");
        secrets.insert("secret as it is sent".to_owned(), basic.to_owned());
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        let verifier = parameter(&format!("http://form.example/?{body}"), "code_verifier").unwrap();
        secrets.insert(format!("verifier {attempt}"), verifier);
        if attempt == "fine" {
            secrets.insert("session".to_owned(), session(&person).unwrap().value);
            let page = person.get("/").await;
            let out = person.submit(&page, &page.form_by_action("/logout"), None, &[]).await;
            secrets.insert("ID token".to_owned(), parameter(out.refresh().unwrap(), "id_token_hint").unwrap());
        }
    }
    scene.refused("an ID token that proves nothing").await;
    assert_eq!(secrets.len(), 12, "{:?}", secrets.keys());
    let (log, database) = (captured.text(), scene.database());
    assert!(log.contains("service started") && log.contains("turned away"), "{log}");
    for (what, secret) in &secrets {
        for (place, text) in [("log", &log), ("database", &database), ("pages", &pages)] {
            assert!(!text.contains(secret.as_str()), "the {what} stands in the {place}");
        }
    }
}
