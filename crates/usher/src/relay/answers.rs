//! Our own questions to legacy clients, and who waits for their answers. A question is known by session and id: an answer
//! from another session is no answer.
//!
//! A session is asked about an interaction once at a time: calls that come meanwhile join, and learn what was said. A call
//! whose client is away does not ask for others.

mod id;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use elicit::{Action, Answer, Random};
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};
use usher_store::{InteractionId, SessionKey};

use self::id::Ids;
use crate::mcp::envelope::text_of;

/// What a client said to a question of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// The person agreed to open the page.
    Accepted,
    /// The person refused.
    Declined,
    /// The person dismissed it; or the client answered with an error, or with what is no answer: nobody was asked.
    Dismissed,
}

impl Said {
    fn of(outcome: Result<&RawValue, &RawValue>) -> Self {
        match outcome.ok().and_then(|result| Answer::parse(result.get()).ok()).map(|answer| answer.action()) {
            Some(Action::Accept) => Self::Accepted,
            Some(Action::Decline) => Self::Declined,
            Some(Action::Cancel) | None => Self::Dismissed,
        }
    }
}

/// What became of a client's response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// It was for us, and is dealt with.
    Taken,
    /// It answers a question about this interaction that no call here waits for: another replica asked it, or the call is
    /// over.
    Elsewhere(InteractionId, Said),
    /// It answers no question of ours.
    NotOurs,
}

/// Where the answer to a question goes; nowhere any more once it is there.
type Questions = HashMap<(SessionKey, String), Option<oneshot::Sender<Said>>>;
/// What is being asked on behalf of all calls of a session.
type Asking = HashMap<(SessionKey, InteractionId), Asked>;

/// A question that others can join.
#[derive(Debug)]
struct Asked {
    /// Its JSON-RPC id.
    question: String,
    /// What was said so far.
    told: watch::Sender<Option<Said>>,
}

/// Questions under way.
#[derive(Debug)]
pub(super) struct Answers {
    ids: Ids,
    questions: Arc<Mutex<Questions>>,
    asking: Arc<Mutex<Asking>>,
}

/// How a call takes part in a question.
pub(super) enum Part {
    /// It asks.
    Asks(Question),
    /// Another call of the session asks already.
    Joins(Joined),
}

/// A question under way; leaves the list when dropped.
pub(super) struct Question {
    /// Its JSON-RPC id.
    pub(super) id: String,
    session: SessionKey,
    interaction: InteractionId,
    questions: Arc<Mutex<Questions>>,
    asking: Arc<Mutex<Asking>>,
    answer: Option<oneshot::Receiver<Said>>,
}

/// A question that another call of the session asks.
pub(super) struct Joined {
    told: Option<watch::Receiver<Option<Said>>>,
}

/// What a part in a question brings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The client's answer.
    Said(Said),
    /// The call that asked is over, and had no answer.
    Left,
}

impl Answers {
    /// None yet. `instance` names the store.
    pub(super) fn new(instance: &str) -> Self {
        Self { ids: Ids::new(instance), questions: Arc::default(), asking: Arc::default() }
    }

    /// Takes part in asking this session about the interaction.
    pub(super) fn part(&self, session: &SessionKey, interaction: &InteractionId, random: &dyn Random) -> Part {
        let id = self.ids.issue(session, interaction, random);
        {
            let mut asking = lock(&self.asking);
            let key = (session.clone(), interaction.clone());
            if let Some(asked) = asking.get(&key) {
                return Part::Joins(Joined { told: Some(asked.told.subscribe()) });
            }
            asking.insert(key, Asked { question: id.clone(), told: watch::Sender::new(None) });
        }
        let (sender, receiver) = oneshot::channel();
        lock(&self.questions).insert((session.clone(), id.clone()), Some(sender));
        Part::Asks(Question {
            id,
            session: session.clone(),
            interaction: interaction.clone(),
            questions: Arc::clone(&self.questions),
            asking: Arc::clone(&self.asking),
            answer: Some(receiver),
        })
    }

    /// The client of the call that asks is away: who joined it may ask anew, and so may later calls. The question itself
    /// stays, and its answer counts.
    pub(super) fn step_back(&self, session: &SessionKey, interaction: &InteractionId, question: &str) {
        forget(&self.asking, session, interaction, question);
    }

    /// Whether a held call of this session asks about the interaction now: then that call sends the completion notice.
    pub(super) fn is_asking(&self, session: &SessionKey, interaction: &InteractionId) -> bool {
        lock(&self.asking).contains_key(&(session.clone(), interaction.clone()))
    }

    /// Hands a client's response to whoever asked. Of two answers to one question the first counts.
    pub(super) fn deliver(
        &self,
        session: &SessionKey,
        id: &RawValue,
        outcome: Result<&RawValue, &RawValue>,
    ) -> Delivered {
        let Some(id) = text_of(id).filter(|id| self.ids.is_ours(id)) else { return Delivered::NotOurs };
        let said = Said::of(outcome);
        if let Some(question) = lock(&self.questions).get_mut(&(session.clone(), id.clone().into_owned())) {
            if let Some(sender) = question.take() {
                // Whoever asked may have stopped to wait a moment ago.
                let _ = sender.send(said);
            }
            return Delivered::Taken;
        }
        match self.ids.interaction(session, &id) {
            Some(interaction) => Delivered::Elsewhere(interaction, said),
            None => Delivered::Taken,
        }
    }
}

impl Part {
    /// The question, where this call asks it.
    pub(super) fn question(&self) -> Option<&Question> {
        match self {
            Self::Asks(question) => Some(question),
            Self::Joins(_) => None,
        }
    }

    /// What the client says; never resolves where nothing more comes.
    pub(super) async fn heard(&mut self) -> Heard {
        match self {
            Self::Asks(question) => Heard::Said(question.answered().await),
            Self::Joins(joined) => joined.heard().await,
        }
    }
}

impl Question {
    async fn answered(&mut self) -> Said {
        let said = match &mut self.answer {
            Some(receiver) => receiver.await.unwrap_or(Said::Dismissed),
            None => std::future::pending().await,
        };
        self.answer = None;
        let key = (self.session.clone(), self.interaction.clone());
        if let Some(asked) = lock(&self.asking).get(&key).filter(|asked| asked.question == self.id) {
            asked.told.send_replace(Some(said));
        }
        said
    }

    /// Whether the answer is still out.
    pub(super) fn is_open(&self) -> bool {
        self.answer.is_some()
    }
}

impl Joined {
    async fn heard(&mut self) -> Heard {
        let Some(told) = &mut self.told else { return std::future::pending().await };
        // An error means that nobody asks any more; what was said before counts all the same.
        let last = match told.wait_for(Option::is_some).await {
            Ok(said) => *said,
            Err(_) => None,
        };
        self.told = None;
        last.map_or(Heard::Left, Heard::Said)
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        forget(&self.asking, &self.session, &self.interaction, &self.id);
        lock(&self.questions).remove(&(self.session.clone(), std::mem::take(&mut self.id)));
    }
}

/// Another question may have come in its place, which stays.
fn forget(asking: &Mutex<Asking>, session: &SessionKey, interaction: &InteractionId, question: &str) {
    let mut asking = lock(asking);
    let key = (session.clone(), interaction.clone());
    if asking.get(&key).is_some_and(|asked| asked.question == question) {
        asking.remove(&key);
    }
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use futures_util::FutureExt as _;
    use usher_store::SessionId;

    use super::*;

    const ACCEPT: &str = r#"{"action":"accept"}"#;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn answers() -> Answers {
        Answers::new("a1b2c3d4")
    }

    fn session() -> SessionKey {
        SessionId::new(&SystemRandom).key()
    }

    fn interaction() -> InteractionId {
        InteractionId::new(&SystemRandom)
    }

    fn id(part: &Part) -> Box<RawValue> {
        raw(&format!("\"{}\"", part.question().unwrap().id))
    }

    /// R-ID-01: a question is bound to its session; the same id from another session answers nothing. A second answer is
    /// none.
    #[tokio::test]
    async fn only_the_first_answer_of_the_asked_session_counts() {
        let answers = answers();
        let (mine, other) = (session(), session());
        let mut part = answers.part(&mine, &interaction(), &SystemRandom);
        let (id, accept, decline) = (id(&part), raw(ACCEPT), raw(r#"{"action":"decline"}"#));
        assert_eq!(answers.deliver(&other, &id, Ok(&decline)), Delivered::Taken, "dropped");
        assert!(part.heard().now_or_never().is_none());
        assert_eq!(answers.deliver(&mine, &id, Ok(&accept)), Delivered::Taken);
        assert_eq!(answers.deliver(&mine, &id, Ok(&decline)), Delivered::Taken);
        assert_eq!(part.heard().await, Heard::Said(Said::Accepted));
        assert!(part.heard().now_or_never().is_none());
    }

    /// R-ACT-03: an unknown action is no answer.
    #[tokio::test]
    async fn an_unknown_action_or_an_error_means_not_asked() {
        let answers = answers();
        let session = session();
        let (unknown, error) = (raw(r#"{"action":"yes"}"#), raw(r#"{"code":-32602,"message":""}"#));
        for outcome in [Ok(&*unknown), Err(&*error)] {
            let mut part = answers.part(&session, &interaction(), &SystemRandom);
            assert_eq!(answers.deliver(&session, &id(&part), outcome), Delivered::Taken);
            assert_eq!(part.heard().await, Heard::Said(Said::Dismissed));
        }
    }

    /// R-GW-08: an answer to a question that another replica asked says what it is about; one to the upstream is not ours.
    #[test]
    fn an_answer_that_nobody_here_waits_for_is_about_its_interaction() {
        let (one, other) = (answers(), answers());
        let (session, interaction) = (session(), interaction());
        let part = one.part(&session, &interaction, &SystemRandom);
        let decline = raw(r#"{"action":"decline"}"#);
        let expected = Delivered::Elsewhere(interaction, Said::Declined);
        assert_eq!(other.deliver(&session, &id(&part), Ok(&decline)), expected);
        for theirs in ["7", "\"usher-\"", "\"usher-e5f6g7h8-x\""] {
            assert_eq!(one.deliver(&session, &raw(theirs), Ok(&decline)), Delivered::NotOurs, "{theirs}");
        }
    }

    /// R-SEC-01: calls of one session that wait for the same thing ask once; those of another session ask by themselves.
    #[tokio::test]
    async fn a_second_call_joins_and_hears_what_was_said() {
        let answers = answers();
        let (mine, interaction) = (session(), interaction());
        let mut asks = answers.part(&mine, &interaction, &SystemRandom);
        let mut joins = answers.part(&mine, &interaction, &SystemRandom);
        assert!(asks.question().is_some() && joins.question().is_none());
        assert!(answers.part(&session(), &interaction, &SystemRandom).question().is_some());
        assert!(joins.heard().now_or_never().is_none());
        answers.deliver(&mine, &id(&asks), Ok(&raw(ACCEPT)));
        asks.heard().await;
        assert_eq!(joins.heard().await, Heard::Said(Said::Accepted));
        drop(asks);
        assert!(joins.heard().now_or_never().is_none(), "once is enough");
    }

    #[tokio::test]
    async fn when_the_asking_call_leaves_the_joined_one_can_ask() {
        let answers = answers();
        let (session, interaction) = (session(), interaction());
        let asks = answers.part(&session, &interaction, &SystemRandom);
        let mut joins = answers.part(&session, &interaction, &SystemRandom);
        assert!(answers.is_asking(&session, &interaction));
        drop(asks);
        assert_eq!(joins.heard().await, Heard::Left);
        assert!(!answers.is_asking(&session, &interaction));
        assert!(answers.part(&session, &interaction, &SystemRandom).question().is_some());
    }
    /// A call whose client is away asks for nobody else; its own question stays, and leaves another one in place.
    #[tokio::test]
    async fn a_call_that_steps_back_keeps_its_own_question_alone() {
        let answers = answers();
        let (session, interaction) = (session(), interaction());
        let mut away = answers.part(&session, &interaction, &SystemRandom);
        let mut joins = answers.part(&session, &interaction, &SystemRandom);
        answers.step_back(&session, &interaction, &away.question().unwrap().id);
        assert_eq!(joins.heard().await, Heard::Left);
        assert!(!answers.is_asking(&session, &interaction));
        let here = answers.part(&session, &interaction, &SystemRandom);
        assert!(here.question().is_some());
        answers.step_back(&session, &interaction, &away.question().unwrap().id);
        answers.deliver(&session, &id(&away), Ok(&raw(ACCEPT)));
        assert_eq!(away.heard().await, Heard::Said(Said::Accepted));
        drop(away);
        assert!(answers.is_asking(&session, &interaction), "the other question is still asked");
    }
}
