//! People, questions and short cuts for the tests.

use std::collections::{BTreeMap, BTreeSet};

use elicit::{ClientId, Principal, Random, Revision, SystemRandom, UserId};
use jiff::Timestamp;
use secrecy::SecretString;
use usher_store::{
    Advanced, AskReason, BrowserTimes, Completion, Destination, Grant, GrantClient, GrantServer, Interaction,
    InteractionId, NewBrowserSession, NewInteraction, NewSession, SessionId, Step, Store,
};

pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Sessions of browsers that last as long as any do.
pub(crate) const LONGEST: BrowserTimes = BrowserTimes::LONGEST;

/// A time, in seconds after the tests begin.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub(crate) fn user(subject: &str) -> UserId {
    UserId::new("https://issuer.example", subject).unwrap()
}

pub(crate) fn client(id: &str) -> ClientId {
    ClientId::new(id).unwrap()
}

pub(crate) fn principal(subject: &str) -> Principal {
    Principal { user: user(subject), client: client("client-1") }
}

pub(crate) fn destination(upstream: &str) -> Destination {
    Destination { upstream: upstream.to_owned(), target: format!("https://{upstream}.example") }
}

/// A question to this user for the provider `weather`, for ten minutes.
pub(crate) fn question(subject: &str) -> NewInteraction {
    NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: principal(subject),
        client_claim: Some("Example Host 1.0".to_owned()),
        asked_by: None,
        provider: "weather".to_owned(),
        destination: destination("forecast"),
        reason: AskReason::Missing,
        operation: None,
        expires_at: at(600),
    }
}

pub(crate) fn random_token() -> SecretString {
    let mut bytes = [0_u8; 16];
    SystemRandom.fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes)).into()
}

/// A session under this token, of a browser that had none.
pub(crate) fn browsing(token: &SecretString, expires_at: Timestamp) -> NewBrowserSession<'_> {
    NewBrowserSession { token, agent: "", kept: None, before: None, expires_at }
}

pub(crate) fn secrets(value: &str) -> BTreeMap<String, SecretString> {
    BTreeMap::from([("api_key".to_owned(), value.into())])
}

pub(crate) fn connect(value: &str) -> Completion {
    Completion::Connect { secrets: secrets(value) }
}

pub(crate) fn session() -> NewSession {
    NewSession {
        id: SessionId::new(&SystemRandom),
        upstream: "forecast".to_owned(),
        upstream_session: Some("upstream-session-secret".to_owned()),
        begun: true,
        principal: principal("user-1"),
        revision: Revision::V2025_11_25,
        capabilities: r#"{"elicitation":{"form":{},"url":{}}}"#.to_owned(),
        client_claim: Some("Example Host 1.0".to_owned()),
        initialize: r#"{"protocolVersion":"2025-11-25"}"#.to_owned(),
        expires_at: at(HOUR),
    }
}

/// What a step must have come to, for a test to go on.
pub(crate) fn done(advanced: Advanced) -> Interaction {
    match advanced {
        Advanced::Done(interaction) => interaction,
        other => panic!("not done: {other:?}"),
    }
}

/// Asks, opens and consents.
pub(crate) async fn consented(store: &Store, new: NewInteraction) -> Interaction {
    let asked = store.ask(&[new], None, at(0)).await.unwrap().remove(0);
    consent(store, asked).await
}

/// Opens and consents.
pub(crate) async fn consent(store: &Store, asked: Interaction) -> Interaction {
    let opened = done(store.advance(asked, Step::Open, at(1)).await.unwrap());
    done(store.advance(opened, Step::Consent, at(2)).await.unwrap())
}

/// Asks, and goes all the way.
pub(crate) async fn completed(store: &Store, new: NewInteraction, with: Completion) -> Interaction {
    let consented = consented(store, new).await;
    done(store.complete(consented, with, at(3)).await.unwrap())
}

pub(crate) fn scopes(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A grant whose tokens have this number, to be refreshed ahead at 3000 and good until 3600.
pub(crate) fn grant(number: u32) -> Grant {
    Grant {
        refresh_token: Some(format!("refresh-token-{number}").into()),
        expires_at: Some(at(3600)),
        refresh_at: Some(at(3000)),
        scopes: scopes(&["read"]),
        asked: BTreeSet::new(),
        demanded: BTreeSet::new(),
        account: Some("octo".to_owned()),
        values: BTreeMap::from([("host".to_owned(), "eu.tracker.example".to_owned())]),
        server: GrantServer {
            issuer: "https://tracker.example".to_owned(),
            token_endpoint: Some("https://tracker.example/token".to_owned()),
            revocation_endpoint: None,
            resource: None,
            client: GrantClient {
                id: "usher".to_owned(),
                secret: Some("grant-client-secret".into()),
                method: "client_secret_basic".to_owned(),
                redirect_uri: "https://usher.example/callback/tracker".to_owned(),
            },
        },
    }
}

pub(crate) fn access(number: u32) -> BTreeMap<String, SecretString> {
    BTreeMap::from([("access_token".to_owned(), format!("access-token-{number}").into())])
}

pub(crate) fn granted(number: u32) -> Completion {
    Completion::Grant { secrets: access(number), grant: Box::new(grant(number)) }
}

/// From consented to exchanging.
pub(crate) async fn exchanging(store: &Store, consented: Interaction) -> Interaction {
    let (id, state) = (consented.id, random_token());
    assert!(store.begin_flow(&id, &state, "browser", &"verifier".into(), at(2)).await.unwrap());
    store.claim_flow(&id, &state, "browser", at(2)).await.unwrap().expect("it is claimed once").interaction
}

/// Asks, and goes all the way to a provider and back.
pub(crate) async fn connected(store: &Store, new: NewInteraction, number: u32) -> Interaction {
    let consented = consented(store, new).await;
    let exchanging = exchanging(store, consented).await;
    done(store.complete(exchanging, granted(number), at(3)).await.unwrap())
}
