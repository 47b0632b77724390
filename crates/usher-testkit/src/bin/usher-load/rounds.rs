//! Rounds that the gateway asks itself: against the same written by hand.

use usher_testkit::load::{Answer, Message, Program, Sample, Setup, Speech};

use super::report::Report;
use super::stage::{CALLS, CLIENTS, SAMPLES, Stage, sample};

/// Verified clients and providers: each question is another one, as those of many people are.
const VERIFIED: usize = 120;
const PROVIDERS: usize = 200;

const NAMES: [&str; 4] = [
    "service/round (by hand)",
    "service/round (by hand, with its commit)",
    "service/round",
    "service/round beside its commit",
];

pub(crate) async fn run(stage: &Stage, report: &mut Report) {
    if !report.wants(&NAMES) {
        return;
    }
    let file = stage.folder("rounds.db");
    let usher = stage.setup("rounds", VERIFIED, PROVIDERS).start().await.expect("the service");
    let by_hand = stage.program("round", &[]);
    let stored = stage.program("round", &[&file.display().to_string()]);
    let programs = [&by_hand, &stored, &usher.program];
    let mut samples: [Sample; 4] = Default::default();
    for round in 0..=SAMPLES {
        let mut taken = [0.0; 3];
        for (program, taken) in programs.into_iter().zip(&mut taken) {
            let message = messages(program);
            let make = move |number: usize| message(round * CALLS + number);
            *taken = sample(program, CLIENTS, CALLS, make, asks).await.cpu;
        }
        let [by_hand, stored, own] = taken;
        if round > 0 {
            for (sample, value) in samples.iter_mut().zip([by_hand, stored, own, own - (stored - by_hand)]) {
                sample.add(value);
            }
        }
    }
    for (name, sample) in NAMES.into_iter().zip(&samples) {
        report.time(name, sample);
    }
}

fn asks(_number: usize, answer: &Answer) -> bool {
    answer.status == 200 && answer.text().contains("input_required")
}

/// The question of each number.
fn messages(program: &Program) -> impl Fn(usize) -> Vec<u8> + Send + Sync + use<> {
    let host = program.address.to_string();
    move |number| {
        let path = format!("/mcp/p{}", number % PROVIDERS);
        let token = Setup::token(number / PROVIDERS % VERIFIED);
        Message::new(&*host, path, token, Speech::Modern("tools/call")).call(number, 200, "")
    }
}

/// What stands between two texts; empty where they are not there.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(part, _)| part)
}
