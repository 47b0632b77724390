//! Attacks on the way back from a provider: codes, states, cookies, sessions and addresses of somebody else's.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use http::Method;
use usher::broker::INTERACTION_LIVES;
use usher_store::{AuditAction, FLOW_LASTS, FailureReason, InteractionState};
use usher_testkit::{
    idp::{Idp, ReplyIssuer},
    oauth::{Endpoint, Provider, Who},
    person::{Page, Person},
};

use super::is_heading;
use crate::{
    harness::ACCEPT,
    needs_modern::retry,
    oauth_flow::scene::{CALL, Change, Scene, changed, definition, id_of, is_refused, parameter, went},
};

/// A service for several people.
async fn people() -> Scene {
    Scene::with(Change { issuer: Some(Arc::new(Idp::start().await)), ..Change::default() }).await
}

/// Nothing was exchanged and nothing is stored.
async fn nothing_happened(scene: &Scene, users: &[&str]) {
    assert_eq!(scene.provider.count(Endpoint::Token), 0, "no code was sent anywhere");
    for user in users {
        assert!(scene.stored_of(&scene.user(user)).await.is_none(), "{user}");
    }
}

/// The same browser, with the flow cookie of another one beside its own session.
fn plant_flow_of(other: &Person, person: &Person) {
    let flow = other.cookies().into_iter().find(|cookie| cookie.name.ends_with("-flow")).unwrap();
    person.plant_cookie(&format!("{}={}; Path=/", flow.name, flow.value));
}

/// R-OAUTH-02 (code injection): Bob puts the code of his own account into Alice's way back. PKCE binds a code to who
/// asked for it: nothing of it is stored, and she starts again.
#[tokio::test]
async fn a_code_of_somebody_elses_is_worth_nothing_in_ones_own_flow() {
    let scene = people().await;
    let (alice, bob) = (scene.stage.person_of("user-1").await, scene.stage.person_of("user-2").await);
    let hers = scene.asked(&scene.client_of("user-1")).await;
    let his = scene.asked(&scene.client_of("user-2")).await;
    let her_back = scene.back_as(&alice, &hers.url(), "user-1").await;
    let his_back = scene.back_as(&bob, &his.url(), "user-2").await;
    let injected = changed(&her_back, "code", Some(&parameter(&his_back, "code")));
    let page = alice.come_back(&injected).await;
    is_heading(&page, "This did not work");
    assert!(scene.stored_of(&scene.user("user-1")).await.is_none());
    assert!(matches!(
        scene.state(&hers.url()).await.state,
        InteractionState::Failed { reason: FailureReason::ProviderRefused, .. }
    ));
    let counts = scene.provider.counts();
    assert_eq!((counts.exchanges_tried, counts.exchanges), (1, 0), "the verifier is not the code's");
    scene.provider.take_violations();
    alice.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    is_heading(&scene.connect(&alice, &hers.url()).await, "Connected");
    let stored = scene.stored_of(&scene.user("user-1")).await.unwrap();
    assert!(stored.grant.unwrap().account.unwrap().contains("user-1"));
}

/// R-ID-03, R-OAUTH-02: a way back of one person is of no use to another, in their own browser, with the other's cookie
/// beside their session, or for a question of their own.
#[tokio::test]
async fn a_way_back_is_one_persons_alone() {
    let scene = people().await;
    let (alice, bob) = (scene.stage.person_of("user-1").await, scene.stage.person_of("user-2").await);
    let hers = scene.asked(&scene.client_of("user-1")).await;
    let his = scene.asked(&scene.client_of("user-2")).await;
    let her_back = scene.back_as(&alice, &hers.url(), "user-1").await;
    let his_back = scene.back_as(&bob, &his.url(), "user-2").await;
    for with_her_cookie in [false, true] {
        if with_her_cookie {
            plant_flow_of(&alice, &bob);
        }
        let page = bob.come_back(&her_back).await;
        assert_eq!(page.status, 403, "{}", page.describe());
        is_heading(&page, "This link is for another account");
        assert!(!page.text().contains("Forge"), "{}", page.text());
    }
    // Her state under his question, and his under hers.
    let secret = |back: &str| parameter(back, "state").split_once('.').unwrap().1.to_owned();
    let crossed = changed(&his_back, "state", Some(&format!("{}.{}", id_of(&his.url()), secret(&her_back))));
    is_refused(&bob.come_back(&crossed).await);
    let crossed = changed(&her_back, "state", Some(&format!("{}.{}", id_of(&hers.url()), secret(&his_back))));
    is_refused(&alice.come_back(&crossed).await);
    nothing_happened(&scene, &["user-1", "user-2"]).await;
    assert!(scene.audited_of(&scene.user("user-1"), AuditAction::CallbackRefused).await >= 1);
    assert!(scene.audited_of(&scene.user("user-2"), AuditAction::InteractionRefused).await >= 2);
    // Nothing of it spoils hers.
    is_heading(&alice.come_back(&her_back).await, "Connected");
}

/// R-OAUTH-02, R-SEC-06: in another browser of the same person, and without the flow cookie, nothing comes back; nor by
/// a state that was changed, is missing, or stands twice.
#[tokio::test]
async fn a_way_back_is_one_browsers_alone() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    let other = scene.stage.person().await;
    is_refused(&other.come_back(&back).await);
    plant_flow_of(&person, &other);
    is_refused(&other.come_back(&back).await);
    let session: Vec<String> = person
        .cookies()
        .into_iter()
        .filter(|cookie| !cookie.name.ends_with("-flow"))
        .map(|cookie| format!("{}={}", cookie.name, cookie.value))
        .collect();
    let bare = person.visit(Method::GET, &back).header("cookie", &session.join("; ")).send().await;
    is_refused(&bare);

    let id = id_of(&asked.url());
    let state = parameter(&back, "state");
    for wrong in [
        format!("{state}A"),
        format!("{id}.{}", "A".repeat(43)),
        format!("{id}."),
        state.replace(id.as_str(), &"A".repeat(43)),
    ] {
        let page = person.come_back(&changed(&back, "state", Some(&wrong))).await;
        assert!(page.status == 403 || page.status == 404, "{wrong}: {}", page.describe());
    }
    for wrong in
        [changed(&back, "state", None), format!("{back}&state={state}"), format!("{back}&x={}", "y".repeat(20_000))]
    {
        assert_eq!(person.come_back(&wrong).await.status, 404);
    }
    nothing_happened_here(&scene, &asked.url()).await;
    assert!(scene.audited(AuditAction::CallbackRefused).await >= 5);
    is_heading(&person.come_back(&back).await, "Connected");
}

async fn nothing_happened_here(scene: &Scene, url: &str) {
    assert_eq!(scene.provider.count(Endpoint::Token), 0, "no code was sent anywhere");
    assert!(scene.credential().await.is_none());
    assert!(matches!(scene.state(url).await.state, InteractionState::Consented { .. }));
}

/// R-ID-03: who is not signed in finishes nothing, learns nothing, and the code goes into no address of ours.
#[tokio::test]
async fn a_stranger_finishes_nothing() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    let stranger = Person::new(&scene.stage.origin).language("en");
    let page = stranger.come_back(&back).await;
    assert_eq!((page.status.as_u16(), page.location()), (403, None), "{}", page.describe());
    is_heading(&page, "You are signed out here");
    let code = parameter(&back, "code");
    assert!(!page.html.contains(&code) && !page.html.contains("Forge"), "{}", page.html);
    assert!(stranger.set_cookie_lines().iter().all(|line| !line.contains(&code)));
    nothing_happened_here(&scene, &asked.url()).await;
}

/// R-OAUTH-02: what only looks at an address uses nothing up.
#[tokio::test]
async fn looking_at_a_way_back_does_nothing() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    let head = person.visit(Method::HEAD, &back).send().await;
    assert_eq!(head.status, 405);
    let ahead = person.visit(Method::GET, &back).header("sec-purpose", "prefetch;prerender").send().await;
    assert_eq!(ahead.status, 503);
    let post = person.visit(Method::POST, &back).fields(&[("code", "x")]).send().await;
    assert_eq!(post.status, 405);
    nothing_happened_here(&scene, &asked.url()).await;
    is_heading(&person.come_back(&back).await, "Connected");
}

/// RFC 9700, section 4.4 (mix-up): a reply at another provider's address, of another issuer, or of none although ours
/// always names itself, for errors too: no code is sent anywhere.
#[tokio::test]
async fn a_reply_of_another_server_is_refused() {
    let other = Provider::start().await;
    let change = Change::default();
    let mut more = definition(&other, "other", &change);
    write!(
        more,
        "[[upstream]]\nname = \"second\"\nurl = \"http://127.0.0.1:9/mcp\"\n[[upstream.needs]]\nprovider = \"other\"\n"
    )
    .unwrap();
    let scene = Scene::with(Change { more, ..change }).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    is_refused(&person.come_back(&back.replace("/callback/forge?", "/callback/other?")).await);
    nothing_happened_here(&scene, &asked.url()).await;

    let mut refused = scene.audited(AuditAction::CallbackRefused).await;
    let issuer = other.issuer();
    let wrong: [(&str, Option<&str>, bool); 5] = [
        ("another issuer", Some(&issuer), false),
        ("none", None, false),
        ("another way to write it", Some("HTTP://127.0.0.1"), false),
        ("another issuer, of an error", Some(&issuer), true),
        ("none, of an error", None, true),
    ];
    for (what, iss, error) in wrong {
        let mut back = scene.back_as(&person, &asked.url(), if error { "deny" } else { "user-1" }).await;
        back = changed(&back, "iss", iss);
        is_refused(&person.come_back(&back).await);
        refused += 1;
        assert_eq!(scene.audited(AuditAction::CallbackRefused).await, refused, "{what}");
        // The right one comes too late after that.
        let page = person.get(&asked.url()).await;
        is_heading(&page, "This did not work");
        assert!(!page.text().contains("did not agree"), "{what}: {}", page.text());
        person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    }
    let back = scene.back(&person, &asked.url()).await;
    is_refused(&person.come_back(&back.replace("/callback/forge?", "/callback/forge/AAAAAAAAAAAAAAAAAAAAAA?")).await);
    assert_eq!(scene.provider.count(Endpoint::Token) + other.count(Endpoint::Token), 0);
    assert!(scene.credential().await.is_none());
    // A server that does not promise it need not name itself.
    scene.provider.set(|settings| settings.callback.issuer = ReplyIssuer::Right);
}

/// R-OAUTH-02: a callback that comes several times at once is one exchange, and one that comes again later none.
#[tokio::test]
async fn a_callback_counts_once() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let back = scene.back(&person, &asked.url()).await;
    let visit = || person.visit(Method::GET, &back).from_site("https://issuer.example").stay().send();
    let pages = tokio::join!(visit(), visit(), visit(), visit());
    for page in [&pages.0, &pages.1, &pages.2, &pages.3] {
        assert_eq!(
            (page.status.as_u16(), page.location()),
            (303, Some(path(&asked.url()).as_str())),
            "{}",
            page.describe()
        );
    }
    is_heading(&person.get(&asked.url()).await, "Connected");
    is_heading(&person.come_back(&back).await, "Connected");
    let counts = scene.provider.counts();
    assert_eq!((counts.exchanges_tried, counts.codes_again), (1, 0));
    assert_eq!(scene.audited(AuditAction::CredentialConnected).await, 1);
    assert_eq!(scene.audited(AuditAction::CallbackRefused).await, 4);
    assert!(went(&retry(&client, CALL, &asked, ACCEPT).await));
}

fn path(url: &str) -> String {
    format!("/connect/{}", id_of(url))
}

/// Consent CSRF, in both directions: Bob sends Alice the address of his sign-in at the provider, and she signs in there
/// with her own account. It is bound to nobody; and his link is not hers.
#[tokio::test]
async fn a_link_that_was_forwarded_binds_nobodys_account() {
    let scene = people().await;
    let (alice, bob) = (scene.stage.person_of("user-1").await, scene.stage.person_of("user-2").await);
    let his = scene.asked(&scene.client_of("user-2")).await;
    is_heading(&alice.get(&his.url()).await, "This link is for another account");
    let left = scene.leave(&bob, &his.url()).await;
    // She follows the address that he was sent to.
    let back = alice.at_issuer(&left, "user-1").await;
    let page = alice.come_back(&back).await;
    assert_eq!(page.status, 403, "{}", page.describe());
    is_heading(&page, "This link is for another account");
    assert!(page.text().contains("If a person sent you this link"), "{}", page.text());
    // In a browser in which nobody is signed in, neither.
    let left = scene.leave(&bob, &his.url()).await;
    let stranger = Person::new(&scene.stage.origin).language("en");
    let back = stranger.at_issuer(&left, "user-1").await;
    let page = stranger.come_back(&back).await;
    is_heading(&page, "You are signed out here");
    assert!(page.text().contains("If a person sent you the link"), "{}", page.text());
    nothing_happened(&scene, &["user-1", "user-2"]).await;
}

/// R-OAUTH-04 (remembered consent): where the provider asks nobody any more, our own page still stands before each
/// client: a page that another site opens goes nowhere, nor does a form that it sends.
#[tokio::test]
async fn a_consent_that_the_provider_remembers_is_not_ridden() {
    let scene = Scene::new().await;
    scene.provider.set(|settings| settings.who = Who::Always("user-1".to_owned()));
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let opened = person.visit(Method::GET, &asked.url()).from_site("https://evil.example").stay().send().await;
    assert_eq!((opened.status.as_u16(), opened.location()), (200, None), "{}", opened.describe());
    let page = person.get(&asked.url()).await;
    let form = page.form_by_button("authorize");
    let fields: Vec<(String, String)> =
        form.inputs.iter().map(|input| (input.name.clone(), input.value.clone())).collect();
    let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.push(("action", "authorize"));
    let url = asked.url();
    let forged = person.visit(Method::POST, &url).fields(&fields).from_site("https://evil.example").stay().send().await;
    assert_eq!((forged.status.as_u16(), forged.location()), (403, None), "{}", forged.describe());
    let wrong: Vec<_> =
        fields.iter().map(|(name, value)| (*name, if *name == "csrf" { "AAAA" } else { value })).collect();
    let wrong = person.visit(Method::POST, &url).fields(&wrong).stay().send().await;
    assert_eq!((wrong.status.as_u16(), wrong.location()), (403, None), "{}", wrong.describe());
    assert!(scene.provider.requests().is_empty());
    assert!(matches!(scene.state(&url).await.state, InteractionState::Opened { .. }));
    assert!(!person.cookies().iter().any(|cookie| cookie.name.ends_with("-flow")));
}

/// R-OAUTH-03, R-SEC-02: what a client calls itself stands apart, as a claim; who asks is the verified one, and what
/// the provider says of itself is text.
#[tokio::test]
async fn a_label_on_the_consent_page_is_not_the_attackers() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let client = scene.stage.modern().client_info(Some(r#"{"name":"Forge forge <b>Security</b>","version":"1"}"#));
    let asked = scene.asked(&client).await;
    let page = person.get(&asked.url()).await;
    let text = page.text();
    assert!(text.contains("Not verified calls itself"), "{text}");
    assert_eq!(text.matches("Security").count(), 1, "{text}");
    assert!(text.contains("Asked by default"), "{text}");
    let done = scene.connect(&person, &asked.url()).await;
    assert!(
        done.text().contains("Connected as Person <b>user-1</b>") && !done.html.contains('\u{202e}'),
        "{}",
        done.text()
    );
}

/// R-OAUTH-02: before the consent there is no way back.
#[tokio::test]
async fn a_callback_before_the_consent_is_refused() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let forged = |secret: &str| {
        format!("/callback/forge?code=stolen&state={}.{secret}&iss={}", id_of(&asked.url()), scene.provider.issuer())
    };
    is_refused(&person.come_back(&format!("{}{}", scene.stage.origin, forged(&"A".repeat(43)))).await);
    person.get(&asked.url()).await;
    person.plant_cookie(&format!("usher-flow={}; Path=/", "A".repeat(43)));
    is_refused(&person.come_back(&format!("{}{}", scene.stage.origin, forged(&"A".repeat(43)))).await);
    assert_eq!(scene.provider.count(Endpoint::Token), 0);
    assert!(matches!(scene.state(&asked.url()).await.state, InteractionState::Opened { .. }));
    let secrets: BTreeSet<String> = person.cookies().into_iter().map(|cookie| cookie.name).collect();
    assert!(secrets.iter().all(|name| !name.ends_with("-flow") || name == "usher-flow"), "{secrets:?}");
}

/// R-OAUTH-02: a way back ends after ten minutes; the question itself is still open, and can be gone to again.
#[tokio::test]
async fn a_way_back_ends_after_a_while() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    assert!(FLOW_LASTS.as_secs() < i64::try_from(INTERACTION_LIVES.as_secs()).unwrap());
    scene.stage.clock.forward(FLOW_LASTS.as_secs() + 1);
    is_refused(&person.come_back(&back).await);
    nothing_happened_here(&scene, &asked.url()).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
}

/// R-ID-03: a browser in which another account, or the same one anew, has signed in meanwhile does not finish what the
/// first session began.
#[tokio::test]
async fn a_session_that_was_switched_on_the_way_finishes_nothing() {
    for second in ["user-2", "user-1"] {
        let scene = people().await;
        let person = scene.stage.person_of("user-1").await;
        let asked = scene.asked(&scene.client_of("user-1")).await;
        let back = scene.back_as(&person, &asked.url(), "user-1").await;
        for cookie in person.cookies() {
            if !cookie.name.ends_with("-flow") {
                person.plant_cookie(&format!("{}=; Path={}; Max-Age=0", cookie.name, cookie.path));
            }
        }
        let page = person.get("/").await;
        is_heading(&person.sign_in_at(&page, second).await, "Your connections");
        assert!(person.cookies().iter().any(|cookie| cookie.name.ends_with("-flow")), "the same browser");
        let page: Page = person.come_back(&back).await;
        assert_eq!(page.status, 403, "{}", page.describe());
        nothing_happened(&scene, &["user-1", "user-2"]).await;
    }
}
