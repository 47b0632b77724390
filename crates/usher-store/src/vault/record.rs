//! What a sealed value belongs to.

use elicit::UserId;

/// The place of a sealed value. It is not kept with the value: whoever opens it
/// says where they found it and for whom they ask.
pub(crate) struct Record<'a> {
    pub(crate) kind: RecordKind,
    pub(crate) id: &'a str,
    pub(crate) user: &'a UserId,
    /// The provider; of a session, the upstream and the client; of an interaction and its call, all that it is about;
    /// of an approval, also which call and when; of a flow, also what it is found by; of what signs a browser in, its
    /// times; of a key of the API, whose user is its server, all that it allows; of a registration, which is this
    /// installation's, its issuer and redirect URI.
    pub(crate) scope: &'a [&'a str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Credential,
    Interaction,
    Operation,
    Approval,
    Flow,
    Session,
    LoginLink,
    BrowserSession,
    ApiKey,
    OAuthClient,
}

impl Record<'_> {
    /// The associated data: a name with the format's version, then each part with its length in front.
    pub(super) fn context(&self) -> Vec<u8> {
        let kind = match self.kind {
            RecordKind::Credential => "credential",
            RecordKind::Interaction => "interaction",
            RecordKind::Operation => "operation",
            RecordKind::Approval => "approval",
            RecordKind::Flow => "flow",
            RecordKind::Session => "session",
            RecordKind::LoginLink => "login link",
            RecordKind::BrowserSession => "browser session",
            RecordKind::ApiKey => "api key",
            RecordKind::OAuthClient => "oauth client",
        };
        let mut bytes = b"usher record 1".to_vec();
        let fixed = [kind, self.id, self.user.issuer(), self.user.subject()];
        for part in fixed.iter().chain(self.scope) {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}
