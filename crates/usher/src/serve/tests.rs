use std::collections::BTreeMap;

use elicit::{ClientId, Principal, SystemRandom, UserId};
use jiff::SignedDuration;
use usher_store::{Advanced, AskReason, Completion, Destination, InteractionId, NewInteraction, Step};

use super::*;
use crate::config::folder::Folder;

fn config(folder: &Folder) -> Config {
    let text = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n";
    Config::parse(text, &folder.path("usher.toml"), &|_| None).unwrap()
}

async fn connect(store: &Store) {
    let now = Timestamp::UNIX_EPOCH;
    let new = NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal {
            user: UserId::new("urn:usher:local", "owner").unwrap(),
            client: ClientId::new("default").unwrap(),
        },
        client_claim: None,
        asked_by: None,
        provider: "weather".into(),
        destination: Destination { upstream: "a".into(), target: "https://a.example".into() },
        reason: AskReason::Missing,
        operation: None,
        expires_at: now + SignedDuration::from_mins(15),
    };
    let mut interaction = store.ask(&[new], None, now).await.unwrap().remove(0);
    for step in [Step::Open, Step::Consent] {
        let Advanced::Done(next) = store.advance(interaction, step, now).await.unwrap() else { panic!("{step:?}") };
        interaction = next;
    }
    let secrets = BTreeMap::from([("api_key".to_owned(), "k-1".into())]);
    let completed = store.complete(interaction, Completion::Connect { secrets }, now).await.unwrap();
    assert!(matches!(completed, Advanced::Done(_)));
}

async fn open(config: &Config) -> Store {
    let keys = Arc::new(key_file(config, &SystemRandom, Timestamp::UNIX_EPOCH).await.unwrap());
    let vault = Arc::new(Vault::new(keys, Arc::new(SystemRandom)));
    Store::open(&config.store, vault, Arc::new(SystemRandom)).await.unwrap()
}

/// R-SEC-07: a key file is made where nothing needs another one, and nowhere else.
#[tokio::test]
async fn no_key_file_is_made_where_the_lost_one_belongs() {
    let folder = Folder::new();
    let config = config(&folder);
    let store = open(&config).await;
    store.close().await;
    std::fs::remove_file(&config.keys_file).unwrap();
    // Nothing lasting was sealed yet: a new one is as good.
    let store = open(&config).await;
    connect(&store).await;
    store.close().await;
    let kept = KeyFile::load(&config.keys_file).unwrap().key_ids();
    let backup = folder.path("backup");
    std::fs::rename(&config.keys_file, &backup).unwrap();

    let Err(error) = key_file(&config, &SystemRandom, Timestamp::UNIX_EPOCH).await else { panic!("it was made") };

    assert!(matches!(&error, StartError::LostKeys { ids, .. } if *ids == kept), "{error}");
    assert!(error.to_string().contains("put the file back from its backup"), "{error}");
    assert!(!config.keys_file.exists(), "the place is free");
    std::fs::rename(&backup, &config.keys_file).unwrap();
    open(&config).await.close().await;
}

/// A file that is there and wrong is never taken for none.
#[tokio::test]
async fn a_key_file_that_is_there_is_left_alone() {
    let folder = Folder::new();
    let config = config(&folder);
    crate::config::private_file::create(&config.keys_file, "").unwrap();
    let Err(error) = key_file(&config, &SystemRandom, Timestamp::UNIX_EPOCH).await else { panic!("it was used") };
    assert!(matches!(error, StartError::KeyText { error: KeyFileError::Active(0), .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("{}: ", config.keys_file.display())), "{error}");
    assert_eq!(std::fs::read_to_string(&config.keys_file).unwrap(), "");
}

async fn begin(config: Config) -> Result<Running, StartError> {
    crate::commands::install_crypto_provider();
    start(config, None, Arc::new(crate::clock::SystemClock), Arc::new(SystemRandom), None).await
}

/// A configuration of its own file, with a free port.
fn at_free_port(folder: &Folder, more: &str) -> Config {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(
        "public_url = \"http://127.0.0.1:{port}\"\n{more}\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n"
    );
    Config::parse(&text, &folder.path("usher.toml"), &|_| None).unwrap()
}

/// Two services on one SQLite file would break each other: the second one is refused and leaves the first one's files alone.
#[tokio::test]
async fn one_store_is_for_one_service() {
    let folder = Folder::new();
    let first = begin(at_free_port(&folder, "")).await.unwrap();
    let control = std::fs::read(folder.path("usher.control")).unwrap();

    let Err(error) = begin(at_free_port(&folder, "")).await else { panic!("it started") };
    assert!(matches!(&error, StartError::InUse { path } if *path == folder.path("usher.db")), "{error}");
    assert!(error.to_string().contains("stop it first, or give this one its own store.url"), "{error}");
    assert_eq!(std::fs::read(folder.path("usher.control")).unwrap(), control);

    let same = (*first.app.config).clone();
    let Err(error) = begin(same.clone()).await else { panic!("it started") };
    let url = same.public_url.origin();
    assert!(
        error.to_string().starts_with(&format!("Usher already runs here ({url}); to sign in: usher login")),
        "{error}"
    );

    first.stop().await;
    begin(same).await.unwrap().stop().await;
}

/// The port is taken by the same configuration's service, with a store of its own.
#[tokio::test]
async fn a_taken_port_is_told_as_what_it_is() {
    let folder = Folder::new();
    let first = begin(at_free_port(&folder, "")).await.unwrap();
    let mut second = (*first.app.config).clone();
    second.database = Some(folder.path("other.db"));
    second.store = format!("sqlite:{}", folder.path("other.db").display()).into();
    let Err(error) = begin(second.clone()).await else { panic!("it started") };
    assert!(matches!(error, StartError::Running { .. }), "{error}");
    std::fs::remove_file(folder.path("usher.control")).unwrap();
    let Err(error) = begin(second).await else { panic!("it started") };
    assert!(matches!(error, StartError::Listen { .. }), "{error}");
    first.stop().await;
}

/// The folder of the store is made first: a start that fails there leaves no keys behind.
#[tokio::test]
async fn the_folder_of_the_store_is_made_before_the_keys() {
    let folder = Folder::new();
    let store = "[store]\nurl = \"sqlite:state/usher.db\"";
    std::fs::write(folder.path("state"), "").unwrap();
    let Err(error) = begin(at_free_port(&folder, store)).await else { panic!("it started") };
    assert!(error.to_string().starts_with(&format!("{} cannot be made", folder.path("state").display())), "{error}");
    assert!(!folder.path("usher.keys").exists());

    std::fs::remove_file(folder.path("state")).unwrap();
    begin(at_free_port(&folder, store)).await.unwrap().stop().await;
    assert!(folder.path("state/usher.db").exists() && folder.path("usher.keys").exists());
}

#[test]
fn a_provider_that_nothing_needs_is_found() {
    let folder = Folder::new();
    let provider = |name: &str| format!("{{ name = \"{name}\", kind = \"secret\", field = [{{ name = \"k\" }}] }}");
    let text = format!(
        "provider = [{}, {}]\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n\
         needs = [{{ provider = \"p\", header = {{ X-K = \"{{k}}\" }} }}]",
        provider("p"),
        provider("q")
    );
    let config = Config::parse(&text, &folder.path("usher.toml"), &|_| None).unwrap();
    assert_eq!(unneeded(&config).collect::<Vec<_>>(), ["q"]);
}
