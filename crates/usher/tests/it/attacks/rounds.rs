//! Request state in wrong hands, with two users of an issuer.

use elicit::STATE_REJECTED;
use usher_testkit::{client::Modern, upstream::Script};

use super::{client_at, consent::two_servers};
use crate::{
    harness::{ACCEPT, CALLS, KEY, answered},
    needs_modern::{ask, retry},
};

/// R-MRTR-02, R-ID-01: a state is refused at another user's, client's or server's, and with another tool or other arguments, also
/// after the person has done what it asks for; and it is good still for the one call that it is for.
#[tokio::test]
async fn a_state_is_good_for_one_user_one_client_one_server_and_one_call() {
    let (stage, other) = two_servers().await;
    stage.upstream.tool("get_history", Script::new().text("of before"));
    let call = CALLS[0];
    let owner = client_at(&stage, "weather", "user-1", "editor");
    let asked = ask(&owner, call).await;
    let alice = stage.person_of("user-1").await;
    for round in ["before", "after"] {
        let at = |server: &str, user: &str, client: &str| client_at(&stage, server, user, client);
        let bern = (call.0, r#"{"name":"get_forecast","arguments":{"city":"Bern"}}"#);
        let tool = (call.0, r#"{"name":"get_history","arguments":{"city":"Berlin"}}"#);
        let wrong: [(&str, Modern, (&str, &str)); 7] = [
            ("another user", at("weather", "user-2", "editor"), call),
            ("another client", at("weather", "user-1", "terminal"), call),
            ("another user and client", at("weather", "user-2", "terminal"), call),
            ("another server", at("other", "user-1", "editor"), call),
            ("another user and server", at("other", "user-2", "editor"), call),
            ("another tool", at("weather", "user-1", "editor"), tool),
            ("other arguments", at("weather", "user-1", "editor"), bern),
        ];
        for (what, client, call) in wrong {
            let reply = retry(&client, call, &asked, ACCEPT).await;
            assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32602), "{what} {round}: {}", reply.text());
            assert_eq!(reply.error_message(), STATE_REJECTED, "{what} {round}");
        }
        assert!(stage.upstream.requests_of("tools/call").is_empty() && other.requests_of("tools/call").is_empty());
        if round == "before" {
            alice.connect(&asked.url(), &[("api_key", KEY)]).await;
        }
    }
    assert!(answered(&retry(&owner, call, &asked, ACCEPT).await));
}
