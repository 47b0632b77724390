//! Questions that the client cannot answer: refused to the upstream for it (R-CAP-03, R-CAP-04).

use usher_testkit::{
    client::Legacy,
    sse::event,
    upstream::{Question, Refusal, Script, Upstream},
};

use crate::harness::{KEY, Setup, Stage};

const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;

fn echo(question: Question) -> Script {
    Script::new().ask(question).result_with(|call| {
        let answer = &call.answers[0];
        format!(r#"{{"error":{},"said":{}}}"#, answer.error, answer.raw)
    })
}

async fn refused(client: &Legacy, what: &str) {
    let reply = client.tool("ask", "{}").await;
    assert!(!reply.text().contains("elicitation/create"), "{what}: {}", reply.text());
    let result = reply.result();
    assert_eq!(result["error"], true, "{what}: {result}");
    assert_eq!(result["said"]["code"], -32602, "{what}: {result}");
}

/// R-CAP-03, R-CAP-04, R-REQ-02: the upstream hears -32602, and the client nothing.
#[tokio::test]
async fn a_mode_that_was_not_declared_is_refused_for_the_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let form = Question::form("q", "m", SCHEMA);
    let bare = Question::request("q", "elicitation/create", r#"{"message":"m","requestedSchema":{}}"#);
    let url = Question::url("q", "m", "https://hidden.example/");
    for (capabilities, questions) in [
        ("{}", vec![&form, &bare, &url]),
        (r#"{"sampling":{}}"#, vec![&form, &bare, &url]),
        (r#"{"elicitation":true}"#, vec![&form, &bare, &url]),
        (r#"{"elicitation":{}}"#, vec![&url]),
        (r#"{"elicitation":{"form":{}}}"#, vec![&url]),
        (r#"{"elicitation":{"url":{}}}"#, vec![&form, &bare]),
    ] {
        let client = stage.legacy().capabilities(capabilities);
        client.initialize().await;
        for question in questions {
            stage.upstream.tool("ask", echo(question.clone()));
            refused(&client, capabilities).await;
        }
    }
    stage.upstream.assert_clean();
}

/// R-REQ-02: a mode that nobody knows is never taken for a form.
#[tokio::test]
async fn a_mode_that_nobody_knows_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    for mode in ["\"popup\"", "\"FORM\"", "\"\"", "7", "[\"form\"]", "\"url\",\"mode\":\"form\""] {
        let params =
            format!(r#"{{"mode":{mode},"message":"m","requestedSchema":{SCHEMA},"url":"https://a.example/"}}"#);
        stage.upstream.tool("ask", echo(Question::request("q", "elicitation/create", &params)));
        refused(&client, mode).await;
    }
    stage.upstream.assert_clean();
}

/// R-FORM-02: a form that is none is refused with the property, and the call goes on as the upstream likes.
#[tokio::test]
async fn a_form_that_is_none_is_refused_with_its_property() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    for (property, place) in [
        (r#"{"type":"object","properties":{}}"#, "/properties/a is a nested object"),
        (r#"{"type":["string","null"]}"#, "/properties/a/type is of type array"),
        (r##"{"$ref":"#/$defs/A"}"##, "/properties/a/$ref is not allowed"),
    ] {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{property}}}}}"#);
        stage.upstream.tool("ask", echo(Question::form("q", "m", &schema)));
        refused(&client, property).await;
        let said = client.tool("ask", "{}").await.result()["said"]["message"].to_string();
        assert!(said.contains(place), "{said}");
    }
    stage.upstream.assert_clean();
}

/// R-CAP-03: the same on the GET stream, in a message that the upstream can read.
#[tokio::test]
async fn a_mode_that_was_not_declared_is_refused_on_the_get_stream() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.legacy().elicitation(&["form"]);
    client.initialize().await;
    let mut get = client.open_get(None).await;
    stage.upstream.tool("ask", echo(Question::url("q", "m", "https://hidden.example/").on_get_stream()));
    refused(&client, "GET").await;
    stage.upstream.push_message(r#"{"jsonrpc":"2.0","method":"notifications/last","params":{}}"#).await;
    get.expect("notifications/last").await;
    assert!(!String::from_utf8_lossy(get.bytes()).contains("hidden.example"));
    stage.upstream.assert_clean();
}

/// R-CAP-03: writing the method in escapes, in a batch, or in what is half a message hides nothing.
#[tokio::test]
async fn a_hidden_question_does_not_reach_the_client() {
    let create = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://hidden.example/","elicitationId":"1"}}"#;
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.legacy().elicitation(&["form"]);
    client.initialize().await;
    let mut get = client.open_get(None).await;
    for hidden in [
        event(&create.replace("method", "m\\u0065thod").replace("elicitation", "\\u0065licitation")),
        event(&create.replace("elicitation/create", "elicitation\\/create")),
        event(&format!("[{create}]")),
        event(&create.replace(":7,", ":7.5,")),
        event(&create.replace("\"jsonrpc\":\"2.0\",", "")),
        event(&create.replace("\"id\":7,", "\"id\":7,\"id\":8,")),
        event(&create.replace(',', ",\n")),
        format!("\u{feff}data: {create}\n\n"),
    ] {
        stage.upstream.tool("ask", Script::new().event(&*hidden).text("done"));
        let reply = client.tool("ask", "{}").await;
        assert!(!reply.text().contains("hidden.example"), "{hidden}: {}", reply.text());
        assert_eq!(reply.content_text(), "done");
        stage.upstream.push(&hidden).await;
    }
    stage.upstream.push_message(r#"{"jsonrpc":"2.0","method":"notifications/last","params":{}}"#).await;
    get.expect("notifications/last").await;
    let all = String::from_utf8_lossy(get.bytes()).into_owned();
    assert!(!all.contains("hidden.example"), "{all}");
}

/// R-GW-02: a batch of revision 2025-03-26 that asks nothing passes.
#[tokio::test]
async fn a_batch_that_asks_nothing_passes() {
    let stage = Stage::free(Upstream::builder().legacy_versions(&["2025-03-26"]).start().await).await;
    let batch = r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\ud83d\ude00"}},{"jsonrpc":"2.0","id":7,"method":"ping"}]"#;
    stage.upstream.tool("batch", Script::new().message(batch).text("done"));
    let client = stage.legacy().revision("2025-03-26");
    client.initialize().await;
    let reply = client.tool("batch", "{}").await;
    assert_eq!(reply.messages[0].text, batch);
    assert_eq!(reply.content_text(), "done");
}

/// R-GW-03: the refusal reaches an upstream that takes no message without the person's credential.
#[tokio::test]
async fn the_refusal_of_a_question_carries_the_credential() {
    let upstream = Upstream::builder().require("x-api-key", KEY, Refusal::unauthorized()).start().await;
    let stage = Stage::with(Setup::default(), upstream).await;
    stage.connected().await;
    stage.upstream.tool("ask", echo(Question::url("q", "m", "https://hidden.example/")));
    let client = stage.legacy().elicitation(&["form"]);
    assert_eq!(client.initialize().await.status, 200);
    refused(&client, "credential").await;
    assert_eq!(stage.upstream.requests_of("response")[0].header("x-api-key"), Some(KEY));
}
