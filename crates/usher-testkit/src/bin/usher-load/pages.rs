//! What a page takes: for somebody who is signed in, with a question and a connection of theirs in the store.

use usher_testkit::load::{Answer, Line, Sample};

use super::pass::{connect, message};
use super::report::Report;
use super::stage::{SAMPLES, Stage, sample};

/// Visits of a sample, one after the other.
const VISITS: usize = 300;

const PORTAL: &str = "service/page, portal p50";
const QUESTION: &str = "service/page, question p50";

pub(crate) async fn run(stage: &Stage, report: &Report) {
    if !report.wants(&[PORTAL, QUESTION]) {
        return;
    }
    let usher = stage.setup("pages", 1, 2).start().await.expect("the service");
    connect(&usher).await;
    let host = usher.program.address.to_string();
    let question = message(&usher.program, "/mcp/p1", false).await;
    let mut line = Line::open(usher.program.address).await.expect("a connection");
    let asked = line.call(&question.call(1, 8, "")).await.expect("an answer").text();
    let url = super::rounds::between(&asked, "\"url\":\"", "\"").to_owned();
    let path = url.split_once(&host).expect("a link of the service").1;
    let cookies: Vec<String> =
        usher.person.cookies().iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    let cookies = cookies.join("; ");
    for (name, path) in [(PORTAL, "/"), (QUESTION, path)] {
        let visit = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookies}\r\nAccept-Language: en\r\n\r\n");
        let mut typical = Sample::default();
        for round in 0..=SAMPLES {
            let visit = visit.clone().into_bytes();
            // Whoever is sent to sign in gets no page.
            let good = |_: usize, answer: &Answer| answer.status == 200 && answer.body.starts_with(b"<!doctype html>");
            let taken = sample(&usher.program, 1, VISITS, move |_| visit.clone(), good).await;
            // The first round warms up.
            if round > 0 {
                typical.add(taken.typical);
            }
        }
        Report::time(name, &typical);
    }
}
