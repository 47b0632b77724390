//! What a person does again: connects what was refused, takes more time, comes back to an old link.

use usher_testkit::{
    client::Modern,
    provider::Api,
    upstream::{Script, Upstream},
};

use super::{is_heading, link};
use crate::harness::{CALLS, KEY, SECOND, Setup, Stage, answered};

/// What was refused is connected again from the portal, without an app: the error that calls end with leads there.
#[tokio::test]
async fn what_was_refused_is_connected_again_from_the_portal() {
    let stage = Stage::new().await;
    let person = stage.connected_with("wrong-key").await;
    stage.modern().call(CALLS[0].0, CALLS[0].1).await;
    let portal = person.get("/").await;
    let form = portal.form_by_action("/connections/weather/reconnect");
    let page = person.submit(&portal, &form, None, &[]).await;
    is_heading(&page, "Connect Weather again");
    assert!(page.text().contains("You are entering a new key for Weather."), "{}", page.text());
    assert!(!page.text().contains("did not just ask"), "{}", page.text());
    // Only the redirect after the press says who began it: a mark that somebody wrote says nothing.
    let (address, mark) = page.url.split_once("?begun=").unwrap();
    for other in [address.to_owned(), format!("{address}?begun=1"), format!("{address}?begun={}A", &mark[1..])] {
        assert!(person.get(&other).await.text().contains("did not just ask"), "{other}");
    }
    let wrong = person.agree(&page, &[("api_key", "")]).await;
    assert!(wrong.text().contains("You are entering a new key for Weather."), "{}", wrong.text());
    let done = person.agree(&wrong, &[("api_key", KEY)]).await;
    is_heading(&done, "Connected");
    assert!(done.text().contains("Whether it works shows at the first use."), "{}", done.text());
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await));
    let portal = person.get("/").await;
    assert!(!portal.html.contains("/reconnect"), "what works needs no other key: {}", portal.text());
    // The form of a page that was open before leads to what there is now.
    is_heading(&person.submit(&portal, &form, None, &[]).await, "Your connections");
}

/// WCAG 2.2, 2.2.1: a button gives more time; what was typed and is no secret stays.
#[tokio::test]
async fn a_person_can_take_more_time() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    assert!(page.html.contains("value=\"extend\""), "{}", page.html);
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    stage.clock.forward(14 * 60);
    let longer = person.post_form(&url, &[("csrf", &csrf), ("action", "extend"), ("api_key", KEY)]).await;
    assert_eq!(longer.status, 200, "{}", longer.describe());
    assert!(!longer.html.contains(KEY), "{}", longer.html);
    stage.clock.forward(14 * 60);
    is_heading(&person.agree(&longer, &[("api_key", KEY)]).await, "Connected");
}

/// An old link does not say "Connected" of what was disconnected since.
#[tokio::test]
async fn an_old_link_knows_that_the_connection_is_gone() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    is_heading(&person.connect(&url, &[("api_key", KEY)]).await, "Connected");
    let ask = person.get("/connections/weather/disconnect").await;
    person.agree(&ask, &[]).await;
    is_heading(&person.get(&url).await, "Not connected any more");
}

/// R-GW-04, R-OAUTH-03: the page names everybody who uses the key, and the address where it is checked; "only there" is
/// said of one place alone.
#[tokio::test]
async fn the_page_names_every_place_that_gets_the_key() {
    let setup = Setup { second: true, ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    let second = stage.modern().token(SECOND);
    let person = stage.connected_with("wrong-key").await;
    let allow = person.get(&second.call(CALLS[0].0, CALLS[0].1).await.url()).await;
    assert!(allow.text().contains("only there"), "{}", allow.text());
    is_heading(&person.agree(&allow, &[]).await, "Connected");
    let again = person.get(&link(&stage).await).await;
    is_heading(&again, "Connect Weather again");
    assert!(again.text().contains("Also used by second, with Weather at"), "{}", again.text());

    let stage = Stage::with(Setup { check: true, ..Setup::default() }, Upstream::start().await).await;
    let page = stage.person().await.get(&link(&stage).await).await;
    assert!(page.text().contains(&format!("Checked at {}", stage.api.url(""))), "{}", page.text());
    assert!(!page.text().contains("only there"), "{}", page.text());
}

/// A header that uses an empty optional field is left out, in the check and in the call alike.
#[tokio::test]
async fn an_optional_field_may_stay_empty() {
    let (api, tracker) = (Api::start("x-api-key", KEY).await, Upstream::start().await);
    tracker.tool("get_forecast", Script::new().require("x-api-key", KEY).text("sunny"));
    let more = format!(
        "[[provider]]\nname = \"tracker\"\nkind = \"secret\"\n\
         field = [{{ name = \"key\" }}, {{ name = \"team\", required = false }}]\n\
         check = {{ get = \"{}\", header = {{ X-Api-Key = \"{{key}}\", X-Team = \"{{team}}\" }} }}\n\
         [[upstream]]\nname = \"tracker\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"tracker\"\n\
         header = {{ X-Api-Key = \"{{key}}\", X-Team = \"team {{team}}\" }}\n",
        api.url("/me"),
        tracker.url(),
    );
    let stage = Stage::with(Setup { more, ..Setup::default() }, Upstream::start().await).await;
    let client = Modern::new(format!("{}/mcp/tracker", stage.origin)).token(&stage.token).elicitation(&["form", "url"]);
    let url = client.call(CALLS[0].0, CALLS[0].1).await.url();
    let done = stage.person().await.connect(&url, &[("key", KEY), ("team", "")]).await;
    is_heading(&done, "Connected");
    assert!(answered(&client.call(CALLS[0].0, CALLS[0].1).await));
    assert_eq!(api.requests()[0].header("x-team"), None);
    let call = tracker.requests_of("tools/call").pop().unwrap();
    assert_eq!((call.header("x-api-key"), call.header("x-team")), (Some(KEY), None));
}
