//! Running other programs with a deadline.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;

/// How often a running child is looked at.
const TICK: Duration = Duration::from_millis(50);
/// How long a child may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(15);

/// How a program ended, and what it printed where that was kept.
pub(crate) struct Ended {
    pub(crate) success: bool,
    pub(crate) timed_out: bool,
    /// Lines of standard output and standard error in the order they came, without colour codes.
    pub(crate) lines: Vec<String>,
}

impl Ended {
    /// `Err` with the name of the step when it failed.
    pub(crate) fn checked(&self, step: &str) -> Result<(), Fault> {
        match (self.success, self.timed_out) {
            (true, _) => Ok(()),
            (false, true) => Err(format!("{step}: ran out of time")),
            (false, false) => Err(format!("{step}: failed")),
        }
    }
}

/// Runs `command` with our own input and output.
pub(crate) fn show(command: &mut Command, deadline: Duration) -> Result<Ended, Fault> {
    announce(command);
    let child = spawn(command)?;
    wait(child, None, deadline)
}

/// Runs `command`, shows its output and keeps it.
pub(crate) fn tee(command: &Command, deadline: Duration) -> Result<Ended, Fault> {
    announce(command);
    // One pipe for both streams keeps their order, and the standard library has no way to say so.
    let mut merged = Command::new("sh");
    merged.args(["-c", "exec \"$@\" 2>&1", "sh"]);
    merged.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        merged.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => merged.env(name, value),
            None => merged.env_remove(name),
        };
    }
    let mut child = spawn(merged.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let lines = child.stdout.take().map(read_lines);
    wait(child, lines, deadline)
}

/// Runs `command` quietly and returns what it printed, or an error with what it complained about.
pub(crate) fn output(command: &mut Command) -> Result<String, Fault> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name} cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{name} failed: {}{}",
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout)
    ))
}

fn announce(command: &Command) {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    eprintln!("$ {}", words.join(" "));
}

fn spawn(command: &mut Command) -> Result<Child, Fault> {
    command.spawn().map_err(|error| format!("{} cannot be run: {error}", command.get_program().display()))
}

fn read_lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

fn wait(mut child: Child, output: Option<Receiver<String>>, deadline: Duration) -> Result<Ended, Fault> {
    let start = Instant::now();
    let mut lines = Vec::new();
    let mut output = output;
    let mut asked_to_end = false;
    let status = loop {
        pump(&mut output, &mut lines);
        if let Some(status) = child.try_wait().map_err(|error| format!("a program got lost: {error}"))? {
            break status;
        }
        if start.elapsed() > deadline + GRACE {
            child.kill().ok();
        } else if start.elapsed() > deadline && !asked_to_end {
            asked_to_end = true;
            eprintln!("out of time after {} s: stopping it", deadline.as_secs());
            // A polite signal lets a test runner stop its own children; the standard library only kills.
            Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().ok();
        }
    };
    // A grandchild that was left behind may hold the pipe open for ever.
    let last_word = Instant::now();
    while output.is_some() && last_word.elapsed() < Duration::from_secs(2) {
        pump(&mut output, &mut lines);
    }
    Ok(Ended { success: status.success() && !asked_to_end, timed_out: asked_to_end, lines })
}

/// Shows and keeps what came within a tick; forgets the stream when it has ended.
fn pump(output: &mut Option<Receiver<String>>, lines: &mut Vec<String>) {
    let Some(receiver) = output else {
        thread::sleep(TICK);
        return;
    };
    match receiver.recv_timeout(TICK) {
        Ok(line) => {
            println!("{line}");
            lines.push(plain(&line));
        }
        Err(RecvTimeoutError::Timeout) => {}
        Err(RecvTimeoutError::Disconnected) => *output = None,
    }
}

/// `line` without ANSI colour sequences.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            text.push(character);
        } else if characters.next() == Some('[') {
            for part in characters.by_ref() {
                if part.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_kept_in_order_and_without_colour() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; printf '\\033[31mtwo\\033[0m\\n' >&2; echo three"]);
        let ended = tee(&command, Duration::from_secs(10)).unwrap();
        assert_eq!(ended.lines, ["one", "two", "three"]);
        assert!(ended.success);
    }

    #[test]
    fn a_program_past_its_deadline_is_stopped_and_counts_as_failed() {
        let mut command = Command::new("sleep");
        command.arg("60");
        let ended = show(&mut command, Duration::from_millis(100)).unwrap();
        assert!(ended.timed_out && !ended.success);
        assert_eq!(ended.checked("nap"), Err("nap: ran out of time".to_owned()));
    }

    #[test]
    fn a_missing_program_is_named() {
        let fault = show(&mut Command::new("no-such-program-here"), Duration::from_secs(1));
        assert!(fault.is_err_and(|fault| fault.starts_with("no-such-program-here cannot be run")));
    }

    #[test]
    fn a_failed_program_reports_what_it_complained_about() {
        let fault = output(Command::new("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err();
        assert_eq!(fault, "sh failed: broken\n");
    }
}
