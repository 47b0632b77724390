//! Questions are asked only in modes that the client declared at `initialize`, and that its revision has.

use usher_testkit::{
    client::Legacy,
    upstream::{Question, Refusal, Script, Upstream},
};

use super::begun;
use crate::harness::{CALLS, KEY, Setup, Stage, answered, told};

/// What each client without url mode sends.
fn without_url(stage: &Stage) -> Vec<Legacy> {
    let legacy = || stage.legacy();
    vec![
        legacy().capabilities("{}"),
        legacy().capabilities(r#"{"elicitation":{}}"#),
        legacy().capabilities(r#"{"elicitation":true}"#),
        legacy().elicitation(&["form"]),
        legacy().revision("2025-06-18"),
        legacy().revision("2025-06-18").elicitation(&["url"]),
    ]
}

/// R-CAP-03, R-CAP-07, R-GW-05: a client without url mode, or of a revision that has none, gets no url mode and no -32042:
/// an error leads a person to the portal, and once they are connected a new call works.
#[tokio::test]
async fn a_client_without_url_mode_is_led_to_the_portal() {
    let stage = Stage::new().await;
    let mut clients = Vec::new();
    for client in without_url(&stage) {
        let client = begun(client).await;
        for (method, params) in CALLS {
            let reply = client.call(method, params).await;
            assert_eq!((reply.status.as_u16(), reply.messages.len()), (200, 1), "{}", reply.text());
            let text = told(method, &reply);
            assert!(text.contains(&format!("{} ", stage.portal())), "{text}");
            for word in ["/connect/", "-32042", "\"mode\"", "elicitation/create", "elicitationId"] {
                assert!(!reply.text().contains(word), "{word}: {}", reply.text());
            }
        }
        clients.push(client);
    }
    for (method, _) in CALLS {
        assert!(stage.upstream.requests_of(method).is_empty());
    }
    let person = stage.person().await;
    let portal = person.get("/").await;
    let links: Vec<_> = portal.links().into_iter().filter(|(href, _)| href.starts_with("/connect/")).collect();
    assert_eq!(links.len(), 1, "one question for all of them");
    person.connect(&links[0].0, &[("api_key", KEY)]).await;
    for client in clients {
        for call in CALLS {
            assert!(answered(&client.call(call.0, call.1).await));
        }
    }
    stage.upstream.assert_clean();
}

/// R-CAP-03: url mode alone is enough.
#[tokio::test]
async fn a_client_with_url_mode_alone_is_asked() {
    let stage = Stage::new().await;
    let client = begun(stage.legacy().elicitation(&["url"])).await;
    for call in CALLS {
        super::asked(&client, call).await;
    }
}

/// R-CAP-03, R-CAP-04: a server's question in a mode that the client did not declare is refused for it, also where the server
/// wants the credential with every message; the call goes on.
#[tokio::test]
async fn an_undeclared_question_of_the_server_is_refused_for_the_client() {
    let upstream = Upstream::builder().require("x-api-key", KEY, Refusal::unauthorized()).start().await;
    let stage = Stage::with(Setup::default(), upstream).await;
    stage.connected().await;
    let script = || {
        Script::new().ask(Question::url("pay", "Please pay", "https://pay.example/1")).result_with(|call| {
            assert!(call.answers[0].error && call.answers[0].raw.contains("-32602"), "{:?}", call.answers);
            r#"{"content":[{"type":"text","text":"sunny"}],"contents":[],"messages":[]}"#.to_owned()
        })
    };
    stage.upstream.tool("get_forecast", script());
    stage.upstream.prompt("plan", script());
    stage.upstream.resource("weather://berlin", script());
    let client = begun(stage.legacy().elicitation(&["form"])).await;
    for call in CALLS {
        let reply = client.call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
        assert!(!reply.text().contains("pay.example"), "{}", reply.text());
    }
    stage.upstream.assert_clean();
}
