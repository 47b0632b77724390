//! The request through the browser: kinds 1, 6, 7, 8, 15, 18 and 20.

use usher_testkit::oauth::settings::{Offline, Pkce, ResourceParameter, Separator};

use super::*;

/// R-OAUTH-02: the whole way as the standards have it.
#[tokio::test]
async fn a_flow_as_the_standards_have_it() {
    let scene = Scene::new(|_| {}, "issuer = \"@issuer\"\niss = \"required\"").await;
    let url = scene.url();
    let pairs: BTreeMap<_, _> = url.query_pairs().into_owned().collect();
    assert_eq!((pairs["state"].as_str(), pairs["code_challenge_method"].as_str()), (STATE, "S256"));
    assert_eq!((pairs["redirect_uri"].as_str(), pairs["response_type"].as_str()), (BACK, "code"));
    assert!(!url.as_str().contains(VERIFIER) && !url.as_str().contains(CLIENT_SECRET));
    let tokens = scene.connected().await;
    assert!((3_500..=3_600).contains(&lives(&tokens).unwrap()));
    assert_eq!(tokens.scopes, Some(set(&["read", "write"])));
    assert!(tokens.lacks(&set(&["read"])).is_empty());
    assert_eq!(scene.server.issuer(), scene.provider.issuer());
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert_ne!(access_token(&fresh), access_token(&tokens));
    assert!(scene.is_good(&fresh));
    scene.provider.assert_clean();
}

/// R-OAUTH-01: a token stands in no text that is made of what holds it.
#[tokio::test]
async fn what_holds_a_token_does_not_show_it() {
    let scene = Scene::standard().await;
    let code = scene.code().await.unwrap();
    scene.assert_silent(&format!("{code:?}"));
    let tokens = scene.exchange(&code).await.unwrap();
    scene.assert_silent(&format!("{tokens:?} {:?} {:?} {:?}", scene.client, scene.server, scene.oauth));
}

#[tokio::test]
async fn kind_01_scopes_are_separated_as_the_provider_wants() {
    for (separator, text) in [(Separator::Comma, ","), (Separator::Plus, "+"), (Separator::Space, " ")] {
        let lines = format!("[provider.authorize]\nscope_separator = {text:?}");
        let scene = Scene::new(|settings| settings.authorization.separator = separator, &lines).await;
        assert_eq!(scene.connected().await.scopes, Some(set(&["read", "write"])), "{separator:?}");
        scene.provider.assert_clean();
    }
    let lines = "scopes = [\"read\"]\n[provider.authorize]\nscope_parameter = \"user_scope\"";
    let scene = Scene::new(|settings| settings.authorization.scope_parameter = "user_scope", lines).await;
    assert_eq!(scene.connected().await.scopes, Some(set(&["read"])));
}

#[tokio::test]
async fn kind_01_scopes_are_not_encoded_where_they_must_not_be() {
    for (separator, text) in [(Separator::Comma, ","), (Separator::Plus, "+")] {
        let differ = |settings: &mut Settings| {
            settings.authorization.separator = separator;
            settings.authorization.scopes_unencoded = true;
        };
        let lines = format!(
            "scopes = [\"https://api.example/auth/x:read\", \"write\"]\n[provider.authorize]\nscope_separator = {text:?}\n\
             scope_encoding = \"raw\""
        );
        let scene = Scene::new(differ, &lines).await;
        assert_eq!(scene.connected().await.scopes, Some(set(&["https://api.example/auth/x:read", "write"])), "{text}");
        scene.provider.assert_clean();
    }
}

/// What would end a parameter is encoded in any case.
#[tokio::test]
async fn kind_01_a_scope_cannot_become_another_parameter() {
    let lines = "scopes = [\"a&state=x#y%26\"]\n[provider.authorize]\nscope_encoding = \"raw\"";
    let url = Scene::new(|_| {}, lines).await.url();
    assert!(url.as_str().ends_with("&scope=a%26state%3Dx%23y%2526"), "{url}");
    assert_eq!(url.query_pairs().filter(|(name, _)| name == "state").count(), 1);
}

#[tokio::test]
async fn kind_06_no_proof_key_where_it_is_refused() {
    let differ = |settings: &mut Settings| settings.authorization.pkce = Pkce::Refused;
    let scene = Scene::new(differ, "[provider.authorize]\npkce = \"off\"").await;
    scene.connected().await;
    assert!(!scene.url().as_str().contains("code_challenge"));
    scene.provider.assert_clean();
    // And one that wants it refuses us without.
    let scene = Scene::new(|_| {}, "[provider.authorize]\npkce = \"off\"").await;
    assert!(matches!(scene.code().await, Err(ReplyFault::Misconfigured { code, .. }) if code == "invalid_request"));
}

#[tokio::test]
async fn kind_07_a_refresh_token_is_asked_for_in_the_provider_s_way() {
    let offline = |offline: Offline| move |settings: &mut Settings| settings.authorization.offline = offline;
    let parameters = || Offline::Parameters(vec![("access_type", "offline"), ("prompt", "consent")]);
    let lines = "[provider.authorize]\noffline = { access_type = \"offline\", prompt = \"consent\" }";
    let scene = Scene::new(offline(parameters()), lines).await;
    assert!(scene.connected().await.refresh_token.is_some());
    assert!(Scene::new(offline(parameters()), "").await.connected().await.refresh_token.is_none());

    let lines = "[provider.authorize]\noffline_scopes = [\"offline_access\"]";
    let scene = Scene::new(offline(Offline::Scope("offline_access")), lines).await;
    let tokens = scene.connected().await;
    assert!(tokens.refresh_token.is_some());
    // The switch is no scope that anybody would miss.
    assert!(tokens.lacks(&set(&["read", "write"])).is_empty());
    scene.provider.assert_clean();
}

#[tokio::test]
async fn kind_08_more_parameters_where_the_provider_wants_them() {
    let differ = |settings: &mut Settings| {
        settings.authorization.demanded = vec![("audience", "api.example"), ("owner", "user")];
    };
    let lines =
        "[provider.authorize]\nparameters = { audience = \"api.example\", owner = \"user\" }\nlanguage = \"hl\"";
    let scene = Scene::new(differ, lines).await;
    scene.connected().await;
    assert!(scene.url().as_str().contains("&hl=en"));
    scene.provider.assert_clean();
}

/// Kind 15, R-SEC-05: a value of the user's leads only where the operator lets it.
#[tokio::test]
async fn kind_15_a_host_of_the_user_s_is_looked_at_before_it_is_requested() {
    install_crypto_provider();
    let provider = Provider::start().await;
    provider.set(|settings| settings.tenants = vec!["acme".to_owned(), "other".to_owned()]);
    provider.set(|settings| settings.who = Who::Always("user-1".to_owned()));
    let origin = provider.issuer();
    let lines = format!(
        "issuer = \"{origin}/t/{{shop}}\"\niss = \"ignored\"\nauthorization_endpoint = \"{origin}/t/{{shop}}/authorize\"\n\
         token_endpoint = \"{origin}/t/{{shop}}/token\"\n[[provider.input]]\nname = \"shop\"\npattern = \"[a-z]+\""
    );
    let oauth = oauth(&provider, &lines);
    assert_eq!(oauth.inputs().map(|input| input.name.as_str()).collect::<Vec<_>>(), ["shop"]);
    let chosen = |value: &str| BTreeMap::from([("shop".to_owned(), value.to_owned())]);
    assert_eq!(Server::of(&oauth, &BTreeMap::new()).unwrap_err(), ServerError::Missing("shop".to_owned()));
    for wrong in ["acme/../other", "acme1", "", "@evil.example"] {
        assert_eq!(Server::of(&oauth, &chosen(wrong)).unwrap_err(), ServerError::Wrong("shop".to_owned()), "{wrong}");
    }
    let server = Server::of(&oauth, &chosen("acme")).unwrap();
    assert_eq!(server.issuer(), format!("{origin}/t/acme"));
    let client = Client::of(&oauth, BACK.to_owned()).unwrap();
    let egress = |allowed| Egress::allowing(allowed).unwrap();
    let network = crate::egress::Network::parse("127.0.0.0/8").unwrap();
    let scene = Scene {
        egress: egress(Allowed { networks: vec![network], hosts: Vec::new() }),
        provider,
        oauth: oauth.clone(),
        server,
        client,
    };
    let tokens = scene.connected().await;
    assert_eq!(tokens.values, chosen("acme"));
    assert_eq!(scene.provider.token_book().look_up(access_token(&tokens)).unwrap().tenant, "acme");
    let count = scene.provider.count(Endpoint::Token);
    let scene = Scene { egress: egress(Allowed::default()), ..scene };
    assert!(matches!(scene.connect().await, Err(TokenError::Blocked(_))));
    assert!(matches!(scene.refresh(&tokens).await, Err(TokenError::Blocked(_))));
    assert_eq!(scene.provider.count(Endpoint::Token), count, "nothing was sent");

    // The operator may choose it as well, and then may have it anywhere.
    let fixed = OAuth { values: chosen("other"), ..oauth };
    assert_eq!(fixed.inputs().count(), 0);
    let scene = Scene { server: Server::of(&fixed, &chosen("acme")).unwrap(), ..scene };
    let tokens = scene.connected().await;
    assert_eq!(scene.provider.token_book().look_up(access_token(&tokens)).unwrap().tenant, "other");
}

#[tokio::test]
async fn kind_18_parameters_have_other_names() {
    let differ = |settings: &mut Settings| {
        settings.authorization.client_id_parameter = "client_key";
        settings.callback.code_parameter = "auth_code";
        settings.tokens.code_parameter = "auth_code";
    };
    let lines = "client_id_parameter = \"client_key\"\nclient_authentication = \"client_secret_post\"\n[provider.callback]\n\
                 code = \"auth_code\"\n[provider.token]\ncode_parameter = \"auth_code\"";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    scene.refresh(&tokens).await.unwrap();
    scene.provider.assert_clean();
}

#[tokio::test]
async fn kind_20_the_resource_is_sent_where_it_is_expected_and_nowhere_else() {
    let demanded = |settings: &mut Settings| settings.authorization.resource = ResourceParameter::Demanded;
    let scene = Scene::new(demanded, "resource = \"https://api.example/v1\"").await;
    let tokens = scene.connected().await;
    let fresh = scene.refresh(&tokens).await.unwrap();
    let token = scene.provider.token_book().look_up(access_token(&fresh)).unwrap();
    assert_eq!(token.resource.as_deref(), Some("https://api.example/v1"));
    scene.provider.assert_clean();

    let refused = |settings: &mut Settings| settings.authorization.resource = ResourceParameter::Refused;
    Scene::new(refused, "").await.connected().await;
    let scene = Scene::new(refused, "resource = \"https://api.example/v1\"").await;
    assert!(matches!(scene.code().await, Err(ReplyFault::Misconfigured { code, .. }) if code == "invalid_target"));
    // Refused only when the token is asked for: our request is wrong, whoever asks.
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    let scene = Scene::new(refused, "").await;
    let mut server = scene.server.clone();
    server.resource = Some("https://api.example/v1".to_owned());
    let code = scene.code().await.unwrap();
    let scene = Scene { server, ..scene };
    assert_eq!(scene.exchange(&code).await.unwrap_err(), TokenError::Client("invalid_target".to_owned()));
    drop(tokens);
}

/// R-SEC-05: a browser is sent to a web page over https, or to this machine.
#[tokio::test]
async fn nobody_is_sent_to_another_scheme() {
    let scene = Scene::standard().await;
    for (url, fine) in [
        ("https://id.example/authorize?tenant=1", true),
        ("http://127.0.0.1:1/authorize", true),
        ("http://id.example/authorize", false),
        ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
        ("https://user:pw@id.example/", false),
    ] {
        let server = Server::discovered(Discovered {
            issuer: "https://id.example".to_owned(),
            authorization_endpoint: Some(Url::parse(url).unwrap()),
            token_endpoint: Url::parse("https://id.example/token").unwrap(),
            revocation_endpoint: None,
            promises_iss: true,
            resource: Some("https://mcp.example/mcp".to_owned()),
        });
        let (state, verifier) = (SecretString::from(STATE), SecretString::from(VERIFIER));
        let request = Request { state: &state, verifier: &verifier, scopes: &[], language: "en" };
        let found = authorize(&server, &scene.client, &request);
        assert_eq!(found.is_ok(), fine, "{url}");
        if let Ok(found) = found {
            assert!(found.as_str().starts_with(url) && !found.as_str().contains("scope="), "{found}");
            assert!(found.as_str().contains("&resource=https%3A%2F%2Fmcp.example%2Fmcp") || !url.contains('?'));
        }
    }
}
