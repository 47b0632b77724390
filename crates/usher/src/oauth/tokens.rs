//! What a token endpoint gave.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::Value;

use super::document::Answered;
use super::error::{self, Asked};
use super::{TokenError, lifetime};
use crate::config::Definition;
use crate::config::definition::{ACCESS_TOKEN, TokenReply};

/// What was granted.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// The access token and what else templates may use, whole: after a refresh what its reply did not say is as before.
    pub fields: BTreeMap<String, SecretString>,
    /// What it is refreshed with; after a refresh whose reply has none, the one of before (kind 13).
    pub refresh_token: Option<SecretString>,
    /// When the access token ends, as far as that is known.
    pub expires_at: Option<Timestamp>,
    /// The scopes that were granted; `None` where nothing is said: those that were asked for, or those of before
    /// (RFC 6749, section 5.1).
    pub scopes: Option<BTreeSet<String>>,
    /// What else belongs to the connection, and is no secret: values of URLs, parameters of the callback.
    pub values: BTreeMap<String, String>,
    /// Whose account it is, where the reply says it.
    pub(super) account: Option<String>,
}

impl Tokens {
    /// The scopes, of those that were asked for, that were not granted.
    pub fn lacks(&self, asked: &BTreeSet<String>) -> BTreeSet<String> {
        self.scopes.as_ref().map(|granted| asked - granted).unwrap_or_default()
    }
}

/// The longest token that is kept: what still fits into a header.
const LONGEST: usize = 16 * 1024;

/// Reads what came back.
pub(super) fn read(
    definition: &Definition,
    reply: &TokenReply,
    answered: &Answered,
    asked: Asked,
    now: Timestamp,
) -> Result<Tokens, TokenError> {
    let fails = || error::classify(definition, answered, asked, now);
    let document = answered.document.as_ref().ok_or_else(fails)?;
    // An error may come with HTTP 200.
    if !answered.status.is_success() || error::code(definition, document).is_some() {
        return Err(fails());
    }
    let access_token = reply.access_token.text_of(document).ok_or_else(fails)?;
    let refresh_token = reply.refresh_token.text_of(document);
    if !is_token(&access_token) || refresh_token.as_deref().is_some_and(|token| !is_token(token)) {
        return Err(TokenError::Garbage("a token in it cannot be sent in a header"));
    }
    if is_bound(document) {
        return Err(TokenError::Garbage("its token is not a bearer token"));
    }
    let mut fields = BTreeMap::from([(ACCESS_TOKEN.to_owned(), SecretString::from(access_token))]);
    for (name, member) in &reply.fields {
        let Some(value) = member.text_of(document) else { continue };
        if !is_token(&value) {
            return Err(TokenError::Garbage("a field of it cannot be sent in a header"));
        }
        fields.insert(name.clone(), SecretString::from(value));
    }
    let members = definition.account.as_ref().filter(|account| account.call.is_none()).map(|account| &account.members);
    Ok(Tokens {
        fields,
        refresh_token: refresh_token.map(SecretString::from),
        expires_at: lifetime::expires_at(reply, document, now),
        scopes: scopes(reply, document),
        values: BTreeMap::new(),
        account: members.and_then(|members| members.iter().find_map(|member| member.text_of(document))),
    })
}

/// Visible ASCII, not too long: it comes to stand in a header.
fn is_token(text: &str) -> bool {
    text.len() <= LONGEST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Whether a token is good only together with a key that we do not have. Whatever else they call it is a bearer token.
fn is_bound(document: &Value) -> bool {
    let kind = document.get("token_type").and_then(Value::as_str).unwrap_or_default().trim();
    ["dpop", "mac", "pop"].iter().any(|bound| kind.eq_ignore_ascii_case(bound))
}

/// The granted scopes; `None` where nothing is said (kind 1).
fn scopes(reply: &TokenReply, document: &Value) -> Option<BTreeSet<String>> {
    let split = |text: &str| -> Vec<String> {
        let ends = |letter: char| letter.is_whitespace() || letter == reply.scope_separator;
        text.split(ends).filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
    };
    let scopes: BTreeSet<String> = match reply.scope.of(document)? {
        Value::String(text) => split(text).into_iter().collect(),
        Value::Array(elements) => elements.iter().filter_map(Value::as_str).flat_map(split).collect(),
        _ => return None,
    };
    (!scopes.is_empty()).then_some(scopes)
}
