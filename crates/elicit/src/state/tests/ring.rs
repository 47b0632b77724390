use super::*;

const LINE: &str = "k1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
const OTHER: &str = "k2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";

fn ids(keys: &StateKeys) -> Vec<&str> {
    keys.ids().collect()
}

/// R-MRTR-02, R-MRTR-06: while a key is being changed, every replica opens what every other one seals.
#[test]
fn replicas_in_neighbouring_steps_of_a_rotation_open_each_others_states() {
    let (old, new) = (|| StateKey::new("old", [1; 32]), || StateKey::new("new", [2; 32]));
    let steps = [StateKeys::new(old()), StateKeys::new(old()).with(new()), StateKeys::new(new()).with(old())];
    for pair in steps.windows(2) {
        for (sealing, opening) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            let sealed = sealing.seal(&binding(), b"", LATER, &SystemRandom).unwrap();
            assert!(opening.open(&sealed, &binding(), NOW).is_ok(), "{:?} {:?}", ids(sealing), ids(opening));
        }
    }
    let retired = StateKeys::new(new());
    let sealed = steps[0].seal(&binding(), b"", LATER, &SystemRandom).unwrap();
    assert_eq!(retired.open(&sealed, &binding(), NOW).unwrap_err(), Rejected::UnknownKey);
    let sealed = steps[2].seal(&binding(), b"", LATER, &SystemRandom).unwrap();
    assert!(retired.open(&sealed, &binding(), NOW).is_ok(), "the active key seals");
}

#[test]
fn keys_of_one_name_do_not_hide_each_other() {
    let ring = StateKeys::new(StateKey::new("k1", [2; 32])).with(StateKey::new("k1", [1; 32]));
    assert!(ring.open(&sealed(), &binding(), NOW).is_ok());
}

#[test]
fn a_key_is_in_the_ring_once() {
    let ring = StateKeys::new(StateKey::new("k1", [1; 32])).with(StateKey::new("again", [1; 32]));
    assert_eq!(ids(&ring), ["k1"]);
}

/// R-MRTR-06
#[test]
fn a_ring_is_read_from_lines_of_which_the_first_seals() {
    let text = format!("# state keys\n\n {OTHER} \r\n{LINE}= # until December\n");
    let ring = StateKeys::parse(&text).unwrap();
    assert_eq!(ids(&ring), ["k2", "k1"]);
    assert!(ring.open(&sealed(), &binding(), NOW).is_ok());
    let sealed = ring.seal(&binding(), b"", LATER, &SystemRandom).unwrap();
    assert!(StateKeys::parse(OTHER).unwrap().open(&sealed, &binding(), NOW).is_ok());
}

#[test]
fn both_alphabets_of_base64_are_read() {
    for secret in ["_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-8", "/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+8="] {
        assert!(StateKeys::parse(&format!("k: {secret}")).is_ok(), "{secret}");
    }
}

#[test]
fn a_text_that_is_no_ring_is_refused_by_line() {
    use StateKeysError::{Empty, Id, Repeated, Secret, Shape};

    let long = format!("{}:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE", "k".repeat(65));
    let short_secret = LINE[..LINE.len() - 1].to_owned();
    let long_secret = format!("{LINE}AA");
    let same_secret = LINE.replace("k1", "k3");
    let same_id = OTHER.replace("k2", "k1");
    let table = [
        (String::new(), Empty),
        (" \n# nothing\n".to_owned(), Empty),
        ("k1".to_owned(), Shape { line: 1 }),
        (format!("{LINE}\nk2 secret"), Shape { line: 2 }),
        (LINE.replace("k1", ""), Id { line: 1 }),
        (LINE.replace("k1", "K1"), Id { line: 1 }),
        (LINE.replace("k1", "a b"), Id { line: 1 }),
        (long, Id { line: 1 }),
        ("k1:".to_owned(), Secret { line: 1 }),
        (format!("\n\n{short_secret}"), Secret { line: 3 }),
        (long_secret, Secret { line: 1 }),
        (LINE.replace('Q', "!"), Secret { line: 1 }),
        (format!("{LINE}{LINE}{LINE}"), Secret { line: 1 }),
        (format!("{LINE}\n{OTHER}\n{same_secret}"), Repeated { line: 3 }),
        (format!("{LINE}\n{same_id}"), Repeated { line: 2 }),
    ];
    for (text, error) in table {
        assert_eq!(StateKeys::parse(&text).unwrap_err(), error, "{text}");
    }
    insta::assert_snapshot!(Secret { line: 2 }, @"line 2: the secret has to be 32 random bytes in base64");
}

#[test]
fn new_keys_are_secrets_of_their_own() {
    let one = StateKeys::new_secret(&SystemRandom);
    assert_ne!(*one, *StateKeys::new_secret(&SystemRandom));
    assert_eq!(one.len(), 43);
    assert!(StateKeys::parse(&format!("k1:{}", *one)).is_ok());
    let generate = || StateKey::generate("k1", &SystemRandom);
    assert_ne!(generate().mark(), generate().mark());
    // The same bytes are the same key, wherever they come from.
    let fixed = StateKeys::parse(&format!("k:{}", *StateKeys::new_secret(&Fixed(1)))).unwrap();
    assert!(fixed.open(&sealed(), &binding(), NOW).is_ok());
    assert_eq!(StateKey::generate("k1", &Fixed(1)).mark(), keys().active().mark());
}

#[test]
fn no_secret_shows_in_debug() {
    let key = StateKey::new("k1", [0x41; 32]);
    assert_eq!(format!("{key:?}"), r#"StateKey { id: "k1", .. }"#);
    assert_eq!(format!("{:?}", StateKeys::new(key)), r#"StateKeys { active: StateKey { id: "k1", .. }, older: [] }"#);
}

proptest! {
    #[test]
    fn any_text_is_read_as_a_ring_or_refused_without_a_panic(
        text in prop_oneof![any::<String>(), "(k[0-9]{0,2}:[A-Za-z0-9+/_=-]{40,46}[#\n ]?){0,4}"],
    ) {
        let _ = StateKeys::parse(&text);
    }
}
