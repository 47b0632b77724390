use std::sync::Arc;

use elicit::{SystemRandom, UserId};

use super::{Record, RecordKind, Vault};
use crate::{KeyError, KeyFile};

const LINE: &str = "k1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA active";

fn vault(keys: &str) -> Vault {
    let keys = KeyFile::parse(keys).unwrap();
    Vault::new(Arc::new(keys), Arc::new(SystemRandom))
}

fn user(subject: &str) -> UserId {
    UserId::new("https://issuer.example", subject).unwrap()
}

fn record<'a>(user: &'a UserId, scope: &'a [&'a str]) -> Record<'a> {
    Record { kind: RecordKind::Credential, id: "r-1", user, scope }
}

#[test]
fn what_is_sealed_opens_and_is_never_sealed_the_same_way_twice() {
    let (vault, owner) = (vault(LINE), user("user-1"));
    let place = record(&owner, &["weather"]);
    for value in [Vec::new(), b"secret".to_vec(), vec![0; 70_000]] {
        let one = vault.seal(&place, &value).unwrap();
        let two = vault.seal(&place, &value).unwrap();
        assert_ne!(one, two);
        assert_eq!(*vault.open(&place, &one).unwrap(), value);
        assert_eq!(*vault.open(&place, &two).unwrap(), value);
    }
}

/// R-OAUTH-01: a value opens only in the place that it was sealed for.
#[test]
fn another_place_does_not_open() {
    let (vault, owner, stranger) = (vault(LINE), user("user-1"), user("user-2"));
    let other_issuer = UserId::new("https://other.example", "user-1").unwrap();
    let sealed = vault.seal(&record(&owner, &["weather"]), b"secret").unwrap();
    let scope: &[&str] = &["weather"];
    for place in [
        record(&stranger, scope),
        record(&other_issuer, scope),
        record(&owner, &["maps"]),
        record(&owner, &["weather", ""]),
        record(&owner, &["weath", "er"]),
        Record { id: "r-2", ..record(&owner, scope) },
        Record { kind: RecordKind::Session, ..record(&owner, scope) },
    ] {
        assert_eq!(vault.open(&place, &sealed).unwrap_err(), KeyError::Tampered);
    }
}

#[test]
fn every_changed_bit_and_every_cut_is_noticed() {
    let (vault, owner) = (vault(LINE), user("user-1"));
    let place = record(&owner, &["weather"]);
    let sealed = vault.seal(&place, b"secret").unwrap();
    for position in 0..sealed.len() * 8 {
        let mut edited = sealed.clone();
        edited[position / 8] ^= 1 << (position % 8);
        assert!(vault.open(&place, &edited).is_err(), "bit {position}");
    }
    for length in 0..sealed.len() {
        assert!(vault.open(&place, &sealed[..length]).is_err(), "length {length}");
    }
}

#[test]
fn a_key_that_is_gone_is_named() {
    let owner = user("user-1");
    let place = record(&owner, &["weather"]);
    let sealed = vault(LINE).seal(&place, b"secret").unwrap();

    let other = vault("k2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE active");

    let error = other.open(&place, &sealed).unwrap_err();
    assert_eq!(error, KeyError::UnknownKey("k1".to_owned()));
    // The same id over another key is no help either.
    let same_id = vault("k1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE active");
    assert_eq!(same_id.open(&place, &sealed).unwrap_err(), KeyError::Tampered);
}
