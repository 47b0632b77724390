//! Visits over a real store, with a fake provider that checks keys.

use std::{
    fmt::Write as _,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use elicit::{ClientId, Principal, Random, SystemRandom};
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use usher_store::{
    AskReason, Credential, CredentialStatus, KeyError, KeyFile, KeyWrap, NewInteraction, OPEN_AT_MOST, Store, Vault,
    WrappedKey,
};
use usher_testkit::provider::{Api, Behaviour};
use zeroize::Zeroizing;

use super::*;
use crate::{
    broker::{Limits, Waiting},
    clock::Clock,
    commands::install_crypto_provider,
    config::{Config, folder::Folder},
    credentials::{
        Credentials,
        fresh::{Fresh, Means},
        servers::AuthorizationServers,
    },
    egress::Egress,
};

const KEY: &str = "wk_7f3a";

/// A clock that stands still until it is set forward.
struct Still(Mutex<Timestamp>);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Master keys, the first of which can be lost.
struct Keys {
    kept: [KeyFile; 2],
    lost: AtomicBool,
}

impl Keys {
    fn now(&self) -> &KeyFile {
        &self.kept[usize::from(self.lost.load(Ordering::SeqCst))]
    }
}

impl KeyWrap for Keys {
    fn active_id(&self) -> String {
        self.now().active_id()
    }

    fn older_ids(&self) -> Vec<String> {
        self.now().older_ids()
    }

    fn has(&self, id: &str) -> bool {
        self.now().has(id)
    }

    fn wrap(&self, data_key: &[u8; 32], context: &[u8], random: &dyn Random) -> Result<WrappedKey, KeyError> {
        self.now().wrap(data_key, context, random)
    }

    fn unwrap(&self, wrapped: &WrappedKey, context: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        self.now().unwrap(wrapped, context)
    }
}

struct House {
    url: SecretString,
    broker: Broker,
    clock: Arc<Still>,
    keys: Arc<Keys>,
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
         header = {{ X-Api-Key = \"{{api_key}}\" }}\n\
         [[upstream]]\nname = \"archive\"\nurl = \"https://archive.example/mcp\"\n[[upstream.needs]]\n\
         provider = \"weather\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n"
    )
    .unwrap();
    Config::parse(&text, Path::new("/srv/usher/usher.toml"), &|_| None).unwrap()
}

async fn house(check: Option<&str>) -> House {
    install_crypto_provider();
    let folder = Folder::new();
    let random = Arc::new(SystemRandom);
    let key = |name: &str| KeyFile::create(&folder.path(name), &SystemRandom, now()).unwrap();
    let keys = Arc::new(Keys { kept: [key("usher.keys"), key("other.keys")], lost: AtomicBool::new(false) });
    let vault = Arc::new(Vault::new(keys.clone(), random.clone()));
    let url = SecretString::from(format!("sqlite:{}", folder.path("usher.db").display()));
    let store = Store::open(&url, vault, random.clone()).await.unwrap();
    let clock = Arc::new(Still(Mutex::new(now())));
    let counting: Arc<dyn Clock> = clock.clone();
    let config = Arc::new(config("https://forecast.example/mcp", check));
    let egress = Egress::new().unwrap();
    let servers = AuthorizationServers::new(Arc::clone(&config), store.clone(), clock.clone(), egress.clone());
    let fresh = Fresh::new(Means {
        config: Arc::clone(&config),
        store: store.clone(),
        clock: clock.clone(),
        random: random.clone(),
        egress: egress.clone(),
        servers: servers.clone(),
    });
    let broker = Broker {
        limits: Arc::new(Limits::new(&config.limits, &counting)),
        servers,
        config,
        store: store.clone(),
        clock: clock.clone(),
        random,
        egress,
        credentials: Credentials::new(store, clock.clone()),
        fresh,
        waiting: Waiting::default(),
        looks: Arc::default(),
    };
    House { url, broker, clock, keys, _folder: folder }
}

fn person(subject: &str) -> UserId {
    UserId::new("urn:usher:local", subject).unwrap()
}

fn typed(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
}

impl House {
    /// For good: the operator has given it up.
    async fn lose_the_key(&self) {
        let id = self.keys.now().active_id();
        self.keys.lost.store(true, Ordering::SeqCst);
        Store::give_up_key(&self.url, &id).await.unwrap();
    }
}

impl House {
    async fn ask(&self, client: &str, reason: AskReason) -> InteractionId {
        self.ask_for("forecast", client, reason).await
    }

    async fn ask_for(&self, upstream: &str, client: &str, reason: AskReason) -> InteractionId {
        let new = NewInteraction {
            id: InteractionId::new(&SystemRandom),
            principal: Principal { user: person("owner"), client: ClientId::new(client).unwrap() },
            client_claim: None,
            asked_by: None,
            provider: "weather".into(),
            destination: self.broker.config.upstream(upstream).unwrap().destination(),
            reason,
            operation: None,
            expires_at: self.clock.now() + SignedDuration::from_mins(15),
        };
        self.broker.store.ask(&[new], None, self.clock.now()).await.unwrap().remove(0).id
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
    house.broker.decline(&id, &person("owner")).await.unwrap();
    assert_eq!(house.broker.rest_of(&id).await.unwrap(), Some(std::time::Duration::from_mins(2)));
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

/// R-OAUTH-04, R-GW-04: what a person is asked follows from what is stored when they look, not from why it was asked.
#[tokio::test]
async fn the_purpose_is_what_is_new_now() {
    let mut house = house(None).await;
    let purpose = async |house: &House, upstream: &str, client: &str, reason: AskReason| {
        let id = house.ask_for(upstream, client, reason).await;
        house.open(&id).await.purpose
    };
    assert_eq!(purpose(&house, "archive", "editor", AskReason::Rejected).await, Purpose::Connect);
    let first = house.ask("desktop", AskReason::Missing).await;
    let late = house.ask("desktop", AskReason::Missing).await;
    assert_eq!(first, late);
    house.submit(&first, KEY).await;
    for (upstream, client, expected) in [
        ("forecast", "desktop", Purpose::Continue),
        ("forecast", "editor", Purpose::AllowClient),
        ("archive", "desktop", Purpose::AllowServer),
        ("archive", "editor", Purpose::AllowBoth),
    ] {
        for reason in [AskReason::Missing, AskReason::NewClient, AskReason::NewDestination] {
            assert_eq!(purpose(&house, upstream, client, reason).await, expected, "{upstream} {client}");
        }
    }
    house.broker.config = Arc::new(config("https://moved.example/mcp", None));
    let moved = house.ask("desktop", AskReason::NewDestination).await;
    let visit = house.open(&moved).await;
    assert_eq!(visit.purpose, Purpose::AllowAddress);
    assert_eq!(visit.approvals.len(), 1, "where it was allowed before");
    assert_eq!(purpose(&house, "forecast", "editor", AskReason::NewDestination).await, Purpose::AllowBoth);
    house.broker.allow(&moved, &person("owner")).await.unwrap();
    assert_eq!(house.stored().await.unwrap().approvals.len(), 2);
}

/// R-GW-04: earlier approvals hold for a new key as well, so the page gets to know them.
#[tokio::test]
async fn a_visit_knows_who_else_will_use_the_key() {
    let house = house(None).await;
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    let second = house.ask_for("archive", "editor", AskReason::NewClient).await;
    house.broker.allow(&second, &person("owner")).await.unwrap();
    let version = house.stored().await.unwrap().version;
    house.broker.store.reject_credential(&person("owner"), "weather", version, now()).await.unwrap();
    let again = house.ask("desktop", AskReason::Rejected).await;
    let visit = house.open(&again).await;
    let known: Vec<_> = visit.approvals.iter().map(|one| (one.client.as_str(), &*one.destination.upstream)).collect();
    assert_eq!(known, [("desktop", "forecast"), ("editor", "archive")]);
    assert_eq!(visit.titles["archive"].get("en"), "archive");
}

/// A question about what works and is allowed by now is over with one press.
#[tokio::test]
async fn what_is_allowed_by_now_is_completed_with_one_press() {
    let house = house(None).await;
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    let late = house.ask("desktop", AskReason::Rejected).await;
    assert_eq!(house.open(&late).await.purpose, Purpose::Continue);
    let done = house.broker.allow(&late, &person("owner")).await.unwrap();
    assert!(matches!(done, Submitted::Completed(_)));
    assert_eq!(house.stored().await.unwrap().approvals.len(), 1);
}

/// What does not open any more is asked for anew, and what comes takes its place.
#[tokio::test]
async fn a_credential_that_cannot_be_read_is_connected_anew() {
    let house = house(None).await;
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    house.lose_the_key().await;
    house.broker.credentials.forget_all();
    let principal = Principal { user: person("owner"), client: ClientId::new("desktop").unwrap() };
    let upstream = house.broker.config.upstream("forecast").unwrap();
    let call = crate::broker::Call {
        principal: &principal,
        upstream,
        method: "tools/call",
        subject: Some("get_forecast"),
        operation: None,
        round: "",
    };
    let decision = house.broker.decide(call).await.unwrap();
    let crate::broker::Decision::Ask(missing) = decision else { panic!("it was used") };
    assert_eq!(missing[0].reason, AskReason::Missing);

    let id = house.ask("desktop", missing[0].reason).await;
    assert_eq!(house.open(&id).await.purpose, Purpose::Restore);
    let nothing = house.broker.allow(&id, &person("owner")).await.unwrap();
    assert!(matches!(nothing, Submitted::Again(_)));
    assert!(matches!(house.submit(&id, "wk_new").await, Submitted::Completed(_)));
    assert_eq!(house.stored().await.unwrap().secrets["api_key"].expose_secret(), "wk_new");
}

/// WCAG 2.2, 2.2.1: more time, as often as it takes to look for a key, and not for ever.
#[tokio::test]
async fn a_person_can_take_more_time() {
    let house = house(None).await;
    let id = house.ask("desktop", AskReason::Missing).await;
    let asked_at = house.clock.now();
    let mut times = 0;
    loop {
        let before = house.clock.now();
        *house.clock.0.lock().unwrap() = before + SignedDuration::from_mins(14);
        let visit = house.broker.extend(&id, &person("owner")).await.unwrap();
        assert_eq!(visit.interaction.id, id);
        if visit.interaction.expires_at == asked_at + OPEN_AT_MOST {
            break;
        }
        assert_eq!(visit.interaction.expires_at, before + SignedDuration::from_mins(29));
        times += 1;
    }
    assert!(times >= 10, "{times}");
    let waiting = house.broker.store.waiting_interactions(&person("owner"), house.clock.now()).await.unwrap();
    assert_eq!(waiting.len(), 1, "no other question came of it");
    assert!(matches!(house.broker.extend(&id, &person("other")).await, Err(VisitError::OtherPerson)));
    *house.clock.0.lock().unwrap() = asked_at + OPEN_AT_MOST;
    assert!(matches!(house.broker.extend(&id, &person("owner")).await, Err(VisitError::Ended(_))));
}

/// What was refused can be entered again by the person's own doing, even after a decline; what works cannot.
#[tokio::test]
async fn a_person_connects_again_what_was_refused() {
    let house = house(None).await;
    let owner = person("owner");
    assert!(matches!(house.broker.reconnect(&owner, "weather").await, Err(VisitError::NotFound)));
    let first = house.ask("desktop", AskReason::Missing).await;
    house.submit(&first, KEY).await;
    assert!(matches!(house.broker.reconnect(&owner, "weather").await, Err(VisitError::NotFound)));
    let version = house.stored().await.unwrap().version;
    house.broker.store.reject_credential(&owner, "weather", version, now()).await.unwrap();
    let id = house.broker.reconnect(&owner, "weather").await.unwrap();
    assert_eq!(house.broker.reconnect(&owner, "weather").await.unwrap(), id, "one question");
    house.broker.decline(&id, &owner).await.unwrap();
    let id = house.broker.reconnect(&owner, "weather").await.unwrap();
    let visit = house.open(&id).await;
    assert_eq!((visit.purpose, visit.upstream.name.as_str()), (Purpose::Replace, "forecast"));
    assert_eq!(visit.interaction.principal.client.as_str(), "desktop");
    assert!(matches!(house.submit(&id, "wk_new").await, Submitted::Completed(_)));
    assert!(matches!(house.broker.reconnect(&person("other"), "weather").await, Err(VisitError::NotFound)));
}
