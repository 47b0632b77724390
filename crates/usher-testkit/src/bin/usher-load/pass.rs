//! Calls that pass: against a plain reverse proxy with the same HTTP client and server.

use std::sync::Arc;

use usher_testkit::idp::Idp;
use usher_testkit::load::{KEY, Line, Message, Program, Sample, Setup, Speech, Usher};
use usher_testkit::oauth::Provider;

use super::report::Report;
use super::stage::{CALLS, CLIENTS, SAMPLES, Stage, sample};

/// Calls at one client, a sample.
const ALONE: usize = 300;

/// One way for a call.
struct Way<'a> {
    name: &'static str,
    program: &'a Program,
    message: Message,
    cpu: Sample,
    typical: Sample,
}

/// The same with an access token of an issuer, which was verified a moment ago.
const ISSUED: &str = "service/call, modern, issuer's token";
/// What that costs beside a token of mode local.
const CHECK: &str = "service/token check from memory";

/// What a credential that a provider granted costs beside one that somebody typed.
const GRANT: &str = "service/grant from memory";

const NAMES: [&str; 8] = [
    "service/call, modern (proxy)",
    "service/call, modern",
    "service/call, modern, credential",
    "service/call, modern, account",
    "service/call, legacy (proxy)",
    "service/call, legacy",
    "service/call, legacy, credential",
    "service/call, legacy, account",
];

/// Where these calls go, in each era.
const PATHS: [&str; 4] = ["/mcp", "/mcp/plain", "/mcp/p0", "/mcp/account"];

pub(crate) async fn run(stage: &Stage, report: &Report) {
    if !report.wants(&[&NAMES[..], &[ISSUED, CHECK, GRANT]].concat()) {
        return;
    }
    let proxy = stage.program("proxy", &[&stage.upstream()]);
    let accounts = Arc::new(Provider::start().await);
    let setup = Setup { accounts: Some(Arc::clone(&accounts)), ..stage.setup("pass", 1, 1) };
    let usher = setup.start().await.expect("the service");
    connect(&usher).await;
    connect_account(&usher).await;
    let mut ways = Vec::new();
    for (name, at) in NAMES.into_iter().zip(PATHS.into_iter().cycle()) {
        let program = if at == "/mcp" { &proxy } else { &usher.program };
        let message = message(program, at, name.contains("legacy")).await;
        ways.push(Way { name, program, message, cpu: Sample::default(), typical: Sample::default() });
    }
    let idp = Idp::start().await;
    let service = issued(stage, &idp);
    let host = service.address.to_string();
    let bearer = idp.access_token("user-1").audience(format!("http://{host}/mcp/plain")).client("editor").mint();
    let message = Message::new(&*host, "/mcp/plain", bearer, Speech::Modern("tools/call"));
    ways.push(Way { name: ISSUED, program: &service, message, cpu: Sample::default(), typical: Sample::default() });
    let (mut check, mut grant) = (Sample::default(), Sample::default());
    for round in 0..=SAMPLES {
        for way in &mut ways {
            let good = |number: usize, answer: &usher_testkit::load::Answer| {
                answer.status == 200
                    && answer.body.starts_with(format!(r#"{{"jsonrpc":"2.0","id":{number},"#).as_bytes())
            };
            let make = |message: Message| move |number: usize| message.call(number, 200, "");
            let taken = sample(way.program, CLIENTS, CALLS, make(way.message.clone()), good).await;
            let alone = sample(way.program, 1, ALONE, make(way.message.clone()), good).await;
            // The first round warms up.
            if round > 0 {
                way.cpu.add(taken.cpu);
                way.typical.add(alone.typical);
            }
        }
        let last = |name: &str| ways.iter().find(|way| way.name == name).and_then(|way| way.cpu.values().last());
        if let (Some(issued), Some(local)) = (last(ISSUED), last(NAMES[1])) {
            check.add(issued - local);
        }
        if let (Some(account), Some(credential)) = (last(NAMES[3]), last(NAMES[2])) {
            grant.add(account - credential);
        }
    }
    for way in &ways {
        Report::time(way.name, &way.cpu);
    }
    for way in &ways {
        Report::time(&format!("{} p50", way.name), &way.typical);
    }
    Report::time(CHECK, &check);
    Report::time(GRANT, &grant);
    // No token was renewed meanwhile: it was there, and good.
    assert_eq!((accounts.counts().exchanges, accounts.counts().refreshes_tried), (1, 0));
}

/// The service in mode oidc.
fn issued(stage: &Stage, idp: &Idp) -> Program {
    let setup = Setup { issuer: Some(idp.issuer()), ..stage.setup("issued", 0, 0) };
    let port = setup.write().expect("the files of the service");
    let mut program = setup.program(port).expect("the service");
    program.listening().expect("the service");
    program
}

/// The person connects the provider, so that the credential is there.
pub(crate) async fn connect(usher: &Usher) {
    let url = asked(usher, "/mcp/p0").await;
    let done = usher.person.connect(&url, &[("api_key", KEY)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"));
}

/// The person connects the account: agrees on the page, then at the provider, and comes back with a token of an hour.
async fn connect_account(usher: &Usher) {
    let url = asked(usher, "/mcp/account").await;
    let page = usher.person.get(&url).await;
    let left = usher.person.agreement(&page, &[]).stay().send().await;
    let done = usher.person.sign_in_at(&left, "user-1").await;
    assert_eq!(done.heading().as_deref(), Some("Connected"));
}

/// The link that a call is answered with whose upstream needs something.
async fn asked(usher: &Usher, path: &str) -> String {
    let message = message(&usher.program, path, false).await;
    let mut line = Line::open(usher.program.address).await.expect("a connection");
    let asked = line.call(&message.call(1, 8, "")).await.expect("an answer").text();
    super::rounds::between(&asked, "\"url\":\"", "\"").to_owned()
}

/// What calls of this way are made from; a legacy one with a session.
pub(crate) async fn message(program: &Program, path: &str, legacy: bool) -> Message {
    let host = program.address.to_string();
    let made = |speech| Message::new(&*host, path, Setup::token(0), speech);
    if !legacy {
        return made(Speech::Modern("tools/call"));
    }
    let mut line = Line::open(program.address).await.expect("a connection");
    let begun = line.call(&made(Speech::Legacy(None)).initialize()).await.expect("an answer");
    made(Speech::Legacy(begun.header("mcp-session-id").map(str::to_owned)))
}
