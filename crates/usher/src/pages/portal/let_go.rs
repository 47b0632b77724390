//! What became of an access at its provider, after its owner gave it up here: in the address of the portal, and in words.

use url::form_urlencoded;

use super::said::{provider_title, shown};
use crate::{
    config::Config,
    credentials::revoke::{Revocation, StillListed},
    identity::browser::{Form, SignedIn},
    pages::{visitor::Visitor, words::Words},
};

/// What can have become of it: the purpose of the mark, and what is said.
const BECAME: [(&str, &str); 5] = [
    ("let-go-ended", "portal.ended_too"),
    ("let-go-unheard", "portal.listed_unheard"),
    ("let-go-refused", "portal.listed_refused"),
    ("let-go-no-way", "portal.listed_no_way"),
    ("let-go-unknown", "portal.listed_unknown"),
];

/// What became of an access that was given up, as the portal's address says it with a mark of this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LetGo {
    provider: String,
    host: String,
    sentence: &'static str,
}

/// The portal's address after `provider` was given up.
pub(super) fn address(person: &SignedIn, provider: &str, revocation: &Revocation) -> String {
    let (became, host) = match revocation {
        Revocation::Nothing => return format!("/?disconnected={provider}"),
        Revocation::Ended { host } => ("let-go-ended", host.as_str()),
        Revocation::StillListed { host, why } => match (why, host) {
            (StillListed::Unheard | StillListed::NotTried, Some(host)) => ("let-go-unheard", host.as_str()),
            (StillListed::Refused, Some(host)) => ("let-go-refused", host.as_str()),
            (StillListed::NoWay, Some(host)) => ("let-go-no-way", host.as_str()),
            _ => ("let-go-unknown", ""),
        },
    };
    let mark = person.csrf(Form::LetGo(&subject(provider, host), became));
    let query = [("disconnected", provider), ("became", became), ("host", host), ("mark", &mark)];
    format!("/?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish())
}

/// Neither contains a space.
fn subject(provider: &str, host: &str) -> String {
    format!("{provider} {host}")
}

impl LetGo {
    /// What the address says, if this session put it there: anybody can write one.
    pub(super) fn of(visitor: &Visitor, person: &SignedIn) -> Option<Self> {
        let said = |name: &str| visitor.query(name).unwrap_or_default();
        let (provider, host) = (said("disconnected"), said("host"));
        let (became, sentence) = BECAME.into_iter().find(|(became, _)| *became == said("became"))?;
        person.csrf_holds(Form::LetGo(&subject(provider, host), became), said("mark")).then(|| Self {
            provider: provider.to_owned(),
            host: host.to_owned(),
            sentence,
        })
    }

    /// In words, if it is about this provider.
    pub(super) fn say(&self, words: Words, config: &Config, provider: &str) -> Option<String> {
        let title = provider_title(words, config, provider);
        let values = [("host", &*shown(&self.host)), ("provider", title.as_str())];
        (self.provider == provider).then(|| words.say(self.sentence, &values))
    }

    #[cfg(test)]
    pub(super) fn sample(provider: &str, host: &str, number: usize) -> Self {
        Self { provider: provider.to_owned(), host: host.to_owned(), sentence: BECAME[number].1 }
    }
}
