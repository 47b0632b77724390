//! Calls that a person approves one by one.

mod rounds;

use http::Method;
use usher_store::{AuditAction, InteractionState};
use usher_testkit::{
    DEADLINE,
    client::{Legacy, Modern, Reply},
    person::{Page, Person},
    upstream::{Question, Script, Upstream},
    within,
};

use crate::{
    harness::{ACCEPT, DECLINE, KEY, SECOND, Setup, Stage, furnish},
    needs_modern::{ask, retry},
};

const PROVIDER: &str = "[[provider]]\nname = \"confirm\"\ntitle = \"Approval\"\nkind = \"approval\"\n\
                        about = \"Deleting needs your word.\"\n";
const NEED: &str =
    "[[upstream.needs]]\nprovider = \"confirm\"\non = [\"tools/delete_*\", \"prompts/wipe\", \"resources/vault:*\"]\n";

/// A guarded call of each method.
const GUARDED: [(&str, &str); 3] = [
    ("tools/call", r#"{"name":"delete_file","arguments":{"path":"/srv/report.txt","size":9007199254740993}}"#),
    ("prompts/get", r#"{"name":"wipe","arguments":{"what":"all"}}"#),
    ("resources/read", r#"{"uri":"vault:keys"}"#),
];
const DELETE: (&str, &str) = GUARDED[0];

fn setup() -> Setup {
    Setup { free: true, second: true, upstream: NEED.to_owned(), more: PROVIDER.to_owned(), ..Setup::default() }
}

async fn stage() -> Stage {
    Stage::with(setup(), files().await).await
}

async fn files() -> Upstream {
    let upstream = Upstream::start().await;
    upstream.tool("delete_file", Script::new().text("done"));
    upstream.tool("list_files", Script::new().text("done"));
    upstream.prompt("wipe", Script::new().result(r#"{"messages":[],"description":"done"}"#));
    upstream.resource("vault:keys", Script::new().result(r#"{"contents":[{"uri":"vault:keys","text":"done"}]}"#));
    upstream
}

fn went(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| result.contains("done"))
}

async fn approve(person: &Person, url: &str) {
    let done = person.connect(url, &[]).await;
    assert_eq!(done.heading().as_deref(), Some("Allowed once"), "{}", done.describe());
}

/// R-MRTR-01, R-MRTR-03, R-GW-06: what is guarded waits for its approval and goes on with it, once; all else passes.
#[tokio::test]
async fn an_approved_call_goes_on_exactly_once() {
    let stage = stage().await;
    let client = stage.modern();
    assert!(went(&client.tool("list_files", "{}").await), "what is not guarded passes");
    assert!(client.call("tools/list", "{}").await.response().result().is_some());
    let person = stage.person().await;
    for call in GUARDED {
        let before = stage.upstream.requests_of(call.0).len();
        let asked = ask(&client, call).await;
        assert_eq!(stage.upstream.requests_of(call.0).len(), before, "nothing goes upstream before");
        approve(&person, &asked.url()).await;
        assert!(went(&retry(&client, call, &asked, ACCEPT).await));
        let again = retry(&client, call, &asked, ACCEPT).await;
        assert!(again.is_input_required(), "the state is of no more use: {}", again.text());
        assert_ne!(again.url(), asked.url());
        assert!(ask(&client, call).await.url() == again.url(), "and so is the call itself");
        assert_eq!(stage.upstream.requests_of(call.0).len(), before + 1);
    }
    assert_eq!(stage.audited(AuditAction::OperationApproved).await, 3);
    assert_eq!(stage.audited(AuditAction::OperationUsed).await, 3);
    stage.upstream.assert_clean();
}

/// R-GW-03, R-ERR-01, R-DONE-01: the older protocol: the held call goes on; so does one that comes again after -32042.
#[tokio::test]
async fn a_held_call_goes_on_and_one_that_comes_again_uses_the_approval() {
    for hold in ["40s", "0s"] {
        let mut setup = setup();
        setup.upstream.insert_str(0, &format!("hold = \"{hold}\"\n"));
        let stage = Stage::with(setup, files().await).await;
        let client = stage.ready().await;
        let person = stage.person().await;
        for call in GUARDED {
            let before = stage.upstream.requests_of(call.0).len();
            let reply = if hold == "0s" {
                let required = client.call(call.0, call.1).await;
                assert_eq!(required.error_code(), -32042, "{}", required.text());
                assert_eq!(required.error_message(), "Approve this call first, then send this request again.");
                approve(&person, &required.url()).await;
                client.call(call.0, call.1).await
            } else {
                let (stream, url) = held(&client, call).await;
                approve(&person, &url).await;
                stream.reply().await
            };
            assert!(went(&reply), "{}", reply.text());
            assert_eq!(stage.upstream.requests_of(call.0).len(), before + 1, "one approval, one call");
        }
        stage.upstream.assert_clean();
    }
}

async fn held(client: &Legacy, call: (&str, &str)) -> (usher_testkit::client::Stream, String) {
    let mut stream = client.open(call.0, call.1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    (stream, url)
}

/// R-MRTR-03: of two calls that are alike and wait together, one goes on; the other asks anew.
#[tokio::test]
async fn of_two_calls_that_are_alike_one_goes_on() {
    let stage = stage().await;
    let client = stage.ready().await;
    let (first, url) = held(&client, DELETE).await;
    let second = client.open(DELETE.0, DELETE.1).await;
    let streams = [first, second];
    approve(&stage.person().await, &url).await;
    let asks_anew = async {
        while stage.waiting().await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(DEADLINE, "the other call does not ask anew", asks_anew).await;
    let waiting = stage.waiting().await;
    assert!(waiting.len() == 1 && !url.ends_with(waiting[0].id.as_str()), "{waiting:?}");
    stage.upstream.wait_for("tools/call", 1).await;
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1, "one approval, one call");
    drop(streams);
}

/// R-MRTR-02, R-ID-01: an approval is good for one client, one server and that very call, to the last digit.
#[tokio::test]
async fn an_approval_is_good_for_that_very_call_alone() {
    let stage = stage().await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    approve(&stage.person().await, &asked.url()).await;
    let changed = |from: &str, to: &str| DELETE.1.replace(from, to);
    for params in [
        changed("993", "992"),
        changed("report", "other"),
        changed("\"size\"", "\"force\":true,\"size\""),
        r#"{"name":"delete_file"}"#.to_owned(),
        changed("delete_file", "delete_all"),
    ] {
        let other = ask(&client, (DELETE.0, &params)).await;
        assert_ne!(other.url(), asked.url(), "{params}");
    }
    assert!(ask(&stage.modern().token(SECOND), DELETE).await.url() != asked.url());
    assert!(stage.upstream.requests_of("tools/call").is_empty());
    let alike = r#"{"arguments":{"size":9007199254740993, "path":"\/srv\/report.txt"},"name":"delete_file"}"#;
    assert!(went(&client.call(DELETE.0, alike).await), "written otherwise, it is the same call");
}

/// R-SEC-01, R-ACT-03: a decline ends the call; that very call rests, another one does not.
#[tokio::test]
async fn a_declined_call_rests_and_no_other() {
    let stage = stage().await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    let page = stage.person().await.decline(&asked.url()).await;
    assert_eq!(page.heading().as_deref(), Some("Declined"));
    assert!(page.text().contains("Nothing was run."), "{}", page.text());
    let told = retry(&client, DELETE, &asked, ACCEPT).await.content_text();
    assert!(told.starts_with("This call was declined, so Weather was not called."), "{told}");
    assert!(client.call(DELETE.0, DELETE.1).await.is_tool_error());
    let other = ask(&client, (DELETE.0, &DELETE.1.replace("report", "other"))).await;
    let in_client = retry(&client, (DELETE.0, &DELETE.1.replace("report", "other")), &other, DECLINE).await;
    assert!(in_client.content_text().contains("was declined"), "{}", in_client.text());
    stage.clock.forward(121);
    ask(&client, DELETE).await;
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// R-SEC-04: an approval that nobody uses ends; and a call without url mode is told where to answer.
#[tokio::test]
async fn an_approval_ends_and_the_portal_stands_in_for_a_link() {
    let stage = stage().await;
    let blind = Modern::new(stage.endpoint()).token(&stage.token).elicitation(&["form"]);
    let told = blind.call(DELETE.0, DELETE.1).await;
    assert_eq!(told.error_code(), -32021, "{}", told.text());
    assert!(told.error_message().contains("needs your approval of this call"), "{}", told.error_message());
    let person = stage.person().await;
    let waiting = stage.waiting().await;
    approve(&person, &format!("/connect/{}", waiting[0].id)).await;
    stage.clock.forward(14 * 60);
    assert!(went(&blind.call(DELETE.0, DELETE.1).await));
    let asked = ask(&stage.modern(), DELETE).await;
    approve(&person, &asked.url()).await;
    stage.clock.forward(15 * 60 + 1);
    ask(&stage.modern(), DELETE).await;
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
}

/// R-GW-03: a key and an approval are asked for together, and the approval is not used up while the key is missing.
#[tokio::test]
async fn an_approval_waits_for_what_else_is_missing() {
    let upstream = files().await;
    upstream.tool("delete_file", Script::new().require("x-api-key", KEY).text("done"));
    furnish(&upstream);
    let setup = Setup { needs: format!("\n{NEED}"), more: PROVIDER.to_owned(), ..Setup::default() };
    let stage = Stage::with(setup, upstream).await;
    let client = stage.modern();
    let asked = ask(&client, DELETE).await;
    let urls: Vec<String> = asked
        .input_requests()
        .values()
        .map(|question| question["params"]["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(urls.len(), 2, "{}", asked.text());
    let person = stage.person().await;
    let (mut key, mut approval) = (None, None);
    for url in &urls {
        let page = person.get(url).await;
        if page.heading().as_deref() == Some("Allow this once?") { approval = Some(page) } else { key = Some(page) }
    }
    person.agree(&approval.unwrap(), &[]).await;
    let only_key = client.call(DELETE.0, DELETE.1).await;
    assert_eq!(only_key.input_requests().len(), 1, "the approval is there: {}", only_key.text());
    person.agree(&key.unwrap(), &[("api_key", KEY)]).await;
    assert!(went(&retry(&client, DELETE, &asked, ACCEPT).await));
}

/// R-ID-03, R-OAUTH-03: nobody else approves, no other page does, and no other form does.
#[tokio::test]
async fn nobody_else_approves() {
    let stage = stage().await;
    let client = stage.modern();
    let url = ask(&client, DELETE).await.url();
    let person = stage.person().await;
    let page = person.get(&url).await;
    let evil = person.agreement(&page, &[]).from_site("https://evil.example").send().await;
    assert_eq!(evil.status, 403);
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    for action in ["connect", "allow", "continue"] {
        let sent = person.post_form(&url, &[("csrf", &csrf), ("action", action)]).await;
        assert_eq!(sent.status, 409, "{action}: {}", sent.describe());
    }
    let stranger = Person::new(&stage.origin).language("en");
    let sent = stranger.post_form(&url, &[("csrf", &csrf), ("action", "approve")]).await;
    assert!(!sent.text().contains("Allowed once"));
    assert!(matches!(stage.interaction(&url).await.state, InteractionState::Opened { .. }));
    assert!(stage.credential().await.is_none());
    ask(&client, DELETE).await;
}

/// The page of a call with these arguments, which is then approved.
async fn shown(stage: &Stage, params: &str) -> Page {
    let client = stage.modern();
    let asked = ask(&client, ("tools/call", params)).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    assert_eq!(page.status, 200, "{}", page.describe());
    approve(&person, &asked.url()).await;
    assert!(went(&retry(&client, ("tools/call", params), &asked, ACCEPT).await));
    page
}

/// R-SEC-02, R-FORM-11: hostile names and arguments are text; nothing is hidden or left out, however much it is.
#[tokio::test]
async fn the_page_shows_all_of_the_call_and_nothing_is_markup() {
    let upstream = files().await;
    let name = "delete_\u{202e}<script>alert(1)</script>";
    upstream.tool(name, Script::new().text("done"));
    let stage = Stage::with(setup(), upstream).await;
    let params = format!(
        r#"{{"name":{},"arguments":{{"</dd><img src=x>":"\u202etxt.exe\u0000","n":9007199254740993}}}}"#,
        usher_testkit::quote(name)
    );
    let page = shown(&stage, &params).await;
    assert!(!page.html.contains("<script>alert") && !page.html.contains("<img"), "{}", page.html);
    assert!(!page.html.contains('\u{202e}'));
    for seen in
        ["‹U+202E›txt.exe‹U+0000›", "9007199254740993", "delete_‹U+202E›", "</dd><img src=x>", "\\u202etxt.exe\\u0000"]
    {
        assert!(page.text().contains(seen), "{seen}: {}", page.text());
    }
    let many: Vec<String> = (0..200).map(|number| format!("\"name-{number}\":\"value-{number}\"")).collect();
    let page = shown(&stage, &format!("{{\"name\":\"delete_file\",\"arguments\":{{{}}}}}", many.join(","))).await;
    for number in 0..200 {
        assert!(page.html.contains(&format!(">value-{number}<")), "{number}");
    }
    let long = format!("{}the-end", "x".repeat(60 * 1024));
    let page = shown(&stage, &format!(r#"{{"name":"delete_file","arguments":{{"text":"{long}"}}}}"#)).await;
    assert!(page.html.contains(&long));
}

/// R-SEC-04: what a person cannot be shown whole is refused, with the reason; nothing is asked, nothing goes upstream.
#[tokio::test]
async fn what_cannot_be_shown_is_refused() {
    let stage = stage().await;
    let long = format!(r#"{{"name":"delete_file","arguments":{{"text":"{}"}}}}"#, "x".repeat(70 * 1024));
    let twice = r#"{"name":"delete_file","arguments":{"a":1,"a":2}}"#;
    let legacy = stage.ready().await;
    for (params, reason) in [(long.as_str(), "longer than 64 KiB"), (twice, "holds a key twice")] {
        for told in [stage.modern().call("tools/call", params).await, legacy.call("tools/call", params).await] {
            assert!(told.is_tool_error(), "{}", told.text());
            assert!(told.content_text().contains(reason), "{}", told.content_text());
        }
    }
    assert!(stage.waiting().await.is_empty());
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// R-GW-02: what is sent without an id gets no answer and asks nobody, so a call is nothing that could be sent like this.
#[tokio::test]
async fn a_call_without_an_id_goes_nowhere() {
    let stage = stage().await;
    let legacy = stage.ready().await;
    for call in GUARDED {
        let modern = stage.modern().request(call.0, call.1).id(None).send().await;
        for refused in [modern, legacy.notify(call.0, call.1).await] {
            assert_eq!(refused.status, 400, "{}", refused.text());
            assert!(refused.text().contains("-32600") && refused.text().contains("needs an id"), "{}", refused.text());
        }
        assert!(stage.upstream.requests_of(call.0).is_empty());
    }
    assert!(legacy.notify("notifications/roots/list_changed", "{}").await.status == 202, "notifications pass");
}

/// R-MRTR-02: a server that folds case or ends names at NUL must find in a call what the person was shown, and nothing else.
#[tokio::test]
async fn what_a_careless_server_would_read_otherwise_is_refused() {
    let stage = stage().await;
    let legacy = stage.ready().await;
    let other = r#"{"path":"/"}"#;
    let beside = |member: &str| DELETE.1.replacen('{', &format!("{{\"{member}\":{other},"), 1);
    for member in
        ["Arguments", "ARGUMENTS", "arguments\\u0000", "argument\\u017f", "argumentS\\u0000x", "task", "requeststate"]
    {
        let params = beside(member);
        for refused in [stage.modern().call(DELETE.0, &params).await, legacy.call(DELETE.0, &params).await] {
            assert_eq!(refused.error_code(), -32602, "{member}: {}", refused.text());
            assert!(refused.error_message().contains("Nothing was called"), "{member}: {}", refused.error_message());
        }
    }
    let answers = DELETE.1.replacen('{', r#"{"inputResponses":{"sure":{"action":"accept"}},"#, 1);
    for refused in [stage.modern().call(DELETE.0, &answers).await, legacy.call(DELETE.0, &answers).await] {
        assert_eq!(refused.error_code(), -32602, "answers to nothing: {}", refused.text());
    }
    // What is not guarded could be read as what is.
    for (from, to) in [
        ("\"name\":\"list_files\"", "\"name\":\"list_files\",\"Name\":\"delete_file\""),
        ("\"params\":", "\"Params\":{\"name\":\"delete_file\"},\"params\":"),
        ("\"method\":", "\"METHOD\":\"tools/call\",\"method\":"),
        ("\"method\":", "\"method\\u0000\":\"tools/call\",\"method\":"),
    ] {
        let request = stage.modern().request("tools/call", r#"{"name":"list_files"}"#);
        let body = String::from_utf8(request.to_body()).unwrap();
        let changed = body.replacen(from, to, 1);
        assert_ne!(body, changed);
        let refused = request.body(changed).send().await;
        assert_eq!((refused.status.as_u16(), refused.error_code()), (400, -32602), "{to}: {}", refused.text());
    }
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/x","Method":"tools/call","Id":1,"params":{"name":"delete_file"}}"#;
    assert_eq!(legacy.post(notice).await.reply().await.status, 400);
    assert!(stage.waiting().await.is_empty(), "nobody is asked");
    assert!(
        stage.upstream.requests_of("tools/call").is_empty() && stage.upstream.requests_of("notifications/x").is_empty()
    );
}

/// R-REQ-01, R-SEC-07: the client's message says why, and holds no arguments.
#[tokio::test]
async fn the_message_says_why_and_holds_no_arguments() {
    let stage = stage().await;
    let asked = ask(&stage.modern(), DELETE).await;
    let message = asked.input_requests().values().next().unwrap()["params"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("only with your approval") && message.contains("delete_file"), "{message}");
    assert!(!asked.text().contains("report.txt"));
}

/// R-SEC-01: an app whose every call is a question of its own is declined at once; what others ask stays.
#[tokio::test]
async fn what_one_app_asks_is_declined_together() {
    let stage = stage().await;
    for call in GUARDED {
        ask(&stage.modern(), call).await;
    }
    let others = ask(&stage.modern().token(SECOND), DELETE).await;
    let person = stage.person().await;
    let portal = person.get("/").await;
    for name in ["Tool: delete_file", "Prompt: wipe", "Resource: vault:keys"] {
        assert!(portal.text().contains(name), "{name}: {}", portal.text());
    }
    let path = "/clients/decline?client=default";
    let form = portal.form_by_action("/clients/decline");
    for refused in [
        person.visit(Method::POST, path).fields(&[("csrf", "x")]),
        person.submission(&portal, &form, None, &[]).from_site("https://evil.example"),
    ] {
        assert_eq!(refused.send().await.status, 403);
    }
    assert_eq!(stage.waiting().await.len(), 4);

    let after = person.submit(&portal, &form, None, &[]).await;

    let left = stage.waiting().await;
    assert!(left.len() == 1 && others.url().ends_with(left[0].id.as_str()), "{left:?}");
    let declined = after.text();
    let declined = declined.split("You declined").nth(1).unwrap();
    assert!(declined.contains("Tool: delete_file"), "told apart by name: {declined}");
    assert!(!after.html.contains("report.txt"), "arguments are gone");
    assert_eq!(stage.audited(AuditAction::InteractionDeclined).await, 3);
}

/// R-OAUTH-04, R-SEC-03: an app that may only call something once is listed, loses that, and the person reads which call it was.
#[tokio::test]
async fn a_call_that_was_allowed_can_be_taken_back_and_is_named() {
    let stage = stage().await;
    let (client, person) = (stage.modern(), stage.person().await);
    let asked = ask(&client, DELETE).await;
    assert!(person.get("/clients").await.text().contains("Open questions"));
    approve(&person, &asked.url()).await;
    let apps = person.get("/clients").await;
    assert!(apps.text().contains("Calls allowed once, still to come"), "{}", apps.text());

    let gone = person.agree(&person.get("/clients/revoke?client=default").await, &[]).await;

    assert!(gone.text().contains("may use nothing of yours any more"), "{}", gone.text());
    assert!(retry(&client, DELETE, &asked, ACCEPT).await.is_input_required());
    let activity = person.get("/activity").await.text();
    assert!(activity.contains("Call: tools/call delete_file #"), "{activity}");
    assert!(!activity.contains("report.txt"), "{activity}");
    assert_eq!(stage.audited(AuditAction::ClientRevoked).await, 1);
}
