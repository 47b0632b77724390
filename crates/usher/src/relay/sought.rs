//! What a person is asked to do, in the words of messages and errors: connect, go somewhere, or approve this call.
//!
//! Titles are the operator's. No message holds arguments: it passes through the client, and the page shows them.

use usher_store::AskReason;

use super::{call::Call, ending::title};
use crate::{broker::Missing, claim, config::ProviderKind};

/// What a provider wants of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// To enter a credential.
    Account,
    /// To sign in there.
    SignIn,
    Visit,
    Approval,
}

/// What is asked for, for one call.
pub(super) struct Sought<'a> {
    call: &'a Call,
    kind: Kind,
    title: String,
}

/// What is asked for at `provider`. Of one that is configured no longer only the name is known.
pub(super) fn sought<'a>(call: &'a Call, provider: &str) -> Sought<'a> {
    let kind = match call.caller.app.config.provider(provider).map(|provider| &provider.kind) {
        Some(ProviderKind::Secret { .. }) | None => Kind::Account,
        Some(ProviderKind::OAuth(_) | ProviderKind::Mcp(_)) => Kind::SignIn,
        Some(ProviderKind::External(_)) => Kind::Visit,
        Some(ProviderKind::Approval) => Kind::Approval,
    };
    Sought { call, kind, title: title(call, provider) }
}

impl Sought<'_> {
    fn is_account(&self) -> bool {
        matches!(self.kind, Kind::Account | Kind::SignIn)
    }

    /// Why the person is asked. The subject is a claim of the client and stands in quotes.
    pub(super) fn why(&self, reason: AskReason) -> String {
        let server = self.call.caller.upstream().title.get("en");
        let provider = &self.title;
        let subject = quotable(self.call.subject.as_deref().unwrap_or(&self.call.method));
        match (self.kind, reason) {
            (Kind::Approval, _) => format!(
                "{server} runs \u{201c}{subject}\u{201d} only with your approval. See what it would do on a page of your own, and allow it once or decline."
            ),
            (Kind::Visit, AskReason::Missing | AskReason::Rejected) => format!(
                "{server} needs a step at {provider} to run \u{201c}{subject}\u{201d}. A page of your own says what happens there, before you go."
            ),
            (Kind::SignIn, AskReason::Missing) => format!(
                "{server} needs your {provider} account to run \u{201c}{subject}\u{201d}. A page of your own says what it wants to do there, and leads you to {provider} to sign in; this app sees nothing of it."
            ),
            (Kind::SignIn, AskReason::Rejected) => format!(
                "Your access to {provider} has ended, or {server} did not accept it. Sign in there again, by a page of your own, to run \u{201c}{subject}\u{201d}."
            ),
            (_, AskReason::MoreScopes) => format!(
                "{server} needs more permissions at {provider} than you gave before to run \u{201c}{subject}\u{201d}. A page of your own says which, before you give them."
            ),
            (_, AskReason::Missing) => format!(
                "{server} needs your {provider} account to run \u{201c}{subject}\u{201d}. Connect it on a page of your own; this app does not see what you enter."
            ),
            (_, AskReason::Rejected) => format!(
                "{server} did not accept the stored {provider} credential. Enter one that works on a page of your own to run \u{201c}{subject}\u{201d}."
            ),
            (_, AskReason::NewClient) => format!(
                "This app wants to use your {provider} account through {server} for the first time. Allow it on a page of your own to run \u{201c}{subject}\u{201d}."
            ),
            (_, AskReason::NewDestination) => format!(
                "{server} moved to another address since you connected {provider}. Allow the new one on a page of your own to run \u{201c}{subject}\u{201d}."
            ),
        }
    }

    /// `connect Weather`: what the person is to do.
    pub(super) fn to_do(&self) -> String {
        let title = &self.title;
        match self.kind {
            Kind::Account | Kind::SignIn => format!("connect {title}"),
            Kind::Visit => format!("finish the step at {title}"),
            Kind::Approval => "approve this call".to_owned(),
        }
    }

    /// What a client is told that cannot show a link: what the server needs.
    fn needed(&self) -> String {
        let title = &self.title;
        match self.kind {
            Kind::Account | Kind::SignIn => format!("your {title} account"),
            Kind::Visit => format!("a step of yours at {title}"),
            Kind::Approval => "your approval of this call".to_owned(),
        }
    }

    /// What was declined, as the beginning of a sentence, and what to do to be asked again.
    pub(super) fn declined(&self, when: &str) -> [String; 2] {
        let title = &self.title;
        match self.kind {
            Kind::Account | Kind::SignIn => {
                [format!("Connecting {title} was declined"), format!("To connect later, try {when}")]
            }
            Kind::Visit => [format!("The step at {title} was declined"), format!("To do it later, try {when}")],
            Kind::Approval => {
                ["This call was declined".to_owned(), format!("To be asked for this very call again, try {when}")]
            }
        }
    }

    /// What is not so yet, as the beginning of a sentence, and what the person would do on the portal.
    pub(super) fn open(&self) -> [String; 2] {
        let title = &self.title;
        match self.kind {
            Kind::Account | Kind::SignIn => [format!("{title} is not connected"), "connect".to_owned()],
            Kind::Visit => [format!("The step at {title} is not done"), "do it".to_owned()],
            Kind::Approval => ["This call is not approved".to_owned(), "answer".to_owned()],
        }
    }
}

/// What all of `missing` are, and what to do about them on the portal.
pub(super) fn needed(call: &Call, missing: &[Missing]) -> [String; 2] {
    let sought: Vec<_> = missing.iter().map(|one| sought(call, &one.provider)).collect();
    let accounts: Vec<&str> = sought.iter().filter(|one| one.is_account()).map(|one| one.title.as_str()).collect();
    if accounts.len() == sought.len() {
        return [format!("your {} account", accounts.join(" and ")), "connect".to_owned()];
    }
    let needed: Vec<_> = sought.iter().map(Sought::needed).collect();
    [needed.join(" and "), "answer what is asked".to_owned()]
}

/// What is to be done before the request is sent again: `Connect Weather and approve this call`.
pub(super) fn to_do<'p>(call: &Call, providers: impl Iterator<Item = &'p str>) -> String {
    let sought: Vec<_> = providers.map(|provider| sought(call, provider)).collect();
    let all = if sought.iter().all(Sought::is_account) {
        format!("connect {}", sought.iter().map(|one| one.title.as_str()).collect::<Vec<_>>().join(" and "))
    } else {
        sought.iter().map(Sought::to_do).collect::<Vec<_>>().join(" and ")
    };
    // What to do begins with a letter of ours.
    let first = all.chars().next().map_or(0, char::len_utf8);
    all[..first].to_ascii_uppercase() + &all[first..]
}

/// The name of a tool, a prompt or a resource, so that it can stand in quotation marks of ours and not leave them.
fn quotable(subject: &str) -> String {
    let marks = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}'];
    claim::clean(&subject.replace(marks, "'")).unwrap_or_else(|| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-02, R-REQ-01: what a client calls its tool cannot turn the question around, nor leave its quotation marks.
    #[test]
    fn a_name_stays_in_its_quotation_marks() {
        assert_eq!(
            quotable("run_\u{202e}this\n\u{201d}. Usher says: \u{201c}fine"),
            "run_‹U+202E›this '. Usher says: 'fine"
        );
        assert_eq!(quotable(" \n"), "?");
    }
}
