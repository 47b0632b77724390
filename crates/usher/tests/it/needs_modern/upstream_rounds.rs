//! The upstream's own rounds pass, sealed into ours, and survive a question of ours in their middle.

use usher_testkit::upstream::{Question, Script, Upstream};

use crate::{
    harness::{ACCEPT, CALLS, KEY, Setup, Stage},
    needs_modern::{ask, retry},
};

const SCHEMA: &str = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["z"]}"#;
const FILLED: &str = r#"{"action":"accept","content":{"z":"window","a":9007199254740993}}"#;
const BOOKED: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"booked"}]}"#;

/// Asks two forms in two rounds, then books.
fn booking() -> Script {
    Script::new()
        .require("x-api-key", KEY)
        .ask(Question::form("seat", "Which seat?", SCHEMA))
        .ask(Question::form("meal", "Which meal?", SCHEMA))
        .result_with(|call| {
            assert_eq!(call.answer("seat"), Some(FILLED));
            assert_eq!(call.answer("meal"), Some(FILLED));
            BOOKED.to_owned()
        })
}

/// R-GW-01, R-MRTR-02, R-MRTR-05, R-FORM-10, R-FORM-11: forms pass as the server wrote them; its state is sealed on the
/// way out and unchanged when it comes back.
#[tokio::test]
async fn the_servers_own_questions_pass_and_its_state_stays_its_own() {
    let stage = Stage::new().await;
    stage.connected().await;
    let client = stage.modern();
    for call in CALLS {
        match call.0 {
            "tools/call" => stage.upstream.tool("get_forecast", booking()),
            "prompts/get" => stage.upstream.prompt("plan", booking()),
            _ => stage.upstream.resource("weather://berlin", booking()),
        };
        let seat = ask(&client, call).await;
        assert!(seat.text().contains(&format!("\"requestedSchema\":{SCHEMA}")), "{}", seat.text());
        assert_eq!(seat.input_requests().keys().collect::<Vec<_>>(), ["seat"]);
        assert!(!seat.request_state().unwrap().contains('é'), "the server's state is not readable");
        let meal = retry(&client, call, &seat, FILLED).await;
        assert_eq!(meal.input_requests().keys().collect::<Vec<_>>(), ["meal"], "{}", meal.text());
        assert_ne!(meal.request_state(), seat.request_state());
        let done = retry(&client, call, &meal, FILLED).await;
        assert!(done.text().contains("booked"), "{}", done.text());
        stage.upstream.assert_clean();
    }
}

/// R-GW-03, R-MRTR-04: the credential goes away between two rounds of the server: ours is asked in between, and the
/// server's state and the answers it asked for survive.
#[tokio::test]
async fn a_credential_that_goes_missing_between_rounds_is_asked_for_and_the_rounds_go_on() {
    for call in CALLS {
        let stage = Stage::new().await;
        let person = stage.connected().await;
        match call.0 {
            "tools/call" => stage.upstream.tool("get_forecast", booking()),
            "prompts/get" => stage.upstream.prompt("plan", booking()),
            _ => stage.upstream.resource("weather://berlin", booking()),
        };
        let client = stage.modern();
        let seat = ask(&client, call).await;
        let question = person.get("/connections/weather/disconnect").await;
        person.agree(&question, &[]).await;
        let ours = retry(&client, call, &seat, FILLED).await;
        assert!(ours.is_input_required(), "{}", ours.text());
        assert!(ours.url().contains("/connect/"));
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1, "the retry waits here");
        person.connect(&ours.url(), &[("api_key", KEY)]).await;
        let meal = retry(&client, call, &ours, ACCEPT).await;
        assert_eq!(meal.input_requests().keys().collect::<Vec<_>>(), ["meal"], "{}", meal.text());
        let done = retry(&client, call, &meal, FILLED).await;
        assert!(done.text().contains("booked"), "{}", done.text());
        stage.upstream.assert_clean();
    }
}

/// R-MRTR-04: a server that asks without a state of its own gets its answers, also when ours is asked in between.
#[tokio::test]
async fn answers_to_a_question_without_state_survive_a_question_of_ours() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    let script = Script::new()
        .require("x-api-key", KEY)
        .ask(Question::form("seat", "Which seat?", SCHEMA).without_state())
        .result_with(|call| {
            assert_eq!(call.answer("seat"), Some(FILLED));
            BOOKED.to_owned()
        });
    stage.upstream.tool("get_forecast", script);
    let client = stage.modern();
    let call = CALLS[0];
    let seat = ask(&client, call).await;
    assert_eq!(seat.request_state(), None);
    let question = person.get("/connections/weather/disconnect").await;
    person.agree(&question, &[]).await;
    let ours = retry(&client, call, &seat, FILLED).await;
    person.connect(&ours.url(), &[("api_key", KEY)]).await;
    let done = retry(&client, call, &ours, ACCEPT).await;
    assert!(done.text().contains("booked"), "{}", done.text());
    stage.upstream.assert_clean();
}

/// R-CAP-03, R-CAP-05: a server that asks in a mode that the client did not declare does not get through.
#[tokio::test]
async fn an_undeclared_question_of_the_server_never_reaches_the_client() {
    let stage = Stage::with(Setup { free: true, ..Setup::default() }, Upstream::start().await).await;
    let url = || Question::url("pay", "Please pay", "https://pay.example/1");
    let sampling = || Question::request("think", "sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#);
    for (declared, question, named) in [
        (&["form"][..], url(), "url"),
        (&["url"], Question::form("seat", "Which seat?", SCHEMA), "form"),
        (&["form", "url"], sampling(), "sampling"),
        (
            &["form"],
            Question::form("seat", "Which seat?", SCHEMA).and_url("pay", "Pay", "https://pay.example/1"),
            "url",
        ),
    ] {
        stage.upstream.tool("get_forecast", Script::new().ask(question.clone()));
        stage.upstream.prompt("plan", Script::new().ask(question.clone()));
        stage.upstream.resource("weather://berlin", Script::new().sse().ask(question));
        for (method, params) in CALLS {
            let reply = stage.modern().elicitation(declared).call(method, params).await;
            assert_eq!(reply.error_code(), -32021, "{declared:?} {method}: {}", reply.text());
            let required = reply.error()["data"]["requiredCapabilities"].to_string();
            assert!(required.contains(named), "{required}");
            assert!(
                !reply.text().contains("pay.example") && !reply.text().contains("inputRequests"),
                "{}",
                reply.text()
            );
        }
    }
}
