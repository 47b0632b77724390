//! The audit log: who did what, when, and what came of it (R-SEC-03).

mod page;

use elicit::{ClientId, UserId};
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

#[cfg(test)]
pub(crate) use self::page::PAGE;
pub use self::page::{AuditCursor, AuditPage};
use crate::lookup::user_key;
use crate::time::{micros, timestamp};
use crate::{Interaction, InteractionId, Store, StoreError};

const INSERT: &str = "INSERT INTO audit (at, action, outcome, user_key, issuer, subject, client, \
     upstream, provider, interaction_id, detail, operation) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

pub(crate) const OF_USER: &str = "SELECT at, action, outcome, issuer, subject, client, upstream, \
     provider, interaction_id, detail, operation FROM audit \
     WHERE user_key = $1 ORDER BY number DESC LIMIT $2";

/// Defines the actions and their names once.
macro_rules! actions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What was done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum AuditAction {
            $($(#[$doc])* $variant,)*
        }

        impl AuditAction {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in rows and logs.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

actions! {
    /// A question was put to a person.
    InteractionAsked = "interaction.asked",
    /// The verified user opened its page.
    InteractionOpened = "interaction.opened",
    /// The user agreed.
    InteractionConsented = "interaction.consented",
    /// It was completed.
    InteractionCompleted = "interaction.completed",
    /// The person refused.
    InteractionDeclined = "interaction.declined",
    /// It did not work out.
    InteractionFailed = "interaction.failed",
    /// It was started again after a failure.
    InteractionRestarted = "interaction.restarted",
    /// It was taken back before its time, by nobody's refusal.
    InteractionWithdrawn = "interaction.withdrawn",
    /// Somebody else than its user came to its page (R-ID-03).
    InteractionRefused = "interaction.refused",
    /// Its row is not as it was asked: somebody changed it in the database (R-GW-04).
    InteractionTampered = "interaction.tampered",
    /// It was not asked, since too much was asked before (R-SEC-01).
    InteractionLimited = "interaction.limited",
    /// A client has too much under way at once, and was told to come back (R-SEC-01).
    ClientLimited = "client.limited",
    /// A call was approved by its user, once.
    OperationApproved = "operation.approved",
    /// An approved call used its approval, and went on.
    OperationUsed = "operation.used",
    /// A call that had used its approval was not run, and can be made again with it.
    OperationReturned = "operation.returned",
    /// A browser came back from somebody else's page with what is not, or no longer, its own to come back with.
    ReturnRefused = "return.refused",
    /// A browser came back from a provider with what is not, or no longer, its own to come back with (R-OAUTH-02).
    CallbackRefused = "callback.refused",
    /// A credential was stored.
    CredentialConnected = "credential.connected",
    /// A client or a destination was allowed a stored credential (R-OAUTH-04, R-GW-04).
    CredentialAllowed = "credential.allowed",
    /// The upstream or the provider rejected a credential.
    CredentialRejected = "credential.rejected",
    /// The provider refreshes a grant no longer: its user has to connect anew.
    CredentialDead = "credential.dead",
    /// A server demanded scopes that a grant lacks.
    CredentialNarrow = "credential.narrow",
    /// A credential was deleted by its user.
    CredentialDisconnected = "credential.disconnected",
    /// A credential was deleted by the operator.
    CredentialRevoked = "credential.revoked",
    /// A client may use a credential no longer, by its user's word (R-OAUTH-04).
    ClientRevoked = "client.revoked",
    /// A person lets what they declined be asked again.
    InteractionReleased = "interaction.released",
    /// All that was stored of a user was deleted by the operator, but the audit log.
    UserForgotten = "user.forgotten",
    /// A browser signed in.
    BrowserSignedIn = "browser.signed-in",
    /// A browser signed out.
    BrowserSignedOut = "browser.signed-out",
    /// A sign-in was refused.
    BrowserRefused = "browser.refused",
    /// A request to our pages did not come from our pages (R-OAUTH-03).
    PageRefused = "page.refused",
    /// A token of the MCP side was refused (R-ID-04).
    TokenRefused = "token.refused",
    /// A key of the API was made.
    ApiKeyCreated = "api-key.created",
    /// A key of the API got another secret.
    ApiKeyRotated = "api-key.rotated",
    /// A key of the API was ended.
    ApiKeyRevoked = "api-key.revoked",
    /// A key of the API was refused: it is none, has ended, may not do this, or was changed in the store.
    ApiKeyRefused = "api-key.refused",
    /// A server asked a question through the API.
    ApiInteractionAsked = "api.interaction-asked",
    /// A server took a question back through the API.
    ApiInteractionCancelled = "api.interaction-cancelled",
    /// A server told through the API that something took place.
    ApiInteractionCompleted = "api.interaction-completed",
    /// Too many requests came with one key of the API (R-SEC-01).
    ApiLimited = "api.limited",
    /// A session was asked for by somebody else than its principal (R-ID-01).
    SessionRefused = "session.refused",
    /// A request state was refused (R-MRTR-02).
    StateRefused = "state.refused",
    /// An upstream asked for a secret in a form (R-GW-07).
    FormRefused = "form.refused",
}

impl AuditAction {
    /// The action of a name; `None` for what another version wrote.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.as_str() == name)
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was done.
    Success,
    /// We refused it.
    Refused,
    /// It did not work out.
    Failure,
}

impl Outcome {
    /// The name in rows and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Refused => "refused",
            Self::Failure => "failure",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Success, Self::Refused, Self::Failure].into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// A line for the audit log. Has room for no secret and for no answer: the detail
/// is text of ours, and of a call there is its name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// What was done.
    pub action: AuditAction,
    /// What came of it.
    pub outcome: Outcome,
    /// Who did it, as far as verified.
    pub principal: Option<(UserId, Option<ClientId>)>,
    /// For which upstream.
    pub upstream: Option<String>,
    /// With which provider.
    pub provider: Option<String>,
    /// In which interaction.
    pub interaction: Option<InteractionId>,
    /// More, in fixed words.
    pub detail: Option<&'static str>,
    /// Which call, as [`Operation::told`](crate::Operation::told) tells it.
    pub operation: Option<String>,
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// When.
    pub at: Timestamp,
    /// What was done; `None` if a newer version wrote it.
    pub action: Option<AuditAction>,
    /// What came of it.
    pub outcome: Outcome,
    /// Who.
    pub user: UserId,
    /// Through which verified client.
    pub client: Option<ClientId>,
    /// For which upstream.
    pub upstream: Option<String>,
    /// With which provider.
    pub provider: Option<String>,
    /// In which interaction.
    pub interaction: Option<InteractionId>,
    /// More, in fixed words.
    pub detail: Option<String>,
    /// Which call: its method, its name and the beginning of its digest.
    pub operation: Option<String>,
}

impl AuditEntry {
    /// A line about nobody and nothing yet.
    pub fn new(action: AuditAction, outcome: Outcome) -> Self {
        Self {
            action,
            outcome,
            principal: None,
            upstream: None,
            provider: None,
            interaction: None,
            detail: None,
            operation: None,
        }
    }

    /// A line about a user.
    pub(crate) fn of_user(action: AuditAction, outcome: Outcome, user: &UserId) -> Self {
        Self { principal: Some((user.clone(), None)), ..Self::new(action, outcome) }
    }

    /// A line about an interaction.
    pub(crate) fn of_interaction(action: AuditAction, outcome: Outcome, interaction: &Interaction) -> Self {
        let principal = &interaction.principal;
        Self {
            principal: Some((principal.user.clone(), Some(principal.client.clone()))),
            upstream: Some(interaction.destination.upstream.clone()),
            provider: Some(interaction.provider.clone()),
            interaction: Some(interaction.id.clone()),
            ..Self::new(action, outcome)
        }
    }

    /// Writes the line with whatever else the transaction does.
    pub(crate) async fn insert(&self, connection: &mut AnyConnection, now: Timestamp) -> Result<(), StoreError> {
        let user = self.principal.as_ref().map(|(user, _)| user);
        let client = self.principal.as_ref().and_then(|(_, client)| client.as_ref());
        sqlx::query(INSERT)
            .bind(micros(now))
            .bind(self.action.as_str())
            .bind(self.outcome.as_str())
            .bind(user.map(user_key))
            .bind(user.map(|user| user.issuer().to_owned()))
            .bind(user.map(|user| user.subject().to_owned()))
            .bind(client.map(|client| client.as_str().to_owned()))
            .bind(self.upstream.clone())
            .bind(self.provider.clone())
            .bind(self.interaction.as_ref().map(|id| id.as_str().to_owned()))
            .bind(self.detail.map(str::to_owned))
            .bind(self.operation.clone())
            .execute(connection)
            .await?;
        Ok(())
    }
}

impl Store {
    /// Writes a line of the audit log (R-SEC-03).
    pub async fn audit(&self, entry: AuditEntry, now: Timestamp) -> Result<(), StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            entry.insert(&mut transaction, now).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// The newest lines about a user, the newest first. Lines are kept for 400 days.
    pub async fn audit_of(&self, user: &UserId, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        Self::within(async {
            let rows =
                sqlx::query(OF_USER).bind(user_key(user)).bind(i64::from(limit)).fetch_all(&self.shared.reader).await?;
            rows.iter().map(from_row).collect()
        })
        .await
    }
}

fn from_row(row: &AnyRow) -> Result<AuditRow, StoreError> {
    const TABLE: &str = "audit";
    let impossible = |what: &str| StoreError::impossible(TABLE, what);
    let client: Option<String> = row.try_get("client")?;
    let interaction: Option<String> = row.try_get("interaction_id")?;
    Ok(AuditRow {
        at: timestamp(row.try_get("at")?, TABLE)?,
        action: AuditAction::parse(row.try_get("action")?),
        outcome: Outcome::parse(row.try_get("outcome")?).ok_or_else(|| impossible("an outcome of another name"))?,
        user: UserId::new(row.try_get::<String, _>("issuer")?, row.try_get::<String, _>("subject")?)
            .map_err(|_| impossible("a user that is none"))?,
        client: client.map(ClientId::new).transpose().map_err(|_| impossible("a client that is none"))?,
        upstream: row.try_get("upstream")?,
        provider: row.try_get("provider")?,
        interaction: interaction
            .map(|id| InteractionId::parse(&id))
            .transpose()
            .map_err(|_| impossible("an interaction id that is none"))?,
        detail: row.try_get("detail")?,
        operation: row.try_get("operation")?,
    })
}

#[cfg(test)]
mod tests {
    use super::AuditAction;

    #[test]
    fn every_action_has_a_name_of_its_own() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::parse(action.as_str()), Some(*action));
        }
        assert_eq!(AuditAction::parse("interaction.sung"), None);
    }
}
