//! Links that one person sends to another, at each step of a visit to somebody else's page: opened, submitted, and on the way
//! back.

use std::sync::Arc;

use usher_store::InteractionState;
use usher_testkit::idp::Idp;

use super::is_heading;
use crate::{
    external::{REPORT, shop_of},
    harness::ACCEPT,
    needs_modern::{ask, retry},
};

/// R-ID-03, R-OAUTH-02: Alice's link is of no use to Bob when it is opened, submitted, or when he comes back with her way back,
/// with her cookie beside his own; nor is his to her. Nothing of it spoils her own way back.
#[tokio::test]
async fn a_visit_is_its_persons_alone_at_every_step() {
    let shop = shop_of("", true, Some(Arc::new(Idp::start().await))).await;
    let stage = &shop.stage;
    for (owner, other) in [("user-1", "user-2"), ("user-2", "user-1")] {
        let client = stage.modern_with(&stage.token_of(owner, "editor"));
        let asked = ask(&client, REPORT).await;
        let (alice, bob) = (stage.person_of(owner).await, stage.person_of(other).await);
        is_heading(&bob.get(&asked.url()).await, "This link is for another account");

        let opened = alice.get(&asked.url()).await;
        let sent = bob.agreement(&opened, &[]).stay().send().await;
        assert_eq!((sent.status.as_u16(), sent.location()), (403, None), "{}", sent.describe());
        let refused = bob.refusal(&opened).stay().send().await;
        assert_eq!(refused.status, 403, "he cannot decline for her either");
        assert!(matches!(stage.interaction(&asked.url()).await.state, InteractionState::Opened { .. }));

        let address = shop.leave(&alice, &asked.url()).await;
        let back = shop.at_checkout(&alice, &address, true).await;
        let looks = shop.checkout.asked().len();
        let flow = alice.cookies().into_iter().find(|cookie| cookie.name.ends_with("-flow")).unwrap();
        for with_her_cookie in [false, true] {
            if with_her_cookie {
                bob.plant_cookie(&format!("{}={}; Path=/", flow.name, flow.value));
            }
            let came = bob.come_back(&back).await;
            assert_eq!(came.status, 403, "{}", came.describe());
            assert!(!came.text().contains("Example Pay"), "{}", came.text());
        }
        assert_eq!(shop.checkout.asked().len(), looks, "nobody was asked for him");

        is_heading(&alice.come_back(&back).await, "Done");
        let others = stage.modern_with(&stage.token_of(other, "editor"));
        assert!(others.call(REPORT.0, REPORT.1).await.is_input_required(), "what she paid is not his");
        let reply = retry(&client, REPORT, &asked, ACCEPT).await;
        assert!(reply.response().result().is_some_and(|result| result.contains("done")), "{}", reply.text());
    }
}

/// R-ID-03 (consent CSRF): Bob pays for his own question and has Alice's browser come back for it, while she has a question of
/// her own open for the same thing: neither hers nor his is done by it.
#[tokio::test]
async fn a_way_back_that_is_sent_to_somebody_else_completes_nothing() {
    let shop = shop_of("", true, Some(Arc::new(Idp::start().await))).await;
    let stage = &shop.stage;
    let his = ask(&stage.modern_with(&stage.token_of("user-2", "editor")), REPORT).await;
    let hers = ask(&stage.modern_with(&stage.token_of("user-1", "editor")), REPORT).await;
    let (alice, bob) = (stage.person_of("user-1").await, stage.person_of("user-2").await);
    let her_address = shop.leave(&alice, &hers.url()).await;
    let address = shop.leave(&bob, &his.url()).await;
    let back = shop.at_checkout(&bob, &address, true).await;
    assert_eq!(alice.come_back(&back).await.status, 403);
    // Her own way back is hers still, and says that nothing was paid.
    let her_back = shop.at_checkout(&alice, &her_address, false).await;
    is_heading(&alice.come_back(&her_back).await, "Waiting for Example Pay");
    for url in [his.url(), hers.url()] {
        assert!(matches!(stage.interaction(&url).await.state, InteractionState::Consented { .. }), "{url}");
    }
    is_heading(&bob.come_back(&back).await, "Done");
}

/// R-ID-03: a browser in which another account has signed in meanwhile does not finish what the first began.
#[tokio::test]
async fn an_account_that_was_switched_on_the_way_finishes_nothing() {
    let shop = shop_of("", true, Some(Arc::new(Idp::start().await))).await;
    let stage = &shop.stage;
    let asked = ask(&stage.modern_with(&stage.token_of("user-1", "editor")), REPORT).await;
    let person = stage.person_of("user-1").await;
    let address = shop.leave(&person, &asked.url()).await;
    let back = shop.at_checkout(&person, &address, true).await;
    let looks = shop.checkout.asked().len();
    for cookie in person.cookies() {
        if !cookie.name.ends_with("-flow") {
            person.plant_cookie(&format!("{}=; Path={}; Max-Age=0", cookie.name, cookie.path));
        }
    }
    let page = person.get("/").await;
    is_heading(&person.sign_in_at(&page, "user-2").await, "Your connections");
    assert!(person.cookies().iter().any(|cookie| cookie.name.ends_with("-flow")), "the same browser");
    assert_eq!(person.come_back(&back).await.status, 403);
    assert_eq!(shop.checkout.asked().len(), looks);
}
