//! `[provider.errors]`: what its errors mean, beside those of the standard (kind 22).

use super::member::Member;
use super::parameters::words;
use super::reply::at;
use crate::config::reader::Node;

/// Where an error stands, and what it means (RFC 6749, section 5.2). One that stands in no list means what the standard
/// says, or that the grant is dead.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The member with its code; `error` by default. An error may come with HTTP 200.
    pub code: Member,
    /// The grant is dead: the person connects anew.
    pub dead: Vec<String>,
    /// Our client is not known, or may not: the operator's to mend.
    pub client: Vec<String>,
    /// It passes: tried again later.
    pub transient: Vec<String>,
}

impl Default for Errors {
    fn default() -> Self {
        Self { code: Member::new("error"), dead: Vec::new(), client: Vec::new(), transient: Vec::new() }
    }
}

/// Reads the section.
pub(super) fn read(node: &Node<'_>) -> Errors {
    let standard = Errors::default();
    let Some(table) = node.table("[provider.errors]") else { return standard };
    let errors = Errors {
        code: at(&table, "code", &standard.code),
        dead: words(&table, "dead", "\"token_revoked\""),
        client: words(&table, "client", "\"incorrect_client_credentials\""),
        transient: words(&table, "transient", "\"internal_error\""),
    };
    table.close();
    errors
}
