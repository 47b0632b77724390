//! What is no request is refused before anybody is asked.

use http::Method;

use super::{INTERACTIONS, Server, send, stage, waiting};

#[tokio::test]
async fn a_body_is_json_of_one_reading() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let deep = format!(r#"{{"provider":{}1{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    for body in [
        "",
        "{",
        "nothing",
        r#"{"provider":"weather","client":"a"}{}"#,
        r#"{"provider":"weather","client":"a","client":"b"}"#,
        r#"{"provider":"weather","client":"a","cl\u0069ent":"b"}"#,
        r#"{"provider":"weather","client":"a",}"#,
        r#"{"provider":"weather","client":NaN}"#,
    ] {
        server.post(INTERACTIONS, body).await.problem(400, "malformed");
    }
    let bytes = server.request(Method::POST, INTERACTIONS).header("content-type", "application/json");
    send(bytes.body(b"{\"provider\":\"\xff\"}".to_vec())).await.problem(400, "malformed");
    for body in [
        deep.as_str(),
        r#"{"provider":null,"client":"a"}"#,
        r#"{"provider":["weather"],"client":"a"}"#,
        r#"{"provider":"weather","client":"a\u0000b"}"#,
        r#"{"provider":"weather","client":"a","user":{"issuer":"x","issuer":"y","subject":"z"}}"#,
        r#"{"provider":"weather","client":"\ud800"}"#,
        r#"{"provider":"weather","client":"a","user":null}"#,
        r#"{"provider":"weather","client":"a","\ud800":1}"#,
    ] {
        assert!(!server.post(INTERACTIONS, body).await.faults().is_empty(), "{}", &body[..body.len().min(200)]);
    }
    assert!(waiting(&stage).await.is_empty());
}

#[tokio::test]
async fn a_body_has_a_size_and_a_type() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let mut body = r#"{"provider":"weather","client":"claude"}"#.to_owned();
    body.push_str(&" ".repeat(64 * 1024 - body.len()));
    assert_eq!(server.post(INTERACTIONS, body.clone()).await.status, 201);
    server.post(INTERACTIONS, body + " ").await.problem(413, "too-large");
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let request = server.request(Method::POST, INTERACTIONS).header("content-type", kind);
        send(request.body("{}")).await.problem(415, "media-type");
    }
    send(server.request(Method::POST, INTERACTIONS).body("{}")).await.problem(415, "media-type");
    let request = server.request(Method::POST, INTERACTIONS).header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(send(request.body("{}")).await.faults(), ["/provider", "/client"]);
}
