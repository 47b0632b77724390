//! Accounts at the server itself (kind `mcp`): a token is for one server, and ended where it was granted.

use secrecy::SecretString;
use usher::clock::Clock as _;
use usher_store::{Grant, GrantClient, GrantServer, Outcome};
use usher_testkit::{
    oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider},
    person::Person,
    upstream::Upstream,
};

use super::{disconnect, is_gone, told};
use crate::{
    harness::{CALLS, Setup, Stage},
    needs_modern::ask,
    refresh::scene::{Scene, furnish, grant, granted, token_of},
};

/// The server, as it is called: it serves several.
fn url(scene: &Scene) -> String {
    format!("{}?tenant=1", scene.stage.upstream.url())
}

/// A server that demands an account at itself, at which the person has one.
async fn connected() -> (Scene, Person) {
    let hub = Provider::start().await;
    let more = format!(
        "[[upstream.needs]]\nprovider = \"hub\"\n[[provider]]\nname = \"hub\"\ntitle = \"Hub\"\nkind = \"mcp\"\nissuer = \"{}\"\n\
         client_id = \"{CLIENT}\"\nclient_secret = \"{CLIENT_SECRET}\"\n",
        hub.issuer()
    );
    let stage = Stage::with(Setup { free: true, more, ..Setup::default() }, Upstream::start().await).await;
    furnish(&stage.upstream, &hub);
    let mut scene = Scene { stage, hub };
    let (bare, own) = (scene.stage.upstream.url(), url(&scene));
    scene.configured(|text| text.replace(&format!("\"{bare}\""), &format!("\"{own}\""))).await;
    let reply = granted(&scene.hub, "user-1").await;
    let server = GrantServer {
        issuer: scene.hub.issuer(),
        token_endpoint: Some(scene.hub.url(Endpoint::Token)),
        revocation_endpoint: Some(scene.hub.url(Endpoint::Revocation)),
        resource: Some(own),
        client: GrantClient {
            id: CLIENT.to_owned(),
            secret: None::<SecretString>,
            method: "client_secret_basic".to_owned(),
            redirect_uri: "http://127.0.0.1:9/callback/hub".to_owned(),
        },
    };
    let new = Grant { server, ..grant(&scene.hub, &reply, scene.stage.clock.now()) };
    scene.connect_with(&reply, new).await;
    scene.goes_through().await;
    let person = scene.stage.person().await;
    (scene, person)
}

/// R-GW-04: another URL is another resource: nothing is sent there before its owner signs in for it, and back at the old one nobody is
/// asked.
#[tokio::test]
async fn a_token_for_one_server_goes_to_no_other_and_back_again_nobody_is_asked() {
    let (mut scene, person) = connected().await;
    let other = Upstream::start().await;
    furnish(&other, &scene.hub);
    let token = token_of(&scene.stored().await).to_owned();
    let old = url(&scene);
    for new in [format!("{}?tenant=2", scene.stage.upstream.url()), other.url()] {
        let seen = scene.stage.upstream.requests().len();
        scene.configured(|text| text.replace(&format!("\"{old}\""), &format!("\"{new}\""))).await;
        for call in CALLS {
            let asked = ask(&scene.stage.modern(), call).await;
            let page = person.get(&asked.url()).await;
            assert!(!page.html.contains(">Allow<"), "the token is of no use there: {}", page.describe());
        }
        let sent = [scene.stage.upstream.requests().split_off(seen), other.requests()].concat();
        let carried = |name: &str| sent.iter().any(|one| one.header(name).is_some_and(|value| value.contains(&token)));
        assert!(!carried("authorization"), "{new}");
        scene.configured(|text| text.replace(&format!("\"{new}\""), &format!("\"{old}\""))).await;
        scene.goes_through().await;
    }
}

/// The server that granted it ends it, by the endpoint that it named.
#[tokio::test]
async fn an_account_at_a_server_ends_where_it_was_granted() {
    let (scene, person) = connected().await;
    let gone = disconnect(&person).await;
    assert!(gone.text().contains("127.0.0.1 has ended the access too"), "{}", gone.text());
    assert_eq!((scene.hub.counts().revocations, scene.hub.grants_of("user-1")), (1, 0));
    assert_eq!(told(&scene).await, [(Outcome::Success, None)]);
    is_gone(&scene).await;
}
