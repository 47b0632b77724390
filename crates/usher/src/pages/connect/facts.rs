//! What a person decides by: who asks, and everywhere that what they give goes (R-OAUTH-03, R-GW-04).

use std::collections::BTreeSet;

use usher_store::{Approval, Operation};

use super::arguments;
use crate::{
    broker::{Purpose, Visit},
    claim,
    identity::tokens::local_user,
    pages::{
        page::Fact,
        words::{Html, Said, Words},
    },
};

/// Who asks, through which server, and for which call: what every open question says first. Of one that the person
/// began themselves, nobody asks.
pub(super) fn asked(words: Words, visit: &Visit, begun: bool) -> Vec<Fact> {
    let interaction = &visit.interaction;
    let client = interaction.principal.client.as_str();
    let mut facts = Vec::new();
    if begun {
        facts.push(Fact::new(words.text("portal.apps"), client));
    } else {
        let here = interaction.principal.user.issuer() == local_user().issuer();
        let note = match (&interaction.asked_by, here) {
            (Some(_), _) => "connect.asked_by_note_server",
            (None, true) => "connect.asked_by_note",
            (None, false) => "connect.asked_by_note_issuer",
        };
        facts.push(Fact::noted(words.text("connect.asked_by"), client, words.text(note)));
        // Directly below what is verified, and in a frame of its own (R-SEC-02).
        facts.extend(interaction.client_claim.as_deref().and_then(|claim| Fact::calls_itself(words, claim)));
    }
    let server = Said::of(&visit.upstream.title, words.language());
    let name = visit.upstream.name.as_str();
    facts.push(Fact::said(words.text("connect.server"), server, (server.text() != name).then_some(name)));
    facts.extend(visit.operation.as_ref().map(|operation| called(words, operation)));
    facts
}

/// What a call of this method is of.
pub(crate) fn label_of_call(words: Words, method: &str) -> &'static str {
    words.text(match method {
        "prompts/get" => "call.prompt",
        "resources/read" => "call.resource",
        _ => "call.tool",
    })
}

/// The call, by the name that the client gave: whole where the person approves this very call, else one short line.
fn called(words: Words, operation: &Operation) -> Fact {
    let label = label_of_call(words, operation.method());
    let name = if operation.digest().is_some() {
        arguments::text(words, operation.subject())
    } else {
        Html::text(&claim::clean(operation.subject()).unwrap_or_else(|| "?".to_owned()))
    };
    Fact::rich(label, Html::element("bdi", None, &name))
}

/// The facts of an open question about a credential, in the order in which they are asked for: who, where, who else,
/// what becomes of it.
pub(super) fn facts(words: Words, visit: &Visit, begun: bool) -> Vec<Fact> {
    let kept = Fact::new(words.text("connect.kept"), words.text("connect.kept_value"));
    told(words, visit, begun, Vec::new(), kept)
}

/// The same of what a provider grants; `own` is what is said of that alone.
pub(super) fn facts_of_grant(words: Words, visit: &Visit, begun: bool, own: Vec<Fact>) -> Vec<Fact> {
    let kept = Fact::new(words.text("connect.kept"), words.text("oauth.kept_value"));
    let kept =
        Fact { note: (visit.purpose == Purpose::Widen).then(|| words.text("oauth.kept_more").to_owned()), ..kept };
    told(words, visit, begun, own, kept)
}

fn told(words: Words, visit: &Visit, begun: bool, own: Vec<Fact>, kept: Fact) -> Vec<Fact> {
    let interaction = &visit.interaction;
    let target = interaction.destination.target.as_str();
    let checked_at = visit.provider.check().map(|check| check.get.origin().ascii_serialization());
    let others = others(visit);
    let places: BTreeSet<&str> = others
        .iter()
        .map(|approval| approval.destination.target.as_str())
        .chain(checked_at.as_deref())
        .chain([target])
        .collect();
    let mut facts = asked(words, visit, begun);
    facts.extend(refused_by(words, visit));
    facts.extend(own);
    // Said only where it is true of everything that is ever done with it.
    facts.push(if places.len() == 1 {
        Fact::noted(words.text("connect.sent_to"), target, words.text("connect.sent_to_note"))
    } else {
        Fact::new(words.text("connect.sent_to"), target)
    });
    if let Some(origin) = &checked_at {
        let note = if visit.purpose.reuses() { "connect.checked_note_new" } else { "connect.checked_note" };
        facts.push(Fact::noted(words.text("connect.checked"), origin, words.text(note)));
    }
    if !others.is_empty() {
        let uses = others.iter().map(|approval| usage(words, visit, approval));
        let mut also = Fact::rich(words.text("connect.also"), Html::list(uses));
        let note = if visit.provider.fields().is_empty() { "connect.also_grant" } else { "connect.also_note" };
        also.note = (!visit.purpose.reuses()).then(|| words.text(note).to_owned());
        facts.push(also);
    }
    facts.push(kept);
    facts.push(Fact::new(words.text("connect.seen"), words.text("connect.seen_value")));
    facts
}

/// The approvals beside the one that is asked for: a new key is used there too.
fn others(visit: &Visit) -> Vec<&Approval> {
    let interaction = &visit.interaction;
    let this = |approval: &&Approval| {
        approval.client == interaction.principal.client && approval.destination == interaction.destination
    };
    visit.approvals.iter().filter(|approval| !this(approval)).collect()
}

fn usage(words: Words, visit: &Visit, approval: &Approval) -> Html {
    let destination = &approval.destination;
    let values = [
        ("client", approval.client.as_str().into()),
        ("server", title(words, visit, &destination.upstream)),
        ("target", destination.target.as_str().into()),
    ];
    words.rich("connect.use", &values)
}

/// Which servers may have refused it. The store keeps that it was refused, not by whom.
fn refused_by(words: Words, visit: &Visit) -> Option<Fact> {
    let upstreams: BTreeSet<&str> =
        visit.approvals.iter().map(|approval| approval.destination.upstream.as_str()).collect();
    if visit.purpose != Purpose::Replace || upstreams.len() < 2 {
        return None;
    }
    let servers: Vec<String> = upstreams.into_iter().map(|name| title(words, visit, name).text().to_owned()).collect();
    let one_of = words.say("connect.one_of", &[("servers", words.list(&servers).as_str())]);
    Some(Fact::new(words.text("connect.refused_by"), &one_of))
}

/// The operator's title of a server of this provider's, or its name where it is configured no longer.
fn title<'v>(words: Words, visit: &'v Visit, upstream: &'v str) -> Said<'v> {
    match visit.titles.get(upstream) {
        Some(title) => Said::of(title, words.language()),
        None => upstream.into(),
    }
}
