//! From the claims of a valid token to a user and a client, and whether they may come in. Pure.

use elicit::{ClientId, Principal, UserId};

use super::Claims;
use crate::config::{Allow, Oidc};

/// Why the bearer of a valid token is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// It does not say who the user or the client is; the reason is for the log.
    Incomplete(&'static str),
    /// It is a client's own: there is no person who could be asked.
    Machine,
    /// It lacks a scope that is needed.
    Scope,
    /// It is somebody whom this server is not for.
    NotAllowed(Box<Principal>),
}

/// The user and the client of a token (R-ID-01, R-ID-02), if they may use a server that is for these.
pub(super) fn admit(claims: &Claims, config: &Oidc, allow: Option<&Allow>) -> Result<Principal, Refused> {
    let client = client(claims)?;
    if is_machine(claims, client) {
        return Err(Refused::Machine);
    }
    let user = user(claims, config).map_err(Refused::Incomplete)?;
    let client = ClientId::new(client);
    let client = client.map_err(|_| Refused::Incomplete("its client is empty, too long or has a control character"))?;
    let principal = Principal { user, client };
    let scopes = claims.scopes();
    if config.scopes.iter().any(|needed| !scopes.contains(&needed.as_str())) {
        return Err(Refused::Scope);
    }
    let allowed = allow.is_none_or(|allow| {
        let values = claims.names(&allow.claim);
        allow.any.iter().any(|value| values.contains(&value.as_str()))
    });
    if allowed { Ok(principal) } else { Err(Refused::NotAllowed(Box::new(principal))) }
}

/// The user of a token, of an ID token as well (R-ID-01); or why there is none.
pub(super) fn user(claims: &Claims, config: &Oidc) -> Result<UserId, &'static str> {
    let subject = claims.string(&config.user_claim).ok_or("it has no string in the claim that is user_claim")?;
    UserId::new(config.issuer.as_str(), subject)
        .map_err(|_| "its user_claim is empty, too long or has a control character")
}

/// The claims that name the client: that of RFC 9068, section 2.2, and what issuers from before it write.
const CLIENT: [&str; 4] = ["client_id", "azp", "cid", "appid"];

/// The client. Two claims, and they differ: nobody knows.
fn client(claims: &Claims) -> Result<&str, Refused> {
    let mut named = CLIENT.iter().filter_map(|name| claims.string(name));
    let client = named.next().ok_or(Refused::Incomplete("it has neither client_id nor azp, and so no client"))?;
    if named.any(|other| other != client) {
        return Err(Refused::Incomplete("its client_id and its azp are two clients"));
    }
    Ok(client)
}

/// Whether a client got the token for itself (RFC 6749, section 4.4). RFC 9068, section 5, has such a token's `sub` be the
/// client; not every issuer does, and each of the others marks it in its own way.
fn is_machine(claims: &Claims, client: &str) -> bool {
    let is = |name: &str, value: &str| claims.string(name) == Some(value);
    is("sub", client)
        || is("sub", &format!("{client}@clients"))
        || is("gty", "client-credentials")
        || is("idtyp", "app")
        || is("preferred_username", &format!("service-account-{}", client.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn config() -> Oidc {
        Oidc::of("https://id.example")
    }

    /// The claims of a right token, with these in place of its own.
    fn with(changes: &Value) -> Claims {
        let mut claims =
            json!({ "sub": "7", "client_id": "editor", "oid": "o7", "groups": ["a", "b"], "scope": "x y" });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        Claims::parse(claims.to_string().as_bytes()).unwrap()
    }

    /// R-ID-01, R-ID-02
    #[test]
    fn a_user_is_issuer_and_claim_and_a_client_its_id() {
        let found = admit(&with(&json!({})), &config(), None).unwrap();
        assert_eq!(found.to_string(), "7 of https://id.example through editor");
        let oid = Oidc { user_claim: "oid".to_owned(), ..config() };
        assert_eq!(admit(&with(&json!({})), &oid, None).unwrap().user.subject(), "o7");
        let party = admit(&with(&json!({ "client_id": null, "azp": "other" })), &config(), None).unwrap();
        assert_eq!(party.client.as_str(), "other");
        let older = json!({ "client_id": null, "cid": "other", "azp": "other" });
        assert_eq!(admit(&with(&older), &config(), None).unwrap().client.as_str(), "other");
        let long = "x".repeat(1025);
        for changes in [
            json!({ "sub": null }),
            json!({ "sub": 7 }),
            json!({ "sub": ["7"] }),
            json!({ "sub": "" }),
            json!({ "sub": "a\nb" }),
            json!({ "sub": long }),
            json!({ "client_id": null }),
            json!({ "client_id": "" }),
            json!({ "client_id": 7 }),
            json!({ "azp": "other" }),
            json!({ "appid": "other" }),
        ] {
            let refused = admit(&with(&changes), &config(), None).unwrap_err();
            assert!(matches!(refused, Refused::Incomplete(_)), "{changes}");
        }
    }

    /// Nobody could answer a question there.
    #[test]
    fn a_client_without_a_person_is_told_apart() {
        for changes in [
            json!({ "sub": "editor" }),
            json!({ "sub": "editor@clients" }),
            json!({ "gty": "client-credentials" }),
            json!({ "idtyp": "app" }),
            json!({ "preferred_username": "service-account-editor" }),
        ] {
            assert_eq!(admit(&with(&changes), &config(), None), Err(Refused::Machine), "{changes}");
        }
        let person = json!({ "sub": "other", "idtyp": "user", "gty": "password", "preferred_username": "editor" });
        assert!(admit(&with(&person), &config(), None).is_ok());
    }

    /// R-ID-05
    #[test]
    fn each_scope_is_needed() {
        for (needed, right) in
            [(vec!["x"], true), (vec!["y", "x"], true), (vec!["x", "z"], false), (vec!["x y"], false)]
        {
            let config = Oidc { scopes: needed.iter().map(|&scope| scope.to_owned()).collect(), ..config() };
            let found = admit(&with(&json!({})), &config, None);
            assert_eq!(found.is_ok(), right, "{needed:?}");
            assert!(right || found == Err(Refused::Scope));
        }
        let config = Oidc { scopes: vec!["x".to_owned()], ..config() };
        assert!(admit(&with(&json!({ "scope": null, "scp": ["x"] })), &config, None).is_err(), "scope is there");
    }

    #[test]
    fn a_claim_that_is_told_elsewhere_is_known_as_such() {
        assert!(!with(&json!({ "_claim_names": { "groups": "src1" } })).is_left_out("groups"), "it is there");
        for text in [r#"{"_claim_names":{"groups":"src1"}}"#, r#"{"hasgroups":true}"#] {
            let claims = Claims::parse(text.as_bytes()).unwrap();
            assert!(claims.is_left_out("groups") && !claims.is_left_out("other"), "{text}");
        }
    }

    #[test]
    fn one_value_of_a_claim_is_enough() {
        let allow = |any: &[&str]| Allow {
            claim: "groups".to_owned(),
            any: any.iter().map(|&value| value.to_owned()).collect(),
        };
        for (groups, any, right) in [
            (json!(["a", "b"]), &["c", "b"][..], true),
            (json!("b"), &["b"], true),
            (json!("a b"), &["b"], false),
            (json!(["A"]), &["a"], false),
            (json!([["a"]]), &["a"], false),
            (json!({ "a": { "org": "x" } }), &["a"], true),
            (json!({ "b": { "a": "x" } }), &["a"], false),
            (json!(null), &["a"], false),
        ] {
            let found = admit(&with(&json!({ "groups": groups })), &config(), Some(&allow(any)));
            assert_eq!(found.is_ok(), right, "{groups}");
            assert!(right || matches!(found, Err(Refused::NotAllowed(_))));
        }
    }
}
