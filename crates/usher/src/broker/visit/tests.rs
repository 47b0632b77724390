//! Visits over a real store, with a fake provider that checks keys.

use std::{fmt::Write as _, path::Path, sync::Arc};

use elicit::{ClientId, Principal, SystemRandom};
use jiff::{SignedDuration, Timestamp};
use usher_store::{KeyFile, NewInteraction, Store, Vault};
use usher_testkit::provider::{Api, Behaviour};

use super::*;
use crate::{
    broker::{Limits, Waiting},
    clock::Clock,
    commands::install_crypto_provider,
    config::{Config, Text, folder::Folder},
    credentials::Credentials,
    egress::Egress,
};

const KEY: &str = "wk_7f3a";

/// A clock that stands still.
struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct House {
    broker: Broker,
    _folder: Folder,
}

fn now() -> Timestamp {
    "2026-11-30T08:05:00Z".parse().unwrap()
}

fn config(server: &str, check: Option<&str>) -> Config {
    let mut text =
        String::from("[[provider]]\nname = \"weather\"\nkind = \"secret\"\n[[provider.field]]\nname = \"api_key\"\n");
    if let Some(url) = check {
        write!(text, "[provider.check]\nget = \"{url}\"\nheader = {{ Authorization = \"Bearer {{api_key}}\" }}\n")
            .unwrap();
    }
    write!(
        text,
        "[[upstream]]\nname = \"forecast\"\nurl = \"{server}\"\n[[upstream.needs]]\nprovider = \"weather\"\n\
         header = {{ X-Api-Key = \"{{api_key}}\" }}\n"
    )
    .unwrap();
    Config::parse(&text, Path::new("/srv/usher/usher.toml"), &|_| None).unwrap()
}

async fn house(check: Option<&str>) -> House {
    install_crypto_provider();
    let folder = Folder::new();
    let random = Arc::new(SystemRandom);
    let keys = Arc::new(KeyFile::create(&folder.path("usher.keys"), &SystemRandom).unwrap());
    let vault = Arc::new(Vault::new(keys, random.clone()));
    let url = SecretString::from(format!("sqlite:{}", folder.path("usher.db").display()));
    let store = Store::open(&url, vault, random.clone()).await.unwrap();
    let clock: Arc<dyn Clock> = Arc::new(Still(now()));
    let broker = Broker {
        config: Arc::new(config("https://forecast.example/mcp", check)),
        store: store.clone(),
        clock: Arc::clone(&clock),
        random,
        egress: Egress::new().unwrap(),
        credentials: Credentials::new(store, clock),
        limits: Arc::new(Limits::default()),
        waiting: Waiting::default(),
    };
    House { broker, _folder: folder }
}

fn person(subject: &str) -> UserId {
    UserId::new("urn:usher:local", subject).unwrap()
}

fn typed(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
}

impl House {
    async fn ask(&self, client: &str, reason: AskReason) -> InteractionId {
        let new = NewInteraction {
            id: InteractionId::new(&SystemRandom),
            principal: Principal { user: person("owner"), client: ClientId::new(client).unwrap() },
            client_claim: None,
            provider: "weather".into(),
            destination: self.broker.config.upstream("forecast").unwrap().destination(),
            reason,
            expires_at: now() + SignedDuration::from_mins(15),
        };
        self.broker.store.ask(&[new], None, now()).await.unwrap().remove(0).id
    }

    async fn open(&self, id: &InteractionId) -> Visit {
        self.broker.open(id, &person("owner")).await.unwrap()
    }

    async fn submit(&self, id: &InteractionId, key: &str) -> Submitted {
        self.broker.submit(id, &person("owner"), typed(&[("api_key", key)])).await.unwrap()
    }

    async fn stored(&self) -> Option<Credential> {
        self.broker.store.credential(&person("owner"), "weather").await.unwrap()
    }

    async fn audited(&self, subject: &str, action: AuditAction) -> usize {
        let rows = self.broker.store.audit_of(&person(subject), 100).await.unwrap();
        rows.iter().filter(|row| row.action == Some(action)).count()
    }
}

/// R-ID-03: whoever is not the asking user is refused at the page and at its form, and audited.
#[tokio::test]
async fn another_person_is_refused_at_each_step() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    let other = person("other");
    assert!(matches!(house.broker.open(&id, &other).await, Err(VisitError::OtherPerson)));
    let submitted = house.broker.submit(&id, &other, typed(&[("api_key", KEY)])).await;
    assert!(matches!(submitted, Err(VisitError::OtherPerson)));
    assert!(matches!(house.broker.allow(&id, &other).await, Err(VisitError::OtherPerson)));
    assert!(matches!(house.broker.decline(&id, &other).await, Err(VisitError::OtherPerson)));
    assert!(matches!(house.broker.restart(&id, &other).await, Err(VisitError::OtherPerson)));
    assert_eq!(house.audited("other", AuditAction::InteractionRefused).await, 5);
    let interaction = house.broker.store.interaction(&id, now()).await.unwrap().unwrap();
    assert_eq!(interaction.state, InteractionState::Created);
    assert!(house.stored().await.is_none());
}

/// R-OAUTH-01, R-OAUTH-04: what was typed is stored for this user, this client, this destination; and once.
#[tokio::test]
async fn an_answer_is_stored_once() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    assert_eq!(house.open(&id).await.purpose, Purpose::Connect);
    assert!(matches!(house.submit(&id, KEY).await, Submitted::Completed(_)));
    let stored = house.stored().await.unwrap();
    assert_eq!(stored.secrets["api_key"].expose_secret(), KEY);
    let destination = house.broker.config.upstream("forecast").unwrap().destination();
    assert!(stored.allows(&ClientId::new("desktop").unwrap(), &destination));
    assert!(!stored.allows(&ClientId::new("editor").unwrap(), &destination));
    let again = house.broker.submit(&id, &person("owner"), typed(&[("api_key", "another")])).await;
    let Err(VisitError::Ended(ended)) = again else { panic!("a second answer was taken") };
    assert!(matches!(ended.state, InteractionState::Completed { .. }));
    assert_eq!(house.stored().await.unwrap().version, stored.version);
}

/// R-OAUTH-04: another client needs consent, not the key.
#[tokio::test]
async fn another_client_is_allowed_what_is_stored() {
    let house = house(None).await;
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    let id = house.ask("editor", AskReason::NewClient).await;
    assert_eq!(house.open(&id).await.purpose, Purpose::AllowClient);
    assert!(matches!(house.broker.allow(&id, &person("owner")).await.unwrap(), Submitted::Completed(_)));
    let stored = house.stored().await.unwrap();
    let destination = house.broker.config.upstream("forecast").unwrap().destination();
    assert!(stored.allows(&ClientId::new("editor").unwrap(), &destination));
    assert_eq!(stored.secrets["api_key"].expose_secret(), KEY);
}

#[tokio::test]
async fn nothing_can_be_allowed_where_nothing_is_stored() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::NewClient).await;
    let Submitted::Again(visit) = house.broker.allow(&id, &person("owner")).await.unwrap() else {
        panic!("there was nothing to allow")
    };
    assert_eq!(visit.purpose, Purpose::Connect);
}

#[tokio::test]
async fn a_refused_credential_is_asked_for_again() {
    let house = house(None).await;
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    let version = house.stored().await.unwrap().version;
    house.broker.store.reject_credential(&person("owner"), "weather", version, now()).await.unwrap();
    let id = house.ask("desktop", AskReason::Rejected).await;
    assert_eq!(house.open(&id).await.purpose, Purpose::Replace);
    assert!(matches!(house.submit(&id, "wk_new").await, Submitted::Completed(_)));
    assert_eq!(house.stored().await.unwrap().status, CredentialStatus::Working);
}

/// The provider's word decides, and a person may try again.
#[tokio::test]
async fn a_key_that_the_provider_refuses_is_not_stored() {
    let api = Api::start("Authorization", &format!("Bearer {KEY}")).await;
    let house = house(Some(&api.url("/me"))).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    let Submitted::Unchecked(_, error) = house.submit(&id, "wrong").await else { panic!("a bad key was taken") };
    assert_eq!(error.to_string(), "the provider refused the key (401 Unauthorized)");
    assert!(house.stored().await.is_none());
    for behaviour in [
        Behaviour::Status(500),
        Behaviour::Status(404),
        Behaviour::Echo(503),
        Behaviour::Redirect("https://elsewhere.example/".into()),
        Behaviour::Drop,
    ] {
        api.behave(behaviour.clone());
        let submitted = house.submit(&id, KEY).await;
        assert!(matches!(submitted, Submitted::Unchecked(..)), "{behaviour:?}");
        assert!(!format!("{submitted:?}").contains(KEY), "{behaviour:?}");
    }
    assert!(house.stored().await.is_none());
    api.behave(Behaviour::Check);
    assert!(matches!(house.submit(&id, KEY).await, Submitted::Completed(_)));
}

/// The status is enough: a body without end holds nobody up.
#[tokio::test]
async fn the_body_of_the_providers_answer_is_not_read() {
    let api = Api::start("Authorization", "x").await;
    api.behave(Behaviour::Endless);
    let house = house(Some(&api.url("/me"))).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    assert!(matches!(house.submit(&id, KEY).await, Submitted::Completed(_)));
}

#[tokio::test]
async fn a_declined_question_is_over_and_not_asked_again_at_once() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    house.open(&id).await;
    let declined = house.broker.decline(&id, &person("owner")).await.unwrap();
    assert!(house.broker.limits.rests(&declined.principal, "forecast", "weather", now()));
    let again = house.broker.submit(&id, &person("owner"), typed(&[("api_key", KEY)])).await;
    assert!(matches!(again, Err(VisitError::Ended(_))));
    assert!(house.stored().await.is_none());
}

/// R-GW-04: what the page would say is not what would happen any more, so it is not shown.
#[tokio::test]
async fn a_question_about_another_address_is_not_answered() {
    let mut house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    house.broker.config = Arc::new(config("https://moved.example/mcp", None));
    let submitted = house.broker.submit(&id, &person("owner"), typed(&[("api_key", KEY)])).await;
    assert!(matches!(submitted, Err(VisitError::Changed(_))));
    assert!(house.stored().await.is_none());
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let house = house(None).await;
    let id = InteractionId::new(&SystemRandom);
    assert!(matches!(house.broker.open(&id, &person("owner")).await, Err(VisitError::NotFound)));
}

/// A key with letters that no header can carry would fail in each call; here a person can still mend it.
#[tokio::test]
async fn what_no_header_can_carry_is_said_at_the_field() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    let Submitted::Wrong(_, faults) = house.submit(&id, "ключ").await else { panic!("it was taken") };
    assert_eq!(faults, [Fault::Characters("api_key".into())]);
}

fn field(name: &str, required: bool) -> Field {
    Field { name: name.into(), label: Text::from(name), description: None, help_url: None, masked: true, required }
}

#[test]
fn what_was_typed_is_kept_without_the_spaces_around_it() {
    let fields = [field("key", true), field("team", false)];
    let secrets = read(&fields, &typed(&[("key", " abc def\n"), ("team", "")])).unwrap();
    assert_eq!(secrets["key"].expose_secret(), "abc def");
    assert!(!secrets.contains_key("team"));
}

#[test]
fn every_fault_is_named_at_once() {
    let fields = [field("key", true), field("team", true), field("note", false)];
    let long = "x".repeat(FIELD_AT_MOST + 1);
    let faults = read(&fields, &typed(&[("team", &long), ("note", "a\u{0}b"), ("admin", "yes")])).unwrap_err();
    assert_eq!(
        faults,
        [Fault::Unknown, Fault::Missing("key".into()), Fault::TooLong("team".into()), Fault::Characters("note".into())]
    );
}
