use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;

use super::*;
use crate::{ClientId, Digest, Principal, Random, SystemRandom, UserId};

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
    insta::assert_snapshot!(sealed, @"AQJrMQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwd4_L-pFwakzj8_8OmkIS-KzDg7pX6zDwPLOgaWI9-eLuQseuGPc_PI8r0qxf3tf5ajp_LyNRDRu1YX5clEQ6uSQLhILde2We2RFYpUxWXXmeO1h_r6tpOMRnm88mtKTutOt7qJN1431JXYAAoApEn_zKrT_3Rp5UJfpXGUwTgPmi0F5a3ADAsiE_S3uFQqomsiIkNydypQOAZb350lE-c");
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
    let other_version = reencoded(|bytes| bytes[0] = 2);
    let padded = sealed() + "=";
    let cut = sealed()[..40].to_owned();
    let id_past_the_end = reencoded(|bytes| bytes[1] = 255);
    for state in ["", "A", "not base64 at all!", &other_version, &padded, &cut, &id_past_the_end] {
        assert_eq!(rejected(state, &binding(), NOW), Rejected::Malformed, "{state}");
    }
}

/// R-MRTR-02
#[test]
fn a_key_that_is_not_in_the_ring_is_unknown() {
    let other = StateKeys::new(StateKey::new("k2", [1; 32]));
    assert_eq!(other.open(&sealed(), &binding(), NOW).unwrap_err(), Rejected::UnknownKey);
}

/// R-MRTR-02
#[test]
fn another_secret_under_the_same_id_is_tampering() {
    let other = StateKeys::new(StateKey::new("k1", [2; 32]));
    assert_eq!(other.open(&sealed(), &binding(), NOW).unwrap_err(), Rejected::Tampered);
}

/// R-MRTR-02
#[test]
fn changed_bytes_are_tampering() {
    // Salt, nonce, first byte of the ciphertext.
    for index in [4, 4 + SALT, 4 + SALT + NONCE] {
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

#[test]
fn a_new_active_key_still_opens_what_an_older_one_sealed() {
    let rotated = StateKeys::new(StateKey::new("k2", [2; 32])).with(StateKey::new("k1", [1; 32]));
    assert!(rotated.open(&sealed(), &binding(), NOW).is_ok());
    let fresh = rotated.seal(&binding(), b"", LATER, &SystemRandom).unwrap();
    assert_eq!(rejected(&fresh, &binding(), NOW), Rejected::UnknownKey, "the active key seals");
}

#[test]
fn sealing_ends_exactly_at_the_cap() {
    let around = MAX_SEALED_BYTES / 4 * 3 - (4 + SALT + NONCE + EXPIRY + 128 + TAG);
    let seal = |length| keys().seal(&binding(), &vec![0; length], LATER, &SystemRandom);
    assert_eq!(seal(around).unwrap().len(), MAX_SEALED_BYTES);
    assert!(keys().open(&seal(around).unwrap(), &binding(), NOW).is_ok());
    assert_eq!(seal(around + 1), Err(SealError::TooLarge));
}

#[test]
fn a_key_id_has_at_most_255_bytes() {
    let seal =
        |length| StateKeys::new(StateKey::new("k".repeat(length), [1; 32])).seal(&binding(), b"", LATER, &SystemRandom);
    assert!(seal(255).is_ok());
    assert_eq!(seal(256), Err(SealError::KeyId));
}

#[test]
fn no_secret_shows_in_debug() {
    assert_eq!(format!("{:?}", StateKey::new("k1", [0x41; 32])), r#"StateKey { id: "k1", .. }"#);
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
        let mut state = if ours { vec![VERSION, 2, b'k', b'1'] } else { Vec::new() };
        state.extend(bytes);
        let state = URL_SAFE_NO_PAD.encode(state);
        prop_assert!(keys().open(&state, &binding(), NOW).is_err());
    }

    #[test]
    fn any_payload_comes_back(
        payload in prop::collection::vec(any::<u8>(), 0..3000),
        expires_at in NOW + 1..,
    ) {
        let sealed = keys().seal(&binding(), &payload, expires_at, &SystemRandom).unwrap();
        prop_assert_eq!(&*keys().open(&sealed, &binding(), NOW).unwrap(), &payload);
    }
}
