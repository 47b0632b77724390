//! What the portal says of an access that a provider granted: whose account, what it may do, and how long it lasts.

use jiff::Timestamp;
use usher_store::{Credential, CredentialStatus, Grant};

use super::said::{provider_title, shown};
use crate::{
    config::{Config, Provider, ProviderKind},
    pages::{
        page::Fact,
        words::{Html, Said, Words},
    },
};

/// How an access stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It works.
    Works,
    /// It works, and a server wanted more.
    Narrow,
    /// Its owner has to sign in at the provider again: it was refused, or has ended and cannot be renewed.
    SignInAgain,
}

impl Standing {
    /// How it stands now, by what is stored.
    pub(super) fn of(credential: &Credential, grant: &Grant, now: Timestamp) -> Self {
        let ended = grant.expires_at.is_some_and(|at| at <= now) && !grant.is_renewed();
        match credential.status {
            _ if ended => Self::SignInAgain,
            CredentialStatus::Narrow => Self::Narrow,
            CredentialStatus::Working => Self::Works,
            CredentialStatus::Rejected | CredentialStatus::Leaving => Self::SignInAgain,
        }
    }

    /// The state in words.
    pub(super) fn state(self) -> &'static str {
        match self {
            Self::Works => "portal.working",
            Self::Narrow => "portal.narrow",
            Self::SignInAgain => "portal.sign_in_again",
        }
    }

    /// What it means.
    pub(super) fn note(self, words: Words, config: &Config, credential: &Credential, grant: &Grant) -> Option<Html> {
        match self {
            Self::Works => None,
            Self::Narrow => {
                let lacking: Vec<_> = grant.demanded.difference(&grant.scopes).map(|one| shown(one).into()).collect();
                Some(words.rich("portal.narrow_note", &[("scopes", words.list(&lacking).as_str())]))
            }
            Self::SignInAgain => {
                let title = provider_title(words, config, &credential.provider);
                Some(words.rich("portal.sign_in_again_note", &[("provider", title.as_str())]))
            }
        }
    }
}

/// Whose account, what it may do, how long it lasts.
pub(super) fn facts(
    words: Words,
    config: &Config,
    credential: &Credential,
    grant: &Grant,
    now: Timestamp,
) -> Vec<Fact> {
    let account = grant.account.as_deref().map(|account| Fact::new(words.text("portal.account"), &shown(account)));
    let permissions = Fact::rich(words.text("portal.permissions"), permissions(words, config, credential, grant));
    let lasts = Fact::rich(words.text("portal.lasts"), lasts(words, grant, now));
    account.into_iter().chain([permissions, lasts]).collect()
}

/// In words where the operator or the catalogue has some, folded: a number says enough at first.
fn permissions(words: Words, config: &Config, credential: &Credential, grant: &Grant) -> Html {
    let count = match grant.scopes.len() {
        0 => {
            let title = provider_title(words, config, &credential.provider);
            return words.rich("portal.permissions_none", &[("provider", title.as_str())]);
        }
        1 => words.text("portal.permissions_one").to_owned(),
        many => words.say("portal.permissions_count", &[("count", &many.to_string())]),
    };
    let provider = config.provider(&credential.provider);
    let lines = grant.scopes.iter().map(|scope| line(words, provider, scope));
    let summary = Html::element("summary", None, &Html::text(&count));
    Html::element("details", Some("fold"), &Html::joined([summary, Html::list(lines)]))
}

/// A permission in words where there are some, with the scope itself beside them: servers of others choose some of these.
fn line(words: Words, provider: Option<&Provider>, scope: &str) -> Html {
    let raw = Html::element("code", None, &Html::element("bdi", None, &Html::text(&shown(scope))));
    let texts = match provider.map(|provider| &provider.kind) {
        Some(ProviderKind::OAuth(oauth)) => Some(&oauth.definition.scope_text),
        _ => None,
    };
    match texts.and_then(|texts| texts.get(scope)) {
        Some(text) => Html::joined([
            Html::said(Said::of(text, words.language())),
            Html::text(" "),
            Html::element("span", Some("note"), &raw),
        ]),
        None => raw,
    }
}

fn lasts(words: Words, grant: &Grant, now: Timestamp) -> Html {
    match grant.expires_at {
        _ if grant.is_renewed() => Html::text(words.text("portal.lasts_renewed")),
        None => Html::text(words.text("portal.lasts_open")),
        Some(at) if at <= now => words.with_time("portal.lasts_ended", at, now),
        Some(at) => words.with_time("portal.lasts_until", at, now),
    }
}
