//! The description of the API says what the API does.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use super::{Answer, INTERACTIONS, Server, send, stage};
use crate::harness::KEY;

fn description() -> Value {
    serde_json::from_str(&usher::api::description()).unwrap()
}

/// What is published is what this version does: `usher openapi > docs/openapi.json`.
#[test]
fn the_published_description_is_that_of_this_version() {
    let published = include_str!("../../../../../docs/openapi.json");
    assert_eq!(published, usher::api::description(), "run: usher openapi > docs/openapi.json");
    assert_eq!(description()["openapi"], "3.1.0");
}

#[tokio::test]
async fn the_description_is_served_to_everybody() {
    let stage = stage("").await;
    let answer = send(usher_testkit::agent().get(format!("{}/api/openapi.json", stage.origin))).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.text, usher::api::description());
}

/// Every route is described, and nothing else is: the routes are read out of the source.
#[test]
fn every_route_is_described() {
    let source = include_str!("../../../src/api/mod.rs");
    let routes: BTreeSet<String> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".route(\"")?.split_once('"'))
        .filter(|(_, handler)| !handler.contains("not_found"))
        .map(|(path, handler)| format!("{} {path}", if handler.contains("post(") { "post" } else { "get" }))
        .collect();
    let description = description();
    let paths = description["paths"].as_object().unwrap().iter();
    let described: BTreeSet<String> = paths
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
        .collect();
    assert_eq!(described, routes);
    assert!(routes.len() >= 4);
}

/// That an answer is one of those that its operation is described with.
fn conforms(description: &Value, method: &Method, path: &str, answer: &Answer) {
    let status = answer.status.as_str();
    let operation = &description["paths"][path][method.as_str().to_lowercase()];
    let response = &operation["responses"][status];
    assert!(response.is_object(), "{method} {path} is not described with {status}: {answer:?}");
    let kind = answer.header("content-type");
    let mut schema = response["content"][kind]["schema"].clone();
    assert!(schema.is_object(), "{method} {path} {status} is not described with {kind}");
    schema["components"] = description["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<_> = validator.iter_errors(&answer.json()).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{method} {path} {status}: {faults:?} in {}", answer.text);
    if let Some(headers) = response["headers"].as_object() {
        for name in headers.keys() {
            assert!(answer.headers.contains_key(name.as_str()), "{status} lacks {name}");
        }
    }
}

/// Real answers of every kind are as they are described.
#[tokio::test]
async fn real_answers_are_as_described() {
    let stage = stage("api_waits = 1\nuser_open_questions = 3").await;
    let description = description();
    let server = Server::weather(&stage).await;
    let one = format!("{INTERACTIONS}/{{id}}");
    let cancel = format!("{one}/cancel");
    let complete = format!("{one}/complete");
    let mut seen = BTreeSet::new();
    let mut check = |method: Method, path: &str, answer: &Answer| {
        conforms(&description, &method, path, answer);
        seen.insert((format!("{method} {path}"), answer.status.as_u16()));
    };

    let asked = server.asked("claude").await;
    check(Method::POST, INTERACTIONS, &asked);
    check(Method::POST, INTERACTIONS, &server.ask("claude").await);
    check(Method::GET, &one, &server.get(&asked.path()).await);
    check(Method::GET, &one, &server.get(&format!("{}?wait=x", asked.path())).await);
    stage.person().await.connect(&asked.member("url"), &[("api_key", KEY)]).await;
    check(Method::POST, INTERACTIONS, &server.ask("claude").await);
    check(Method::GET, &one, &server.get(&asked.path()).await);
    check(Method::POST, &cancel, &server.post(&format!("{}/cancel", asked.path()), "{}").await);
    let second = server.asked("second").await;
    check(Method::POST, INTERACTIONS, &second);
    let other = server.asked("third").await;
    check(Method::POST, &cancel, &server.post(&format!("{}/cancel", other.path()), "{}").await);
    stage.person().await.decline(&second.member("url")).await;
    check(Method::GET, &one, &server.get(&second.path()).await);
    check(Method::POST, INTERACTIONS, &server.ask("second").await);
    let missing = format!("{INTERACTIONS}/{}", "A".repeat(43));
    check(Method::GET, &one, &server.get(&missing).await);
    for (template, step) in [(&cancel, "cancel"), (&complete, "complete")] {
        check(Method::POST, template, &server.post(&format!("{missing}/{step}"), "{}").await);
        for body in ["{", r#"{"x":1}"#, &" ".repeat(70_000)] {
            check(Method::POST, template, &server.post(&format!("{missing}/{step}"), body).await);
        }
    }
    let buy = json!({ "method": "tools/call", "name": "buy_report" });
    let buy = json!({ "provider": "pay", "client": "claude", "operation": buy }).to_string();
    let paid = server.post(INTERACTIONS, buy).await;
    check(Method::POST, INTERACTIONS, &paid);
    let path_of_complete = format!("{}/complete", paid.path());
    check(Method::POST, &complete, &server.post(&path_of_complete, "{}").await);
    let person = stage.person().await;
    let page = person.get(&paid.member("url")).await;
    person.agreement(&page, &[]).send().await;
    check(Method::POST, &complete, &server.post(&path_of_complete, "{}").await);
    for body in ["{", "{}", r#"{"provider":"unused","client":"a","x":1}"#] {
        check(Method::POST, INTERACTIONS, &server.post(INTERACTIONS, body).await);
    }
    check(Method::POST, INTERACTIONS, &server.post(INTERACTIONS, " ".repeat(70_000)).await);
    let gone = Server::named(&stage, "gone", &usher_store::ApiScope::ALL).await;
    for (method, template, path) in [
        (Method::POST, INTERACTIONS, INTERACTIONS.to_owned()),
        (Method::GET, &one, missing.clone()),
        (Method::POST, &cancel, format!("{missing}/cancel")),
        (Method::POST, &complete, format!("{missing}/complete")),
    ] {
        let url = format!("{}{path}", stage.origin);
        check(method.clone(), template, &send(usher_testkit::agent().request(method.clone(), &url)).await);
        check(method.clone(), template, &send(gone.request(method.clone(), &path)).await);
        let foreign = server.request(method.clone(), &path).header("origin", "https://evil.example");
        check(method.clone(), template, &send(foreign).await);
        let misdirected = server.request(method.clone(), &path).header("host", "evil.example");
        check(method.clone(), template, &send(misdirected).await);
        if method == Method::POST {
            check(method.clone(), template, &send(server.request(method, &path).body("x")).await);
        }
    }
    // What is described was seen, but for what takes half a minute, a flood or an outage.
    let paths = description["paths"].as_object().unwrap();
    for (path, item) in paths.iter().filter(|(path, _)| path.starts_with(INTERACTIONS)) {
        for (method, operation) in item.as_object().unwrap() {
            let operation_name = format!("{} {path}", method.to_uppercase());
            for status in operation["responses"].as_object().unwrap().keys() {
                let status: u16 = status.parse().unwrap();
                let elsewhere = [408, 429, 503].contains(&status);
                assert!(elsewhere || seen.contains(&(operation_name.clone(), status)), "{operation_name} {status}");
            }
        }
    }
}

/// What the description says of a question is what is taken.
#[tokio::test]
async fn questions_are_taken_as_described() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let mut schema = json!({ "$ref": "#/components/schemas/NewInteraction" });
    schema["components"] = description()["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for body in [
        json!({ "provider": "weather", "client": "a" }),
        json!({ "provider": "weather", "client": "a", "client_name": "A", "expires_in": 60 }),
        json!({ "provider": "weather", "client": "a", "user": { "issuer": "urn:usher:local", "subject": "owner" } }),
        json!({ "provider": "confirm", "client": "a", "operation": { "method": "tools/call", "name": "delete_a" } }),
        json!({ "provider": "confirm", "client": "a", "operation": { "method": "tools/list", "name": "delete_a" } }),
        json!({ "provider": "confirm", "client": "a", "operation": { "method": "tools/call", "name": "a", "arguments": [] } }),
        json!({ "provider": "confirm", "client": "a", "operation": null }),
        json!({ "provider": "weather" }),
        json!({ "client": "a" }),
        json!({ "provider": "weather", "client": "" }),
        json!({ "provider": "weather", "client": "a", "expires_in": 59 }),
        json!({ "provider": "weather", "client": "a", "expires_in": 10801 }),
        json!({ "provider": "weather", "client": "a", "client_name": null }),
        json!({ "provider": "weather", "client": "a", "user": { "issuer": "urn:usher:local" } }),
        json!({ "provider": "weather", "client": "a", "user": null }),
        json!({ "provider": "weather", "client": "a", "state": "completed" }),
        json!([]),
    ] {
        let status = server.post(INTERACTIONS, body.to_string()).await.status;
        assert_eq!(validator.is_valid(&body), status.is_success(), "{body}: {status}");
    }
}
