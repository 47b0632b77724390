//! Measures the service under load: `cargo xtask bench` runs it, on one core, and the measured programs on another.
//!
//! `measure USHER FOLDER [WORD…]` prints a line for each result: `row`, its name, its unit, the median, the least and the
//! largest value. `serve NAME PORT …` is what the service is held against.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it measures time, and has nobody to report to but the terminal"
)]

mod memory;
mod pages;
mod pass;
mod report;
mod rounds;
mod stage;
mod start;

use std::path::Path;

use tokio::net::TcpListener;
use usher_testkit::load;

use report::Report;
use stage::Stage;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve", name, port, rest @ ..] => serve(name, port, rest).await,
        ["measure", usher, folder, filters @ ..] => measure(usher, folder, filters).await,
        _ => {
            eprintln!(
                "usage: usher-load measure USHER FOLDER [WORD…] | serve echo|proxy|round|hold PORT [ORIGIN or FILE]"
            );
            std::process::exit(2);
        }
    }
}

async fn serve(name: &str, port: &str, rest: &[&str]) {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("a port");
    match (name, rest) {
        ("echo", []) => load::echo(listener).await,
        ("proxy", [origin]) => load::proxy(listener, (*origin).to_owned()).await,
        ("round", []) => load::round(listener, None).await,
        ("round", [file]) => load::round(listener, Some(Path::new(file))).await,
        ("hold", []) => load::hold(listener).await,
        _ => panic!("there is no {name}"),
    }
}

async fn measure(usher: &str, folder: &str, filters: &[&str]) {
    let report = Report::new(filters);
    let stage = Stage::new(Path::new(usher), Path::new(folder));
    pass::run(&stage, &report).await;
    rounds::run(&stage, &report).await;
    pages::run(&stage, &report).await;
    start::run(&stage, &report);
    memory::run(&stage, &report).await;
}
