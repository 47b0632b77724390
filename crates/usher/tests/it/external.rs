//! Visits to somebody else's page: a payment, confirmed by a request of ours or through the API.

use std::{fmt::Write as _, sync::Arc};

use http::Method;
use usher::broker::NotCompleted;
use usher_store::{AuditAction, InteractionId, InteractionState};
use usher_testkit::{
    checkout::{Checkout, Confirming},
    client::{Modern, Reply},
    idp::Idp,
    person::{Page, Person},
    upstream::{Question, Script, Upstream},
};

use crate::{
    harness::{ACCEPT, Setup, Stage},
    needs_modern::{ask, retry},
};

const SECRET: &str = "secret-of-the-merchant";
pub(crate) const REPORT: (&str, &str) = ("tools/call", r#"{"name":"buy_report","arguments":{"number":7}}"#);

pub(crate) struct Shop {
    pub(crate) stage: Stage,
    pub(crate) checkout: Checkout,
}

/// The payment page, with these lines more in its `[[provider]]`, and with or without a confirmation.
async fn shop(lines: &str, confirms: bool) -> Shop {
    shop_of(lines, confirms, None).await
}

/// The same where people sign in at this issuer, if there is one.
pub(crate) async fn shop_of(lines: &str, confirms: bool, issuer: Option<Arc<Idp>>) -> Shop {
    let checkout = Checkout::start(SECRET).await;
    let mut more = format!(
        "[[provider]]\nname = \"pay\"\ntitle = \"Example Pay\"\nkind = \"external\"\nabout = \"You pay 3 euros.\"\nurl = \"{}\"\n{lines}\n",
        checkout.page()
    );
    if confirms {
        write!(
            more,
            "[provider.confirm]\nget = \"{}\"\nheader = {{ Authorization = \"Bearer {{secret}}\" }}\nsecret = \"{SECRET}\"\n\
             field = \"status\"\nequals = \"paid\"\n",
            checkout.question()
        )
        .unwrap();
    }
    let upstream = Upstream::start().await;
    upstream.tool("buy_report", Script::new().text("done"));
    let need = "[[upstream.needs]]\nprovider = \"pay\"\n".to_owned();
    let second = issuer.is_none();
    let setup = Setup { free: true, second, upstream: need, more, issuer, ..Setup::default() };
    Shop { stage: Stage::with(setup, upstream).await, checkout }
}

fn went(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| result.contains("done"))
}

fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}

impl Shop {
    /// Agrees on the page of the question; the address that the browser is sent to.
    pub(crate) async fn leave(&self, person: &Person, url: &str) -> String {
        let page = person.get(url).await;
        let left = person.agreement(&page, &[]).send().await;
        assert_eq!(left.status, 200, "{}", left.describe());
        left.refresh().unwrap().to_owned()
    }

    /// Presses the first button there (`pay`) or the second; the address that leads back.
    pub(crate) async fn at_checkout(&self, person: &Person, address: &str, pay: bool) -> String {
        assert!(address.starts_with(&self.checkout.origin()), "{address}");
        let page = person.get(address).await;
        let form = page.form_by_button(if pay { "Pay" } else { "Cancel" });
        let back = person.submission(&page, &form, None, &[]).send().await;
        back.location().unwrap().to_owned()
    }

    /// Asked, agreed, and at the checkout, where the person pays (`pay`) or does not: the question, the person, and the address
    /// that leads back.
    async fn gone(&self, client: &Modern, pay: bool) -> (Reply, Person, String) {
        let asked = ask(client, REPORT).await;
        let person = self.stage.person().await;
        let address = self.leave(&person, &asked.url()).await;
        let back = self.at_checkout(&person, &address, pay).await;
        (asked, person, back)
    }

    async fn state(&self, url: &str) -> InteractionState {
        self.stage.interaction(url).await.state
    }

    fn id(url: &str) -> InteractionId {
        InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap()
    }
}

/// R-GW-03, R-MRTR-03: out, paid, back, confirmed by our own request; the call goes on, once.
#[tokio::test]
async fn a_paid_call_goes_on_once() {
    let shop = shop("", true).await;
    let client = shop.stage.modern();
    let asked = ask(&client, REPORT).await;
    let person = shop.stage.person().await;
    let page = person.get(&asked.url()).await;
    is_heading(&page, "Continue at Example Pay");
    assert!(page.text().contains("You pay 3 euros.") && page.text().contains("buy_report"), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self';"), "{policy}");
    assert!(!person.cookies().iter().any(|cookie| cookie.name.ends_with("-flow")), "no flow cookie before consent");
    assert!(shop.checkout.asked().is_empty(), "nothing is asked before consent");

    let address = shop.leave(&person, &asked.url()).await;
    assert!(address.contains(&format!("id={}", Shop::id(&asked.url()))));
    assert!(person.set_cookie_lines().iter().any(|line| {
        line.contains("-flow=")
            && line.contains("; HttpOnly")
            && line.contains("; SameSite=Lax")
            && line.contains("; Path=/")
    }));
    let back = shop.at_checkout(&person, &address, true).await;
    assert!(back.starts_with(&format!("{}/return/pay?token=", shop.stage.origin)), "{back}");
    is_heading(&person.get(&back).await, "Done");
    assert!(went(&retry(&client, REPORT, &asked, ACCEPT).await));
    let again = retry(&client, REPORT, &asked, ACCEPT).await;
    assert!(again.is_input_required() && again.url() != asked.url(), "{}", again.text());
    assert_eq!(shop.stage.upstream.requests_of("tools/call").len(), 1);
    shop.stage.upstream.assert_clean();
}

/// R-MRTR-03, R-MRTR-05: a server that asks something itself before it runs a paid call needs one payment; no round runs twice.
#[tokio::test]
async fn a_server_that_asks_itself_needs_one_payment() {
    const FILLED: &str = r#"{"action":"accept","content":{"z":"blue"}}"#;
    let shop = shop("", true).await;
    let schema = r#"{"type":"object","properties":{"z":{"type":"string"}},"required":["z"]}"#;
    let script = Script::new().ask(Question::form("colour", "Which colour?", schema)).text("done");
    shop.stage.upstream.tool("buy_report", script);
    let client = shop.stage.modern();
    let asked = ask(&client, REPORT).await;
    let person = shop.stage.person().await;
    let address = shop.leave(&person, &asked.url()).await;
    person.get(&shop.at_checkout(&person, &address, true).await).await;
    let colour = retry(&client, REPORT, &asked, ACCEPT).await;
    assert_eq!(colour.input_requests().keys().collect::<Vec<_>>(), ["colour"], "{}", colour.text());
    assert!(went(&retry(&client, REPORT, &colour, FILLED).await));
    let replayed = retry(&client, REPORT, &colour, FILLED).await;
    assert!(replayed.is_input_required() && replayed.url() != asked.url(), "{}", replayed.text());
    assert_eq!(shop.stage.upstream.requests_of("tools/call").len(), 2);
}

/// R-MRTR-03: who paid and was cut off comes back within a day and does not pay again; a server that was away took nothing.
#[tokio::test]
async fn a_payment_waits_for_its_call_for_a_day() {
    let shop = shop("", true).await;
    let client = shop.stage.modern();
    let asked = ask(&client, REPORT).await;
    let person = shop.stage.person().await;
    let address = shop.leave(&person, &asked.url()).await;
    person.get(&shop.at_checkout(&person, &address, true).await).await;
    shop.stage.upstream.stop();
    // A connection that is kept finds out first.
    client.call("tools/list", "{}").await;
    assert!(client.call(REPORT.0, REPORT.1).await.text().contains("cannot be reached"));
    shop.stage.upstream.restart().await;
    shop.stage.clock.forward(23 * 3600);
    assert!(went(&client.call(REPORT.0, REPORT.1).await));
    assert!(client.call(REPORT.0, REPORT.1).await.is_input_required(), "once");
}

/// The older protocol: the held call goes on.
#[tokio::test]
async fn a_held_call_goes_on_when_it_is_paid() {
    let shop = shop("", true).await;
    let client = shop.stage.ready().await;
    let mut stream = client.open(REPORT.0, REPORT.1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    let person = shop.stage.person().await;
    let address = shop.leave(&person, &url).await;
    let back = shop.at_checkout(&person, &address, true).await;
    person.get(&back).await;
    assert!(went(&stream.reply().await));
}

/// To be back is not to have paid: the page says so, and asks again when the person does.
#[tokio::test]
async fn a_return_without_payment_completes_nothing() {
    let shop = shop("", true).await;
    let (asked, person, back) = shop.gone(&shop.stage.modern(), false).await;
    let page = person.get(&back).await;
    is_heading(&page, "Waiting for Example Pay");
    assert!(page.text().contains("says that it is not done yet"), "{}", page.text());
    let again = person.get(&page.url).await;
    assert_eq!(again.status, 200, "to load it again is no second way back: {}", again.describe());
    assert!(again.text().contains("says that it is not done yet"), "{}", again.text());
    let forged = person.get(&page.url.replace("not-yet.", "too-slow.A")).await;
    assert!(!forged.text().contains("within 10 seconds"), "{}", forged.text());
    assert_eq!(shop.checkout.asked().len(), 1);
    for asked in [1, 2] {
        let page = person.agree(&page, &[]).await;
        is_heading(&page, "Waiting for Example Pay");
        assert!(page.text().contains("says that it is not done yet"), "{}", page.text());
        assert_eq!(shop.checkout.asked().len(), asked, "at most once in five seconds");
        shop.stage.clock.forward(5);
    }
    assert!(matches!(shop.state(&asked.url()).await, InteractionState::Consented { .. }));
    shop.checkout.receive(Shop::id(&asked.url()).as_str());
    is_heading(&person.agree(&page, &[]).await, "Done");
    assert_eq!(shop.checkout.asked().len(), 3);
}

/// R-SEC-04, R-SEC-05: another side that is down, answers nonsense, too much, or sends us elsewhere confirms nothing.
#[tokio::test]
async fn only_a_plain_answer_confirms() {
    let shop = shop("", true).await;
    let (asked, person, back) = shop.gone(&shop.stage.modern(), true).await;
    shop.checkout.behave(Confirming::Drop);
    let mut page = person.get(&back).await;
    assert!(page.text().contains("could not be reached"), "{}", page.text());
    let elsewhere = format!("{}/api/orders/x", shop.checkout.origin());
    for confirming in [
        Confirming::Huge(80 * 1024),
        Confirming::Redirect(elsewhere),
        Confirming::Says(500, r#"{"status":"paid"}"#.to_owned()),
        Confirming::Says(200, r#"{"status":true}"#.to_owned()),
        Confirming::Says(200, r#"{"status":"open","status":"paid"}"#.to_owned()),
        Confirming::Says(200, "paid".to_owned()),
    ] {
        shop.checkout.behave(confirming.clone());
        shop.stage.clock.forward(5);
        page = person.agree(&page, &[]).await;
        assert!(page.text().contains("did not give an answer"), "{confirming:?}: {}", page.text());
        assert!(!page.html.contains(SECRET));
    }
    assert!(matches!(shop.state(&asked.url()).await, InteractionState::Consented { .. }));
    shop.checkout.behave(Confirming::Honest);
    shop.stage.clock.forward(5);
    is_heading(&person.agree(&page, &[]).await, "Done");
}

/// R-SEC-04: another side that is silent keeps the person ten seconds.
#[tokio::test]
async fn a_silent_side_is_given_up() {
    let shop = shop("", true).await;
    let (_, person, back) = shop.gone(&shop.stage.modern(), true).await;
    shop.checkout.behave(Confirming::Silence);
    let page = person.visit(Method::GET, &back).patience(std::time::Duration::from_secs(20)).send().await;
    assert!(page.text().contains("did not answer within 10 seconds"), "{}", page.text());
}

/// R-OAUTH-02, R-SEC-06, R-ID-03: a way back works once, in the browser and the session that left, for that question.
#[tokio::test]
async fn a_way_back_is_good_once_and_for_one_browser() {
    let shop = shop("", true).await;
    let client = shop.stage.modern();
    let (asked, person, back) = shop.gone(&client, true).await;
    let other = shop.stage.person().await;
    let refused = async |person: &Person, address: &str| {
        let page = person.get(address).await;
        assert_eq!(page.status, 403, "{}", page.describe());
        is_heading(&page, "This way back does not work");
    };
    refused(&other, &back).await;
    let flow = person.cookies().into_iter().find(|cookie| cookie.name.ends_with("-flow")).unwrap();
    other.plant_cookie(&format!("{}={}; Path=/", flow.name, flow.value));
    refused(&other, &back).await;
    refused(&person, &back.replace("/return/pay", "/return/other")).await;
    refused(&person, &format!("{back}A")).await;
    refused(
        &person,
        &format!("{}.{}", back.split('.').collect::<Vec<_>>()[..back.matches('.').count()].join("."), "A".repeat(43)),
    )
    .await;
    for nothing in ["/return/pay", "/return/pay?token=x", "/return/pay?token=."] {
        assert_eq!(person.get(nothing).await.status, 404, "{nothing}");
    }
    let stranger = Person::new(&shop.stage.origin).language("en");
    let to_sign_in = stranger.visit(Method::GET, &back).stay().send().await;
    assert_eq!(to_sign_in.location(), Some("/login"));
    assert!(shop.checkout.asked().is_empty(), "no wrong return has us ask");
    is_heading(&person.get(&back).await, "Done");
    refused(&person, &back).await;
    assert_eq!(shop.checkout.asked().len(), 1);
    assert!(shop.stage.audited(AuditAction::ReturnRefused).await >= 5);
    assert!(went(&retry(&client, REPORT, &asked, ACCEPT).await));
}

/// Without a confirmation the other side says so itself, through the API: only after consent, for its own server, once.
#[tokio::test]
async fn the_other_side_can_say_that_it_is_done() {
    let shop = shop("", false).await;
    let client = shop.stage.modern();
    let asked = ask(&client, REPORT).await;
    let (id, broker) = (Shop::id(&asked.url()), &shop.stage.app().broker);
    let person = shop.stage.person().await;
    let early = broker.complete_external("weather", &id).await;
    assert!(matches!(early, Err(NotCompleted::State(_))), "{early:?}");
    let address = shop.leave(&person, &asked.url()).await;
    let back = shop.at_checkout(&person, &address, true).await;
    let page = person.get(&back).await;
    assert!(page.text().contains("Usher is told by Example Pay"), "{}", page.text());
    assert!(shop.checkout.asked().is_empty());
    let foreign = broker.complete_external("other", &id).await;
    assert!(matches!(foreign, Err(NotCompleted::NotFound)), "{foreign:?}");
    let done = broker.complete_external("weather", &id).await.unwrap();
    let again = broker.complete_external("weather", &id).await.unwrap();
    assert_eq!(done, again, "a second time says the same");
    is_heading(&person.agree(&page, &[]).await, "Done");
    assert!(went(&retry(&client, REPORT, &asked, ACCEPT).await));
    assert!(client.call(REPORT.0, REPORT.1).await.is_input_required(), "once");
    broker.complete_external("weather", &id).await.unwrap();
    assert!(client.call(REPORT.0, REPORT.1).await.is_input_required(), "saying it again is no second payment");
}

/// What is done once for a user is kept like a connection, is seen on the portal, and ends there.
#[tokio::test]
async fn a_visit_for_a_user_is_good_until_they_disconnect() {
    let shop = shop("per = \"user\"", true).await;
    let client = shop.stage.modern();
    let (asked, person, back) = shop.gone(&client, true).await;
    is_heading(&person.get(&back).await, "Done");
    assert!(went(&retry(&client, REPORT, &asked, ACCEPT).await));
    let other = r#"{"name":"buy_report","arguments":{"number":8}}"#;
    assert!(went(&client.call(REPORT.0, other).await), "good for every call");
    let portal = person.get("/").await;
    assert!(portal.text().contains("Example Pay"), "{}", portal.text());
    let second = shop.stage.modern().token(crate::harness::SECOND);
    let new_client = ask(&second, REPORT).await;
    let allow = person.get(&new_client.url()).await;
    assert!(allow.text().contains("not allowed yet"), "{}", allow.text());
    person.agree(&allow, &[]).await;
    assert!(went(&retry(&second, REPORT, &new_client, ACCEPT).await));
    let page = person.get("/connections/pay/disconnect").await;
    person.agree(&page, &[]).await;
    assert!(client.call(REPORT.0, REPORT.1).await.is_input_required());
}

/// A decline after leaving ends the call; what comes later from the other side changes nothing.
#[tokio::test]
async fn a_decline_after_leaving_ends_the_call() {
    let shop = shop("", true).await;
    let client = shop.stage.modern();
    let (asked, person, back) = shop.gone(&client, true).await;
    is_heading(&person.decline(&asked.url()).await, "Declined");
    is_heading(&person.get(&back).await, "Declined");
    let late = shop.stage.app().broker.complete_external("weather", &Shop::id(&asked.url())).await;
    assert!(matches!(late, Err(NotCompleted::State(_))), "{late:?}");
    let told = retry(&client, REPORT, &asked, ACCEPT).await.content_text();
    assert!(told.starts_with("The step at Example Pay was declined"), "{told}");
}
