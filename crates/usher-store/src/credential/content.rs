//! The sealed part of a credential, as JSON.

use std::collections::BTreeMap;

use elicit::ClientId;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Approval;
use crate::interaction::Destination;

/// Secrets and approvals, sealed together.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub(super) secrets: BTreeMap<String, SecretString>,
    pub(super) approvals: Vec<Approval>,
}

#[derive(Serialize)]
struct Written<'a> {
    secrets: BTreeMap<&'a str, &'a str>,
    approvals: Vec<WrittenApproval<'a>>,
}

#[derive(Serialize)]
struct WrittenApproval<'a> {
    client: &'a str,
    upstream: &'a str,
    target: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    secrets: BTreeMap<String, ReadSecret>,
    approvals: Vec<ReadApproval>,
}

/// Goes into its secret without a stop, so that the text is wiped with it.
#[derive(Deserialize)]
#[serde(from = "String")]
struct ReadSecret(SecretString);

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
}

impl Content {
    pub(super) fn approve(&mut self, approval: Approval) {
        if !self.approvals.contains(&approval) {
            self.approvals.push(approval);
        }
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
                })
                .collect(),
        };
        // Room for the longest escapes at once: growing would leave copies of the secrets behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.most_bytes()));
        serde_json::to_writer(&mut *bytes, &written)?;
        Ok(bytes)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let read: Read = serde_json::from_slice(bytes)?;
        Ok(Self {
            secrets: read.secrets.into_iter().map(|(name, ReadSecret(secret))| (name, secret)).collect(),
            approvals: read
                .approvals
                .into_iter()
                .map(|approval| Approval {
                    client: approval.client,
                    destination: Destination { upstream: approval.upstream, target: approval.target },
                })
                .collect(),
        })
    }

    fn most_bytes(&self) -> usize {
        // A byte becomes at most six (`\u0001`); 64 covers quotes, names and commas of an entry.
        let secrets = self.secrets.iter().map(|(name, secret)| 6 * (name.len() + secret.expose_secret().len()) + 64);
        let approvals = self.approvals.iter().map(|approval| {
            let Destination { upstream, target } = &approval.destination;
            6 * (approval.client.as_str().len() + upstream.len() + target.len()) + 64
        });
        64 + secrets.chain(approvals).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use elicit::ClientId;
    use secrecy::ExposeSecret as _;

    use super::{Approval, Content, Destination};

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
            approvals: Vec::new(),
        };
        content.approve(approval.clone());
        content.approve(approval.clone());

        let bytes = content.to_bytes().unwrap();
        assert!(bytes.capacity() == content.most_bytes(), "it grew");
        let read = Content::parse(&bytes).unwrap();
        assert_eq!(read.approvals, [approval]);
        assert_eq!(read.secrets["api_key"].expose_secret(), "\u{1}\u{2}\"\\🔑");
        assert_eq!(read.secrets["empty"].expose_secret(), "");
    }
}
