//! From the start of the program to its first answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use usher_testkit::load::{Program, Sample};

use super::report::Report;
use super::stage::{SAMPLES, Stage};

const NAME: &str = "service/start to first answer";

pub(crate) fn run(stage: &Stage, report: &mut Report) {
    if !report.wants(&[NAME]) {
        return;
    }
    let setup = stage.setup("start", 1, 1);
    let port = setup.write().expect("the files of the service");
    let mut sample = Sample::default();
    for round in 0..=SAMPLES {
        let begun = Instant::now();
        let program = setup.program(port).expect("the service");
        answer(&program);
        // The first start makes the store.
        if round > 0 {
            sample.add(begun.elapsed().as_secs_f64());
        }
        program.stop().expect("a service that stops");
    }
    report.time(NAME, &sample);
}

/// Waits for an answer of the service.
fn answer(program: &Program) {
    let begun = Instant::now();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", program.address);
    while begun.elapsed() < Duration::from_secs(20) {
        if let Ok(mut stream) = TcpStream::connect(program.address) {
            let mut text = String::new();
            let read = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut text));
            if read.is_ok() && text.starts_with("HTTP/1.1 200") {
                return;
            }
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    panic!("no answer");
}
