//! From a row to an interaction.

use elicit::{ClientId, Principal};
use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{AskReason, Destination, FailureReason, Interaction, InteractionId, InteractionState};
use crate::StoreError;
use crate::browser::user_of;
use crate::time::{micros, timestamp};

const TABLE: &str = "interactions";

/// The states in which somebody may go on. The partial indices say the same, word for word.
macro_rules! open_states {
    () => {
        "state IN ('created', 'opened', 'consented', 'exchanging')"
    };
}

macro_rules! columns {
    () => {
        "id, issuer, subject, client, client_claim, asked_by, provider, upstream, target, reason, state, \
         state_at, failure, created_at, expires_at, version"
    };
}

pub(super) use columns;
pub(super) use open_states;

/// The columns that hold a state: `state`, `state_at` and `failure`.
pub(super) struct StateColumns {
    pub(super) state: &'static str,
    /// `None` leaves the time as it is.
    pub(super) at: Option<i64>,
    pub(super) failure: Option<&'static str>,
}

impl From<&InteractionState> for StateColumns {
    fn from(state: &InteractionState) -> Self {
        use InteractionState as S;
        let (at, failure) = match state {
            S::Created | S::Expired => (None, None),
            S::Opened { at }
            | S::Consented { at }
            | S::Exchanging { at }
            | S::Completed { at }
            | S::Declined { at } => (Some(micros(*at)), None),
            S::Failed { at, reason } => (Some(micros(*at)), Some(reason.as_str())),
        };
        Self { state: state.name().as_str(), at, failure }
    }
}

/// What the row says. Time is not looked at: see [`Interaction::at`].
pub(super) fn interaction(row: &AnyRow) -> Result<Interaction, StoreError> {
    let client: String = row.try_get("client")?;
    Ok(Interaction {
        id: InteractionId::parse(row.try_get("id")?)
            .map_err(|_| StoreError::impossible(TABLE, "an id that is none"))?,
        principal: Principal {
            user: user_of(row, TABLE)?,
            client: ClientId::new(client).map_err(|_| StoreError::impossible(TABLE, "a client that is none"))?,
        },
        client_claim: row.try_get("client_claim")?,
        asked_by: row.try_get("asked_by")?,
        provider: row.try_get("provider")?,
        destination: Destination { upstream: row.try_get("upstream")?, target: row.try_get("target")? },
        reason: AskReason::parse(row.try_get("reason")?)
            .ok_or_else(|| StoreError::impossible(TABLE, "a reason of another name"))?,
        created_at: timestamp(row.try_get("created_at")?, TABLE)?,
        expires_at: timestamp(row.try_get("expires_at")?, TABLE)?,
        state: state(row.try_get("state")?, row.try_get("state_at")?, row.try_get("failure")?)?,
        version: row.try_get("version")?,
    })
}

fn state(name: &str, at: i64, failure: Option<&str>) -> Result<InteractionState, StoreError> {
    use InteractionState as S;
    let at = timestamp(at, TABLE)?;
    match (name, failure.map(FailureReason::parse)) {
        ("created", None) => Ok(S::Created),
        ("opened", None) => Ok(S::Opened { at }),
        ("consented", None) => Ok(S::Consented { at }),
        ("exchanging", None) => Ok(S::Exchanging { at }),
        ("completed", None) => Ok(S::Completed { at }),
        ("declined", None) => Ok(S::Declined { at }),
        ("failed", Some(Some(reason))) => Ok(S::Failed { at, reason }),
        ("expired", None) => Ok(S::Expired),
        (
            name
            @ ("created" | "opened" | "consented" | "exchanging" | "completed" | "declined" | "failed" | "expired"),
            _,
        ) => Err(StoreError::impossible(TABLE, format!("the state {name} with the failure {failure:?}"))),
        (other, _) => Err(StoreError::impossible(TABLE, format!("the state {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{StateColumns, state};
    use crate::{FailureReason, InteractionState as S};

    #[test]
    fn every_state_survives_its_columns() {
        let at = Timestamp::UNIX_EPOCH;
        for expected in [
            S::Created,
            S::Opened { at },
            S::Consented { at },
            S::Exchanging { at },
            S::Completed { at },
            S::Declined { at },
            S::Failed { at, reason: FailureReason::StoreTrouble },
            S::Expired,
        ] {
            let columns = StateColumns::from(&expected);
            let read = state(columns.state, columns.at.unwrap_or(0), columns.failure).unwrap();
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn an_impossible_row_is_an_error_that_says_so() {
        for (name, failure, text) in [
            ("sung", None, "interactions holds an impossible row: the state \"sung\""),
            ("failed", None, "the state failed with the failure None"),
            ("failed", Some("boredom"), "the state failed with the failure Some(\"boredom\")"),
            ("opened", Some("store-trouble"), "the state opened with the failure"),
        ] {
            let error = state(name, 0, failure).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
