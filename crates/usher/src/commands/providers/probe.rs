//! Asks a provider of kind oauth whether it is there and whether it knows our client.
//!
//! The token endpoint is given a code that nobody has: a provider that knows our client refuses the code (`invalid_grant`), one
//! that does not refuses the client (`invalid_client`). Nobody's account is touched, and no authorization is asked for.

use std::{collections::BTreeMap, time::Duration};

use elicit::Random;
use url::Url;

use crate::{
    clock::Clock,
    commands::doctor::finding::Finding,
    config::{Config, OAuth, definition::Address},
    egress::{Egress, place, reason},
    identity::tokens::new_token,
    oauth::{self, Client, Code, Server, ServerError, TokenError},
};

/// How long one question may take.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// What was found at a provider. `chosen` stands for what a user would choose of its URLs.
pub(super) async fn examine(
    config: &Config,
    name: &str,
    account: &OAuth,
    chosen: &BTreeMap<String, String>,
    egress: &Egress,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Vec<Finding> {
    let server = match Server::of(account, chosen) {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    let redirect_uri = oauth::redirect_uri(&config.public_url, name, None);
    let mut findings = vec![Finding::ok(
        "redirect URI",
        format!(
            "{redirect_uri} has to be registered at the provider, exactly so; it is seen only when somebody connects"
        ),
    )];
    findings.extend(hosts(&server, account, chosen, egress).await);
    match Client::of(account, redirect_uri) {
        Some(client) => findings.push(client_known(&server, &client, egress, clock, random).await),
        None => findings.push(Finding::ok("our client", "registers itself when somebody connects")),
    }
    findings
}

fn no_server(error: &ServerError) -> Finding {
    let todo = match error {
        ServerError::Missing(input) | ServerError::Wrong(input) => {
            format!("each person chooses it; give one to test with: --value {input}=…")
        }
        ServerError::Endpoint(_) => "see usher providers show".to_owned(),
    };
    Finding::fault("addresses", error.to_string(), todo)
}

/// Whether each host of the provider answers at all. Its root is asked: a request at the authorization endpoint would be one for
/// an authorization. The token endpoint is asked more than that.
async fn hosts(server: &Server, account: &OAuth, chosen: &BTreeMap<String, String>, egress: &Egress) -> Vec<Finding> {
    let definition = &account.definition;
    let filled = |address: &Address| address.fill(server.values());
    let known = [
        filled(&definition.authorization_endpoint),
        definition.refresh.endpoint.as_ref().and_then(filled),
        server.revocation_endpoint("x"),
        definition.account.as_ref().and_then(|account| filled(&account.call.as_ref()?.url)),
        definition.lookup.as_ref().and_then(|lookup| filled(&lookup.call.url)),
    ];
    let mut roots: Vec<Url> = known.iter().flatten().filter_map(|url| url.join("/").ok()).collect();
    roots.retain(|root| root.origin() != server.token_endpoint().origin());
    roots.sort();
    roots.dedup();
    let probes = roots.into_iter().map(|root| reach("host", root, !chosen.is_empty(), egress));
    futures_util::future::join_all(probes).await
}

/// Whether something answers at a URL. `guarded` is for one that its users choose.
pub(super) async fn reach(subject: &str, url: Url, guarded: bool, egress: &Egress) -> Finding {
    let client = if guarded { egress.guarded(&url) } else { Ok(egress.operator()) };
    let client = match client {
        Ok(client) => client,
        Err(blocked) => return Finding::error(subject, &format!("{}: {blocked}", place(&url))),
    };
    let todo = "see that the address is right and that it can be reached from here";
    match client.get(url.clone()).timeout(DEADLINE).send().await {
        Ok(answer) if answer.status().is_server_error() => {
            let found = format!("{} answers HTTP {}", place(&url), answer.status().as_u16());
            Finding::warning(subject, found, "it may pass; if it stays, see that the address is right")
        }
        Ok(_) => Finding::ok(subject, format!("{} answers", place(&url))),
        Err(error) if error.is_timeout() => {
            Finding::fault(subject, format!("{}: no answer within {} s", place(&url), DEADLINE.as_secs()), todo)
        }
        Err(error) => Finding::fault(subject, format!("{}: {}", place(&url), reason(&error)), todo),
    }
}

/// Whether our client is known at the token endpoint.
async fn client_known(
    server: &Server,
    client: &Client,
    egress: &Egress,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Finding {
    let code = Code { code: new_token(random), values: BTreeMap::new() };
    let verifier = new_token(random);
    let answer = oauth::exchange(egress, server, client, &code, &verifier, clock.now()).await;
    of_answer(server.token_endpoint(), answer.map(drop))
}

/// What the answer to a code that nobody has says of our client.
fn of_answer(endpoint: &Url, answer: Result<(), TokenError>) -> Finding {
    const CLIENT: &str = "our client";
    let at = place(endpoint);
    let error = match answer {
        Ok(()) => {
            let found = format!("{at} gives a token for a code that nobody has");
            return Finding::fault(CLIENT, found, "see that token_endpoint leads to the provider, and to nobody else");
        }
        Err(error) => error,
    };
    match error {
        TokenError::Refused(code) | TokenError::Dead(code) => {
            Finding::ok(CLIENT, format!("{at} knows it: it refuses only the wrong code ({code})"))
        }
        TokenError::Client(code) if code == "invalid_request" => {
            let found = format!("{at} finds the request wrong (invalid_request), and says nothing of our client");
            Finding::warning(
                CLIENT,
                found,
                "some say so of a code of the wrong form; somebody's first visit shows more",
            )
        }
        TokenError::Client(code) => {
            let found = format!("{at} refuses it ({code})");
            Finding::fault(
                CLIENT,
                found,
                "see that client_id and client_secret are those of this registration, that client_authentication is what \
                 the provider wants, and that the redirect URI is registered",
            )
        }
        TokenError::Limited { .. } | TokenError::Unavailable(_) => {
            Finding::warning(CLIENT, format!("{at}: {error}"), "try again later")
        }
        TokenError::Garbage(_) => {
            let todo = "see that token_endpoint is the right address; an answer of OAuth is JSON with an error";
            Finding::fault(CLIENT, format!("{at}: {error}"), todo)
        }
        TokenError::Unreachable(_) | TokenError::TooSlow | TokenError::Blocked(_) => Finding::fault(
            CLIENT,
            format!("{at}: {error}"),
            "see that it can be reached from here; nobody can connect until then",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Verdict;

    #[test]
    fn what_a_token_endpoint_says_of_a_wrong_code_is_told_with_what_to_do() {
        let endpoint = Url::parse("https://id.example/token?key=secret").unwrap();
        let later = "2026-11-30T12:00:00Z".parse().unwrap();
        for (answer, verdict, found) in [
            (Ok(()), Verdict::Fault, "gives a token for a code that nobody has"),
            (Err(TokenError::Refused("invalid_grant".to_owned())), Verdict::Ok, "knows it"),
            (Err(TokenError::Client("invalid_client".to_owned())), Verdict::Fault, "refuses it (invalid_client)"),
            (Err(TokenError::Client("invalid_request".to_owned())), Verdict::Warning, "says nothing of our client"),
            (Err(TokenError::Limited { until: later }), Verdict::Warning, "left alone"),
            (Err(TokenError::Garbage("it is empty")), Verdict::Fault, "it is empty"),
            (Err(TokenError::TooSlow), Verdict::Fault, "in time"),
        ] {
            let finding = of_answer(&endpoint, answer);
            assert_eq!(finding.verdict, verdict, "{finding}");
            assert!(finding.found.contains(found), "{finding}");
            assert_eq!(finding.todo.is_some(), verdict != Verdict::Ok, "{finding}");
            assert!(!finding.to_string().contains("secret="), "{finding}");
            assert!(!finding.found.contains("key="), "{finding}");
        }
    }
}
