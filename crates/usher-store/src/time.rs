//! Time as the columns hold it: microseconds since 1970 in a `BIGINT`.

use jiff::{SignedDuration, Timestamp};

use crate::StoreError;

/// The value of a column.
pub(crate) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// The value of a column that lies `span` before `at`.
pub(crate) fn micros_before(at: Timestamp, span: SignedDuration) -> i64 {
    let span = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    micros(at).saturating_sub(span)
}

/// A column back to a time.
pub(crate) fn timestamp(micros: i64, table: &'static str) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(micros)
        .map_err(|_| StoreError::impossible(table, format!("no time has the value {micros}")))
}

/// The time as it comes back from a column: what is finer than a microsecond is cut off.
pub(crate) fn whole_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(micros(at)).unwrap_or(at)
}
