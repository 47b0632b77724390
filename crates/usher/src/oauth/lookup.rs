//! What only a call after connecting says: the host of the API, the id of a site (kind 16).

use secrecy::SecretString;

use super::account::{CallError, call};
use super::{Server, TokenError, Tokens};
use crate::egress::{Egress, NoAnswer};

/// Adds the fields of the definition's lookup. Without them the connection is of no use.
pub(super) async fn complete(egress: &Egress, server: &Server, tokens: &mut Tokens) -> Result<(), TokenError> {
    let Some(lookup) = &server.definition().lookup else { return Ok(()) };
    let document = call(egress, server, &lookup.call, &tokens.fields).await.map_err(error)?;
    for (name, member) in &lookup.fields {
        let value = member.text_of(&document).filter(|value| value.bytes().all(|byte| byte.is_ascii_graphic()));
        let value = value.ok_or(TokenError::Garbage("the call after connecting does not say what is looked for"))?;
        tokens.fields.insert(name.clone(), SecretString::from(value));
    }
    Ok(())
}

fn error(error: CallError) -> TokenError {
    match error {
        CallError::Refused(status) | CallError::Answered(status) if status < 500 => {
            TokenError::Refused(format!("HTTP {status} to the call after connecting"))
        }
        CallError::Refused(status) | CallError::Answered(status) => TokenError::Unavailable(format!("HTTP {status}")),
        CallError::NoAnswer(NoAnswer::Slow) => TokenError::TooSlow,
        CallError::NoAnswer(error) => error.into(),
        CallError::Garbage => TokenError::Garbage("the call after connecting cannot be read"),
        CallError::Request(reason) => TokenError::Client(reason),
    }
}
