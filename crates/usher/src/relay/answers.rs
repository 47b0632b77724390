//! Our own questions to legacy clients, and who waits for their answers. A question is known by session and id: an answer
//! from another session is no answer.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::{Answer, Random};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use usher_store::{InteractionId, SessionKey};

use crate::mcp::envelope::text_of;

/// What a client said to a question of ours.
#[derive(Debug)]
pub(super) enum Said {
    /// Accept, decline or cancel.
    Answer(Answer),
    /// An error, or something that is no answer: the person was not asked.
    NotAsked,
}

type Questions = HashMap<(SessionKey, String), oneshot::Sender<Said>>;
type Calls = HashMap<(SessionKey, String), CancellationToken>;
type Asking = HashSet<(SessionKey, InteractionId)>;

/// Questions under way, and the held calls that a client may cancel.
#[derive(Debug)]
pub(super) struct Answers {
    /// How the ids of our questions begin: the same on every replica, and not on another Usher behind this one.
    prefix: String,
    questions: Arc<Mutex<Questions>>,
    asking: Arc<Mutex<Asking>>,
    calls: Arc<Mutex<Calls>>,
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

/// A held call; leaves the list when dropped.
pub(super) struct HeldCall {
    /// Cancelled when the client cancels the call.
    pub(super) cancelled: CancellationToken,
    key: (SessionKey, String),
    calls: Arc<Mutex<Calls>>,
}

impl Answers {
    /// None yet. `instance` names the store.
    pub(super) fn new(instance: &str) -> Self {
        Self {
            prefix: format!("usher-{instance}-"),
            questions: Arc::default(),
            asking: Arc::default(),
            calls: Arc::default(),
        }
    }

    /// A new question in this session, with an id that neither the client nor the upstream can have chosen.
    pub(super) fn question(&self, session: &SessionKey, interaction: &InteractionId, random: &dyn Random) -> Question {
        let mut bytes = [0; 16];
        random.fill(&mut bytes);
        let id = format!("{}{}", self.prefix, URL_SAFE_NO_PAD.encode(bytes));
        let (sender, receiver) = oneshot::channel();
        lock(&self.questions).insert((session.clone(), id.clone()), sender);
        lock(&self.asking).insert((session.clone(), interaction.clone()));
        Question {
            id,
            session: session.clone(),
            interaction: interaction.clone(),
            questions: Arc::clone(&self.questions),
            asking: Arc::clone(&self.asking),
            answer: Some(receiver),
        }
    }

    /// Whether a held call of this session asks about the interaction now: then that call sends the completion notice.
    pub(super) fn is_asking(&self, session: &SessionKey, interaction: &InteractionId) -> bool {
        lock(&self.asking).contains(&(session.clone(), interaction.clone()))
    }

    /// Hands a client's response to whoever asked. False where the question is not ours, or was answered before.
    pub(super) fn deliver(&self, session: &SessionKey, id: &RawValue, outcome: Result<&RawValue, &RawValue>) -> bool {
        let Some(id) = text_of(id) else { return false };
        let Some(sender) = lock(&self.questions).remove(&(session.clone(), id.into_owned())) else { return false };
        let said = match outcome.map(|result| Answer::parse(result.get())) {
            Ok(Ok(answer)) => Said::Answer(answer),
            Ok(Err(_)) | Err(_) => Said::NotAsked,
        };
        // Whoever asked may have stopped to wait a moment ago.
        let _ = sender.send(said);
        true
    }

    /// Whether an id has the form of ours: an answer to a question that is over is taken and dropped, not passed upstream.
    pub(super) fn is_ours(&self, id: &RawValue) -> bool {
        text_of(id).is_some_and(|id| id.starts_with(&self.prefix))
    }

    /// A call that is held from now on.
    pub(super) fn hold(&self, session: &SessionKey, id: &RawValue) -> HeldCall {
        let key = (session.clone(), id.get().to_owned());
        let cancelled = CancellationToken::new();
        lock(&self.calls).insert(key.clone(), cancelled.clone());
        HeldCall { cancelled, key, calls: Arc::clone(&self.calls) }
    }

    /// Cancels a held call. False where none is held under that id: then the upstream may know it.
    pub(super) fn cancel(&self, session: &SessionKey, id: &RawValue) -> bool {
        match lock(&self.calls).get(&(session.clone(), id.get().to_owned())) {
            Some(call) => {
                call.cancel();
                true
            }
            None => false,
        }
    }
}

impl Question {
    /// What the client says; never resolves where nothing comes.
    pub(super) async fn answered(&mut self) -> Said {
        let said = match &mut self.answer {
            Some(receiver) => receiver.await,
            None => std::future::pending().await,
        };
        self.answer = None;
        said.unwrap_or(Said::NotAsked)
    }

    /// Whether the answer is still out.
    pub(super) fn is_open(&self) -> bool {
        self.answer.is_some()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        lock(&self.questions).remove(&(self.session.clone(), std::mem::take(&mut self.id)));
        lock(&self.asking).remove(&(self.session.clone(), self.interaction.clone()));
    }
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        lock(&self.calls).remove(&self.key);
    }
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::{Action, SystemRandom};
    use usher_store::SessionId;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    /// R-ID-01: a question is bound to its session; the same id from another session answers nothing.
    #[tokio::test]
    async fn an_answer_of_another_session_is_no_answer() {
        let answers = Answers::new("a1b2c3d4");
        let (mine, other) = (SessionId::new(&SystemRandom).key(), SessionId::new(&SystemRandom).key());
        let mut question = answers.question(&mine, &InteractionId::new(&SystemRandom), &SystemRandom);
        let id = raw(&format!("\"{}\"", question.id));
        let accept = raw(r#"{"action":"accept"}"#);
        assert!(!answers.deliver(&other, &id, Ok(&accept)));
        assert!(answers.deliver(&mine, &id, Ok(&accept)));
        assert!(matches!(question.answered().await, Said::Answer(Answer { action: Action::Accept, .. })));
        assert!(!answers.deliver(&mine, &id, Ok(&accept)), "a second answer is none");
    }

    /// R-ACT-03: an unknown action is no answer.
    #[tokio::test]
    async fn an_unknown_action_or_an_error_means_not_asked() {
        let answers = Answers::new("a1b2c3d4");
        let session = SessionId::new(&SystemRandom).key();
        let (unknown, error) = (raw(r#"{"action":"yes"}"#), raw(r#"{"code":-32602,"message":""}"#));
        for outcome in [Ok(&*unknown), Err(&*error)] {
            let mut question = answers.question(&session, &InteractionId::new(&SystemRandom), &SystemRandom);
            assert!(answers.deliver(&session, &raw(&format!("\"{}\"", question.id)), outcome));
            assert!(matches!(question.answered().await, Said::NotAsked));
        }
    }

    #[test]
    fn a_dropped_question_and_a_dropped_call_leave_nothing() {
        let answers = Answers::new("a1b2c3d4");
        let session = SessionId::new(&SystemRandom).key();
        let question = answers.question(&session, &InteractionId::new(&SystemRandom), &SystemRandom);
        let id = raw(&format!("\"{}\"", question.id));
        drop(question);
        assert!(!answers.deliver(&session, &id, Ok(&raw(r#"{"action":"accept"}"#))));
        let call = answers.hold(&session, &raw("7"));
        assert!(answers.cancel(&session, &raw("7")) && call.cancelled.is_cancelled());
        drop(call);
        assert!(!answers.cancel(&session, &raw("7")));
    }
}
