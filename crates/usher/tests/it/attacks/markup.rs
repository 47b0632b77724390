//! Markup in everything that somebody else chooses: each string has a mark of its own, and is followed through every page.

use http::Method;
use secrecy::ExposeSecret as _;
use serde_json::json;
use usher::clock::Clock as _;
use usher_store::{ApiScope, NewApiKey};
use usher_testkit::{
    checkout::{Checkout, Confirming},
    person::{Page, Person},
    quote,
    upstream::{Script, Upstream},
};

use super::client_at;
use crate::{
    harness::{CALLS, KEY, Setup, Stage},
    needs_modern::ask,
};

/// Who chooses a string, its mark, and whether a page shows it.
const ENTRIES: [(&str, bool); 21] = [
    ("provider-title", true),
    ("provider-about", true),
    ("field-label", true),
    ("field-description", true),
    ("field-typed", true),
    ("server-title", true),
    ("approval-title", true),
    ("approval-about", true),
    ("visit-title", true),
    ("visit-about", true),
    ("visit-answer", false),
    ("client-claim", true),
    ("client-id", true),
    ("argument-name", true),
    ("argument-value", true),
    ("resource-uri", true),
    ("user-agent", true),
    ("issuer-says", true),
    ("api-client", true),
    ("api-client-name", true),
    ("api-tool", true),
];

/// What somebody writes who wants out of a text, an attribute, a title or a comment.
fn hostile(mark: &str) -> String {
    assert!(ENTRIES.iter().any(|(name, _)| *name == mark), "{mark}");
    format!("\"'></title><script>{mark}</script>")
}

/// Nothing on the page is markup of somebody else; the policy would stop it if it were.
fn is_harmless(page: &Page, what: &str) {
    for (mark, _) in ENTRIES {
        let bare = format!("<script>{mark}");
        assert!(!page.html.contains(&bare), "{what}: {mark}: {}", page.html);
    }
    assert!(!page.html.contains("\"'>"), "{what}: {}", page.html);
    assert_eq!(page.html.matches("<script").count(), page.html.matches("<script src=\"/assets/").count(), "{what}");
    let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{what}: no policy"));
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{what}: {policy}");
    for value in page.headers.values() {
        assert!(!String::from_utf8_lossy(value.as_bytes()).contains("<script>"), "{what}: {value:?}");
    }
}

/// The pages that were seen, and what of the marks they show.
#[derive(Default)]
struct Seen(Vec<(String, Page)>);

impl Seen {
    fn note(&mut self, what: &str, page: Page) -> Page {
        is_harmless(&page, what);
        self.0.push((what.to_owned(), page.clone()));
        page
    }

    fn shows(&self, mark: &str) -> bool {
        let text = format!("<script>{mark}</script>");
        let typed =
            |page: &Page| page.forms().iter().flat_map(|form| &form.inputs).any(|input| input.value.contains(&text));
        self.0.iter().any(|(_, page)| page.text().contains(&text) || typed(page))
    }

    /// Every page of the portal.
    async fn portal(&mut self, person: &Person, client: &str) {
        for path in [
            "/",
            "/?lang=zh-CN",
            "/?lang=en",
            "/clients",
            "/activity",
            "/sessions",
            "/connections/notes/disconnect",
            "/connections/weather/disconnect",
        ] {
            self.note(path, person.get(path).await);
        }
        let query: String = url::form_urlencoded::byte_serialize(client.as_bytes()).collect();
        self.note("revoke", person.get(&format!("/clients/revoke?client={query}")).await);
    }
}

async fn stage(checkout: &Checkout, upstream: Upstream) -> Stage {
    let text = |mark: &str| quote(&hostile(mark));
    let more = format!(
        "[[provider]]\nname = \"notes\"\ntitle = {}\nabout = {}\nkind = \"secret\"\n\
         [[provider.field]]\nname = \"key\"\nlabel = {}\ndescription = {}\n\
         [[provider.field]]\nname = \"account\"\nlabel = \"Account\"\nsecret = false\n\
         [[provider]]\nname = \"confirm\"\ntitle = {}\nabout = {}\nkind = \"approval\"\n\
         [[provider]]\nname = \"pay\"\ntitle = {}\nabout = {}\nkind = \"external\"\nurl = \"{}\"\n\
         [provider.confirm]\nget = \"{}\"\nheader = {{ Authorization = \"Bearer {{secret}}\" }}\nsecret = \"s\"\n\
         field = \"status\"\nequals = \"paid\"\n\
         [[upstream]]\nname = \"files\"\ntitle = {}\nurl = \"{}\"\n\
         [[upstream.needs]]\nprovider = \"notes\"\non = [\"tools/read_*\"]\nheader = {{ X-Notes = \"{{key}}{{account}}\" }}\n\
         [[upstream.needs]]\nprovider = \"confirm\"\non = [\"tools/delete_*\", \"resources/*\"]\n\
         [[upstream.needs]]\nprovider = \"pay\"\non = [\"tools/buy_*\"]\n",
        text("provider-title"),
        text("provider-about"),
        text("field-label"),
        text("field-description"),
        text("approval-title"),
        text("approval-about"),
        text("visit-title"),
        text("visit-about"),
        checkout.page(),
        checkout.question(),
        text("server-title"),
        upstream.url(),
    );
    let issuer = Some(std::sync::Arc::new(usher_testkit::idp::Idp::start().await));
    Stage::with(Setup { more, issuer, ..Setup::default() }, upstream).await
}

/// A person who signs in with a browser that calls itself so; and what they see when the issuer refuses them first.
async fn sign_in(stage: &Stage, seen: &mut Seen) -> Person {
    let person = Person::new(&stage.origin).language("en");
    let url = person.at_issuer(&person.get("/").await, "user-1").await;
    let (base, query) = url.split_once('?').unwrap();
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("code=")).collect();
    let says: String = url::form_urlencoded::byte_serialize(hostile("issuer-says").as_bytes()).collect();
    let refusal = format!("{base}?{}&error={says}&error_description={says}", kept.join("&"));
    let page = seen.note("refusal of the issuer", person.come_back(&refusal).await);
    assert_eq!(page.status, 403, "{}", page.describe());

    let url = person.at_issuer(&person.get("/").await, "user-1").await;
    let back = person.visit(Method::GET, &url).from_site("https://issuer.example");
    let page = seen.note("signed in", back.header("user-agent", &hostile("user-agent")).send().await);
    assert_eq!(page.heading().as_deref(), Some("Your connections"), "{}", page.describe());
    person
}

/// R-OAUTH-03, R-SEC-02, R-FORM-09: no string of a server, a client, a provider, an issuer, an operator or a browser is markup on
/// any page; each is shown as text where it is shown; each page has its policy.
#[tokio::test]
async fn no_string_that_somebody_else_chose_is_markup_on_any_page() {
    let checkout = Checkout::start("s").await;
    let upstream = Upstream::start().await;
    for tool in ["read_notes", "delete_file", "buy_report"] {
        upstream.tool(tool, Script::new().text("done"));
    }
    let stage = stage(&checkout, upstream).await;
    let mut seen = Seen::default();
    let person = sign_in(&stage, &mut seen).await;
    let client_id = hostile("client-id");
    let claim = json!({ "name": hostile("client-claim"), "version": hostile("client-claim") }).to_string();
    let files = client_at(&stage, "files", "user-1", &client_id).client_info(Some(&claim));

    // A typed-in secret: the question, a wrong answer that is shown again, the end.
    let notes = ask(&files, ("tools/call", r#"{"name":"read_notes"}"#)).await.url();
    let page = seen.note("question", person.get(&notes).await);
    seen.note("portal with a question", person.get("/").await);
    let typed = hostile("field-typed");
    seen.note("wrong", person.agree(&page, &[("key", ""), ("account", &typed)]).await);
    seen.note("connected", person.agree(&page, &[("key", KEY), ("account", &typed)]).await);

    // Approvals of calls with hostile names and arguments, one of them declined.
    let arguments = json!({ hostile("argument-name"): [hostile("argument-value")] });
    let params = json!({ "name": "delete_file", "arguments": arguments }).to_string();
    let call = ask(&files, ("tools/call", &params)).await.url();
    let page = seen.note("approval", person.get(&call).await);
    seen.note("approved", person.agree(&page, &[]).await);
    let params = json!({ "uri": format!("file:{}", hostile("resource-uri")) }).to_string();
    let resource = ask(&files, ("resources/read", &params)).await.url();
    seen.note("approval of a resource", person.get(&resource).await);
    seen.note("declined", person.decline(&resource).await);

    // A visit, and what the other side says of it.
    let visit = ask(&files, ("tools/call", r#"{"name":"buy_report"}"#)).await.url();
    let page = seen.note("visit", person.get(&visit).await);
    let left = person.agreement(&page, &[]).stay().send().await;
    let at = person.get(left.refresh().unwrap()).await;
    let form = at.form_by_button("Cancel");
    let back = person.submission(&at, &form, None, &[]).stay().send().await;
    checkout.behave(Confirming::Says(200, json!({ "status": hostile("visit-answer") }).to_string()));
    seen.note("returned", person.get(back.location().unwrap()).await);
    checkout.behave(Confirming::Says(500, hostile("visit-answer")));
    seen.note("the other side fails", person.get(&visit).await);

    // What a server asks through the API.
    let asked = through_the_api(&stage).await;
    let page = seen.note("question through the API", person.get(&asked).await);
    seen.note("connected through the API", person.agree(&page, &[("api_key", KEY)]).await);
    let reply =
        client_at(&stage, "weather", "user-1", &client_id).client_info(Some(&claim)).call(CALLS[0].0, CALLS[0].1).await;
    seen.note("a new client", person.get(&reply.url()).await);

    seen.portal(&person, &client_id).await;
    let page = person.get("/connections/notes/disconnect").await;
    seen.note("disconnected", person.agree(&page, &[]).await);
    let bob = stage.person_of("user-2").await;
    seen.note("another person", bob.get(&visit).await);
    for (mark, shown) in ENTRIES {
        assert_eq!(seen.shows(mark), shown, "whether {mark} is shown as text on some page");
    }
}

/// The page of a question that a server asks, in words of its client.
async fn through_the_api(stage: &Stage) -> String {
    let new = NewApiKey {
        server: "weather".to_owned(),
        name: "a key".to_owned(),
        scopes: ApiScope::ALL.iter().copied().collect(),
        expires_at: None,
    };
    let (_, key) = stage.app().store.create_api_key(new, stage.clock.now()).await.unwrap();
    let body = json!({
        "provider": "weather",
        "user": { "issuer": stage.idp().issuer(), "subject": "user-1" },
        "client": hostile("api-client"),
        "client_name": hostile("api-client-name"),
        "operation": { "method": "tools/call", "name": hostile("api-tool"), "arguments": {} },
    });
    let request = usher_testkit::agent()
        .post(format!("{}/api/v1/interactions", stage.origin))
        .bearer_auth(key.expose_secret())
        .header("content-type", "application/json");
    let response = request.body(body.to_string()).send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert_eq!(status, 201, "{text}");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    answer["url"].as_str().unwrap().to_owned()
}
