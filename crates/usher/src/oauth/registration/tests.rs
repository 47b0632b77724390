use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::*;
use crate::{
    config::Issuer,
    oauth::{
        discovery::Reach,
        site::{self, Site},
    },
};

const REDIRECT: &str = "https://usher.example/callback/notes/k";

/// What came of registering at a server that replies so, and the request.
async fn register_with(
    redirect: &str,
    server: &Value,
    status: u16,
    reply: &str,
) -> (Result<Registered, RegistrationError>, Vec<Value>) {
    let egress = site::egress();
    let site = Site::start().await;
    site.says("/register", status, reply);
    let upstream = Url::parse("https://mcp.example/mcp").unwrap();
    let reach = Reach::of(&egress, &upstream, None);
    let mut document = json!({
        "issuer": site.origin,
        "authorization_endpoint": site.url("/authorize").as_str(),
        "token_endpoint": site.url("/token").as_str(),
        "registration_endpoint": site.url("/register").as_str(),
        "code_challenge_methods_supported": ["S256"],
    });
    for (member, value) in server.as_object().unwrap() {
        document[member] = value.clone();
    }
    document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let issuer = Issuer::parse(&site.origin).unwrap();
    let server = ServerMetadata::parse(document.to_string().as_bytes(), &issuer, &reach).unwrap();
    let registered = async {
        let endpoint = server.registration_endpoint.as_ref().unwrap();
        let wanted = Wanted {
            redirect_uri: redirect,
            name: "Usher",
            origin: "https://usher.example",
            method: method_at(&server)?,
            refreshes: server.refreshes(),
        };
        register(reach.client(endpoint)?, endpoint, &wanted).await
    };
    let registered = registered.await;
    let asked = site.asked().into_iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    (registered, asked)
}

async fn register_at(server: Value, status: u16, reply: Value) -> (Result<Registered, RegistrationError>, Value) {
    let (registered, mut asked) = register_with(REDIRECT, &server, status, &reply.to_string()).await;
    (registered, asked.pop().unwrap_or_default())
}

fn secret(registered: &Registered) -> Option<&str> {
    registered.secret.as_ref().map(ExposeSecret::expose_secret)
}

#[tokio::test]
async fn a_client_says_what_it_is_and_has_one_redirect_uri() {
    let reply = json!({
        "client_id": "c1",
        "client_secret": "s1",
        "client_secret_expires_at": 0,
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "client_secret_basic",
    });
    let (registered, asked) = register_at(json!({}), 201, reply.clone()).await;
    insta::assert_snapshot!(asked, @r#"{"application_type":"web","redirect_uris":["https://usher.example/callback/notes/k"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_basic","client_name":"Usher","client_uri":"https://usher.example"}"#);
    let registered = registered.unwrap();
    assert_eq!((registered.id.as_str(), secret(&registered)), ("c1", Some("s1")));
    assert_eq!((registered.method.as_str(), registered.expires_at), ("client_secret_basic", None));

    let loopback = "http://127.0.0.1:8420/callback/notes/k";
    let (_, asked) = register_with(loopback, &json!({}), 201, &reply.to_string()).await;
    assert_eq!(asked[0]["application_type"], "native", "OpenID providers refuse http for one of the web");
}

/// How a client proves itself is chosen from what the server takes.
#[tokio::test]
async fn the_method_is_one_that_the_server_takes() {
    for (methods, chosen) in [
        (json!(["none", "client_secret_post", "client_secret_basic"]), "client_secret_basic"),
        (json!(["none", "client_secret_post"]), "client_secret_post"),
        (json!(["none", "private_key_jwt"]), "none"),
    ] {
        let server = json!({ "token_endpoint_auth_methods_supported": methods });
        let (_, asked) = register_at(server, 201, json!({ "client_id": "c" })).await;
        assert_eq!(asked["token_endpoint_auth_method"], chosen);
    }
    let server = json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] });
    let (registered, asked) = register_at(server, 201, json!({ "client_id": "c" })).await;
    assert_eq!((registered.unwrap_err(), asked), (RegistrationError::NoMethod, Value::Null));
    let (_, asked) = register_at(json!({ "grant_types_supported": ["authorization_code"] }), 201, json!({})).await;
    assert_eq!(asked["grant_types"], json!(["authorization_code"]), "a grant that is not there could be refused");
}

/// What the reply says counts.
#[tokio::test]
async fn the_reply_says_how_the_client_proves_itself() {
    let public = json!({ "token_endpoint_auth_methods_supported": ["none"] });
    for (server, reply, expected) in [
        // A secret that must not be used.
        (json!({}), json!({ "client_secret": "s", "token_endpoint_auth_method": "none" }), Ok(("none", None))),
        (
            json!({}),
            json!({ "client_secret": "s", "token_endpoint_auth_method": "client_secret_post" }),
            Ok(("client_secret_post", Some("s"))),
        ),
        (json!({}), json!({ "client_secret": "s" }), Ok(("client_secret_basic", Some("s")))),
        (json!({}), json!({}), Ok(("none", None))),
        (json!({}), json!({ "client_secret": "" }), Ok(("none", None))),
        (public.clone(), json!({ "client_secret": "s" }), Ok(("client_secret_basic", Some("s")))),
        (public, json!({}), Ok(("none", None))),
        (json!({}), json!({ "token_endpoint_auth_method": "client_secret_post" }), Err("it has no secret")),
        (json!({}), json!({ "token_endpoint_auth_method": "private_key_jwt" }), Err("its method is none that we know")),
        (json!({}), json!({ "redirect_uris": ["https://usher.example/other"] }), Err("it is for another redirect URI")),
        (json!({}), json!({ "client_id": "" }), Err("it has no client_id, or too long a one")),
    ] {
        let mut whole = json!({ "client_id": "c" });
        whole.as_object_mut().unwrap().extend(reply.as_object().unwrap().clone());
        let (registered, _) = register_at(server, 201, whole).await;
        match expected {
            Ok((method, expected)) => {
                let registered = registered.unwrap();
                assert_eq!((registered.method.as_str(), secret(&registered)), (method, expected), "{reply}");
            }
            Err(why) => assert_eq!(registered.unwrap_err(), RegistrationError::Reply(why)),
        }
    }
}

#[tokio::test]
async fn the_end_of_a_secret_and_the_management_are_kept() {
    let reply = |expires: Value, uri: &str| {
        json!({
            "client_id": "c",
            "client_secret": "s",
            "client_secret_expires_at": expires,
            "registration_client_uri": uri,
            "registration_access_token": "t",
        })
    };
    let (registered, _) = register_at(json!({}), 200, reply(json!(2_000_000_000), "https://id.example/c")).await;
    let registered = registered.unwrap();
    assert_eq!(registered.expires_at.map(Timestamp::as_second), Some(2_000_000_000));
    assert_eq!(registered.management.unwrap().0.as_str(), "https://id.example/c");
    let (registered, _) = register_at(json!({}), 200, reply(json!(0), "javascript:x")).await;
    let registered = registered.unwrap();
    assert!(registered.expires_at.is_none() && registered.management.is_none());
}

/// R-SEC-04: the operator hears what to do; R-OAUTH-01: nothing of a reply that holds a secret is told.
#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let reply = json!({ "error": "invalid_redirect_uri", "error_description": "<script>" });
    let (registered, _) = register_at(json!({}), 400, reply).await;
    let error = registered.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("invalid_redirect_uri") && text.contains(REDIRECT) && !text.contains("script"), "{text}");
    assert!(!error.is_transient());
    let (registered, _) = register_at(json!({}), 503, json!({})).await;
    assert!(registered.unwrap_err().is_transient());
    let (registered, _) = register_with(REDIRECT, &json!({}), 201, r#"{"client_secret":"hidden"#).await;
    assert!(!format!("{:?}", registered.unwrap_err()).contains("hidden"));
}

/// R-SEC-05
#[tokio::test]
async fn a_registration_goes_to_no_private_address() {
    let server = json!({ "registration_endpoint": "https://10.0.0.1/register" });
    let (registered, _) = register_at(server, 201, json!({})).await;
    assert_eq!(registered.unwrap_err(), RegistrationError::Blocked(Blocked::Address));
}
