use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Inner, Upstream};
use crate::record::lock;
use crate::{json, quote, sse};

/// An open stream of the server: of a legacy GET, or of `subscriptions/listen`.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) session: String,
    /// The id of `subscriptions/listen` as JSON text.
    pub(super) subscription: Option<String>,
    pub(super) sender: mpsc::UnboundedSender<Bytes>,
}

impl Inner {
    /// Sends to the streams that `choose` picks; how many got it.
    pub(super) fn broadcast(&self, choose: impl Fn(&Open) -> Option<String>) -> usize {
        let mut streams = lock(&self.streams);
        streams.retain(|open| !open.sender.is_closed());
        let send = |open: &&Open| choose(open).is_some_and(|text| open.sender.send(text.into()).is_ok());
        streams.iter().filter(send).count()
    }
}

impl Upstream {
    /// How many GET streams are open.
    pub fn get_streams(&self) -> usize {
        self.inner.broadcast(|_| None);
        lock(&self.inner.streams).iter().filter(|open| open.subscription.is_none()).count()
    }

    /// How many `subscriptions/listen` streams are open.
    pub fn listeners(&self) -> usize {
        self.inner.broadcast(|_| None);
        lock(&self.inner.streams).iter().filter(|open| open.subscription.is_some()).count()
    }

    /// Sends this text, byte for byte, on every GET stream; waits for the first one to open.
    pub async fn push(&self, raw: &str) {
        self.inner.push(None, raw).await;
    }

    /// [`push`](Self::push) on the GET streams of one session.
    pub async fn push_to(&self, session: &str, raw: &str) {
        self.inner.push(Some(session), raw).await;
    }

    /// Sends this JSON-RPC message on every GET stream.
    pub async fn push_message(&self, json: &str) {
        self.push(&sse::event(json)).await;
    }

    /// Sends a notification on every `subscriptions/listen` stream, with its subscription id; waits for the first
    /// one to open. `params` is JSON text.
    pub async fn publish(&self, method: &str, params: &str) {
        let text = |open: &Open| {
            let meta = subscription_meta(open.subscription.as_deref()?);
            let (method, params) = (quote(method), json::with_meta(params, &meta));
            Some(sse::event(&format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)))
        };
        let send = || (self.inner.broadcast(text) > 0).then_some(());
        self.inner.log.until("a subscriptions/listen stream", send).await;
    }

    /// Ends all GET and listen streams in good order.
    pub fn end_streams(&self) {
        self.inner.broadcast(|open| {
            let id = open.subscription.as_deref()?;
            let result = format!(r#"{{"resultType":"complete","_meta":{{{}}}}}"#, subscription_meta(id));
            Some(sse::event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)))
        });
        lock(&self.inner.streams).clear();
    }
}

impl Inner {
    pub(super) async fn push(&self, session: Option<&str>, raw: &str) {
        let text = |open: &Open| {
            let meant = open.subscription.is_none() && session.is_none_or(|id| id == open.session);
            meant.then(|| raw.to_owned())
        };
        self.log.until("a GET stream", || (self.broadcast(text) > 0).then_some(())).await;
    }
}

pub(super) fn subscription_meta(id: &str) -> String {
    format!("\"io.modelcontextprotocol/subscriptionId\":{id}")
}
