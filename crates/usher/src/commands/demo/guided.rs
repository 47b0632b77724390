//! The demo for a person: they answer in their own browser, and see here what goes over the wire.

use std::{io, process::ExitCode};

use elicit::Era;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use url::Url;

use super::{
    client::{Action, Call, Heard, Question, Received, legacy, modern},
    journal::Moment,
    stage::{CLIENT, Stage},
    steps::{begin, clean, say, wire},
    trouble::{PERSON, Trouble, step, within},
};
use crate::{
    commands::{environment, forward},
    identity::browser::Place,
};

const CITY: &str = "Lisbon";

/// Plays the app; the person at the terminal plays themselves. `key` is one that the provider knows.
pub(super) async fn play(stage: &Stage, era: Era, key: &str) -> ExitCode {
    println!(
        "This demo starts three things on this machine, and removes them at the end: a sample MCP server \"weather\", its\n\
         provider, and Usher in front of it. All that Usher is told:"
    );
    say(&stage.config);
    match talk(stage, era, key).await {
        Ok(()) => {
            println!(
                "\nWhere to go next\n   Name your own server in such a file, usher.toml, and run: usher serve\n   More in \
                 README.md, \"In front of your own server\"."
            );
            ExitCode::SUCCESS
        }
        Err(trouble) => crate::commands::fail(&trouble),
    }
}

async fn talk(stage: &Stage, era: Era, key: &str) -> Result<(), Trouble> {
    let app = stage.wire();
    match era {
        Era::Modern => {
            course(stage, step("the call", modern::Call::begin(&app, CITY)).await?, key, &app.received).await
        }
        Era::Legacy => {
            course(stage, step("the call", legacy::Call::begin(&app, CITY)).await?, key, &app.received).await
        }
    }
}

async fn course<C: Call>(stage: &Stage, mut call: C, key: &str, received: &Received) -> Result<(), Trouble> {
    begin(1, "An app calls a tool of the weather server, through Usher. It has no key for it.");
    let params = &call.request()["params"];
    wire(&json!({ "method": "tools/call", "params": { "name": params["name"], "arguments": params["arguments"] } }));
    let question = match step("the question", call.next()).await? {
        Heard::Question(question) => question,
        other => return Err(Trouble::unexpected("a question", &other)),
    };
    say("Usher has no key either. Its answer is a question for you, with a link that gives nothing away:");
    wire(&question.raw);

    begin(2, "The app shows you the whole link and where it leads, before anything is opened.");
    show(stage, &question);
    let action = if agreed("   Open it in your browser? [y/N] ").await { Action::Accept } else { Action::Decline };
    step("the answer to the question", call.answer(&question, action)).await?;
    if action == Action::Accept {
        send_to_page(stage, &question, key).await?;
    }
    let result = within(PERSON, "your visit to the page", result(&mut call, &question, action)).await?;
    step("the end of the session", call.end()).await?;

    let number = if action == Action::Accept { 4 } else { 3 };
    let (moments, keys) = stage.journal.take();
    if !moments.contains(&Moment::ToolRan) {
        begin(number, "Nothing was stored, and the weather server was not called. The app got:");
        wire(&result);
        return Ok(());
    }
    begin(number, "You are done, and the call went on by itself. The app got:");
    wire(&result);
    if keys.is_empty() || keys.iter().any(|used| received.holds(used)) {
        return Err(Trouble::unexpected("a key that only the weather server saw", &"something else"));
    }
    say(format!(
        "The weather server got your key. The app did not: it is in none of the {} bytes that came to the app.\n\n\
         Your connections, and the way to end one: {}/",
        received.len(),
        stage.origin(),
    ));
    agreed("\n   Press Enter to end the demo. ").await;
    Ok(())
}

/// R-URL-06: the full link and its host, in words of the app; the question in the words of whoever asks.
fn show(stage: &Stage, question: &Question) {
    let url = Url::parse(&question.url).ok();
    let host = url.as_ref().map_or("?", |url| &url[url::Position::BeforeHost..url::Position::AfterPort]);
    let whose = if url.as_ref().is_some_and(|url| url.origin().ascii_serialization() == stage.origin()) {
        "Usher on this machine"
    } else {
        "not this Usher: decline"
    };
    say(format!(
        "Asked:  {}\nLink:   {}\nHost:   {host} ({whose})\n\n",
        clean(&question.message),
        clean(&question.url)
    ));
    println!();
}

/// Opens the browser, and says what to do there.
async fn send_to_page(stage: &Stage, question: &Question, key: &str) -> Result<(), Trouble> {
    let path = question.url.strip_prefix(stage.origin());
    let place = path.and_then(Place::parse).unwrap_or(Place::Portal);
    let link = SecretString::from(stage.sign_in_link(&place).await?);
    let file = stage.file("sign-in.html");
    if forward::write(&file, &link).is_ok() && forward::show(&file, &environment) {
        begin(3, "Your browser opens. There:");
        say(format!(
            "Press \"Sign in\": this Usher does not know your browser yet. The question follows.\n\
             If no browser appears, open this file in one: {}",
            file.display(),
        ));
    } else {
        begin(3, "No browser could be opened here. On this machine, open this link:");
        say(format!(
            "{}\n\nIt signs you in, once, within 10 minutes, and leads to the question.",
            link.expose_secret()
        ));
    }
    say(format!(
        "Look who asks: {CLIENT}, and where your key would go. Then enter this key, and press \"Connect\":\n\n   {key}\n\n\
         Try a wrong one first, if you like: the provider is asked before anything is stored.\n\
         Waiting for you; Ctrl-C ends the demo."
    ));
    Ok(())
}

/// Waits for the person. A question that they have answered is not put to them again (R-ERR-02).
async fn result<C: Call>(call: &mut C, answered: &Question, action: Action) -> Result<Value, Trouble> {
    loop {
        match call.next().await? {
            Heard::Question(again) if again.url == answered.url => call.answer(&again, action).await?,
            Heard::Done { .. } => say("Usher tells the app that the page is done: notifications/elicitation/complete."),
            Heard::Result(result) => return Ok(result),
            other => return Err(Trouble::unexpected("the result of the call", &other)),
        }
    }
}

/// Asks at the terminal. Whatever is not clearly a yes is a no.
async fn agreed(prompt: &'static str) -> bool {
    let asked = tokio::task::spawn_blocking(move || {
        use io::Write;
        print!("{prompt}");
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = tokio::time::timeout(PERSON, asked).await;
    matches!(line, Ok(Ok(Ok(line))) if matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
