//! `usher providers`: what there is, what has to be set up, and whether a provider knows our client.

use std::path::Path;

use http::Method;
use serde_json::Value;
use usher_testkit::{
    free_port,
    oauth::{
        CLIENT, CLIENT_SECRET, Endpoint, Provider, Trouble,
        settings::{ErrorReply, Registration},
    },
    provider::{Api, Behaviour},
    upstream::{Guard, Upstream},
};

use crate::{
    harness::Folder,
    serve_command::{config, run, text_of_both},
};

/// Runs a command, which must end with this code, and gives what it said.
async fn says(folder: &Path, arguments: &[&str], code: i32) -> String {
    let arguments: Vec<_> = ["providers"].iter().chain(arguments).copied().collect();
    let output = run(folder, &arguments).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(!told.contains(CLIENT_SECRET), "no secret is shown: {told}");
    told
}

/// A configuration with an account at this provider, and `more` of it.
fn configure(folder: &Path, provider: &Provider, secret: &str, more: &str) -> u16 {
    let port = free_port();
    let [authorize, token] = [Endpoint::Authorization, Endpoint::Token].map(|endpoint| provider.url(endpoint));
    let shop = format!(
        "[[provider]]\nname = \"shop\"\nkind = \"oauth\"\ntitle = \"The shop\"\nclient_id = \"{CLIENT}\"\n\
         client_secret = \"{secret}\"\nauthorization_endpoint = \"{authorize}\"\ntoken_endpoint = \"{token}\"\n{more}"
    );
    config(folder, port, "http://127.0.0.1:9/mcp", &shop);
    port
}

/// The lines of a verdict.
fn lines<'a>(told: &'a str, verdict: &str) -> Vec<&'a str> {
    told.lines().filter(|line| line.starts_with(verdict)).collect()
}

/// Whoever only looks around has no configuration yet.
#[tokio::test]
async fn the_catalogue_is_shown_before_anything_is_configured() {
    let folder = Folder::new();
    let listed = says(folder.path(), &["list"], 0).await;
    let row = listed.lines().find(|line| line.starts_with("github ")).unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["github", "GitHub", "oauth", "no"]);
    let shown = says(folder.path(), &["show", "github"], 0).await;
    for part in [
        "GitHub (github): in the catalogue, not configured",
        "your public_url and /callback/github",
        "client_secret_file = \"github.secret\"",
        "https://github.com/login/oauth/authorize",
        "DELETE https://api.github.com/applications/{client_id}/grant, the access token, as our client, by Basic",
        "Read and change your repositories, private ones too",
        "The provider's own documentation, read on 2026-11-30",
        "https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(says(folder.path(), &["show", "githb"], 1).await.contains("did you mean github?"));
    assert!(says(folder.path(), &["show", "nothing-like-it"], 1).await.contains("usher providers list"));
    says(folder.path(), &["test", "github"], 1).await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "looking makes nothing");
}

/// Each file of the catalogue can be shown, in lines that a terminal can hold.
#[tokio::test]
async fn everything_in_the_catalogue_can_be_shown() {
    let folder = Folder::new();
    let output = run(folder.path(), &["providers", "list", "--json"]).await;
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    for provider in listed.as_array().unwrap() {
        let name = provider["name"].as_str().unwrap();
        let shown = says(folder.path(), &["show", name], 0).await;
        for head in ["Set up", "redirect URI", "How it works", "people go to  ", "refreshing  ", "documentation"] {
            assert!(shown.contains(head), "{head}: {shown}");
        }
    }
}

/// Secrets need not be there to look at what is configured.
#[tokio::test]
async fn what_is_configured_is_shown_with_what_to_register() {
    let (folder, provider) = (Folder::new(), Provider::start().await);
    let port = configure(
        folder.path(),
        &provider,
        CLIENT_SECRET,
        "scopes = [\"orders\"]\nauthorize = { pkce = \"off\", parameters = { audience = \"api\" } }\n\
         [[provider]]\nname = \"work-github\"\ncatalogue = \"github\"\nclient_id = \"id-at-github\"\n\
         client_secret_env = \"NOT_THERE\"\n\
         [[provider]]\nname = \"confirm\"\nkind = \"approval\"\n\
         [[provider]]\nname = \"weather\"\nkind = \"secret\"\nfield = [{ name = \"api_key\", label = \"API key\" }]\n",
    );
    let folder = folder.path();
    let listed = says(folder, &["list"], 0).await;
    let row = |name: &str| {
        let row = listed.lines().find(|line| line.split_whitespace().next() == Some(name));
        row.unwrap_or_else(|| panic!("{listed}")).to_owned()
    };
    assert!(row("shop").ends_with("oauth     yes"), "{listed}");
    assert!(row("work-github").ends_with("oauth     yes, as github of the catalogue"), "{listed}");
    assert!(row("confirm").contains("approval"), "{listed}");
    assert!(!listed.lines().any(|line| line.starts_with("github ")), "it is listed once: {listed}");
    let shown = says(folder, &["show", "shop"], 0).await;
    for part in [
        "The shop (shop): configured, kind oauth",
        &format!("http://127.0.0.1:{port}/callback/shop"),
        CLIENT,
        "client_secret      given",
        "orders",
        "PKCE               not used",
        "audience=api",
        "the provider is not told: no way is documented",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = says(folder, &["show", "work-github"], 0).await;
    assert!(shown.contains(&format!("http://127.0.0.1:{port}/callback/work-github")), "{shown}");
    assert!(shown.contains("given elsewhere: it cannot be had here"), "{shown}");
    assert!(says(folder, &["show", "weather"], 0).await.contains("API key"));
    assert!(says(folder, &["show", "confirm"], 0).await.contains("each call, on a page here"));
    assert!(provider.requests().is_empty(), "showing asks nobody");
}

/// The token endpoint is given a code that nobody has; nobody is asked to agree to anything, and no token comes of it.
#[tokio::test]
async fn a_provider_says_whether_it_knows_our_client() {
    let (folder, provider) = (Folder::new(), Provider::start().await);
    configure(folder.path(), &provider, CLIENT_SECRET, "");
    let told = says(folder.path(), &["test", "shop"], 0).await;
    assert!(told.contains("knows it: it refuses only the wrong code (invalid_grant)"), "{told}");
    assert!(told.contains("/callback/shop has to be registered"), "{told}");
    assert_eq!((provider.count(Endpoint::Token), provider.counts().exchanges), (1, 0));
    assert_eq!(provider.count(Endpoint::Authorization), 0);
    provider.assert_clean();

    configure(folder.path(), &provider, "another-secret", "");
    let told = says(folder.path(), &["test", "shop"], 1).await;
    assert!(lines(&told, "fault")[0].contains("refuses it (invalid_client); see that client_id"), "{told}");
    assert!(!told.contains("another-secret"), "{told}");
    provider.take_violations();

    let output = run(folder.path(), &["providers", "test", "shop", "--json"]).await;
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = findings["findings"].as_array().unwrap().iter().find(|one| one["check"] == "our client").unwrap();
    assert_eq!(found["verdict"], "fault");
    assert!(says(folder.path(), &["test", "github"], 1).await.contains("in the catalogue, and not configured"));
}

/// Kind 22: errors that look otherwise, and what is no error of OAuth at all.
#[tokio::test]
async fn kind_22_an_answer_that_says_nothing_of_our_client_is_told_as_one() {
    let (folder, provider) = (Folder::new(), Provider::start().await);
    configure(folder.path(), &provider, CLIENT_SECRET, "");
    for reply in [ErrorReply::Ok, ErrorReply::NotOk] {
        provider.set(|settings| settings.errors = reply);
        let told = says(folder.path(), &["test", "shop"], 0).await;
        assert!(told.contains("knows it"), "{told}");
    }
    provider.set(|settings| settings.errors = ErrorReply::Json);
    for (behaviour, verdict, code, found) in [
        (Behaviour::Status(503), "warning", 0, "HTTP 503"),
        (Behaviour::Status(404), "fault", 1, "refuses it (HTTP 404)"),
        (Behaviour::Status(200), "fault", 1, "cannot be read"),
    ] {
        provider.trouble_next(Endpoint::Token, Trouble::Instead(behaviour));
        let told = says(folder.path(), &["test", "shop"], code).await;
        assert!(lines(&told, verdict).iter().any(|line| line.contains(found)), "{found}: {told}");
    }
    provider.trouble_next(Endpoint::Token, Trouble::Limited("30".to_owned()));
    let told = says(folder.path(), &["test", "shop"], 0).await;
    assert!(lines(&told, "warning")[0].contains("try again later"), "{told}");
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_a_fault() {
    let folder = Folder::new();
    let nobody = free_port();
    let shop = format!(
        "[[provider]]\nname = \"shop\"\nkind = \"oauth\"\nclient_id = \"usher\"\nclient_secret = \"{CLIENT_SECRET}\"\n\
         authorization_endpoint = \"http://127.0.0.2:{nobody}/a\"\ntoken_endpoint = \"http://127.0.0.1:{nobody}/t\"\n"
    );
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", &shop);
    let told = says(folder.path(), &["test", "shop"], 1).await;
    let faults = lines(&told, "fault");
    assert!(faults.iter().any(|line| line.contains(&format!("127.0.0.2:{nobody}: connection refused"))), "{told}");
    assert!(faults.iter().any(|line| line.contains("nobody can connect until then")), "{told}");
}

/// Kind 15: where each person chooses a part of the addresses, one is given to test with.
#[tokio::test]
async fn kind_15_a_part_that_people_choose_is_given_to_the_test() {
    let (folder, provider) = (Folder::new(), Provider::start().await);
    provider.set(|settings| settings.tenants = vec!["acme".to_owned()]);
    let [authorize, token] = [Endpoint::Authorization, Endpoint::Token].map(|at| provider.url_of("{host}", at));
    let shop = format!(
        "[egress]\nallow = [\"127.0.0.1\"]\n[[provider]]\nname = \"shop\"\nkind = \"oauth\"\nclient_id = \"{CLIENT}\"\n\
         client_secret = \"{CLIENT_SECRET}\"\nauthorization_endpoint = \"{authorize}\"\ntoken_endpoint = \"{token}\"\n\
         input = [{{ name = \"host\", label = \"Your shop\", example = \"acme\" }}]\n"
    );
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", &shop);
    assert!(
        says(folder.path(), &["show", "shop"], 0).await.contains("{host}: Your shop, by each person; for example acme")
    );
    let told = says(folder.path(), &["test", "shop"], 1).await;
    assert!(lines(&told, "fault")[0].contains("--value host=…"), "{told}");
    let told = says(folder.path(), &["test", "shop", "--value", "host=acme"], 0).await;
    assert!(told.contains("knows it"), "{told}");
    says(folder.path(), &["test", "shop", "--value", "host=../x"], 1).await;
    says(folder.path(), &["test", "shop", "--value", "acme"], 2).await;
    provider.assert_clean();
}

/// Kind 24: of a key on a page, the check is what can be tested.
#[tokio::test]
async fn kind_24_a_check_that_is_content_with_anybody_is_a_warning() {
    let folder = Folder::new();
    let api = Api::start("x-key", "k").await;
    let weather = format!(
        "[[provider]]\nname = \"weather\"\nkind = \"secret\"\nfield = [{{ name = \"api_key\" }}]\n[provider.check]\n\
         get = \"{}\"\nheader = {{ X-Key = \"{{api_key}}\" }}\n[[provider]]\nname = \"plain\"\nkind = \"secret\"\n\
         field = [{{ name = \"key\" }}]\n",
        api.url("/me")
    );
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", &weather);
    for (status, verdict, found) in [
        (401, "ok", "refuses who brings nothing (HTTP 401)"),
        (200, "warning", "content without a credential"),
        (404, "warning", "answers HTTP 404"),
    ] {
        api.behave(Behaviour::Status(status));
        let told = says(folder.path(), &["test", "weather"], 0).await;
        assert!(lines(&told, verdict)[0].contains(found), "{told}");
    }
    assert!(
        api.requests().iter().all(|request| request.http_method == Method::GET && request.header("x-key").is_none())
    );
    assert!(says(folder.path(), &["test", "plain"], 0).await.contains("taken as it is"));
}

/// R-OAUTH-04: an MCP server that demands its own sign-in says who makes its tokens; no client is registered by asking.
#[tokio::test]
async fn a_server_with_its_own_sign_in_says_who_makes_its_tokens() {
    let (folder, provider) = (Folder::new(), Provider::start().await);
    let upstream = Upstream::builder().start().await;
    upstream.guard(Guard::by(&provider));
    provider.set(|settings| settings.registry.registration = Registration::Open);
    let port = free_port();
    let notes = "[egress]\nallow = [\"127.0.0.1\"]\n[[provider]]\nname = \"notes\"\nkind = \"mcp\"\n";
    config(folder.path(), port, &upstream.url(), notes);
    let file = folder.path().join("usher.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}[[upstream.needs]]\nprovider = \"notes\"\n")).unwrap();
    let told = says(folder.path(), &["test", "notes"], 0).await;
    assert!(told.contains(&format!("{} makes the tokens of weather", provider.issuer())), "{told}");
    assert!(told.contains(&format!("http://127.0.0.1:{port}/callback/notes/")), "{told}");
    assert!(told.contains("becomes known there by registration"), "{told}");
    provider.set(|settings| settings.registry.registration = Registration::Missing);
    let told = says(folder.path(), &["test", "notes"], 1).await;
    assert!(lines(&told, "fault")[0].contains("no way to become known there by itself; register one"), "{told}");
    assert_eq!((provider.clients().len(), provider.count(Endpoint::Registration)), (1, 0));
    assert_eq!((provider.count(Endpoint::Token), provider.count(Endpoint::Authorization)), (0, 0));
    assert!(says(folder.path(), &["show", "notes"], 0).await.contains("found out at the server"));
}
