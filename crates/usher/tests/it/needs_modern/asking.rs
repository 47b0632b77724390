//! What a question looks like, and how many there are.

use std::fmt::Write as _;

use serde_json::json;
use usher_store::AuditAction;

use crate::{
    harness::{ACCEPT, CALLS, KEY, Setup, Stage, answered},
    needs_modern::{ask, retry},
};
use usher_testkit::upstream::{Script, Upstream};

/// R-URL-01, R-URL-02, R-URL-03, R-REQ-01, R-ERR-03: one url elicitation with a message and a link that carries nothing but the
/// interaction, and no `elicitationId`.
#[tokio::test]
async fn the_question_is_a_link_that_carries_nothing_else() {
    let stage = Stage::new().await;
    for call in CALLS {
        let asked = ask(&stage.modern(), call).await;
        assert!(!asked.text().contains("elicitationId"), "{}", asked.text());
        assert!(!asked.sse, "a question needs no stream");
        let requests = asked.input_requests();
        assert_eq!(requests.len(), 1);
        let request = requests.values().next().unwrap();
        assert_eq!(request["method"], "elicitation/create");
        let params = request["params"].as_object().unwrap();
        let mut members: Vec<&String> = params.keys().collect();
        members.sort();
        assert_eq!(members, ["message", "mode", "url"]);
        assert_eq!(params["mode"], "url");
        let message = params["message"].as_str().unwrap();
        assert!(message.contains("Weather") && !message.contains("http"), "{message}");
        let url = params["url"].as_str().unwrap();
        let id = url.strip_prefix(&format!("{}/connect/", stage.origin)).unwrap();
        assert_eq!(id.len(), 43, "{url}");
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{url}");
        assert_eq!(stage.interaction(url).await.provider, "weather");
    }
}

/// R-SEC-01: calls that lack the same credential lead to one page, and one visit serves them all.
#[tokio::test]
async fn parallel_calls_share_one_question() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let (tool, prompt, resource) = tokio::join!(ask(&client, CALLS[0]), ask(&client, CALLS[1]), ask(&client, CALLS[2]));
    assert_eq!(tool.url(), prompt.url());
    assert_eq!(tool.url(), resource.url());
    assert_eq!(stage.waiting().await.len(), 1);
    stage.person().await.connect(&tool.url(), &[("api_key", KEY)]).await;
    for (call, asked) in CALLS.into_iter().zip([tool, prompt, resource]) {
        assert!(answered(&retry(&client, call, &asked, ACCEPT).await));
    }
    stage.upstream.assert_clean();
}

/// R-SEC-01: ten calls at once are ten questions with one link, and none is too many.
#[tokio::test]
async fn ten_parallel_calls_are_asked_the_same() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let asked = futures_util::future::join_all((0..10).map(|_| ask(&client, CALLS[0]))).await;
    assert!(asked.iter().all(|one| one.url() == asked[0].url()));
    assert_eq!(stage.waiting().await.len(), 1);
    stage.person().await.connect(&asked[0].url(), &[("api_key", KEY)]).await;
    for one in &asked {
        assert!(answered(&retry(&client, CALLS[0], one, ACCEPT).await));
    }
}

/// A second credential beside the weather's.
fn two_providers() -> Setup {
    let mut setup = Setup::default();
    let needs = "[[upstream.needs]]\nprovider = \"mail\"\nheader = { X-Mail-Key = \"{mail_key}\" }\n";
    setup.needs.push_str(needs);
    let provider = "[[provider]]\nname = \"mail\"\ntitle = \"Mail\"\nkind = \"secret\"\n";
    write!(setup.more, "{provider}[[provider.field]]\nname = \"mail_key\"\nlabel = \"Mail key\"\n").unwrap();
    setup
}

/// R-GW-03, R-MRTR-08: all that is missing is asked in one round, each under a key of its own; what is connected is not
/// asked again.
#[tokio::test]
async fn two_missing_credentials_are_asked_in_one_round() {
    let stage = Stage::with(two_providers(), Upstream::start().await).await;
    let script = Script::new().require("x-api-key", KEY).require("x-mail-key", "mail-1").text("sunny");
    stage.upstream.tool("get_forecast", script);
    let client = stage.modern();
    let asked = ask(&client, CALLS[0]).await;
    let requests = asked.input_requests();
    let urls: Vec<&str> = requests.values().map(|request| request["params"]["url"].as_str().unwrap()).collect();
    assert_eq!(urls.len(), 2);
    assert_ne!(urls[0], urls[1]);
    let person = stage.person().await;
    person.connect(urls[0], &[("api_key", KEY)]).await;
    let key = requests.keys().next().unwrap();
    let only = json!({ key: { "action": "accept" } }).to_string();
    let state = asked.request_state();
    let second = client.retry(CALLS[0].0, CALLS[0].1, Some(&only), state.as_deref()).await;
    assert_eq!(second.input_requests().len(), 1, "{}", second.text());
    assert_eq!(second.url(), urls[1]);
    person.connect(urls[1], &[("mail_key", "mail-1")]).await;
    assert!(answered(&retry(&client, CALLS[0], &second, ACCEPT).await));
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}

/// R-SEC-01, R-SEC-03: questions are limited per client; the error says when to try again, and the log tells of it.
#[tokio::test]
async fn too_many_questions_are_refused() {
    let stage = Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await;
    let client = stage.modern();
    let mut asked = 0;
    let refused = loop {
        let reply = client.call(CALLS[1].0, CALLS[1].1).await;
        if !reply.is_input_required() {
            break reply;
        }
        asked += 1;
        assert!(asked < 200, "there is no limit");
    };
    assert!(asked >= 10, "a limit that people meet: {asked}");
    assert!(refused.error_message().contains("Try again in"), "{}", refused.text());
    assert!(!client.call(CALLS[1].0, CALLS[1].1).await.is_input_required());
    let audited = stage.audited(AuditAction::InteractionLimited).await;
    assert_eq!(audited, 1, "audited, and once a minute is enough");
    let other = stage.modern().token(crate::harness::SECOND);
    ask(&other, CALLS[1]).await;
}
