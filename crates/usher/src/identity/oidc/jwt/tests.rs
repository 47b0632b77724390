use jiff::Timestamp;
use serde_json::{Value, json};
use usher_testkit::idp::{Algorithm, CLIENT, Idp, Key, Signature, Token};

use super::*;

const HERE: &str = "https://usher.example/mcp/weather";

/// An issuer with keys of every kind.
async fn issuer() -> Idp {
    let idp = Idp::start().await;
    for algorithm in ALL {
        idp.key(algorithm);
    }
    idp
}

const ALL: [Algorithm; 5] = [Algorithm::Es256, Algorithm::Es384, Algorithm::Rs256, Algorithm::Ps256, Algorithm::EdDsa];

fn keys_of(idp: &Idp) -> KeySet {
    keys(&json!({ "keys": ALL.map(|algorithm| idp.key(algorithm).jwk()) }))
}

fn keys(document: &Value) -> KeySet {
    KeySet::parse(document.to_string().as_bytes()).unwrap()
}

fn now() -> Timestamp {
    crate::clock::Clock::now(&crate::clock::SystemClock)
}

fn access(idp: &Idp) -> Token<'_> {
    idp.access_token("user-1").audience(HERE)
}

fn verified(idp: &Idp, token: &str) -> Result<Claims, Invalid> {
    let issuer = idp.issuer();
    verify(token, &keys_of(idp), &Expected { issuer: &issuer, audience: HERE, kind: Kind::Access }, now())
}

#[tokio::test]
async fn a_right_token_is_verified_whatever_it_is_signed_by() {
    let idp = issuer().await;
    for algorithm in ALL {
        let claims = verified(&idp, &access(&idp).signed(Signature::By(algorithm)).mint()).unwrap();
        assert_eq!((claims.string("sub"), claims.string("client_id")), (Some("user-1"), Some("editor")));
    }
    for typ in [json!("JWT"), json!("jwt"), json!("AT+JWT"), json!("application/at+jwt"), Value::Null] {
        assert!(verified(&idp, &access(&idp).header("typ", typ.clone()).mint()).is_ok(), "{typ}");
    }
    for aud in [json!([HERE]), json!(["other", HERE])] {
        assert!(verified(&idp, &access(&idp).audience(aud).mint()).is_ok());
    }
    let claims = verified(&idp, &access(&idp).claim("groups", json!(["a", 7, "b"])).scope("x  y").mint()).unwrap();
    assert_eq!((claims.strings("groups"), claims.scopes()), (vec!["a", "b"], vec!["x", "y"]));
    let claims = verified(&idp, &access(&idp).claim("scp", json!(["x", "y"])).mint()).unwrap();
    assert_eq!(claims.scopes(), ["x", "y"]);
    assert!(!format!("{claims:?}").contains("user-1"), "claims are about people");
}

/// R-ID-02, RFC 8725: nobody but the issuer makes a token, whatever its header says.
#[tokio::test]
async fn a_forged_token_is_refused() {
    let idp = issuer().await;
    for algorithm in ALL {
        for (signature, why) in [
            (Signature::Stranger(algorithm), Invalid::Signature),
            (Signature::Broken(algorithm), Invalid::Signature),
            (Signature::PublicKeyAsSecret(algorithm), Invalid::Algorithm),
        ] {
            let token = access(&idp).signed(signature.clone()).mint();
            assert_eq!(verified(&idp, &token).unwrap_err(), why, "{signature:?}");
        }
    }
    assert_eq!(verified(&idp, &access(&idp).signed(Signature::None).mint()).unwrap_err(), Invalid::Algorithm);
    for name in ["none", "None", "NONE", "HS256", "HS384", "RS1", "ES256K", "dir", "es256", ""] {
        let token = access(&idp).header("alg", name).mint();
        assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::Algorithm, "{name}");
    }
    // Another algorithm than the key is for, and another key than the one that signed.
    let token = access(&idp).header("alg", "RS256").mint();
    assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::UnknownKey);
    let kid = idp.key(Algorithm::Rs256).kid;
    assert_eq!(verified(&idp, &access(&idp).header("kid", kid).mint()).unwrap_err(), Invalid::UnknownKey);
    let token = access(&idp).signed(Signature::By(Algorithm::Ps256)).header("alg", "RS256").mint();
    assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::UnknownKey, "the issuer keeps that key for PS256");
    for name in ["other", "", "../../key"] {
        assert_eq!(verified(&idp, &access(&idp).header("kid", name).mint()).unwrap_err(), Invalid::UnknownKey);
    }
    // What the header brings along is not looked at.
    let own = Key::new(Algorithm::Es256, "own").jwk();
    let token = access(&idp).signed(Signature::Stranger(Algorithm::Es256)).header("jwk", own).mint();
    assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::Signature);
    for crit in [json!(["exp"]), json!([]), json!("b64")] {
        assert_eq!(verified(&idp, &access(&idp).header("crit", crit).mint()).unwrap_err(), Invalid::Critical);
    }
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let idp = issuer().await;
    let right = access(&idp).mint();
    let (head, signature) = right.rsplit_once('.').unwrap();
    for wrong in [
        String::new(),
        "opaque".to_owned(),
        "..".to_owned(),
        head.to_owned(),
        format!("{right}.x"),
        format!(".{right}"),
        format!("{right}="),
        format!("{head}.{signature}\n"),
        format!(" {right}"),
        format!("{head}."),
        right.replacen('.', "..", 1),
    ] {
        let refused = verified(&idp, &wrong).unwrap_err();
        assert!(matches!(refused, Invalid::NotJwt | Invalid::Signature), "{wrong}: {refused}");
    }
    let long = access(&idp).claim("x", "x".repeat(LONGEST)).mint();
    assert_eq!(verified(&idp, &long).unwrap_err(), Invalid::TooLong);
}

/// R-ID-04
#[tokio::test]
async fn a_token_for_somebody_else_or_from_somebody_else_is_refused() {
    let idp = issuer().await;
    for aud in [
        json!("https://usher.example/mcp/other"),
        json!("https://usher.example/mcp/weather/"),
        json!("https://usher.example"),
        json!([]),
        json!(["other", [HERE]]),
        json!({ "aud": HERE }),
        Value::Null,
    ] {
        assert_eq!(verified(&idp, &access(&idp).audience(aud.clone()).mint()).unwrap_err(), Invalid::Audience, "{aud}");
    }
    let other = format!("{}/", idp.issuer());
    for iss in [json!(other), json!("https://other.example"), json!([idp.issuer()]), Value::Null] {
        assert_eq!(
            verified(&idp, &access(&idp).claim("iss", iss.clone()).mint()).unwrap_err(),
            Invalid::Issuer,
            "{iss}"
        );
    }
    let bound = access(&idp).claim("cnf", json!({ "jkt": "x" })).mint();
    assert_eq!(verified(&idp, &bound).unwrap_err(), Invalid::Bound);
}

#[tokio::test]
async fn a_token_is_valid_from_its_first_to_its_last_second_and_a_minute_of_clocks() {
    let idp = issuer().await;
    for (name, seconds, verdict) in [
        ("exp", -50, Ok(())),
        ("exp", -70, Err(Invalid::Expired)),
        ("nbf", 50, Ok(())),
        ("nbf", 70, Err(Invalid::NotYet)),
        ("iat", 50, Ok(())),
        ("iat", 70, Err(Invalid::NotYet)),
    ] {
        let token = access(&idp).at(name, seconds).mint();
        assert_eq!(verified(&idp, &token).map(|_| ()), verdict, "{name} {seconds}");
    }
    for (name, value, why) in [
        ("exp", Value::Null, Invalid::Undated),
        ("exp", json!("tomorrow"), Invalid::Undated),
        ("exp", json!(1.5), Invalid::Expired),
        ("exp", json!(-1e300), Invalid::Expired),
        ("nbf", json!("now"), Invalid::NotYet),
        ("nbf", json!(1e300), Invalid::NotYet),
        ("iat", json!(false), Invalid::NotYet),
    ] {
        assert_eq!(verified(&idp, &access(&idp).claim(name, value.clone()).mint()).unwrap_err(), why, "{name} {value}");
    }
    assert!(verified(&idp, &access(&idp).without("iat").mint()).is_ok());
}

/// What an operator can mend is told apart in the log.
#[tokio::test]
async fn a_token_that_the_issuer_should_make_otherwise_says_how() {
    let idp = issuer().await;
    let older = access(&idp).claim("iss", "https://sts.windows.net/t/").claim("ver", "1.0").mint();
    assert!(verified(&idp, &older).unwrap_err().reason().contains("requestedAccessTokenVersion"));
    let encrypted = format!("{}.x.y", access(&idp).mint());
    assert!(verified(&idp, &encrypted).unwrap_err().reason().contains("encrypted"));
}

/// A key without an id may be the one that a token names (RFC 7517, section 4.5: it is optional).
#[tokio::test]
async fn a_key_without_an_id_is_tried() {
    let idp = issuer().await;
    let mut bare = idp.key(Algorithm::Es256).jwk();
    bare.as_object_mut().unwrap().remove("kid");
    let issuer = idp.issuer();
    let expected = Expected { issuer: &issuer, audience: HERE, kind: Kind::Access };
    let keys = keys(&json!({ "keys": [bare] }));
    assert!(verify(&access(&idp).mint(), &keys, &expected, now()).is_ok());
    let forged = access(&idp).signed(Signature::Stranger(Algorithm::Es256)).mint();
    assert_eq!(verify(&forged, &keys, &expected, now()).unwrap_err(), Invalid::Signature);
}

/// RFC 8725, section 3.12: neither kind of token passes for the other.
#[tokio::test]
async fn a_token_of_another_kind_is_refused() {
    let idp = issuer().await;
    for name in ["nonce", "at_hash", "c_hash"] {
        let token = idp.id_token("user-1").audience(HERE).claim(name, "x").mint();
        assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::Kind, "{name}");
    }
    let repeated = access(&idp).claim("nonce", "x");
    assert_eq!(verified(&idp, &repeated.header("typ", "JWT").mint()).unwrap_err(), Invalid::Kind);
    let repeated = access(&idp).claim("nonce", "x").header("typ", "at+jwt").mint();
    assert!(verified(&idp, &repeated).is_ok(), "its header says what it is");
    for name in ["at_hash", "c_hash", "events"] {
        let token = access(&idp).header("typ", "at+jwt").claim(name, "x").mint();
        assert_eq!(verified(&idp, &token).unwrap_err(), Invalid::Kind, "{name}");
    }
    for typ in ["ID", "Refresh", "Offline", "Logout", "Serialized-ID"] {
        assert_eq!(verified(&idp, &access(&idp).claim("typ", typ).mint()).unwrap_err(), Invalid::Kind, "{typ}");
    }
    for name in ["id", "refresh_token", ""] {
        assert_eq!(verified(&idp, &access(&idp).claim("token_use", name).mint()).unwrap_err(), Invalid::Kind, "{name}");
    }
    assert!(verified(&idp, &access(&idp).claim("typ", "Bearer").claim("token_use", "access").mint()).is_ok());
    for typ in ["logout+jwt", "dpop+jwt", "token-introspection+jwt", "secevent+jwt", "id", ""] {
        assert_eq!(verified(&idp, &access(&idp).header("typ", typ).mint()).unwrap_err(), Invalid::Kind, "{typ}");
    }
}

#[tokio::test]
async fn an_id_token_answers_our_request_and_was_made_for_us() {
    let idp = issuer().await;
    let issuer = idp.issuer();
    let check = |token: Token<'_>| {
        let expected = Expected { issuer: &issuer, audience: CLIENT, kind: Kind::Id { nonce: "n1" } };
        verify(&token.mint(), &keys_of(&idp), &expected, now()).map(|_| ())
    };
    let right = || idp.id_token("user-1").claim("nonce", "n1");
    let both = json!([CLIENT, "other"]);
    assert_eq!(check(right()), Ok(()));
    assert_eq!(check(right().claim("azp", CLIENT).audience(both.clone())), Ok(()));
    for (token, why) in [
        (right().claim("nonce", "n2"), Invalid::Nonce),
        (right().without("nonce"), Invalid::Nonce),
        (right().audience("other"), Invalid::Audience),
        (right().audience(both), Invalid::AuthorizedParty),
        (right().claim("azp", "other"), Invalid::AuthorizedParty),
        (right().without("iat"), Invalid::Undated),
        (right().at("iat", 300), Invalid::NotYet),
        (right().at("exp", -300), Invalid::Expired),
        (right().claim("iss", "https://other.example"), Invalid::Issuer),
        (right().header("typ", "at+jwt"), Invalid::Kind),
        (right().signed(Signature::None), Invalid::Algorithm),
        (right().signed(Signature::PublicKeyAsSecret(Algorithm::Rs256)), Invalid::Algorithm),
    ] {
        assert_eq!(check(token.clone()), Err(why), "{token:?}");
    }
}

#[tokio::test]
async fn keys_are_found_by_id_kind_and_use() {
    let idp = Idp::start().await;
    let issuer = idp.issuer();
    let signed_by = |jwks: Value, token: Token<'_>| {
        let expected = Expected { issuer: &issuer, audience: HERE, kind: Kind::Access };
        verify(&token.mint(), &keys(&json!({ "keys": jwks })), &expected, now()).map(|_| ())
    };
    let right = idp.key(Algorithm::Es256).jwk();
    let changed = |name: &str, value: Value| {
        let mut jwk = right.clone();
        jwk[name] = value;
        jwk
    };
    let twin = Key::new(Algorithm::Es256, "key-1").jwk();
    // Two keys of one id, and a token that names none.
    assert_eq!(signed_by(json!([twin, right]), access(&idp)), Ok(()));
    assert_eq!(signed_by(json!([twin, right]), access(&idp).header("kid", Value::Null)), Ok(()));
    assert_eq!(signed_by(json!([twin]), access(&idp)), Err(Invalid::Signature));
    let mut bare = right.clone();
    for name in ["kid", "use", "alg"] {
        bare.as_object_mut().unwrap().remove(name);
    }
    assert_eq!(signed_by(json!([bare]), access(&idp).header("kid", Value::Null)), Ok(()));
    assert_eq!(signed_by(json!([bare]), access(&idp)), Ok(()));
    for unusable in [
        changed("use", json!("enc")),
        changed("key_ops", json!(["sign"])),
        changed("alg", json!("ES384")),
        changed("alg", json!("HS256")),
        changed("crv", json!("P-384")),
        changed("crv", json!("secp256k1")),
        changed("kty", json!("oct")),
        changed("x", json!("AAAA")),
        changed("y", json!("not base64url!")),
        changed("kid", json!(7)),
        json!({}),
        json!(7),
        Value::Null,
    ] {
        assert_eq!(signed_by(json!([unusable]), access(&idp)), Err(Invalid::UnknownKey), "{unusable}");
        assert_eq!(signed_by(json!([unusable, right]), access(&idp)), Ok(()), "one bad key spoils no other");
    }
    for text in ["", "{}", "[]", "{\"keys\":7}", "{\"keys\":{}}", "<html>"] {
        assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
    }
    let short = json!({ "kty": "RSA", "kid": "r", "n": "AAEC", "e": "AQAB" });
    assert!(keys(&json!({ "keys": [short] })).is_empty(), "an RSA key that is too short");
}
