//! Is it done? Asks the other side, with the request that the operator configured.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use elicit::RawObject;
use http::StatusCode;

use crate::{
    config::{Confirm, link::REFERENCE},
    egress::Egress,
};

/// How long the other side may take, the whole of its answer included (R-SEC-04).
const DEADLINE: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const ANSWER_AT_MOST: usize = 64 * 1024;

/// Why a visit is not known to be done. No variant carries anything of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmError {
    /// The other side knows the visit, or says so, and it is not done.
    #[error("it is not done yet")]
    NotYet,
    /// The other side answered with an error, or sent us elsewhere.
    #[error("the other side answered {0}")]
    Answered(StatusCode),
    /// What it answered is no JSON object with that member, or too long.
    #[error("the other side's answer cannot be read")]
    Garbage,
    /// No connection, or it broke.
    #[error("the other side could not be reached")]
    Unreachable,
    /// No answer within ten seconds.
    #[error("the other side did not answer in time")]
    TooSlow,
    /// The request cannot be made of what is configured.
    #[error("the request cannot be made")]
    Unsendable,
}

impl ConfirmError {
    /// A short name, for an address. What the other side answered is not in it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotYet => "not-yet",
            Self::Answered(_) | Self::Garbage | Self::Unsendable => "garbage",
            Self::Unreachable => "unreachable",
            Self::TooSlow => "too-slow",
        }
    }

    /// The error of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::NotYet, Self::Garbage, Self::Unreachable, Self::TooSlow].into_iter().find(|error| error.name() == name)
    }
}

/// Sends the request for the visit `reference`. A redirect is not followed.
pub(super) async fn ask(egress: &Egress, confirm: &Confirm, reference: &str) -> Result<(), ConfirmError> {
    let url = confirm.get.fill(&[(REFERENCE, reference)]).ok_or(ConfirmError::Unsendable)?;
    let mut request = egress.operator().get(url);
    for (name, value) in confirm.header_values().map_err(|_| ConfirmError::Unsendable)? {
        request = request.header(name, value);
    }
    let answer = async {
        let answer = request.send().await.map_err(|error| unanswered(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(ConfirmError::Answered(status));
        }
        read(answer).await
    };
    let body = tokio::time::timeout(DEADLINE, answer).await.unwrap_or(Err(ConfirmError::TooSlow))?;
    if says(&body, &confirm.field)? == confirm.equals { Ok(()) } else { Err(ConfirmError::NotYet) }
}

async fn read(mut answer: reqwest::Response) -> Result<Bytes, ConfirmError> {
    let mut body = BytesMut::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| unanswered(&error))? {
        if body.len() + piece.len() > ANSWER_AT_MOST {
            return Err(ConfirmError::Garbage);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

fn unanswered(error: &reqwest::Error) -> ConfirmError {
    if error.is_timeout() { ConfirmError::TooSlow } else { ConfirmError::Unreachable }
}

/// The member of that name, which must be a string. One that stands twice says two things, and so nothing.
fn says(body: &[u8], field: &str) -> Result<String, ConfirmError> {
    let text = std::str::from_utf8(body).map_err(|_| ConfirmError::Garbage)?;
    let object = RawObject::parse(text).map_err(|_| ConfirmError::Garbage)?;
    let value = object.get(field).ok_or(ConfirmError::Garbage)?;
    serde_json::from_str(value.get()).map_err(|_| ConfirmError::Garbage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_plain_member_says_something() {
        assert_eq!(says(br#"{"a":1,"status":"p\u0061id"}"#, "status"), Ok("paid".to_owned()));
        for body in [
            r#"{"status":true}"#,
            r#"{"order":{"status":"paid"}}"#,
            r#"{"status":"open","status":"paid"}"#,
            r#"["paid"]"#,
            r#""paid""#,
            "paid",
            "",
        ] {
            assert_eq!(says(body.as_bytes(), "status"), Err(ConfirmError::Garbage), "{body}");
        }
        assert_eq!(says(b"\xff", "status"), Err(ConfirmError::Garbage));
    }
}
