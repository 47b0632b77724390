//! What the clients of a user ask, or may do once: by its owner's wish each can be revoked.

use std::collections::BTreeMap;

use elicit::{ClientId, UserId};
use jiff::Timestamp;
use sqlx::Row as _;

use crate::lookup::user_key;
use crate::time::micros;
use crate::{Store, StoreError};

pub(crate) const APPROVALS_OF: &str = "SELECT client FROM interactions \
     WHERE user_key = $1 AND proof IS NOT NULL AND state = 'completed' AND proof_round = '' AND proof_until > $2";

/// What a client has of a user beside what it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskingClient {
    /// Its questions that are open.
    pub questions: usize,
    /// Calls that were approved once and have not come yet.
    pub approvals: usize,
}

impl Store {
    /// The clients that ask a user something, or may call something once.
    pub async fn asking_clients(
        &self,
        user: &UserId,
        now: Timestamp,
    ) -> Result<BTreeMap<ClientId, AskingClient>, StoreError> {
        let mut clients = BTreeMap::<ClientId, AskingClient>::new();
        for open in self.waiting_interactions(user, now).await? {
            clients.entry(open.principal.client).or_default().questions += 1;
        }
        let rows = Self::within(async {
            let query = sqlx::query(APPROVALS_OF).bind(user_key(user)).bind(micros(now));
            Ok(query.fetch_all(&self.shared.reader).await?)
        });
        for row in rows.await? {
            let client = ClientId::new(row.try_get::<String, _>("client")?)
                .map_err(|_| StoreError::impossible("interactions", "a client that is none"))?;
            clients.entry(client).or_default().approvals += 1;
        }
        Ok(clients)
    }
}
