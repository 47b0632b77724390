//! The sealed part of a credential, as JSON.

use std::collections::BTreeMap;

use elicit::ClientId;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::grant::{ReadGrant, WrittenGrant};
use super::{Approval, Credential, Grant};
use crate::interaction::Destination;
use crate::time::micros;

/// Secrets, approvals and a grant, sealed together.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub(super) secrets: BTreeMap<String, SecretString>,
    pub(super) approvals: Vec<Approval>,
    pub(super) approved_at: BTreeMap<Approval, Timestamp>,
    pub(super) grant: Option<Grant>,
}

#[derive(Serialize)]
struct Written<'a> {
    secrets: BTreeMap<&'a str, &'a str>,
    approvals: Vec<WrittenApproval<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<WrittenGrant<'a>>,
}

#[derive(Serialize)]
struct WrittenApproval<'a> {
    client: &'a str,
    upstream: &'a str,
    target: &'a str,
    /// When, in microseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    secrets: BTreeMap<String, ReadSecret>,
    approvals: Vec<ReadApproval>,
    /// Those of before there were any, and what is no OAuth, have none.
    #[serde(default)]
    grant: Option<ReadGrant>,
}

/// Goes into its secret without a stop, so that the text is wiped with it.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct ReadSecret(pub(super) SecretString);

impl From<String> for ReadSecret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadApproval {
    client: ClientId,
    upstream: String,
    target: String,
    /// Those of before it was kept have none.
    #[serde(default)]
    at: Option<i64>,
}

impl Content {
    /// What a credential holds now.
    pub(super) fn of(credential: &Credential) -> Self {
        Self {
            secrets: credential.secrets.clone(),
            approvals: credential.approvals.clone(),
            approved_at: credential.approved_at.clone(),
            grant: credential.grant.clone(),
        }
    }

    pub(super) fn approve(&mut self, approval: Approval, now: Timestamp) {
        if !self.approvals.contains(&approval) {
            self.approved_at.insert(approval.clone(), now);
            self.approvals.push(approval);
        }
    }

    /// Takes back all that this client was allowed.
    pub(super) fn withdraw(&mut self, client: &ClientId) {
        self.approvals.retain(|approval| approval.client != *client);
        self.approved_at.retain(|approval, _| approval.client != *client);
    }

    /// What the column says of it.
    pub(super) fn refresh_at(&self) -> Option<i64> {
        self.grant.as_ref().and_then(|grant| grant.refresh_at).map(micros)
    }

    pub(super) fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, serde_json::Error> {
        let written = Written {
            secrets: self.secrets.iter().map(|(name, secret)| (name.as_str(), secret.expose_secret())).collect(),
            approvals: self
                .approvals
                .iter()
                .map(|approval| WrittenApproval {
                    client: approval.client.as_str(),
                    upstream: &approval.destination.upstream,
                    target: &approval.destination.target,
                    at: self.approved_at.get(approval).copied().map(micros),
                })
                .collect(),
            grant: self.grant.as_ref().map(WrittenGrant::from),
        };
        // Room for the longest escapes at once: growing would leave copies of the secrets behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.most_bytes()));
        serde_json::to_writer(&mut *bytes, &written)?;
        Ok(bytes)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let read: Read = serde_json::from_slice(bytes)?;
        let secrets = read.secrets.into_iter().map(|(name, ReadSecret(secret))| (name, secret)).collect();
        let mut content = Self { secrets, grant: read.grant.map(Grant::from), ..Self::default() };
        for ReadApproval { client, upstream, target, at } in read.approvals {
            let approval = Approval { client, destination: Destination { upstream, target } };
            if let Some(at) = at.and_then(|micros| Timestamp::from_microsecond(micros).ok()) {
                content.approved_at.insert(approval.clone(), at);
            }
            content.approvals.push(approval);
        }
        Ok(content)
    }

    fn most_bytes(&self) -> usize {
        // A byte becomes at most six (`\u0001`); 64 (with a time 96) covers quotes, names and commas of an entry.
        let secrets = self.secrets.iter().map(|(name, secret)| 6 * (name.len() + secret.expose_secret().len()) + 64);
        let approvals = self.approvals.iter().map(|approval| {
            let Destination { upstream, target } = &approval.destination;
            6 * (approval.client.as_str().len() + upstream.len() + target.len()) + 96
        });
        let grant = self.grant.as_ref().map(Grant::most_bytes);
        64 + secrets.chain(approvals).chain(grant).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use elicit::ClientId;
    use jiff::Timestamp;
    use secrecy::ExposeSecret as _;

    use super::{Approval, Content, Destination, Grant};
    use crate::credential::{GrantClient, GrantServer};

    #[test]
    fn content_comes_back_whole_and_never_grows_its_buffer() {
        let approval = Approval {
            client: ClientId::new("client-1").unwrap(),
            destination: Destination { upstream: "weather".into(), target: "https://weather.example".into() },
        };
        let mut content = Content {
            secrets: BTreeMap::from([
                ("api_key".to_owned(), "\u{1}\u{2}\"\\🔑".into()),
                ("empty".to_owned(), String::new().into()),
            ]),
            ..Content::default()
        };
        let [first, later] = [1, 2].map(|at| Timestamp::from_second(at).unwrap());
        content.approve(approval.clone(), first);
        content.approve(approval.clone(), later);

        let bytes = content.to_bytes().unwrap();
        assert!(bytes.capacity() == content.most_bytes(), "it grew");
        let read = Content::parse(&bytes).unwrap();
        assert_eq!(read.approvals, std::slice::from_ref(&approval));
        assert_eq!(read.approved_at[&approval], first, "it is kept from when it was allowed first");
        assert_eq!(read.secrets["api_key"].expose_secret(), "\u{1}\u{2}\"\\🔑");
        assert_eq!(read.secrets["empty"].expose_secret(), "");
    }

    /// R-OAUTH-01
    #[test]
    fn a_grant_comes_back_whole_and_never_grows_its_buffer() {
        let at = Timestamp::from_microsecond(1_800_000_000_000_001).unwrap();
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let grant = Grant {
            refresh_token: Some("\u{1}\u{1}\u{1}🔑".into()),
            expires_at: Some(at),
            refresh_at: Some(at),
            scopes: set(&["\u{2}\u{2}", "b"]),
            asked: set(&["d"]),
            demanded: set(&["c"]),
            account: Some("Ada \"L\"".into()),
            values: BTreeMap::from([("ho\u{3}st".into(), "\u{3}\u{3}".into())]),
            server: GrantServer {
                issuer: "i".into(),
                token_endpoint: Some("t".into()),
                revocation_endpoint: Some("r".into()),
                resource: Some("u".into()),
                client: GrantClient {
                    id: "c".into(),
                    secret: Some("\u{4}\u{4}\u{4}\u{4}".into()),
                    method: "m".into(),
                    redirect_uri: "b".into(),
                },
            },
        };
        let content = Content { grant: Some(grant.clone()), ..Content::default() };
        assert_eq!(content.refresh_at(), Some(1_800_000_000_000_001));

        let bytes = content.to_bytes().unwrap();

        assert!(bytes.capacity() == content.most_bytes(), "it grew");
        assert!(bytes.len() < content.most_bytes());
        let read = Content::parse(&bytes).unwrap().grant.unwrap();
        assert_eq!(read.refresh_token.unwrap().expose_secret(), "\u{1}\u{1}\u{1}🔑");
        assert_eq!((read.expires_at, read.refresh_at), (Some(at), None), "the one lies in a column");
        assert_eq!((read.scopes, read.demanded, read.account), (grant.scopes, grant.demanded, grant.account));
        assert_eq!((read.values, read.server.issuer), (grant.values, grant.server.issuer));
        assert_eq!(read.server.token_endpoint.as_deref(), Some("t"));
        assert_eq!(read.server.revocation_endpoint.as_deref(), Some("r"));
        assert_eq!(read.server.resource.as_deref(), Some("u"));
        let client = read.server.client;
        assert_eq!([client.id, client.method, client.redirect_uri], ["c", "m", "b"]);
        assert_eq!(client.secret.unwrap().expose_secret(), "\u{4}\u{4}\u{4}\u{4}");
    }

    /// What was stored before times were kept, and before there were grants, is read as it is.
    #[test]
    fn an_approval_without_a_time_is_read() {
        let bytes = br#"{"secrets":{},"approvals":[{"client":"c","upstream":"u","target":"t"}]}"#;
        let read = Content::parse(bytes).unwrap();
        assert_eq!((read.approvals.len(), read.approved_at.len()), (1, 0));
        assert_eq!(*read.to_bytes().unwrap(), bytes);
    }
}
