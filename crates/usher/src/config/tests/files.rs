//! The files that the configuration is in, names, and takes secrets from.

use std::path::Path;

use secrecy::ExposeSecret;

use super::super::{Config, Identity, Paths, private_file};
use super::{faults, with};
use crate::config::folder::Folder;

#[test]
fn files_of_ours_stand_beside_the_database_by_default() {
    let config = with("[store]\nurl = \"sqlite:state/usher.db\"\n[keys]\nfile = \"/run/keys\"").unwrap();
    assert_eq!(config.store.expose_secret(), "sqlite:/etc/usher/state/usher.db");
    assert_eq!(config.keys_file, Path::new("/run/keys"));
    let Identity::Local { tokens_file } = config.identity else { panic!("another mode") };
    assert_eq!(tokens_file, Path::new("/etc/usher/state/usher.tokens"));
    assert_eq!(config.control_file, Path::new("/etc/usher/state/usher.control"));

    let lines = "[store]\nurl = \"postgres:///usher\"\n[identity]\nmode = \"local\"\ncontrol_file = \"c\"";
    let config = with(lines).unwrap();
    let Identity::Local { tokens_file } = config.identity else { panic!("another mode") };
    assert_eq!(tokens_file, Path::new("/etc/usher/usher.tokens"));
    assert_eq!(config.control_file, Path::new("/etc/usher/c"));
}

/// The control file is overwritten at each start: it must not be a file that holds anything.
#[test]
fn no_file_serves_two_purposes() {
    for (lines, expected) in [
        ("[identity]\ncontrol_file = \"usher.keys\"", "2:16 identity.control_file: is the file of keys.file too"),
        ("[identity]\ncontrol_file = \"usher.db\"", "2:16 identity.control_file: is the file of store.url too"),
        ("[identity]\ncontrol_file = \"usher.toml\"", "2:16 identity.control_file: is this very file"),
        ("[identity]\ntokens_file = \"usher.keys\"", "2:15 identity.tokens_file: is the file of keys.file too"),
        ("[keys]\nfile = \"usher.db\"", "2:8 keys.file: is the file of store.url too"),
        ("[keys]\nfile = \"./usher.tokens\"", "2:8 keys.file: is the file of identity.tokens_file too"),
        ("[keys]\nfile = \"\"", "2:8 keys.file: names no file"),
        ("[store]\nurl = \"sqlite:/etc/usher/usher.keys\"", "2:7 store.url: is the file of keys.file too"),
    ] {
        assert_eq!(faults(with(lines)), expected, "{lines}");
    }
}

/// One folder can be written in several ways.
#[test]
fn no_file_serves_two_purposes_under_two_names() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("state")).unwrap();
    let path = folder.path("usher.toml");
    let fault = |lines: &str| {
        let text = format!("{lines}\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"");
        Config::parse(&text, &path, &|_| None).unwrap_err().0.remove(0)
    };
    let twice = fault("[identity]\ncontrol_file = \"state/../usher.keys\"");
    assert_eq!(twice.message, "is the file of keys.file too");
    assert_eq!(fault("[keys]\nfile = \"state/../usher.toml\"").message, "is this very file");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path("state"), folder.path("link")).unwrap();
        let twice = fault("[keys]\nfile = \"state/k\"\n[identity]\ntokens_file = \"link/k\"");
        assert_eq!(twice.message, "is the file of keys.file too");
    }
}

/// Commands beside the service need paths: a secret of the store that only the service has does not stop them.
#[test]
fn paths_are_known_without_the_stores_secret() {
    let folder = Folder::new();
    let path = folder.path("usher.toml");
    let upstream = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"";
    for store in ["url_env = \"USHER_STORE_URL\"", "url_file = \"missing\""] {
        std::fs::write(&path, format!("[store]\n{store}\n{upstream}")).unwrap();
        assert_eq!(
            Paths::load(&path, &|_| None).unwrap(),
            Paths {
                keys_file: folder.path("usher.keys"),
                control_file: folder.path("usher.control"),
                database: None,
                servers: vec!["a".to_owned()],
            },
            "{store}"
        );
        assert!(Config::load(&path, &|_| None).is_err(), "the service needs it");
    }
    std::fs::write(&path, format!("[store]\nurl_env = \"URL\"\n{upstream}")).unwrap();
    let paths = Paths::load(&path, &|_| Some("sqlite:state/usher.db".to_owned())).unwrap();
    assert_eq!(paths.control_file, folder.path("state/usher.control"), "where it is there, it counts");
    std::fs::write(&path, format!("[store]\nurl_env = 1\n{upstream}")).unwrap();
    assert!(Paths::load(&path, &|_| None).is_err(), "other faults are faults");
}

#[test]
fn a_start_waits_ten_seconds_for_its_store_or_as_it_is_told() {
    let wait = |lines: &str| with(&format!("[store]\n{lines}")).map(|config| config.store_wait.as_secs());
    assert_eq!(with("").unwrap().store_wait.as_secs(), 10);
    assert_eq!(wait("url = \"postgres:///usher\"").unwrap(), 10);
    assert_eq!(wait("url = \"postgres:///usher\"\nwait = \"0s\"").unwrap(), 0);
    let found = faults(with("[store]\nurl = \"postgres:///usher\"\nwait = \"11m\""));
    assert!(found.starts_with("3:8 store.wait: "), "{found}");
}

#[test]
fn a_store_is_a_file_or_a_postgresql_server() {
    let store = |url: &str| with(&format!("[store]\nurl = \"{url}\""));
    assert_eq!(store("sqlite:///var/usher.db").unwrap().store.expose_secret(), "sqlite:/var/usher.db");
    assert_eq!(store("sqlite://usher.db").unwrap().store.expose_secret(), "sqlite:/etc/usher/usher.db");
    let url = "postgres://me:hunter2@db.example/usher?sslmode=verify-full";
    let config = store(url).unwrap();
    assert_eq!(config.store.expose_secret(), url);
    assert!(!format!("{config:?}").contains("hunter2"));
    for wrong in ["sqlite::memory:", "sqlite:", "sqlite:folder/", "sqlite:a.db?mode=ro", "usher.db", "mysql://db/a", ""]
    {
        let found = faults(store(wrong));
        assert!(found.starts_with("2:7 store.url: "), "{wrong}: {found}");
    }

    let path = Path::new("/srv/100% #1?/usher.toml");
    let text = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"";
    let config = Config::parse(text, path, &|_| None).unwrap();
    assert_eq!(config.store.expose_secret(), "sqlite:/srv/100%25 %231%3F/usher.db");
}

/// R-SEC-07: a secret comes from one place, and a file with it is not for everybody.
#[test]
fn a_secret_comes_from_a_value_a_file_or_the_environment() {
    let folder = Folder::new();
    let parse = |lines: &str| {
        let text = format!("[store]\n{lines}\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"");
        let env = |name: &str| match name {
            "STORE" => Some("postgres:///from-env".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        Config::parse(&text, &folder.path("usher.toml"), &env)
    };
    private_file::create(&folder.path("url"), "postgres:///from-file\n").unwrap();
    private_file::create(&folder.path("empty"), "\n").unwrap();
    let store = |lines: &str| parse(lines).unwrap().store.expose_secret().to_owned();
    assert_eq!(store("url_file = \"url\""), "postgres:///from-file");
    assert_eq!(store("url_env = \"STORE\""), "postgres:///from-env");

    for (lines, expected) in [
        ("url_file = \"none\"", "2:12 store.url_file: "),
        ("url_file = \"empty\"", "2:12 store.url_file: "),
        ("url_env = \"NONE\"", "2:11 store.url_env: the environment variable NONE is not set"),
        ("url_env = \"EMPTY\"", "2:11 store.url_env: the environment variable EMPTY is not set"),
        ("url_env = \"STORE\"\nurl_file = \"url\"", "2:11 store.url_env: the same secret is given twice"),
        ("url = \"sqlite:a\"\nurl_file = \"url\"", "3:12 store.url_file: the same secret is given twice"),
        ("url_fil = \"url\"", "2:1 store.url_fil: unknown key"),
    ] {
        let found = faults(parse(lines));
        assert!(found.starts_with(expected), "{lines}\n{found}");
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path("url");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let fault = &parse("url_file = \"url\"").unwrap_err().0[0];
        assert!(fault.message.ends_with("can be read by others (mode 644)"), "{fault}");
        assert_eq!(fault.fix, format!("chmod 600 {}", path.display()));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_one_fault() {
    let folder = Folder::new();
    let path = folder.path("usher.toml");
    let fault = Config::load(&path, &|_| None).unwrap_err().to_string();
    assert!(fault.starts_with(&format!("{}: cannot be read: ", path.display())), "{fault}");
    assert!(fault.contains("--config"), "{fault}");
    std::fs::write(&path, b"# one\n# \xff\n").unwrap();
    let fault = Config::load(&path, &|_| None).unwrap_err().to_string();
    assert!(fault.contains("is not UTF-8 from line 2 on"), "{fault}");
    std::fs::write(&path, "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"").unwrap();
    assert_eq!(Config::load(&path, &|_| None).unwrap().directory, path.parent().unwrap());
}
