//! The ids of events on the streams of held calls: `usher-{instance}-e-{mark}-{call}.{number}`.
//!
//! They are told from the upstream's by their beginning. The mark names the stream and is bound to the session: an id that
//! another session was given, or that somebody made up, is no id of this session (R-ID-01). The call's own id stands in it,
//! so that a replica which does not have the stream can answer that call all the same.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::Random;
use serde_json::value::RawValue;
use usher_store::SessionKey;

/// Random bytes that tell a session's streams apart.
const NONCE: usize = 8;
/// Bytes that only somebody can make who knows the session's id, which is a secret of its client.
const TAG: usize = 8;
/// The longest id of a call that is put into ids of events, in bytes. Clients send ids in headers.
const CALL_AT_MOST: usize = 128;

/// Makes and reads the ids.
#[derive(Debug)]
pub(super) struct Ids {
    /// The same on every replica, and not on another Usher behind this one.
    prefix: String,
}

/// What tells a session's streams apart.
pub(super) type Nonce = [u8; NONCE];

/// What an id of an event says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventId {
    /// The stream.
    pub(super) stream: Nonce,
    /// The id of the call that the stream answers, as JSON text.
    pub(super) call: String,
    /// The event's number.
    pub(super) number: u32,
}

impl Ids {
    /// Those of the store of this name.
    pub(super) fn new(instance: &str) -> Self {
        Self { prefix: format!("usher-{instance}-e-") }
    }

    /// A new stream, and what the ids of its events begin with; `None` where the call's id is too long.
    pub(super) fn issue(&self, session: &SessionKey, call: &RawValue, random: &dyn Random) -> Option<(Nonce, String)> {
        if call.get().len() > CALL_AT_MOST {
            return None;
        }
        let mut stream = [0; NONCE];
        random.fill(&mut stream);
        let mark = [&stream[..], &tag(session, stream, call.get())].concat();
        let (mark, call) = (URL_SAFE_NO_PAD.encode(mark), URL_SAFE_NO_PAD.encode(call.get()));
        Some((stream, format!("{}{mark}-{call}.", self.prefix)))
    }

    /// Whether an id has the form of ours.
    pub(super) fn is_ours(&self, id: &str) -> bool {
        id.starts_with(&self.prefix)
    }

    /// What an id says; `None` where no replica gave this id to this session.
    pub(super) fn read(&self, session: &SessionKey, id: &str) -> Option<EventId> {
        let rest = id.strip_prefix(&self.prefix)?;
        // Base64 has this character too, so the mark is cut by its length.
        let (mark, rest) = rest.split_at_checked((NONCE + TAG).div_ceil(3) * 4 - 2)?;
        let (call, number) = rest.strip_prefix('-')?.split_once('.')?;
        let mark = URL_SAFE_NO_PAD.decode(mark).ok().filter(|mark| mark.len() == NONCE + TAG)?;
        let call = String::from_utf8(URL_SAFE_NO_PAD.decode(call).ok()?).ok()?;
        let (stream, given) = mark.split_at(NONCE);
        let stream = stream.try_into().ok()?;
        (tag(session, stream, &call) == given).then_some(())?;
        Some(EventId { stream, call, number: number.parse().ok()? })
    }
}

/// The keys and nonces have one length each, so that no two of these texts run together.
fn tag(session: &SessionKey, stream: Nonce, call: &str) -> [u8; TAG] {
    let text = [b"usher stream", session.as_str().as_bytes(), &stream, call.as_bytes()].concat();
    let mut tag = [0; TAG];
    tag.copy_from_slice(&digest(&SHA256, &text).as_ref()[..TAG]);
    tag
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use usher_store::SessionId;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn session() -> SessionKey {
        SessionId::new(&SystemRandom).key()
    }

    /// R-GW-08: every replica over one store reads which call an event belongs to.
    #[test]
    fn another_replica_reads_which_call_an_event_is_of() {
        let (one, other, session) = (Ids::new("a1b2c3d4"), Ids::new("a1b2c3d4"), session());
        for call in ["7", "\"a-1\"", "\"\\u00e9.-\"", "9007199254740993"] {
            let (stream, prefix) = one.issue(&session, &raw(call), &SystemRandom).unwrap();
            let id = format!("{prefix}12");
            assert!(other.is_ours(&id) && http::HeaderValue::from_str(&id).is_ok());
            assert_eq!(other.read(&session, &id), Some(EventId { stream, call: call.to_owned(), number: 12 }));
        }
    }

    /// R-ID-01: an id of another session, of another installation, or a made-up one is none.
    #[test]
    fn other_ids_say_nothing() {
        let (ids, mine) = (Ids::new("a1b2c3d4"), session());
        let (_, prefix) = ids.issue(&mine, &raw("7"), &SystemRandom).unwrap();
        let id = format!("{prefix}1");
        assert_eq!(ids.read(&session(), &id), None, "another session's");
        assert!(!Ids::new("e5f6g7h8").is_ours(&id));
        for end in ["", "x", "-1", "1.1", "4294967296", " 1"] {
            assert_eq!(ids.read(&mine, &format!("{prefix}{end}")), None, "{end:?}");
        }
        for (place, character) in id.char_indices().take(prefix.len() - 1).skip("usher-a1b2c3d4-e-".len()) {
            let other = if character == 'A' { "E" } else { "A" };
            let mut changed = id.clone();
            changed.replace_range(place..=place, other);
            assert_eq!(ids.read(&mine, &changed), None, "{changed}");
        }
        assert!(ids.is_ours("usher-a1b2c3d4-e-") && ids.read(&mine, "usher-a1b2c3d4-e-").is_none());
        assert!(!ids.is_ours("usher-a1b2c3d4-x") && !ids.is_ours("7"));
    }

    #[test]
    fn a_call_with_a_long_id_has_none() {
        let ids = Ids::new("a1b2c3d4");
        assert!(ids.issue(&session(), &raw(&"1".repeat(CALL_AT_MOST)), &SystemRandom).is_some());
        assert!(ids.issue(&session(), &raw(&"1".repeat(CALL_AT_MOST + 1)), &SystemRandom).is_none());
    }
}
