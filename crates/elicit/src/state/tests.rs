use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;

use super::*;
use crate::{ClientId, Digest, Principal, Random, SystemRandom, UserId};

mod payload;
mod ring;

const NOW: u64 = 1_800_000_000;
const LATER: u64 = NOW + 900;

/// The same bytes each time.
struct Fixed(u8);

impl Random for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

fn keys() -> StateKeys {
    StateKeys::new(StateKey::new("k1", [1; 32]))
}

fn principal(issuer: &str, subject: &str, client: &str) -> Principal {
    Principal { user: UserId::new(issuer, subject).unwrap(), client: ClientId::new(client).unwrap() }
}

fn binding() -> Binding {
    Binding {
        principal: principal("https://id.example", "7", "editor"),
        upstream: "weather".to_owned(),
        method: "tools/call".to_owned(),
        digest: Digest::of_json(r#"{"name":"forecast"}"#).unwrap(),
    }
}

fn sealed() -> String {
    keys().seal(&binding(), b"payload", LATER, &SystemRandom).unwrap()
}

fn rejected(sealed: &str, binding: &Binding, now: u64) -> Rejected {
    keys().open(sealed, binding, now).unwrap_err()
}

fn reencoded(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = URL_SAFE_NO_PAD.decode(sealed()).unwrap();
    change(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// R-MRTR-02
#[test]
fn what_was_sealed_opens_for_the_same_request() {
    for payload in [&b""[..], b"payload", &vec![0xff; 40_000]] {
        let sealed = keys().seal(&binding(), payload, LATER, &SystemRandom).unwrap();
        let opened = keys().open(&sealed, &binding(), NOW).unwrap();
        assert_eq!(*opened, payload);
    }
}

/// R-MRTR-02: the client cannot read it, and not even see that two are alike.
#[test]
fn the_payload_is_hidden_and_no_two_states_are_alike() {
    let bytes = URL_SAFE_NO_PAD.decode(sealed()).unwrap();
    for hidden in [&b"payload"[..], b"editor", b"weather", b"id.example"] {
        assert!(!bytes.windows(hidden.len()).any(|window| window == hidden));
    }
    assert_ne!(sealed(), sealed());
}

/// The layout that replicas of different builds have to agree on.
#[test]
fn the_layout_is_the_same_in_every_build() {
    let sealed = keys().seal(&binding(), b"payload", LATER, &Fixed(7)).unwrap();
    insta::assert_snapshot!(sealed, @"AxyLBDlL1l7mBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHGRsk2yi6TJuFRnSR56U6ZjRBT6-3lH6Kg9q3_9YxF0SHjvUDVsJyyZBGA4U09zHL_5Ape6iYUvUmbWz0mI0l0OIrYuQQ0yfwxgYgu57XG6cJcXGmUn6kTI5RDjond8xM9_xTIPCOCfriCQ9aAUfnWAY3IjDAkZ2gFYtPsPH00bMjFRptKZcZIWrptDw0cZxPndDpy29XWGaJJvxoqqS1");
}

/// R-MRTR-02
#[test]
fn a_state_past_64_kib_is_too_large() {
    let long = "A".repeat(MAX_SEALED_BYTES + 1);
    assert_eq!(rejected(&long, &binding(), NOW), Rejected::TooLarge);
    assert_eq!(rejected(&long[1..], &binding(), NOW), Rejected::Malformed, "the cap itself is read");
}

/// R-MRTR-02
#[test]
fn what_is_not_our_layout_is_malformed() {
    let other_version = reencoded(|bytes| bytes[0] = VERSION + 1);
    let padded = sealed() + "=";
    let cut = sealed()[..40].to_owned();
    let short = reencoded(|bytes| bytes.truncate(OVERHEAD - 1));
    let spaced = format!(" {}", sealed());
    for state in ["", "A", "not base64 at all!", "\u{e9}\0", &other_version, &padded, &cut, &short, &spaced] {
        assert_eq!(rejected(state, &binding(), NOW), Rejected::Malformed, "{state}");
    }
}

/// R-MRTR-02
#[test]
fn a_key_that_is_not_in_the_ring_is_unknown() {
    // The name of a key does not matter, its secret does.
    let other = StateKeys::new(StateKey::new("k1", [2; 32]));
    assert_eq!(other.open(&sealed(), &binding(), NOW).unwrap_err(), Rejected::UnknownKey);
    // And who claims the mark of a key has not got its secret.
    let forged = other.seal(&binding(), b"payload", LATER, &SystemRandom).unwrap();
    let mut forged = URL_SAFE_NO_PAD.decode(forged).unwrap();
    forged[1..=KEY].copy_from_slice(&keys().active().mark());
    assert_eq!(rejected(&URL_SAFE_NO_PAD.encode(forged), &binding(), NOW), Rejected::Tampered);
}

/// R-MRTR-02
#[test]
fn changed_bytes_are_tampering() {
    // Either half of the nonce, first byte of the ciphertext.
    for index in [1 + KEY, HEADER - 1, HEADER] {
        let changed = reencoded(|bytes| bytes[index] ^= 1);
        assert_eq!(rejected(&changed, &binding(), NOW), Rejected::Tampered);
    }
    let cut = reencoded(|bytes| bytes.truncate(bytes.len() - 1));
    assert_eq!(rejected(&cut, &binding(), NOW), Rejected::Tampered);
    let longer = reencoded(|bytes| bytes.push(0));
    assert_eq!(rejected(&longer, &binding(), NOW), Rejected::Tampered);
}

/// R-MRTR-02
#[test]
fn a_state_is_expired_from_its_last_second_on() {
    let sealed = sealed();
    assert!(keys().open(&sealed, &binding(), LATER - 1).is_ok());
    assert_eq!(rejected(&sealed, &binding(), LATER), Rejected::Expired);
    assert_eq!(rejected(&sealed, &binding(), u64::MAX), Rejected::Expired);
}

/// R-MRTR-02: no state lives for ever, whatever it was sealed with.
#[test]
fn a_state_that_expires_too_far_ahead_is_rejected() {
    let sealed = |expires_at| keys().seal(&binding(), b"payload", expires_at, &SystemRandom).unwrap();
    let longest = NOW + StateKeys::MAX_LIFETIME_SECONDS;
    assert!(keys().open(&sealed(longest), &binding(), NOW).is_ok());
    let milliseconds = LATER * 1000;
    for expires_at in [longest + 1, milliseconds, u64::MAX] {
        assert_eq!(rejected(&sealed(expires_at), &binding(), NOW), Rejected::TooFarAhead, "{expires_at}");
    }
    // A clock that goes back: by an hour it only lends the hour, by a year it ends the state.
    assert!(keys().open(&sealed(LATER), &binding(), NOW - 3600).is_ok());
    assert_eq!(rejected(&sealed(LATER), &binding(), NOW - 365 * 86_400), Rejected::TooFarAhead);
    // There is no time at which zero has not passed.
    assert_eq!(rejected(&sealed(0), &binding(), 0), Rejected::Expired);
}

/// R-MRTR-02: the log shows the theft and not only the age.
#[test]
fn an_old_state_of_another_principal_is_another_principals() {
    let binding = Binding { principal: principal("https://id.example", "8", "editor"), ..binding() };
    assert_eq!(rejected(&sealed(), &binding, LATER + 1), Rejected::Principal);
}

/// R-MRTR-02, R-ID-01: issuer, subject and client each count.
#[test]
fn a_state_of_another_principal_is_rejected() {
    let sealed = sealed();
    for other in [
        principal("https://other.example", "7", "editor"),
        principal("https://id.example", "8", "editor"),
        principal("https://id.example", "7", "terminal"),
        // The same letters in other places.
        principal("https://id.example7", "e", "ditor"),
    ] {
        let binding = Binding { principal: other, ..binding() };
        assert_eq!(rejected(&sealed, &binding, NOW), Rejected::Principal);
    }
}

/// R-MRTR-02
#[test]
fn a_state_for_another_upstream_is_rejected() {
    let binding = Binding { upstream: "weather2".to_owned(), ..binding() };
    assert_eq!(rejected(&sealed(), &binding, NOW), Rejected::Upstream);
}

/// R-MRTR-02
#[test]
fn a_state_for_another_method_is_rejected() {
    let binding = Binding { method: "prompts/get".to_owned(), ..binding() };
    assert_eq!(rejected(&sealed(), &binding, NOW), Rejected::Method);
}

/// R-MRTR-02
#[test]
fn a_state_for_other_arguments_is_rejected() {
    let binding = Binding { digest: Digest::of_json(r#"{"name":"forecasts"}"#).unwrap(), ..binding() };
    assert_eq!(rejected(&sealed(), &binding, NOW), Rejected::Digest);
}

/// R-MRTR-02: what a peer is told does not say which check failed.
#[test]
fn the_outward_text_says_to_call_again_and_nothing_else() {
    insta::assert_snapshot!(
        STATE_REJECTED,
        @"This request can no longer be continued. Call again without requestState and inputResponses."
    );
}

/// R-MRTR-02: from the cap on nothing is sealed, and what is at the cap opens.
#[test]
fn sealing_ends_exactly_at_the_cap() {
    let seal = |length| keys().seal(&binding(), &vec![0; length], LATER, &SystemRandom);
    let longest = seal(StateKeys::MAX_PAYLOAD_BYTES).unwrap();
    assert_eq!(longest.len(), MAX_SEALED_BYTES);
    assert_eq!(keys().open(&longest, &binding(), NOW).unwrap().len(), StateKeys::MAX_PAYLOAD_BYTES);
    assert_eq!(seal(StateKeys::MAX_PAYLOAD_BYTES + 1), Err(SealError::TooLarge));
    assert_eq!(rejected(&(longest + "A"), &binding(), NOW), Rejected::TooLarge);
}

/// R-MRTR-02: every single bit, not a sample of them.
#[test]
fn each_flipped_bit_is_rejected() {
    let original = URL_SAFE_NO_PAD.decode(sealed()).unwrap();
    for bit in 0..original.len() * 8 {
        let mut bytes = original.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let changed = URL_SAFE_NO_PAD.encode(bytes);
        assert!(keys().open(&changed, &binding(), NOW).is_err(), "bit {bit}");
    }
}

/// R-MRTR-02: the text itself has one form only, so no character can be changed either.
#[test]
fn each_changed_character_is_rejected() {
    let original = sealed();
    for index in 0..original.len() {
        for bit in 0..7 {
            let mut bytes = original.clone().into_bytes();
            bytes[index] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(keys().open(&changed, &binding(), NOW).is_err(), "{index} {bit}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_rejected_without_a_panic(state in any::<String>()) {
        prop_assert!(keys().open(&state, &binding(), NOW).is_err());
    }

    #[test]
    fn any_bytes_are_rejected_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        ours in any::<bool>(),
    ) {
        let mut state = Vec::new();
        if ours {
            state.push(VERSION);
            state.extend_from_slice(&keys().active().mark());
        }
        state.extend(bytes);
        let state = URL_SAFE_NO_PAD.encode(state);
        prop_assert!(keys().open(&state, &binding(), NOW).is_err());
    }

    /// R-MRTR-02: whichever texts the two bindings hold, and however they would run together.
    #[test]
    fn a_state_opens_for_its_own_binding_only(
        left in prop::array::uniform5("[ab]{1,3}"),
        right in prop::array::uniform5("[ab]{1,3}"),
        changed in 0..5_usize,
    ) {
        let bind = |[issuer, subject, client, upstream, method]: &[String; 5]| Binding {
            principal: principal(issuer, subject, client),
            upstream: upstream.clone(),
            method: method.clone(),
            digest: binding().digest,
        };
        let sealed = keys().seal(&bind(&left), b"payload", LATER, &SystemRandom).unwrap();
        prop_assert_eq!(keys().open(&sealed, &bind(&right), NOW).is_ok(), left == right);
        let mut one_changed = left.clone();
        one_changed[changed].clone_from(&right[changed]);
        prop_assert_eq!(keys().open(&sealed, &bind(&one_changed), NOW).is_ok(), one_changed == left);
    }

    /// R-MRTR-02: several bits at a time, of states with any payload.
    #[test]
    fn flipped_bits_are_rejected(
        payload in prop::collection::vec(any::<u8>(), 0..200),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let sealed = keys().seal(&binding(), &payload, LATER, &SystemRandom).unwrap();
        let original = URL_SAFE_NO_PAD.decode(sealed).unwrap();
        let mut bytes = original.clone();
        for flip in flips {
            let bit = flip.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        prop_assume!(bytes != original);
        prop_assert!(keys().open(&URL_SAFE_NO_PAD.encode(bytes), &binding(), NOW).is_err());
    }

    #[test]
    fn any_payload_comes_back(
        payload in prop::collection::vec(any::<u8>(), 0..3000),
        expires_at in NOW + 1..=NOW + StateKeys::MAX_LIFETIME_SECONDS,
    ) {
        let sealed = keys().seal(&binding(), &payload, expires_at, &SystemRandom).unwrap();
        prop_assert_eq!(&*keys().open(&sealed, &binding(), NOW).unwrap(), &payload);
    }
}
