//! Asks an MCP server that demands its own sign-in who makes its tokens, and how our client would come to be known there. Nobody
//! is sent anywhere, and no client is registered.

use crate::{
    commands::{change::shown, doctor::finding::Finding},
    config::{Config, McpAuthorization, Provider, Registration},
    egress::{Egress, place},
    oauth::{
        self, client_metadata,
        discovery::{Discovered, Reach, discover, server::ServerMetadata},
    },
};

/// What was found at the server that a provider of kind `mcp` is for.
pub(super) async fn examine(
    config: &Config,
    provider: &Provider,
    account: &McpAuthorization,
    egress: &Egress,
) -> Vec<Finding> {
    let Some((upstream, url)) = config.protected(provider) else {
        let todo = "name the provider in the needs of the server that demands it";
        return vec![Finding::fault("server", "no server needs it", todo)];
    };
    let reach = Reach::of(egress, url, account.issuer.as_ref());
    match discover(&reach, url, account.issuer.as_ref(), &mut None).await {
        Ok(found) => found_at(config, provider, account, &upstream.name, &found),
        Err(error) => {
            let todo = "nobody can connect until then; usher doctor looks at the server itself";
            vec![Finding::fault("issuer", format!("{}: {error}", upstream.name), todo)]
        }
    }
}

fn found_at(
    config: &Config,
    provider: &Provider,
    account: &McpAuthorization,
    upstream: &str,
    found: &Discovered,
) -> Vec<Finding> {
    let issuer = found.server.issuer.as_str();
    let redirect_uri = oauth::redirect_uri(&config.public_url, &provider.name, Some(issuer));
    let scopes = [&found.challenged, &found.supported].into_iter().find(|scopes| !scopes.is_empty());
    let scopes = scopes.map_or_else(
        || "names no scopes".to_owned(),
        |scopes| format!("names the scopes {}", scopes.iter().map(|scope| shown(scope)).collect::<Vec<_>>().join(", ")),
    );
    vec![
        Finding::ok("issuer", format!("{} makes the tokens of {upstream}, which {scopes}", shown(issuer))),
        Finding::ok("redirect URI", format!("{redirect_uri} is where people come back to")),
        client(config, provider, account, &found.server),
    ]
}

/// How our client would come to be known there.
fn client(config: &Config, provider: &Provider, account: &McpAuthorization, server: &ServerMetadata) -> Finding {
    const CLIENT: &str = "our client";
    if let Some(id) = &account.client_id {
        let found = format!("is {}, of the configuration; a visit shows whether it is known there", shown(id));
        return Finding::ok(CLIENT, found);
    }
    let registers = matches!(account.registration, Registration::Automatic | Registration::Dynamic);
    let (url, name) = (&config.public_url, &provider.name);
    let key = oauth::issuer_key(server.issuer.as_str());
    let document = match account.registration {
        Registration::Automatic => client_metadata::client_id(url, name, Some(&key)),
        Registration::MetadataDocument => client_metadata::address(url, name, Some(&key)),
        Registration::Static | Registration::Dynamic => None,
    };
    let document = document.filter(|_| server.client_id_metadata_document);
    let endpoint = server.registration_endpoint.as_ref().filter(|_| registers);
    let mut ways: Vec<String> = document.into_iter().map(|id| format!("the document {id}, served here")).collect();
    ways.extend(endpoint.map(|endpoint| format!("registration at {} (RFC 7591)", place(endpoint))));
    if ways.is_empty() {
        let todo = "register one there, and add client_id, client_secret and issuer to the provider";
        return Finding::fault(CLIENT, "has no way to become known there by itself", todo);
    }
    Finding::ok(CLIENT, format!("becomes known there by {}, at the first visit", ways.join(" or ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        commands::doctor::finding::Verdict,
        config::{ProviderKind, folder::Folder},
        oauth::site::{self, Site},
    };

    /// What is said of a server whose authorization server says this of itself beside what it must.
    async fn told(public_url: &str, more: Value, keys: &str) -> Vec<Finding> {
        let (server, id) = (Site::start().await, Site::start().await);
        let resource = json!({ "resource": server.url("/mcp").as_str(), "authorization_servers": [id.origin] });
        server.has("/.well-known/oauth-protected-resource/mcp", &resource);
        server.answers("/mcp", 401, vec![("www-authenticate", "Bearer scope=\"read\"".to_owned())], "");
        let mut metadata = json!({
            "issuer": id.origin,
            "authorization_endpoint": id.url("/authorize").as_str(),
            "token_endpoint": id.url("/token").as_str(),
            "code_challenge_methods_supported": ["S256"],
        });
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if let Some(registration) = metadata.get_mut("registration_endpoint") {
            *registration = json!(id.url("/register").as_str());
        }
        id.has("/.well-known/oauth-authorization-server", &metadata);
        let folder = Folder::new();
        let keys = keys.replace("{issuer}", &id.origin);
        let text = format!(
            "public_url = \"{public_url}\"\nlisten = {{ address = \"127.0.0.1:8420\" }}\n[identity]\nmode = \"oidc\"\n\
             issuer = \"https://id.example\"\nclient_id = \"usher\"\nclient_secret = \"s\"\n[[provider]]\nname = \"notes\"\n\
             kind = \"mcp\"\n{keys}\n[[upstream]]\nname = \"notes\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"notes\"\n",
            server.url("/mcp")
        );
        let config = Config::parse(&text, &folder.path("usher.toml"), &|_| None).unwrap();
        let provider = config.provider("notes").unwrap();
        let ProviderKind::Mcp(account) = &provider.kind else { panic!("kind mcp") };
        let findings = examine(&config, provider, account, &site::egress()).await;
        let asked = [server.asked(), id.asked()].concat();
        assert!(asked.iter().all(|asked| asked.path != "/register" && asked.path != "/authorize"), "nothing is begun");
        findings
    }

    /// R-OAUTH-04: who makes the tokens, and how our client becomes known there, without registering one.
    #[tokio::test]
    async fn a_server_is_asked_who_makes_its_tokens() {
        let (public, private) = ("https://usher.example", "https://usher.internal");
        let document = json!({ "client_id_metadata_document_supported": true });
        let both = json!({ "client_id_metadata_document_supported": true, "registration_endpoint": "" });
        for (public_url, more, keys, verdict, found) in [
            (public, &document, "", Verdict::Ok, "the document https://usher.example/.well-known/usher-client/notes/"),
            (public, &both, "", Verdict::Ok, "served here or registration at 127.0.0.1"),
            (public, &both, "registration = \"dynamic\"", Verdict::Ok, "becomes known there by registration"),
            (private, &both, "", Verdict::Ok, "becomes known there by registration"),
            (private, &document, "", Verdict::Fault, "no way to become known"),
            (public, &json!({}), "", Verdict::Fault, "no way to become known"),
            (
                public,
                &json!({}),
                "client_id = \"ours\"\nclient_secret = \"s\"\nissuer = \"{issuer}\"",
                Verdict::Ok,
                "is ours, of the configuration",
            ),
        ] {
            let findings = told(public_url, more.clone(), keys).await;
            let [issuer, redirect, client] = &findings[..] else { panic!("{findings:?}") };
            assert!(issuer.found.contains("makes the tokens of notes, which names the scopes read"), "{issuer}");
            assert!(redirect.found.starts_with(&format!("{public_url}/callback/notes/")), "{redirect}");
            assert_eq!(client.verdict, verdict, "{client}");
            assert!(client.found.contains(found), "{found}: {client}");
        }
    }

    /// R-OAUTH-05
    #[tokio::test]
    async fn an_authorization_server_that_cannot_be_used_is_a_fault() {
        let findings =
            told("https://usher.example", json!({ "code_challenge_methods_supported": ["plain"] }), "").await;
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].verdict, Verdict::Fault);
        assert!(findings[0].found.contains("S256"), "{}", findings[0]);
    }
}
