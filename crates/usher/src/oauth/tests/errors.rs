//! Errors of the token endpoint: kind 22.

use jiff::SignedDuration;
use usher_testkit::oauth::Trouble;
use usher_testkit::oauth::settings::{DeadToken, ErrorReply};
use usher_testkit::provider::Behaviour;

use super::*;

fn dead(code: &str) -> TokenError {
    TokenError::Dead(code.to_owned())
}

/// A dead refresh token is dead in whatever words: the person connects anew, and nothing is retried for ever.
#[tokio::test]
async fn kind_22_a_dead_refresh_token_is_dead_in_whatever_words() {
    for (says, expected) in [
        (DeadToken::InvalidGrant, "invalid_grant"),
        (DeadToken::Code("invalid_request"), "invalid_request"),
        (DeadToken::Code("bad_refresh_token"), "bad_refresh_token"),
        (DeadToken::Code("access_denied"), "access_denied"),
        (DeadToken::Code("interaction_required"), "interaction_required"),
        (DeadToken::Says(400, "text/plain", "Token is not active"), "HTTP 400"),
        (DeadToken::Says(403, "application/json", r#"{"error":"invalid_grant"}"#), "invalid_grant"),
        (DeadToken::Says(400, "text/html", "<h1>Bad Request</h1>"), "HTTP 400"),
        (DeadToken::Says(400, "application/json", ""), "HTTP 400"),
        (DeadToken::Says(410, "application/json", r#"{"message":"gone"}"#), "HTTP 410"),
        (DeadToken::Says(200, "application/json", r#"{"ok":false,"error":"token_revoked"}"#), "token_revoked"),
        (DeadToken::Says(400, "application/json", r#"{"error":{"code":"expired","message":"secret?"}}"#), "expired"),
        (DeadToken::Says(400, "application/json", r#"{"error":{"type":"OAuthException"}}"#), "OAuthException"),
        (DeadToken::Says(400, "application/json", r#"{"error":true}"#), "unknown_error"),
        (DeadToken::Says(400, "application/json", r#"{"error":4735}"#), "4735"),
    ] {
        let told = says.clone();
        let scene = Scene::new(move |settings| settings.refreshing.dead = told, "").await;
        let tokens = scene.connected().await;
        scene.provider.revoke_grants_of("user-1");
        let error = scene.refresh(&tokens).await.unwrap_err();
        assert_eq!(error, dead(expected), "{says:?}");
        assert!(!error.is_transient());
    }
}

/// RFC 6749, section 5.2, in all the shapes in which it comes.
#[tokio::test]
async fn kind_22_a_code_that_is_not_taken_is_refused_in_whatever_shape() {
    for (shape, expected) in [
        (ErrorReply::Json, "invalid_grant"),
        (ErrorReply::Ok, "invalid_grant"),
        (ErrorReply::NotOk, "invalid_grant"),
        (ErrorReply::Text, "HTTP 400"),
        (ErrorReply::Html, "HTTP 400"),
        (ErrorReply::Empty, "HTTP 400"),
    ] {
        let scene = Scene::new(|settings| settings.errors = shape, "").await;
        let code = Code { code: SecretString::from("stolen-code"), values: BTreeMap::new() };
        let error = scene.exchange(&code).await.unwrap_err();
        assert_eq!(error, TokenError::Refused(expected.to_owned()), "{shape:?}");
        assert!(!error.is_transient());
    }
}

/// Our own registration is not the person's fault, and not their grant's.
#[tokio::test]
async fn kind_22_our_own_client_is_the_operator_s_to_mend() {
    for (shape, expected) in [
        (ErrorReply::Json, "invalid_client"),
        (ErrorReply::Ok, "invalid_client"),
        (ErrorReply::NotOk, "invalid_client"),
        (ErrorReply::Text, "HTTP 401"),
        (ErrorReply::Html, "HTTP 401"),
        (ErrorReply::Empty, "HTTP 401"),
    ] {
        let scene = Scene::new(|settings| settings.errors = shape, "").await;
        let tokens = scene.connected().await;
        let code = scene.code().await.unwrap();
        scene.provider.forget_client(CLIENT);
        let expected = TokenError::Client(expected.to_owned());
        assert_eq!(scene.refresh(&tokens).await.unwrap_err(), expected, "{shape:?}");
        assert_eq!(scene.exchange(&code).await.unwrap_err(), expected, "{shape:?}");
        assert!(!expected.is_transient() && !expected.is_uncertain());
    }
}

/// What a file says of its provider's own codes comes before everything else.
#[tokio::test]
async fn kind_22_a_provider_s_own_codes_mean_what_its_file_says() {
    let lines = "[provider.errors]\ncode = \"fault.reason\"\ndead = [\"invalid_client\"]\nclient = [\"bad_secret\"]\n\
                 transient = [\"fatal_error\"]";
    let scene = Scene::new(|_| {}, lines).await;
    let tokens = scene.connected().await;
    for (code, expected) in [
        ("invalid_client", dead("invalid_client")),
        ("bad_secret", TokenError::Client("bad_secret".to_owned())),
        ("fatal_error", TokenError::Unavailable("fatal_error".to_owned())),
        ("whatever", dead("whatever")),
    ] {
        let body = format!(r#"{{"error":"not here","fault":{{"reason":"{code}"}}}}"#);
        scene.provider.trouble_next(Endpoint::Refresh, Trouble::Instead(Behaviour::Body(200, body)));
        assert_eq!(scene.refresh(&tokens).await.unwrap_err(), expected, "{code}");
    }
    assert!(scene.refresh(&tokens).await.is_ok(), "nothing of that ended the grant");
}

#[tokio::test]
async fn kind_22_a_provider_that_cannot_now_is_left_alone_for_a_while() {
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    for (trouble, seconds) in [
        (Trouble::Limited("120".to_owned()), 120),
        (Trouble::Limited(String::new()), 60),
        (Trouble::Limited("999999999".to_owned()), 3_600),
        (Trouble::Limited("soon".to_owned()), 60),
        (Trouble::Limited("-5".to_owned()), 60),
        (Trouble::Limited("Thu, 01 Jan 1970 00:00:00 GMT".to_owned()), 0),
        (Trouble::Unavailable("30".to_owned()), 30),
    ] {
        scene.provider.trouble_next(Endpoint::Refresh, trouble.clone());
        let now = SystemClock.now();
        let error = scene.refresh(&tokens).await.unwrap_err();
        let TokenError::Limited { until } = error else { panic!("{trouble:?}: {error:?}") };
        let waits = until.duration_since(now);
        assert!(waits >= SignedDuration::from_secs(seconds), "{trouble:?}: {waits}");
        assert!(waits < SignedDuration::from_secs(seconds + 20), "{trouble:?}: {waits}");
        assert!(error.is_transient() && !error.is_uncertain());
    }
    scene.provider.trouble_next(Endpoint::Refresh, Trouble::Unavailable(String::new()));
    assert!(matches!(scene.refresh(&tokens).await.unwrap_err(), TokenError::Unavailable(_)));
    assert!(scene.refresh(&tokens).await.is_ok());
}

/// What says nothing of the grant does not end it.
#[tokio::test]
async fn kind_22_what_says_nothing_of_the_grant_may_pass() {
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    let body = |status, text: &str| Behaviour::Body(status, text.to_owned());
    for (behaviour, transient) in [
        (Behaviour::Status(500), true),
        (Behaviour::Status(502), true),
        (Behaviour::Status(409), true),
        (Behaviour::Status(408), true),
        (body(500, r#"{"error":"invalid_grant_maybe"}"#), true),
        (body(400, r#"{"error":"temporarily_unavailable"}"#), true),
        (body(400, r#"{"error":"server_error"}"#), true),
        (body(200, r#"{"ok":false,"error":"ratelimited"}"#), true),
        (body(200, ""), true),
        (body(200, "<!doctype html><h1>Sign in to the network</h1>"), true),
        (body(200, "{}"), true),
        (body(200, "[]"), true),
        (body(200, "null"), true),
        (body(200, r#"{"access_token":"#), true),
        (body(403, "<html>Access denied by the firewall</html>"), true),
        (Behaviour::Huge(1 << 20), true),
        (Behaviour::Endless, true),
        (Behaviour::Drop, true),
        (Behaviour::Status(404), false),
        (Behaviour::Redirect("http://127.0.0.1:1/token".to_owned()), false),
    ] {
        scene.provider.trouble_next(Endpoint::Refresh, Trouble::Instead(behaviour.clone()));
        let error = scene.refresh(&tokens).await.unwrap_err();
        assert_eq!(error.is_transient(), transient, "{behaviour:?}: {error:?}");
        assert!(!matches!(error, TokenError::Dead(_) | TokenError::Refused(_)), "{behaviour:?}: {error:?}");
    }
    assert!(scene.refresh(&tokens).await.is_ok(), "the grant is none the worse for it");
}

/// R-SEC-03: what a reply holds beside a short code stands in no error.
#[tokio::test]
async fn kind_22_an_error_repeats_nothing_that_was_sent_or_came() {
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    let secret = refresh_token(&tokens).to_owned();
    let long = "x".repeat(500);
    for body in [
        format!(r#"{{"error":"{secret}","error_description":"{secret}"}}"#),
        format!(r#"{{"error":"bad token {secret}!"}}"#),
        format!(r#"{{"error":"{long}"}}"#),
        format!(r#"{{"error":"invalid_grant","hint":"{secret}"}}"#),
        "{\"error\":\"a\\u202eb<script>\"}".to_owned(),
        secret.clone(),
    ] {
        for status in [200, 400, 401, 500] {
            let behaviour = Behaviour::Body(status, body.clone());
            scene.provider.trouble_next(Endpoint::Refresh, Trouble::Instead(behaviour));
            let error = scene.refresh(&tokens).await.unwrap_err();
            let text = format!("{error} {error:?}");
            scene.assert_silent(&text);
            assert!(!text.contains('<') && !text.contains('\u{202e}') && text.len() < 300, "{text}");
        }
    }
}

/// R-SEC-04: a provider that does not answer is not waited for longer than the deadline.
#[tokio::test]
async fn a_provider_that_is_silent_is_given_up() {
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    scene.provider.trouble(Endpoint::Refresh, Trouble::Instead(Behaviour::Silence));
    tokio::time::pause();
    let error = scene.refresh(&tokens).await.unwrap_err();
    assert_eq!(error, TokenError::TooSlow);
    assert!(error.is_transient() && error.is_uncertain());
}
