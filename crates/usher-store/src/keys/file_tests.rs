use std::path::PathBuf;

use elicit::SystemRandom;
use jiff::Timestamp;

use super::{KeyFile, KeyFileError, KeyWrap as _};
use crate::token::random_text;

const ONE: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const TWO: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE";

fn path() -> PathBuf {
    std::env::temp_dir().join(format!("usher-keys-{}", random_text(&SystemRandom)))
}

/// R-SEC-07: local files are 0600.
#[cfg(unix)]
#[test]
fn a_new_file_is_for_its_owner_alone_and_is_never_written_over() {
    use std::os::unix::fs::PermissionsExt;

    let path = path();
    let created = KeyFile::create(&path, &SystemRandom, Timestamp::UNIX_EPOCH).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = KeyFile::create(&path, &SystemRandom, Timestamp::UNIX_EPOCH).unwrap_err();
    assert!(matches!(again, KeyFileError::Exists { .. }), "{again}");
    assert!(again.to_string().contains("exists already and was left alone"), "{again}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

    let loaded = KeyFile::load(&path).unwrap();
    assert_eq!(loaded.key_ids(), created.key_ids());
    let wrapped = created.wrap(&[7; 32], b"context", &SystemRandom).unwrap();
    assert_eq!(*loaded.unwrap(&wrapped, b"context").unwrap(), [7; 32]);
    std::fs::remove_file(path).unwrap();
}

/// R-SEC-07: a file that others can read is no secret.
#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let path = path();
    KeyFile::create(&path, &SystemRandom, Timestamp::UNIX_EPOCH).unwrap();
    for mode in [0o600, 0o400, 0o440, 0o640] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        assert!(KeyFile::load(&path).is_ok(), "{mode:o}");
    }
    for (mode, said) in [
        (0o644, "has mode 644: others may read it; run chmod 600"),
        (0o604, "has mode 604: others may read it; run chmod 600"),
        (0o660, "has mode 660: its group may write it; run chmod 600"),
        (0o602, "has mode 602: others may use it; run chmod 600"),
        (0o666, "has mode 666: its group may write it, others may read it, others may use it; run chmod 600"),
    ] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let error = KeyFile::load(&path).unwrap_err();
        assert!(matches!(error, KeyFileError::Exposed { mode: found, .. } if found == mode), "{mode:o}");
        assert!(error.to_string().contains(said), "{error}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_file_is_read_with_comments_and_older_keys() {
    let text = format!("# master keys\n\n  old {TWO}  older # from before\nnew {ONE} active\n");
    let keys = KeyFile::parse(&text).unwrap();
    assert_eq!(keys.key_ids(), ["new", "old"]);
    assert_eq!(keys.active_id(), "new");
    assert!(keys.has("old"));
    assert!(!keys.has("older"));
}

#[test]
fn a_file_with_a_fault_names_its_line_and_shows_no_key() {
    for (text, expected) in [
        (format!("k1 {ONE}"), "line 1 of the key file: it must be: id, key, and active, older or next"),
        (format!("k1 {ONE} active more"), "line 1 of the key file: after the role come made=TIME"),
        (format!("\nK1 {ONE} active"), "line 2 of the key file: the id must be"),
        (format!("k1 {ONE}A active"), "line 1 of the key file: the key must be 32 bytes"),
        (format!("k1 {ONE} spare"), "line 1 of the key file: after the key comes"),
        (format!("k1 {ONE} active\nk1 {TWO} older"), "line 2 of the key file: the id stands"),
        (String::new(), "exactly one active key, and has 0"),
        (format!("k1 {ONE} older"), "exactly one active key, and has 0"),
        (format!("k1 {ONE} active\nk2 {TWO} active"), "exactly one active key, and has 2"),
    ] {
        let error = KeyFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains(ONE), "{error}");
    }
}

/// One secret serves one purpose: what wraps does not seal request state.
#[test]
fn wrapping_and_request_state_use_different_keys() {
    let key = KeyFile::parse(&format!("k1 {ONE} active")).unwrap();
    assert_ne!(key.active.wrap, key.active.state);
    let other = KeyFile::parse(&format!("k1 {TWO} active")).unwrap();
    assert_ne!(key.active.wrap, other.active.wrap);
    assert_ne!(key.active.state, other.active.state);
}

/// R-MRTR-02: state that was sealed before a rotation opens after it.
#[test]
fn request_state_survives_a_rotation() {
    use elicit::{Binding, ClientId, Principal, UserId, request_digest};

    let binding = Binding {
        principal: Principal {
            user: UserId::new("https://issuer.example", "user-1").unwrap(),
            client: ClientId::new("client-1").unwrap(),
        },
        upstream: "forecast".to_owned(),
        method: "tools/call".to_owned(),
        digest: request_digest("tools/call", Some(r#"{"name":"get"}"#)).unwrap(),
    };
    let before = KeyFile::parse(&format!("k1 {ONE} active")).unwrap();
    let after = KeyFile::parse(&format!("k1 {ONE} older\nk2 {TWO} active")).unwrap();
    let sealed = before.state_keys().seal(&binding, b"payload", 200, &SystemRandom).unwrap();

    let opened = after.state_keys().open(&sealed, &binding, 100).unwrap();

    assert_eq!(*opened, b"payload");
}
