//! `--auto`: plays the app and the person over real HTTP, in both eras, and looks whether all went right.

use std::process::ExitCode;

use serde_json::Value;

use crate::identity::browser::Place;

use super::{
    client::{Action, Call, Heard, Received, legacy, modern},
    html,
    journal::{
        Moment::{
            Agreed, Answered, Asked, Called, KeyChecked, Noticed, PageDone, PageShown, ToolRan, WrongKeyChecked,
            WrongKeyRefused,
        },
        in_order,
    },
    person::{Page, Person},
    stage::{Stage, demo_key},
    steps::Checks,
    trouble::{Trouble, step},
    weather::forecast,
};

const CITY: &str = "Lisbon";

/// Plays everything. 0 only where every check holds.
pub(super) async fn play(stage: &Stage, keys: &[String; 2]) -> ExitCode {
    println!(
        "This command plays the app and the person. Usher with its pages, the sample weather server and its provider are\n\
         real HTTP servers on this machine."
    );
    let mut checks = Checks::default();
    if let Err(trouble) = both_eras(stage, keys, &mut checks).await {
        checks.check(trouble, false);
    }
    println!("\n{}", checks.verdict());
    if checks.all_hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn both_eras(stage: &Stage, [first, second]: &[String; 2], checks: &mut Checks) -> Result<(), Trouble> {
    let mut person = Person::new(stage.http(), stage.origin());
    let wire = stage.wire();

    println!("\nAn app that speaks {}", modern::REVISION);
    stage.journal.note(Called);
    let call = step("the call", modern::Call::begin(&wire, CITY)).await?;
    let seen = visit(stage, call, &mut person, first, checks).await?;
    judge(stage, &seen, first, &wire.received, checks);

    println!("\nAn app that speaks {}", legacy::REVISION);
    let gone = step("disconnecting", disconnect(&mut person)).await?;
    checks.check("the person disconnects on the portal page, and the key is deleted", gone);
    let wire = stage.wire();
    stage.journal.note(Called);
    let call = step("the call", legacy::Call::begin(&wire, CITY)).await?;
    let seen = visit(stage, call, &mut person, second, checks).await?;
    checks.check("the app is told that the page is done, before the answer", seen.noticed_in_time);
    judge(stage, &seen, second, &wire.received, checks);

    println!("\nUsher's files");
    let readable = stage.keeps_readable(first)? || stage.keeps_readable(second)?;
    checks.check("neither key can be read in them", !readable);
    Ok(())
}

/// What one era's call led to.
struct Seen {
    result: Value,
    noticed_in_time: bool,
}

/// One call, from the question to the result.
async fn visit<C: Call>(
    stage: &Stage,
    mut call: C,
    person: &mut Person,
    key: &str,
    checks: &mut Checks,
) -> Result<Seen, Trouble> {
    let journal = &stage.journal;
    let question = match step("the question", call.next()).await? {
        Heard::Question(question) => question,
        other => return Err(Trouble::unexpected("a question", &other)),
    };
    journal.note(Asked);
    let ours = question.url.starts_with(&format!("{}/connect/", stage.origin()));
    checks.check("the call leads to a question with a link to Usher's page", ours);
    journal.note(Agreed);
    step("the answer to the question", call.answer(&question, Action::Accept)).await?;
    step("the visit to the page", connect(stage, person, &question.url, key, checks)).await?;
    let mut noticed = false;
    let result = loop {
        match step("the result of the call", call.next()).await? {
            Heard::Done { elicitation_id } => {
                journal.note(Noticed);
                noticed = question.elicitation_id.as_ref() == Some(&elicitation_id);
            }
            Heard::Result(result) => break result,
            other => return Err(Trouble::unexpected("the result of the call", &other)),
        }
    };
    journal.note(Answered);
    step("the end of the session", call.end()).await?;
    Ok(Seen { result, noticed_in_time: noticed })
}

/// The person's part: signs in where needed, tries a wrong key, then the right one.
async fn connect(stage: &Stage, person: &mut Person, url: &str, key: &str, checks: &mut Checks) -> Result<(), Trouble> {
    let journal = &stage.journal;
    let mut page = person.open(url).await?;
    if page.path == "/login" {
        checks.check(
            "the link alone opens nothing: the page wants a sign-in first",
            html::form(&page.html, "/login").is_none(),
        );
        let is_this_you = person.open(&stage.sign_in_link(&Place::Portal).await?).await?;
        page = person.send(&is_this_you, "/login", &[]).await?;
    }
    if page.heading() != "Connect weather" {
        return Err(unexpected("the page of the question", &page));
    }
    journal.note(PageShown);
    let action = page.path.clone();
    let wrong = demo_key();
    let refused = person.send(&page, &action, &[("api_key", &wrong), ("action", "connect")]).await?;
    journal.note(WrongKeyRefused);
    let told = refused.status == 422 && html::problem(&refused.html).is_some_and(|problem| problem.contains("401"));
    checks.check("the page refuses a wrong key, and does not show it again", told && !refused.html.contains(&wrong));
    let done = person.send(&refused, &action, &[("api_key", key), ("action", "connect")]).await?;
    if done.heading() != "Connected" {
        return Err(unexpected("the page that says that all is done", &done));
    }
    journal.note(PageDone);
    Ok(())
}

/// The person disconnects. Whether the portal then says so.
async fn disconnect(person: &mut Person) -> Result<bool, Trouble> {
    let question = person.open("/connections/weather/disconnect").await?;
    let portal = person.send(&question, "/connections/weather/disconnect", &[]).await?;
    Ok(portal.status == 200 && portal.html.contains("weather is disconnected."))
}

fn unexpected(what: &'static str, page: &Page) -> Trouble {
    Trouble::unexpected(what, &format!("{} {}", page.status, page.heading()))
}

/// What the weather server and the app saw.
fn judge(stage: &Stage, seen: &Seen, key: &str, received: &Received, checks: &mut Checks) {
    let (moments, keys) = stage.journal.take();
    checks.check("the weather server gets the right key, once, and no other", keys == [key]);
    let text = seen.result["content"][0]["text"].as_str();
    checks.check("the same call brings the forecast", text == Some(&*forecast(CITY)));
    let main = [Called, Asked, Agreed, PageShown, WrongKeyChecked, WrongKeyRefused, KeyChecked, ToolRan, Answered];
    let ordered = in_order(&moments, &main) && in_order(&moments, &[KeyChecked, PageDone]);
    checks
        .check("all of it in this order: call, question, consent, page, wrong key, right key, tool, forecast", ordered);
    // The random part alone, so that a copy without the beginning would be found too; and the forecast, which is there.
    let secret = key.trim_start_matches("demo-key-");
    let unseen = received.holds(&forecast(CITY)) && !received.holds(secret);
    checks.check(format!("the key is in none of the {} bytes that the app received", received.len()), unseen);
}
