//! The ids of our questions: `usher-{instance}-{interaction}{mark}`.
//!
//! The interaction stands in the id, so that a replica which never saw the question knows what an answer is about
//! (R-GW-08). The mark is random, and bound to the session: an id that was asked elsewhere, or that somebody made up, is
//! no id of this session (R-ID-01).

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::Random;
use usher_store::{InteractionId, SessionKey};

/// Random bytes in the mark: they tell two questions about one interaction apart.
const NONCE: usize = 8;
/// Bytes of the mark that only somebody can make who knows the session's id, which is a secret of its client.
const TAG: usize = 8;
/// Characters of an interaction's id.
const INTERACTION: usize = 43;

/// Makes and reads the ids.
#[derive(Debug)]
pub(super) struct Ids {
    /// The same on every replica, and not on another Usher behind this one.
    prefix: String,
}

impl Ids {
    /// Those of the store of this name.
    pub(super) fn new(instance: &str) -> Self {
        Self { prefix: format!("usher-{instance}-") }
    }

    /// A new id, which neither the client nor the upstream can have chosen.
    pub(super) fn issue(&self, session: &SessionKey, interaction: &InteractionId, random: &dyn Random) -> String {
        let mut mark = [0; NONCE + TAG];
        random.fill(&mut mark[..NONCE]);
        let tag = tag(session, interaction, &mark[..NONCE]);
        mark[NONCE..].copy_from_slice(&tag);
        format!("{}{interaction}{}", self.prefix, URL_SAFE_NO_PAD.encode(mark))
    }

    /// Whether an id has the form of ours.
    pub(super) fn is_ours(&self, id: &str) -> bool {
        id.starts_with(&self.prefix)
    }

    /// The interaction that an id of this session is about; `None` where no replica gave this id to this session.
    pub(super) fn interaction(&self, session: &SessionKey, id: &str) -> Option<InteractionId> {
        let (interaction, mark) = id.strip_prefix(&self.prefix)?.split_at_checked(INTERACTION)?;
        let interaction = InteractionId::parse(interaction).ok()?;
        let mark = URL_SAFE_NO_PAD.decode(mark).ok().filter(|mark| mark.len() == NONCE + TAG)?;
        let (nonce, given) = mark.split_at(NONCE);
        (tag(session, &interaction, nonce) == given).then_some(interaction)
    }
}

/// Keys and ids have one length each, so that no two of these texts run together.
fn tag(session: &SessionKey, interaction: &InteractionId, nonce: &[u8]) -> [u8; TAG] {
    let text = [b"usher question", session.as_str().as_bytes(), interaction.as_str().as_bytes(), nonce].concat();
    let mut tag = [0; TAG];
    tag.copy_from_slice(&digest(&SHA256, &text).as_ref()[..TAG]);
    tag
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use usher_store::SessionId;

    use super::*;

    /// R-GW-08: every replica over one store reads the interaction from an id that another one made.
    #[test]
    fn another_replica_reads_what_a_question_is_about() {
        let (one, other) = (Ids::new("a1b2c3d4"), Ids::new("a1b2c3d4"));
        let (session, interaction) = (SessionId::new(&SystemRandom).key(), InteractionId::new(&SystemRandom));
        let id = one.issue(&session, &interaction, &SystemRandom);
        assert_eq!(other.interaction(&session, &id), Some(interaction.clone()));
        assert_ne!(one.issue(&session, &interaction, &SystemRandom), id, "each question is one of its own");
        assert!(id.len() < 100, "{id}");
    }

    /// R-ID-01: an id of another session, of another store, cut, changed or made up is about nothing.
    #[test]
    fn other_ids_are_about_nothing() {
        let ids = Ids::new("a1b2c3d4");
        let (session, other) = (SessionId::new(&SystemRandom).key(), SessionId::new(&SystemRandom).key());
        let interaction = InteractionId::new(&SystemRandom);
        let id = ids.issue(&session, &interaction, &SystemRandom);
        assert!(ids.is_ours(&id));
        assert_eq!(ids.interaction(&other, &id), None);
        let theirs = Ids::new("e5f6g7h8");
        assert!(!theirs.is_ours(&id));
        assert_eq!(theirs.interaction(&session, &id), None);
        let moved = id.replace(interaction.as_str(), InteractionId::new(&SystemRandom).as_str());
        let made_up = format!("usher-a1b2c3d4-{interaction}{}", "A".repeat(22));
        for wrong in [&id[..id.len() - 1], &id[..40], "usher-a1b2c3d4-", "usher-a1b2c3d4-é", "", &moved, &made_up] {
            assert_eq!(ids.interaction(&session, wrong), None, "{wrong}");
        }
    }
}
