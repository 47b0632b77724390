//! ID tokens that do not prove who it is.

use serde_json::{Value, json};
use usher_testkit::idp::{Algorithm, Settings, Signature};

use super::{is_refused, scene::Scene};

type Change = (&'static str, fn(&mut Settings));

/// R-ID-02, R-ID-04, R-OAUTH-02 (OpenID Connect Core, section 3.1.3.7): a token that is wrong in one point signs nobody in.
#[tokio::test]
async fn a_token_that_is_wrong_in_one_point_signs_nobody_in() {
    let changes: [Change; 23] = [
        ("another nonce", |settings| settings.id_claims = json!({ "nonce": "other" })),
        ("no nonce", |settings| settings.id_claims = json!({ "nonce": null })),
        ("a nonce that is no text", |settings| settings.id_claims = json!({ "nonce": [] })),
        ("for another client", |settings| settings.id_claims = json!({ "aud": "other" })),
        ("for nobody", |settings| settings.id_claims = json!({ "aud": null })),
        ("for several, made for none", |settings| settings.id_claims = json!({ "aud": ["usher", "other"] })),
        ("made for another", |settings| settings.id_claims = json!({ "aud": ["usher", "other"], "azp": "other" })),
        ("made for another alone", |settings| settings.id_claims = json!({ "azp": "other" })),
        ("another issuer", |settings| settings.id_claims = json!({ "iss": "https://evil.example" })),
        ("no issuer", |settings| settings.id_claims = json!({ "iss": null })),
        ("expired", |settings| settings.id_claims = json!({ "exp": 1_000_000_000 })),
        ("without an end", |settings| settings.id_claims = json!({ "exp": null })),
        ("without a beginning", |settings| settings.id_claims = json!({ "iat": null })),
        ("of the future", |settings| settings.id_claims = json!({ "iat": 4_000_000_000_i64 })),
        ("an access token of another", |settings| settings.id_claims = json!({ "at_hash": "AAAAAAAAAAAAAAAAAAAAAA" })),
        ("at_hash that is none", |settings| settings.id_claims = json!({ "at_hash": 7 })),
        ("an access token's type", |settings| settings.id_header = json!({ "typ": "at+jwt" })),
        ("unsigned", |settings| settings.id_signature = Signature::None),
        ("signed with the public key", |settings| {
            settings.id_signature = Signature::PublicKeyAsSecret(Algorithm::Es256);
        }),
        ("signed by a stranger", |settings| settings.id_signature = Signature::Stranger(Algorithm::Es256)),
        ("with a broken signature", |settings| settings.id_signature = Signature::Broken(Algorithm::Es256)),
        ("no token", |settings| settings.tokens = json!({ "id_token": null })),
        ("no JWT", |settings| settings.tokens = json!({ "id_token": "opaque" })),
    ];
    let scene = Scene::new().await;
    for (what, change) in changes {
        scene.idp.set(|settings| {
            (settings.id_claims, settings.id_header, settings.tokens) = (json!({}), json!({}), json!({}));
            settings.id_signature = Signature::By(Algorithm::Es256);
            change(settings);
        });
        let (person, url) = scene.answered("user-1").await;
        let page = person.come_back(&url).await;
        is_refused(&page, 502, "does not prove who you are");
        assert!(person.get("/").await.location().is_some(), "{what}: nobody is signed in");
    }
    assert_eq!(scene.audited(&scene.user("user-1"), usher_store::AuditAction::BrowserSignedIn).await, 0);
    scene.refused("an ID token that proves nothing").await;
}

/// What the specification leaves open is taken.
#[tokio::test]
async fn a_token_that_says_less_or_more_signs_in() {
    let scene = Scene::new().await;
    let also: [Value; 5] = [
        json!({ "at_hash": null }),
        json!({ "aud": ["usher"] }),
        json!({ "aud": ["other", "usher"], "azp": "usher" }),
        json!({ "azp": "usher" }),
        json!({ "auth_time": null, "acr": "0", "amr": ["pwd"], "sid": "s-1" }),
    ];
    for claims in also {
        scene.idp.set(|settings| settings.id_claims = claims);
        scene.person("user-1").await;
    }
    for algorithm in [Algorithm::Rs256, Algorithm::Es256] {
        scene.forward(120);
        scene.idp.set(|settings| {
            settings.id_claims = json!({});
            settings.id_signature = Signature::By(algorithm);
        });
        scene.idp.key(algorithm);
        scene.person("user-1").await;
    }
}
