//! Master keys as an operator deals with them: the commands, beside a service that runs and one that does not.

use std::{os::unix::fs::PermissionsExt, path::Path, time::Duration};

use usher::clock::Clock;
use usher_store::{KeyFile, KeyRole, Store};
use usher_testkit::{DEADLINE, free_port, upstream::Upstream, within};

use crate::{
    harness::{ACCEPT, CALLS, Folder, KEY, Stage},
    serve_command::{Service, config, run, text_of_both},
};

fn ids(folder: &Path) -> Vec<(String, KeyRole)> {
    let keys = KeyFile::load(&folder.join("usher.keys")).unwrap();
    keys.entries().map(|entry| (entry.id.clone(), entry.role)).collect()
}

/// Runs `usher keys …`, which must end with this code, and gives what it said.
async fn keys(folder: &Path, arguments: &[&str], code: i32) -> String {
    let arguments: Vec<_> = ["keys"].iter().chain(arguments).copied().collect();
    let output = run(folder, &arguments).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    told
}

/// A folder with a key file and no store.
async fn prepared() -> Folder {
    let folder = Folder::new();
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", "");
    keys(folder.path(), &["init"], 0).await;
    folder
}

#[tokio::test]
async fn keys_are_added_activated_listed_and_retired() {
    let folder = prepared().await;
    let folder = folder.path();
    let first = ids(folder)[0].0.clone();
    let text = std::fs::read_to_string(folder.join("usher.keys")).unwrap();
    let secret = text.lines().find(|line| line.starts_with(&first)).unwrap().split(' ').nth(1).unwrap().to_owned();
    let told = keys(folder, &["rotate", "--add-only"], 0).await;
    let second = ids(folder)[1].0.clone();
    assert_eq!(ids(folder), [(first.clone(), KeyRole::Active), (second.clone(), KeyRole::Next)]);
    assert!(told.contains(&format!("usher keys activate {second}")), "{told}");
    keys(folder, &["activate", &second], 0).await;
    assert_eq!(ids(folder), [(second.clone(), KeyRole::Active), (first.clone(), KeyRole::Older)]);
    assert!(keys(folder, &["activate", &first], 1).await.contains("does not come back"));
    assert!(keys(folder, &["retire", &second], 1).await.contains("is the active one"));
    assert!(keys(folder, &["retire", "k9"], 1).await.contains("has no key k9"));
    // What it sealed a moment ago may be on its way.
    let told = keys(folder, &["retire", &first], 1).await;
    assert!(told.contains("questions on their way to hosts, until 20"), "{told}");

    let listed = keys(folder, &["list"], 0).await;
    let row = listed.lines().find(|line| line.starts_with(&second)).unwrap_or_else(|| panic!("{listed}"));
    let words: Vec<_> = row.split_whitespace().collect();
    assert!(words[1] == "active" && words[2].ends_with('Z') && words[3] == "nothing", "{row}");
    assert!(!listed.contains(&secret), "no key is shown");
    assert!(!folder.join("usher.db").exists(), "looking makes nothing");
    // Where the store is kept elsewhere, keys can be listed, and none is taken out blindly.
    config(folder, free_port(), "http://127.0.0.1:9/mcp", "[store]\nurl_env = \"USHER_TEST_NO_SUCH_URL\"");
    assert!(keys(folder, &["list"], 0).await.contains("what needs the keys is not known"));
    assert!(keys(folder, &["retire", &first], 1).await.contains("so it is not known what needs the key"));
    for (name, mode) in [("usher.keys", 0o600), ("usher.keys.lock", 0o600)] {
        assert_eq!(std::fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
}

/// The design, section 6: a rotation beside a running service, until the old key can go; nothing is unreadable at any
/// moment.
#[tokio::test]
async fn a_rotation_beside_a_running_service_ends_with_the_old_key_gone() {
    let mut stage = Stage::new().await;
    let person = stage.connected().await;
    let folder = stage.folder.path().to_owned();
    let before = stage.credential().await.unwrap();
    let [(first, KeyRole::Active)] = &ids(&folder)[..] else { panic!("one key") };
    let told = keys(&folder, &["list"], 0).await;
    assert!(told.contains("1 credential, 1 signed-in browser"), "{told}");
    assert!(keys(&folder, &["retire", first], 1).await.contains("is the active one"));

    keys(&folder, &["rotate"], 0).await;
    let second = ids(&folder)[0].0.clone();
    stage.app().keys.reload();
    stage.rewrapped(first).await;

    let told = keys(&folder, &["list"], 0).await;
    assert!(told.lines().any(|line| line.starts_with(&second) && line.contains("1 credential, 1 signed-in")), "{told}");
    let after = stage.credential().await.unwrap();
    assert_eq!((after.version, after.updated_at), (before.version, before.updated_at), "nobody has to read it again");
    assert_eq!(stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await.content_text(), "sunny");
    assert_eq!(person.get("/").await.status, 200, "still signed in");
    // What it sealed may be on its way for a quarter of an hour.
    let told = keys(&folder, &["retire", first], 1).await;
    assert!(told.contains("questions on their way") && !told.contains("credential,"), "{told}");
    let text = std::fs::read_to_string(folder.join("usher.keys")).unwrap();
    let until = text.split_whitespace().find(|word| word.starts_with("until=")).unwrap();
    std::fs::write(folder.join("usher.keys"), text.replace(until, "until=2026-01-01T00:00:00Z")).unwrap();

    let told = keys(&folder, &["retire", first], 0).await;
    assert!(told.contains("is taken out"), "{told}");

    assert_eq!(ids(&folder), [(second.clone(), KeyRole::Active)]);
    stage.app().keys.reload();
    stage.holds(&[second.as_str()]).await;
    assert_eq!(stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await.content_text(), "sunny");
    stage.restart().await;
    assert!(stage.credential().await.is_some());
    assert_eq!(person.get("/").await.status, 200, "still signed in");
}

/// A key that is lost is given up by name, and only so.
#[tokio::test]
async fn a_lost_key_is_given_up_by_name() {
    let mut stage = Stage::new().await;
    stage.connected().await;
    let folder = stage.folder.path().to_owned();
    let first = ids(&folder)[0].0.clone();
    stage.stop().await;
    std::fs::remove_file(folder.join("usher.keys")).unwrap();
    keys(&folder, &["init"], 0).await;
    let told = text_of_both(&run(&folder, &["serve"]).await);
    assert!(told.contains(&format!("lacks keys that the store needs: {first}")), "{told}");
    let told = keys(&folder, &["list"], 1).await;
    assert!(told.contains(&format!("lacks keys that the store needs: {first}")), "{told}");
    let told = keys(&folder, &["retire", &first], 1).await;
    assert!(told.contains("1 credential"), "{told}");

    keys(&folder, &["retire", "--lose", &first], 0).await;

    stage.restart().await;
    assert!(stage.app().store.credential(&usher::identity::tokens::local_user(), "weather").await.is_err());
    let asked = stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await;
    assert!(asked.url().contains("/connect/"), "its owner is asked anew");
}

/// The right id over other bytes, and a copy from before a rotation: each is named, and nothing is changed.
#[tokio::test]
async fn a_wrong_key_file_is_refused_by_name() {
    let mut stage = Stage::new().await;
    stage.connected().await;
    let folder = stage.folder.path().to_owned();
    let path = folder.join("usher.keys");
    let older = std::fs::read_to_string(&path).unwrap();
    let first = ids(&folder)[0].0.clone();
    keys(&folder, &["rotate"], 0).await;
    let second = ids(&folder)[0].0.clone();
    let right = std::fs::read_to_string(&path).unwrap();
    stage.app().keys.reload();
    stage.rewrapped(&first).await;
    stage.stop().await;

    std::fs::write(&path, &older).unwrap();
    let told = text_of_both(&run(&folder, &["serve"]).await);
    assert!(told.contains(&format!("lacks keys that the store needs: {second}")), "{told}");

    let other = Folder::new();
    config(other.path(), free_port(), "http://127.0.0.1:9/mcp", "");
    keys(other.path(), &["init"], 0).await;
    let wrong = std::fs::read_to_string(other.path().join("usher.keys")).unwrap();
    std::fs::write(&path, wrong.replace(&ids(other.path())[0].0, &second)).unwrap();
    let told = text_of_both(&run(&folder, &["serve"]).await);
    assert!(told.contains(&format!("another key than the store needs under the id {second}")), "{told}");

    std::fs::write(&path, &right).unwrap();
    stage.restart().await;
    assert!(stage.credential().await.is_some());
}

/// Calls go on while keys are rotated again and again: none fails, none asks.
#[tokio::test]
async fn calls_go_on_through_rotations() {
    let stage = Stage::new().await;
    stage.connected().await;
    let folder = stage.folder.path().to_owned();
    let calling = async {
        let (mut answered, client) = (0, stage.modern());
        while ids(&folder).len() < 4 || answered < 20 {
            // What is kept in memory is a minute old: it is read anew.
            stage.clock.forward(61);
            assert_eq!(client.call("tools/call", r#"{"name":"get_forecast"}"#).await.content_text(), "sunny");
            answered += 1;
        }
    };
    let rotating = async {
        for _ in 0..3 {
            let before = ids(&folder)[0].0.clone();
            keys(&folder, &["rotate"], 0).await;
            stage.app().keys.reload();
            stage.rewrapped(&before).await;
        }
    };
    tokio::join!(calling, rotating);
}

/// R-MRTR-02: a question that was on its way when the key changed is answered under the new one.
#[tokio::test]
async fn a_question_on_its_way_survives_a_rotation() {
    let stage = Stage::new().await;
    let (method, params) = CALLS[0];
    let asked = stage.modern().call(method, params).await;
    let first = ids(stage.folder.path())[0].0.clone();
    keys(stage.folder.path(), &["rotate"], 0).await;
    let second = ids(stage.folder.path())[0].0.clone();
    stage.app().keys.reload();
    stage.holds(&[&second, &first]).await;

    let person = stage.person().await;
    person.connect(&asked.url(), &[("api_key", KEY)]).await;
    let state = asked.request_state();
    let done = stage.modern().retry(method, params, Some(&asked.answer_all(ACCEPT)), state.as_deref()).await;

    assert_eq!(done.content_text(), "sunny");
}

/// A file that cannot be used is refused with the reason, once, and the keys of before stay; no signal is needed.
#[tokio::test]
async fn a_running_service_refuses_a_file_that_it_cannot_use() {
    let upstream = Upstream::start().await;
    let service = Service::start(&upstream.url()).await;
    let folder = service.folder.path().to_owned();
    let path = folder.join("usher.keys");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    service.signal("HUP");
    service.logs("has mode 644: others may read it").await;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    service.signal("HUP");
    service.logs("the key file was read again").await;
    // Without a signal as well.
    keys(&folder, &["rotate"], 0).await;
    let active = ids(&folder)[0].0.clone();
    service.logs(&format!("active=\"{active}\"")).await;
    assert_eq!(service.client().call("tools/list", "{}").await.status, 200);
}

/// The guide's own steps: what was copied after a stop is a whole service in another folder.
#[tokio::test]
async fn a_backup_opens_in_another_folder() {
    let mut stage = Stage::new().await;
    stage.connected().await;
    stage.stop().await;
    let to = Folder::new();
    for name in ["usher.db", "usher.keys", "usher.toml", "usher.tokens"] {
        std::fs::copy(stage.folder.path().join(name), to.path().join(name)).unwrap();
    }
    let listed = keys(to.path(), &["list"], 0).await;
    assert!(listed.contains("1 credential"), "{listed}");

    stage.folder = to;
    stage.restart().await;

    assert_eq!(stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await.content_text(), "sunny");
}

impl Stage {
    /// Waits until nothing that lasts needs this key.
    async fn rewrapped(&self, key: &str) {
        let done = async {
            loop {
                let mut inspection = Store::inspect(&self.app().config.store).await.unwrap().unwrap();
                let uses = inspection.key_uses(&[key.to_owned()], self.clock.now()).await.unwrap()[key];
                inspection.close().await;
                if uses.credentials + uses.sessions.count + uses.browser_sessions.count == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        within(DEADLINE, "the old key is still needed", done).await;
    }

    /// Waits until the service holds these keys.
    async fn holds(&self, ids: &[&str]) {
        let done = async {
            while self.app().keys.ring.keys().key_ids() != ids {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        within(DEADLINE, "the keys were not taken up", done).await;
    }
}
