use std::fs;
use std::path::PathBuf;

use elicit::SystemRandom;
use jiff::{SignedDuration, Timestamp};

use super::KeyFileEdit;
use crate::token::random_text;
use crate::{KeyFile, KeyFileError, KeyRole, KeyWrap as _};

const ONE: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const TWO: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE";

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("usher-edit-{}", random_text(&SystemRandom)));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("usher.keys")
    }

    fn edit(&self) -> KeyFileEdit {
        KeyFileEdit::begin(&self.file()).unwrap()
    }

    fn roles(&self) -> Vec<(String, KeyRole)> {
        let keys = KeyFile::load(&self.file()).unwrap();
        keys.entries().map(|entry| (entry.id.clone(), entry.role)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

#[test]
fn a_rotation_keeps_what_was_there_and_notes_the_times() {
    let folder = Folder::new();
    let first = KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap();
    let wrapped = first.wrap(&[7; 32], b"context", &SystemRandom).unwrap();
    let later = now() + SignedDuration::from_hours(1);

    let second = folder.edit().rotate(&SystemRandom, later).unwrap();

    let keys = KeyFile::load(&folder.file()).unwrap();
    assert_eq!(folder.roles(), [(second.clone(), KeyRole::Active), (first.active_id(), KeyRole::Older)]);
    assert_eq!(*keys.unwrap(&wrapped, b"context").unwrap(), [7; 32]);
    let (old, new) = (keys.entry(&first.active_id()).unwrap(), keys.entry(&second).unwrap());
    assert_eq!((old.made, old.until), (Some(now()), Some(later)));
    assert_eq!((new.made, new.until), (Some(later), None));
    assert!(fs::read_to_string(folder.file()).unwrap().starts_with("# Master keys of Usher."), "comments stay");
    assert_eq!(keys.older_ids(), [first.active_id()]);
}

/// With replicas: known everywhere first, active then.
#[test]
fn a_key_that_was_added_seals_only_once_it_is_activated() {
    let folder = Folder::new();
    let first = KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap().active_id();
    let second = folder.edit().add(&SystemRandom, now()).unwrap();
    assert_eq!(folder.roles(), [(first.clone(), KeyRole::Active), (second.clone(), KeyRole::Next)]);
    assert!(KeyFile::load(&folder.file()).unwrap().older_ids().is_empty(), "nothing is to be wrapped anew");

    assert!(folder.edit().activate(&second, now()).unwrap());
    assert!(!folder.edit().activate(&second, now()).unwrap(), "a second time changes nothing");
    assert_eq!(folder.roles(), [(second.clone(), KeyRole::Active), (first.clone(), KeyRole::Older)]);

    let back = folder.edit().activate(&first, now()).unwrap_err();
    assert!(matches!(back, KeyFileError::WasActive { .. }), "{back}");
    let unknown = folder.edit().activate("k9", now()).unwrap_err();
    assert!(unknown.to_string().contains(&format!("no key k9; it has: {second}, {first}")), "{unknown}");
}

#[test]
fn a_key_is_taken_out_unless_it_is_the_active_one() {
    let folder = Folder::new();
    let first = KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap().active_id();
    let refused = folder.edit().remove(&first).unwrap_err();
    assert!(matches!(refused, KeyFileError::IsActive { .. }), "{refused}");
    let second = folder.edit().rotate(&SystemRandom, now()).unwrap();

    folder.edit().remove(&first).unwrap();

    assert_eq!(folder.roles(), [(second, KeyRole::Active)]);
    assert!(matches!(folder.edit().remove(&first), Err(KeyFileError::NoSuchKey { .. })));
}

/// Two rotations at once: one after the other or one alone, and no key is lost.
#[test]
fn commands_at_the_same_time_lose_no_key() {
    let folder = Folder::new();
    let first = KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap().active_id();
    let held = folder.edit();
    assert!(matches!(KeyFileEdit::begin(&folder.file()), Err(KeyFileError::Busy { .. })));
    drop(held);

    let made = std::thread::scope(|scope| {
        let rotations: Vec<_> = (0..8)
            .map(|_| {
                let file = folder.file();
                scope.spawn(move || KeyFileEdit::begin(&file)?.rotate(&SystemRandom, now()))
            })
            .collect();
        rotations.into_iter().filter_map(|rotation| rotation.join().unwrap().ok()).collect::<Vec<_>>()
    });

    assert!(!made.is_empty());
    let roles = folder.roles();
    for id in made.iter().chain([&first]) {
        assert!(roles.iter().any(|(known, _)| known == id), "{id} is lost");
    }
    assert_eq!(roles.len(), made.len() + 1);
}

/// Somebody with an editor knows no lock.
#[test]
fn a_file_that_was_changed_in_between_is_left_alone() {
    let folder = Folder::new();
    KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap();
    let edit = folder.edit();
    let changed = format!("k1 {ONE} active\nk2 {TWO} older\n");
    fs::write(folder.file(), &changed).unwrap();

    let refused = edit.rotate(&SystemRandom, now()).unwrap_err();

    assert!(matches!(refused, KeyFileError::Busy { .. }), "{refused}");
    assert_eq!(fs::read_to_string(folder.file()).unwrap(), changed);
}

/// R-SEC-07: a file that its group may read stays so, and a link stays a link.
#[cfg(unix)]
#[test]
fn mode_and_links_stay_as_they_are() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    KeyFile::create(&folder.file(), &SystemRandom, now()).unwrap();
    let link = folder.0.join("link.keys");
    std::os::unix::fs::symlink(folder.file(), &link).unwrap();
    for mode in [0o640, 0o600] {
        fs::set_permissions(folder.file(), PermissionsExt::from_mode(mode)).unwrap();
        KeyFileEdit::begin(&link).unwrap().rotate(&SystemRandom, now()).unwrap();
        assert_eq!(fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, mode);
    }
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(folder.roles().len(), 3);
    let mut names: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["link.keys", "usher.keys", "usher.keys.lock"], "nothing else is left");
}

#[test]
fn hand_written_lines_are_kept_word_for_word() {
    let folder = Folder::new();
    let path = folder.file();
    crate::create_private_file(&path, format!("# ours\n\n  k2   {TWO}  older # kept\nk1 {ONE} active").as_bytes())
        .unwrap();
    let id = folder.edit().rotate(&SystemRandom, now()).unwrap();
    let text = fs::read_to_string(path).unwrap();
    let expected = format!("# ours\n\n  k2   {TWO}  older # kept\nk1 {ONE} older until=2027-01-15T08:00:00Z\n{id} ");
    assert!(text.starts_with(&expected), "{text}");
}
